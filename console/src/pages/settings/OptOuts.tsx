/** Numbers to which nothing is sent: listed, searched by how they begin, added and taken off. */
import { BellOff } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { isDestination, NUMBER_FORM } from "../../../../src/sms/addresses.ts";
import { api } from "../../api.ts";
import { useFetched } from "../../fetched.ts";
import { Button } from "../../parts/Button.tsx";
import { type Column, DataTable } from "../../parts/DataTable.tsx";
import { Confirm, useAction } from "../../parts/Dialog.tsx";
import { Field, Input } from "../../parts/Field.tsx";
import { Empty, ProblemBox } from "../../parts/Page.tsx";
import { Busy } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { say } from "../../parts/Toast.tsx";
import { setQuery, useLocation } from "../../router.ts";
import { plainNumber } from "../phones/sandbox.ts";

interface OptOut {
  readonly number: string;
  readonly at: string;
}

interface OptOutPage {
  readonly results: readonly OptOut[];
  readonly next: string | null;
}

const LIMIT = 100;
const digits = (text: string): string => text.replace(/\D/g, "").slice(0, 15);

/** `path` is whose list it is: one's own, or that of an account that one manages. */
export function OptOuts({ path }: { path: string }) {
  const prefix = digits(useLocation().query.number ?? "");
  const list = useFetched<OptOutPage>(path, { prefix, limit: LIMIT });
  const [older, setOlder] = useState<OptOutPage | null>(null);
  const [number, setNumber] = useState("");
  const [wrong, setWrong] = useState<string | null>(null);
  const [removing, setRemoving] = useState<string | null>(null);
  useEffect(() => setOlder(null), [list.data]);
  const add = useAction(
    () => api.put(`${path}/${plainNumber(number)}`),
    () => {
      say(`Nothing is sent to ${plainNumber(number)} any more.`);
      setNumber("");
      list.reload();
    },
  );
  const next = older === null ? (list.data?.next ?? null) : older.next;
  const more = useAction(
    () => api.get<OptOutPage>(path, { prefix, limit: LIMIT, after: next }),
    (page) => setOlder({ results: [...(older?.results ?? []), ...page.results], next: page.next }),
  );
  const rows = list.data === null ? null : [...list.data.results, ...(older?.results ?? [])];
  const columns: Column<OptOut>[] = [
    { head: "Number", width: "minmax(0, 1fr)", cell: (row) => <span class="mono">{row.number}</span> },
    { head: "Since", width: "minmax(0, 1fr)", cell: ({ at }) => <Time at={at} /> },
    {
      head: "Action",
      width: "104px",
      number: true,
      plain: true,
      cell: (row) => (
        <Button small aria-label={`Take off ${row.number}`} onClick={() => setRemoving(row.number)}>
          Take off
        </Button>
      ),
    },
  ];
  return (
    <div class="stack">
      <p class="soft">
        What is sent to a number on this list is rejected, and costs nothing. A phone that writes a stop word to your
        number is put on it by itself.
      </p>
      <form
        class="settings-add"
        onSubmit={(event) => {
          event.preventDefault();
          const isGood = isDestination(plainNumber(number));
          setWrong(isGood ? null : `A number has ${NUMBER_FORM}.`);
          if (isGood) add.run();
        }}
      >
        <Field label="Add a number" hint="In its international form." wrong={wrong}>
          <Input
            inputMode="tel"
            required
            placeholder="41793026727"
            value={number}
            onInput={(event) => setNumber(event.currentTarget.value)}
          />
        </Field>
        <Button type="submit" kind="primary" busy={add.busy}>
          Add
        </Button>
        <Field label="Find" hint="How the number begins.">
          <Input
            type="search"
            inputMode="numeric"
            value={prefix}
            onInput={(event) => setQuery({ number: digits(event.currentTarget.value) || null })}
          />
        </Field>
      </form>
      <ProblemBox of={add.problem ?? list.problem} />
      {rows === null && list.problem === null && <Busy />}
      {rows?.length === 0 && (
        <Empty title={prefix === "" ? "Nobody has opted out" : `No number begins with ${prefix}`} icon={BellOff}>
          {prefix === "" ? "Add a number that wants no messages from you." : "Search for fewer digits."}
        </Empty>
      )}
      {rows !== null && rows.length > 0 && (
        <DataTable label="Opt-outs" columns={columns} rows={rows} keyOf={(row) => row.number}>
          {next !== null && (
            <Button busy={more.busy} onClick={more.run}>
              More
            </Button>
          )}
        </DataTable>
      )}
      {removing !== null && (
        <Confirm
          title="Take the number off"
          action="Take off"
          onClose={() => setRemoving(null)}
          onConfirm={async () => {
            await api.delete(`${path}/${removing}`);
            say(`${removing} gets messages again.`);
            list.reload();
          }}
        >
          <p>
            <span class="mono">{removing}</span> gets messages again. Do this only if its owner wants that.
          </p>
        </Confirm>
      )}
    </div>
  );
}
