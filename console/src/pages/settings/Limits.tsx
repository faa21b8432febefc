/** What the account may do at most. */
import { useView } from "../../live.ts";
import { count } from "../../parts/Amount.tsx";
import { type Column, DataTable } from "../../parts/DataTable.tsx";
import { ProblemBox } from "../../parts/Page.tsx";
import { Busy } from "../../parts/Status.tsx";

interface Limit {
  readonly name: string;
  readonly most: number | null;
  readonly own: boolean;
  readonly used: number | null;
}

const WORDS: Readonly<Record<string, string>> = {
  requestsPerSecond: "Requests a second",
  messagesPerSecond: "Messages a second",
  connections: "Requests in progress at a time",
  destinationsPerRequest: "Destinations in a request",
  apiKeys: "API keys",
};

const COLUMNS: readonly Column<Limit>[] = [
  { head: "Limit", width: "minmax(0, 1.4fr)", plain: true, cell: ({ name }) => WORDS[name] ?? name },
  { head: "At most", width: "120px", number: true, cell: ({ most }) => (most === null ? "no limit" : count(most)) },
  {
    head: "In use",
    width: "96px",
    number: true,
    cell: ({ used }) => (used === null ? <span class="soft">–</span> : count(used)),
  },
  { head: "Set for", width: "minmax(0, 1fr)", cell: ({ own }) => (own ? "this account" : "everybody") },
];

export function Limits() {
  const { data, problem } = useView<{ limits: readonly Limit[] }>("limits");
  if (problem !== null && data === null) return <ProblemBox of={problem} />;
  if (data === null) return <Busy />;
  return (
    <div class="stack">
      <p class="soft">
        Past a limit the answer is 429, with the time to wait. Whoever manages your account can change them.
      </p>
      <DataTable label="Limits" columns={COLUMNS} rows={data.limits} keyOf={({ name }) => name} />
    </div>
  );
}
