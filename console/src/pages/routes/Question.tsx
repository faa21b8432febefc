/** "Where would this number go, what would it cost, and why": a number is typed, and its way lights up step by step. */
import { useEffect, useState } from "preact/hooks";
import type { ViewState } from "../../live.ts";
import { Amount } from "../../parts/Amount.tsx";
import { Field, Input } from "../../parts/Field.tsx";
import { ProblemBox } from "../../parts/Page.tsx";
import { Status } from "../../parts/Status.tsx";
import { setQuery, useLocation } from "../../router.ts";
import type { QuoteAnswer } from "../compose/quote.ts";
import { Steps } from "../compose/WayOfNumbers.tsx";

const PAUSE_MS = 250;
const FIELDS = [
  { name: "to", label: "Number", placeholder: "41793026727", hint: "With its country's code, without a plus" },
  { name: "from", label: "Sender", placeholder: "the account's default, or any", hint: "As whom" },
  { name: "account", label: "Account", placeholder: "yours", hint: "Whose prices and rules" },
  { name: "parts", label: "Parts", placeholder: "1", hint: "1 to 25" },
] as const;

export type QuestionFields = Readonly<Partial<Record<(typeof FIELDS)[number]["name"], string>>>;

export function Question({ view }: { view: ViewState<QuoteAnswer> }) {
  const { query } = useLocation();
  const [typed, setTyped] = useState<QuestionFields>(query);
  // The address follows a moment after the typing has stopped.
  useEffect(() => {
    const timer = setTimeout(() => {
      const changes = Object.fromEntries(FIELDS.map(({ name }) => [name, typed[name]?.trim() ?? ""]));
      if (FIELDS.some(({ name }) => (query[name] ?? "") !== changes[name])) setQuery(changes);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, query]);
  return (
    <section class="panel stack routes-question" aria-label="Where would this number go?">
      <h2>Where would this number go, what would it cost, and why?</h2>
      <div class="routes-fields">
        {FIELDS.map(({ name, label, placeholder, hint }) => (
          <Field key={name} label={label} hint={hint}>
            <Input
              class={name === "from" ? "" : "mono"}
              placeholder={placeholder}
              value={typed[name] ?? ""}
              onInput={({ currentTarget: { value } }) => setTyped((now) => ({ ...now, [name]: value }))}
            />
          </Field>
        ))}
      </div>
      <ProblemBox of={view.problem} />
      {view.data !== null && query.to && <Verdict quote={view.data} />}
    </section>
  );
}

function Verdict({ quote }: { quote: QuoteAnswer }) {
  const [first] = quote.numbers;
  if (first === undefined) return null;
  return (
    <>
      <p class="routes-verdict" role="status">
        {first.sent ? (
          <Status is="done">
            It goes to {first.carriers.map(({ id }) => id).join(" or ")}, for{" "}
            <Amount of={quote.amount} currency={quote.currency} />
          </Status>
        ) : (
          <Status is="failed">{first.problem}</Status>
        )}
        {first.sent &&
          quote.otherCurrencies.map(({ currency, amount, rate }) => (
            <span key={currency} class="soft" title={`${rate} ${currency} for one ${quote.currency}`}>
              = <Amount of={amount} currency={currency} />
            </span>
          ))}
      </p>
      {/* Another number is another way: its steps come in anew. */}
      <div class="routes-way" key={`${first.to} ${first.route} ${first.status}`}>
        <Steps quote={quote} />
      </div>
    </>
  );
}
