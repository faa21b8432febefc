/** A reseller or an operator gives an account money or takes it, an operator also corrects its balance; what it has after that is seen before it is done. */
import { useState } from "preact/hooks";
import { fetchAs } from "../../api.ts";
import { Amount } from "../../parts/Amount.tsx";
import { Button } from "../../parts/Button.tsx";
import { Dialog, useAction } from "../../parts/Dialog.tsx";
import { Field, Input, Select } from "../../parts/Field.tsx";
import { ProblemBox } from "../../parts/Page.tsx";
import { say } from "../../parts/Toast.tsx";
import { me } from "../../session.ts";

export interface FundsProps {
  readonly accountKey: string;
  readonly balance: string;
  readonly currency: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const MICROS = 1_000_000n;
const DECIMAL = /^([-\u2212]?)(\d{1,10})(?:[.,](\d{1,6}))?$/;

/** Exact: amounts are decimals, and a float is none. */
function microsOf(text: string): bigint | null {
  const match = DECIMAL.exec(text.trim());
  if (match === null) return null;
  const size = BigInt(match[2]!) * MICROS + BigInt((match[3] ?? "").padEnd(6, "0"));
  return match[1] === "" ? size : -size;
}

function decimalOf(micros: bigint): string {
  const size = micros < 0n ? -micros : micros;
  const places = String(size % MICROS)
    .padStart(6, "0")
    .replace(/0+$/, "");
  return `${micros < 0n ? "-" : ""}${size / MICROS}${places === "" ? "" : `.${places}`}`;
}

type Way = "give" | "take" | "correct";

interface Words {
  readonly label: string;
  /** What it is to the operator's API. */
  readonly kind: string;
  readonly did: string;
  readonly done: string;
  readonly action: string;
}

const WAYS: Readonly<Record<Way, Words>> = {
  give: { label: "Give money", kind: "topUp", did: "Given to", done: "has got", action: "Give" },
  take: { label: "Take money back", kind: "takeBack", did: "Taken from", done: "has given back", action: "Take" },
  correct: {
    label: "Correct the balance",
    kind: "correction",
    did: "Changes the balance of",
    done: "was corrected by",
    action: "Correct by",
  },
};

export function Funds({ accountKey, balance, currency, onClose, onDone }: FundsProps) {
  const isOperator = me.value?.kind === "operator";
  const [way, setWay] = useState<Way>("give");
  const [amount, setAmount] = useState("");
  const [description, setDescription] = useState("");
  const [asked, setAsked] = useState(false);
  // What was looked at and is pressed twice is one payment, also where the first answer was lost.
  const [payment, setPayment] = useState("");
  const micros = microsOf(amount);
  const isNone = micros === null || micros === 0n || (micros < 0n && way !== "correct");
  const signed = micros === null ? 0n : way === "take" ? -micros : micros;
  const after = (microsOf(balance) ?? 0n) + signed;
  const words = WAYS[way];
  const which = way === "correct" ? "other than zero" : "above zero";
  const ways: readonly Way[] = isOperator ? ["give", "take", "correct"] : ["give", "take"];
  const [path, body] = isOperator
    ? [
        `/operator/1/accounts/${encodeURIComponent(accountKey)}/funds`,
        { kind: words.kind, amount: decimalOf(micros ?? 0n), reason: description },
      ]
    : ["/1/customerProfile/payments/funds", { accountKey, ammount: decimalOf(signed), description }];
  const pay = useAction(
    () =>
      fetchAs(path, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": payment },
        body: JSON.stringify(body),
      }),
    () => {
      say(`${accountKey} ${words.done} ${decimalOf(micros!)} ${currency}.`);
      onDone();
    },
  );
  return (
    <Dialog title={`Funds of ${accountKey}`} onClose={onClose}>
      {!asked && (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (isNone) return;
            setPayment(crypto.getRandomValues(new Uint32Array(4)).join("-"));
            setAsked(true);
          }}
        >
          <Field label="Action">
            <Select
              value={way}
              options={ways.map((value) => ({ value, label: WAYS[value].label }))}
              onChoose={(value) => setWay(ways.find((known) => known === value) ?? "give")}
            />
          </Field>
          <Field
            label={`Amount, ${currency}`}
            wrong={amount !== "" && isNone ? `Must be a number ${which} with at most 6 places.` : null}
          >
            <Input
              inputMode="decimal"
              required
              value={amount}
              onInput={(event) => setAmount(event.currentTarget.value)}
            />
          </Field>
          <Field label="Description" hint="Stands in the client's statement.">
            <Input
              required
              maxLength={255}
              value={description}
              onInput={(event) => setDescription(event.currentTarget.value)}
            />
          </Field>
          <div class="dialog-foot">
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" type="submit">
              Go on
            </Button>
          </div>
        </form>
      )}
      {asked && (
        <div class="stack">
          <dl class="facts">
            <dt>
              {words.did} {accountKey}
            </dt>
            <dd>
              <Amount of={decimalOf(micros ?? 0n)} currency={currency} />
            </dd>
            <dt>For</dt>
            <dd>{description}</dd>
            <dt>Balance of {accountKey}, now</dt>
            <dd>
              <Amount of={balance} currency={currency} />
            </dd>
            <dt>Balance of {accountKey}, after</dt>
            <dd>
              <strong>
                <Amount of={decimalOf(after)} currency={currency} />
              </strong>
            </dd>
            {!isOperator && (
              <>
                <dt>Your own balance, now and after</dt>
                <dd>
                  <Amount of={me.value?.balance ?? "0"} currency={me.value?.currency ?? currency} />
                </dd>
              </>
            )}
          </dl>
          <p class="soft">
            {way === "correct"
              ? "A correction stands in the account's statement and in the audit, with its reason."
              : "Funds are a payment that you have had or give back: your own balance stays as it is."}
          </p>
          {after < 0n && way === "take" && !isOperator && (
            <ProblemBox of="That is more than there is: money is not taken below zero." />
          )}
          <ProblemBox of={pay.problem} />
          <div class="dialog-foot">
            <Button onClick={() => setAsked(false)}>Back</Button>
            <Button kind={way === "give" ? "primary" : "danger"} busy={pay.busy} onClick={pay.run}>
              {words.action} {decimalOf(micros ?? 0n)} {currency}
            </Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}
