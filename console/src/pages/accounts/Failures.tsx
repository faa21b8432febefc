/** Why an account's messages fail: how many of the last days for which reason, and when last. */
import { CircleCheck } from "lucide";
import { useState } from "preact/hooks";
import { useFetched } from "../../fetched.ts";
import { count } from "../../parts/Amount.tsx";
import { type Column, DataTable } from "../../parts/DataTable.tsx";
import { Field, Select } from "../../parts/Field.tsx";
import { Empty, ProblemBox } from "../../parts/Page.tsx";
import { Busy } from "../../parts/Status.tsx";
import { now, Time } from "../../parts/Time.tsx";

interface FailureReason {
  readonly reason: string;
  readonly status: string;
  readonly error: string | null;
  readonly permanent: boolean;
  readonly count: number;
  readonly latest: readonly { readonly id: string; readonly at: string }[];
}

interface FailureAnswer {
  readonly messages: number;
  readonly failed: number;
  readonly complete: boolean;
  readonly results: readonly FailureReason[];
}

const DAY_MS = 86_400_000;
const DAYS = [
  { value: "1", label: "the last day" },
  { value: "7", label: "the last 7 days" },
  { value: "30", label: "the last 30 days" },
];

const COLUMNS: readonly Column<FailureReason>[] = [
  { head: "Reason", width: "minmax(0, 2fr)", plain: true, cell: ({ reason }) => reason },
  {
    head: "Error",
    width: "minmax(0, 1.4fr)",
    cell: ({ error, status }) => <span class="mono">{error ?? status}</span>,
  },
  { head: "Fails again", width: "96px", cell: ({ permanent }) => (permanent ? "yes" : "not always") },
  {
    head: "Latest",
    width: "128px",
    cell: ({ latest }) => (latest[0] === undefined ? "–" : <Time at={latest[0].at} />),
  },
  { head: "Messages", width: "96px", number: true, cell: (row) => count(row.count) },
];

export function Failures({ path }: { path: string }) {
  const [days, setDays] = useState("1");
  // The moment of the choice: otherwise every second would ask anew.
  const [from, setFrom] = useState(() => new Date(now.peek() - DAY_MS).toISOString());
  const { data, problem } = useFetched<FailureAnswer>(`${path}/failures`, { from });
  return (
    <div class="stack">
      <Field label="Of">
        <Select
          value={days}
          options={DAYS}
          onChoose={(chosen) => {
            setDays(chosen);
            setFrom(new Date(now.peek() - Number(chosen) * DAY_MS).toISOString());
          }}
        />
      </Field>
      <ProblemBox of={problem} />
      {data === null && problem === null && <Busy />}
      {data !== null && (
        <p class="soft">
          Of {data.complete ? "" : "the newest "}
          {count(data.messages)} messages {data.failed === 0 ? "none" : count(data.failed)} failed.
        </p>
      )}
      {data?.results.length === 0 && (
        <Empty title="Nothing failed" icon={CircleCheck}>
          Every message of this time arrived, or is still on its way.
        </Empty>
      )}
      {data !== null && data.results.length > 0 && (
        <DataTable
          label="Why messages fail"
          columns={COLUMNS}
          rows={data.results}
          keyOf={({ status, error }) => `${status} ${error}`}
        />
      )}
    </div>
  );
}
