/** Dead letters are sent again: all of them, those of a host, those since a time. The service does it in steps, and the dialog tells how far it is. */
import { useState } from "preact/hooks";
import { count } from "../../parts/Amount.tsx";
import { Button } from "../../parts/Button.tsx";
import { Dialog, useAction } from "../../parts/Dialog.tsx";
import { Field, Input, Select } from "../../parts/Field.tsx";
import { ProblemBox } from "../../parts/Page.tsx";
import { say } from "../../parts/Toast.tsx";
import { useLocation } from "../../router.ts";
import { me } from "../../session.ts";
import { type Host, replay, reportsWord } from "./report.ts";

const ALL = "";

export function ReplayMany({ hosts, onClose }: { hosts: readonly Host[]; onClose: () => void }) {
  const { query } = useLocation();
  const dead = hosts.filter((each) => each.dead > 0);
  const nameOf = ({ accountKey, host }: Host): string => `${accountKey} ${host}`;
  const [name, setName] = useState(() => {
    const shown = dead.find(({ host }) => host === query.host);
    return shown === undefined ? ALL : nameOf(shown);
  });
  const [since, setSince] = useState("");
  const [sum, setSum] = useState(0);
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const chosen = dead.find((each) => nameOf(each) === name);
  const { busy, problem, run } = useAction(
    () =>
      replay(
        {
          ...(chosen === undefined ? {} : { host: chosen.host, accountKey: chosen.accountKey }),
          ...(since === "" ? {} : { since: new Date(since).toISOString() }),
          ...(chosen === undefined && since === "" ? { all: true as const } : {}),
        },
        setSum,
      ),
    (total) => {
      say(`${count(total)} ${reportsWord(total)} ${total === 1 ? "goes" : "go"} out again.`);
      onClose();
    },
  );
  return (
    <Dialog title="Replay dead letters" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        <Field label="Of which host">
          <Select
            value={name}
            onChoose={setName}
            options={[
              { value: ALL, label: "all hosts" },
              ...dead.map((each) => ({
                value: nameOf(each),
                label: me.value?.kind === "operator" ? `${each.host} (${each.accountKey})` : each.host,
              })),
            ]}
          />
        </Field>
        <Field
          label="Since"
          hint={`Only reports made then or later, in your time zone, ${zone}. Leave it empty for all.`}
        >
          <Input type="datetime-local" value={since} onInput={(event) => setSince(event.currentTarget.value)} />
        </Field>
        <p class="soft">
          They go out as if for the first time, under the same webhook-id, and their schedule of retries begins anew.
        </p>
        <ProblemBox of={problem} />
        <div class="dialog-foot">
          {busy && sum > 0 && <span role="status">{count(sum)} so far…</span>}
          <Button onClick={onClose}>Close</Button>
          <Button kind="primary" type="submit" busy={busy}>
            Replay
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
