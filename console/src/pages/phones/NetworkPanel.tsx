/** What is wrong with the simulated network, by switch. It counts for all messages from now on. */
import { useView } from "../../live.ts";
import { Button } from "../../parts/Button.tsx";
import { Check, Field, Select } from "../../parts/Field.tsx";
import { ProblemBox } from "../../parts/Page.tsx";
import { Status } from "../../parts/Status.tsx";
import { useChosen } from "./chosen.ts";
import { type NetworkFaults, type SandboxAnswer, setNetwork } from "./sandbox.ts";

type Flag = { [Name in keyof NetworkFaults]: NetworkFaults[Name] extends boolean ? Name : never }[keyof NetworkFaults];

const FLAGS: readonly { readonly name: Flag; readonly label: string; readonly hint: string }[] = [
  { name: "throttling", label: "Throttling", hint: "“too fast” to every submit: messages wait" },
  { name: "refusing", label: "Refusing", hint: "every submit is refused for good" },
  { name: "connectionLost", label: "Connection lost", hint: "messages wait until it is back" },
  { name: "noReceipts", label: "No receipts", hint: "messages arrive, and nobody hears of it" },
  { name: "duplicatedReceipts", label: "Receipts twice", hint: "each of them comes again" },
];

const ANSWERS = delays([0, 500, 2_000, 10_000], "at once");
const RECEIPTS = delays([0, 10_000, 60_000, 3_600_000], "on time");

function delays(choices: readonly number[], none: string) {
  return choices.map((ms) => ({ value: String(ms), label: ms === 0 ? none : `after ${words(ms)}` }));
}

function words(ms: number): string {
  if (ms >= 3_600_000) return `${ms / 3_600_000} h`;
  if (ms >= 60_000) return `${ms / 60_000} min`;
  return `${ms / 1_000} s`;
}

/** With the one that is set, where it is none of the choices. */
function withSet(choices: readonly { value: string; label: string }[], ms: number) {
  const isThere = choices.some(({ value }) => value === String(ms));
  return isThere ? choices : [...choices, { value: String(ms), label: `after ${words(ms)}` }];
}

export function NetworkPanel() {
  const { data, problem: unread } = useView<SandboxAnswer>("sandbox");
  const { shown: network, problem, choose } = useChosen(data?.network ?? MENDED, setNetwork);
  if (data === null) return <ProblemBox of={unread} />;
  const change = (changes: Partial<NetworkFaults>): void => choose({ ...network, ...changes });
  const isWell = Object.values(network).every((value) => value === false || value === 0);
  return (
    <section class="panel network" aria-labelledby="network-title">
      <div class="row spread">
        <h2 id="network-title">The network</h2>
        <Status is={isWell ? "done" : "retrying"} badge>
          {isWell ? "works" : "has faults"}
        </Status>
      </div>
      {FLAGS.map(({ name, label, hint }) => (
        <Check key={name} checked={network[name]} onChange={(checked) => change({ [name]: checked })}>
          {label} <span class="soft">{hint}</span>
        </Check>
      ))}
      <Field label="Answers">
        <Select
          value={String(network.slowAnswersMs)}
          options={withSet(ANSWERS, network.slowAnswersMs)}
          onChoose={(value) => change({ slowAnswersMs: Number(value) })}
        />
      </Field>
      <Field label="Receipts">
        <Select
          value={String(network.lateReceiptsMs)}
          options={withSet(RECEIPTS, network.lateReceiptsMs)}
          onChoose={(value) => change({ lateReceiptsMs: Number(value) })}
        />
      </Field>
      <ProblemBox of={problem} />
      <div class="row spread">
        <span class="soft">For all messages from now on. A restart mends it.</span>
        <Button small disabled={isWell} onClick={() => change({ ...MENDED })}>
          Mend all
        </Button>
      </div>
    </section>
  );
}

const MENDED: NetworkFaults = {
  throttling: false,
  refusing: false,
  connectionLost: false,
  slowAnswersMs: 0,
  noReceipts: false,
  duplicatedReceipts: false,
  lateReceiptsMs: 0,
};
