/** An account is retired for good. If it has money or owes some, it is asked where that goes. */
import { useState } from "preact/hooks";
import { api, withQuery } from "../../api.ts";
import { Amount } from "../../parts/Amount.tsx";
import { Button } from "../../parts/Button.tsx";
import { Dialog, useAction } from "../../parts/Dialog.tsx";
import { Field, Input, Select } from "../../parts/Field.tsx";
import { ProblemBox } from "../../parts/Page.tsx";
import type { Account } from "./account.ts";

export interface RetireProps {
  readonly path: string;
  readonly account: Account;
  readonly balance: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const WAYS = [
  { value: "paidOut", label: "It was paid out" },
  { value: "balanceTo", label: "To another account" },
  { value: "writeOff", label: "It is written off" },
] as const;
type Way = (typeof WAYS)[number]["value"];

export function Retire({ path, account, balance, onClose, onDone }: RetireProps) {
  const owes = balance.startsWith("-");
  const hasMoney = Number(balance) !== 0;
  const ways = owes ? WAYS.filter(({ value }) => value === "writeOff") : WAYS;
  const [chosen, setChosen] = useState<Way>("paidOut");
  const [text, setText] = useState("");
  const way = owes ? "writeOff" : chosen;
  const settlement = hasMoney ? { [way]: way === "paidOut" ? "true" : text } : {};
  const retire = useAction(() => api.delete(withQuery(path, { version: account.version, ...settlement })), onDone);
  return (
    <Dialog title={`Retire ${account.key}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          retire.run();
        }}
      >
        <p>
          Nobody can use it any more, and that cannot be taken back. Its keys and sessions end. What it did stays on
          record.
        </p>
        {hasMoney && (
          <>
            <p>
              {owes ? "It owes " : "It has "}
              <strong>
                <Amount of={balance.replace("-", "")} currency={account.currency} />
              </strong>
              {owes ? ": top it up with what was paid, or say why that is written off." : ". Where does that go?"}
            </p>
            <Field label="The balance">
              <Select
                value={way}
                options={ways}
                onChoose={(value) => setChosen(WAYS.find((known) => known.value === value)?.value ?? "paidOut")}
              />
            </Field>
            {way !== "paidOut" && (
              <Field label={way === "balanceTo" ? "Key of that account" : "Reason"}>
                <Input
                  required
                  maxLength={way === "balanceTo" ? 64 : 255}
                  value={text}
                  onInput={(event) => setText(event.currentTarget.value)}
                />
              </Field>
            )}
          </>
        )}
        <ProblemBox of={retire.problem} />
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" type="submit" busy={retire.busy}>
            Retire for good
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
