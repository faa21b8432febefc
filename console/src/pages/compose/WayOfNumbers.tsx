/** Where the messages would go and why: the steps of the first number, and what is wrong with others. */
import { Check, CircleDashed, X } from "lucide";
import type { Problem } from "../../api.ts";
import { count as figure } from "../../parts/Amount.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { ProblemBox } from "../../parts/Page.tsx";
import { QUOTED_NUMBERS, type QuoteAnswer, type QuotedCarrier } from "./quote.ts";

const STEP_WORDS: Readonly<Record<string, string>> = {
  number: "Number",
  account: "Account",
  sender: "Sender",
  route: "Route",
  carrier: "Carrier",
  price: "Price",
  optOut: "Opt-out",
};

export function WayOfNumbers({
  quote,
  problem,
  numbers,
}: {
  quote: QuoteAnswer | null;
  problem: Problem | null;
  numbers: number;
}) {
  const rejected = quote?.numbers.filter(({ sent }) => !sent) ?? [];
  return (
    <section class="panel stack compose-way" aria-label="The way of the message">
      <h2>{numbers > 1 ? "The way of the first number" : "Its way"}</h2>
      <ProblemBox of={problem} />
      {quote === null ? (
        <p class="soft">Type a number, and see which way the message would go and what it would cost.</p>
      ) : (
        <>
          <Steps quote={quote} />
          {numbers > 1 && (
            <p class="soft">
              {rejected.length === 0
                ? `Nothing stands in the way of the ${numbers > QUOTED_NUMBERS ? `first ${QUOTED_NUMBERS}` : figure(numbers)} numbers.`
                : `${figure(rejected.length)} of ${figure(quote.numbers.length)} would be rejected:`}
              {numbers > QUOTED_NUMBERS && ` Of ${figure(numbers)}, the first ${QUOTED_NUMBERS} were looked at.`}
            </p>
          )}
          {numbers > 1 && rejected.length > 0 && (
            <ul class="compose-rejected">
              {rejected.slice(0, SHOWN).map(({ to, problem: says }) => (
                <li key={to}>
                  <span class="mono">{to}</span> {says}
                </li>
              ))}
              {rejected.length > SHOWN && <li class="soft">and {figure(rejected.length - SHOWN)} more</li>}
            </ul>
          )}
        </>
      )}
    </section>
  );
}

const SHOWN = 5;

/** Each step with its reason; below the step of the carriers, the groups of the route. */
export function Steps({ quote }: { quote: QuoteAnswer }) {
  const failedAt = quote.steps.findIndex(({ good }) => !good);
  return (
    <ol class="compose-steps">
      {quote.steps.map(({ name, good, open, says }, index) => {
        const state = good ? (open || (failedAt >= 0 && index > failedAt) ? "beyond" : "passed") : "failed";
        return (
          <li key={name} class={state}>
            <Icon of={state === "failed" ? X : state === "beyond" ? CircleDashed : Check} size={14} />
            <b>{STEP_WORDS[name] ?? name}</b>
            <span>{says}</span>
            {name === "carrier" && <Groups quote={quote} />}
          </li>
        );
      })}
    </ol>
  );
}

function Groups({ quote }: { quote: QuoteAnswer }) {
  const { groups } = quote;
  if (groups.length === 1 && groups[0]!.carriers.length === 1 && groups[0]!.carriers[0]!.up !== false) return null;
  return (
    <ol class="compose-groups">
      {groups.map(({ used, carriers }, index) => (
        <li key={index} class={used ? "used" : ""}>
          <span class="soft">Group {index + 1}</span>
          <ul>
            {carriers.map((carrier) => (
              <Carrier key={carrier.id} of={carrier} />
            ))}
          </ul>
        </li>
      ))}
    </ol>
  );
}

const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

function Carrier({ of: { id, chance, up, says } }: { of: QuotedCarrier }) {
  return (
    <li class={chance > 0 ? "chosen" : ""}>
      <div class="row">
        <span class={up === false ? "dot down" : up === null ? "dot unknown" : "dot"} aria-hidden="true" />
        <b class="mono">{id}</b>
        <span class="amount">{percent.format(chance)}</span>
      </div>
      <progress value={chance} max={1} aria-label={`Chance of ${id}`} />
      <span class="soft">{says}</span>
    </li>
  );
}
