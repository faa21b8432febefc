/** The nodes that share the work, and what the data takes. */
import { useView } from "../../live.ts";
import { type Column, DataTable } from "../../parts/DataTable.tsx";
import { Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy, Status } from "../../parts/Status.tsx";
import { duration } from "../../parts/Time.tsx";
import { about } from "../../session.ts";
import "./nodes.css";

interface Node {
  readonly name: string;
  readonly roles: readonly string[];
  readonly isSelf: boolean;
  readonly leads: boolean;
  readonly isAlive: boolean;
  readonly slot: number;
  readonly binds: readonly { readonly carrier: string; readonly count: number }[];
}

interface Answer {
  readonly engine: "sqlite" | "postgres";
  readonly leaseMs: number | null;
  readonly nodes: readonly Node[];
  readonly gone: readonly string[];
  readonly replication: string | null;
  readonly storage: {
    readonly octets: number;
    readonly files: readonly { readonly name: string; readonly octets: number }[];
    readonly journalEntries: number | null;
    readonly partitions: readonly { readonly name: string; readonly from: string; readonly to: string }[];
  };
}

const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

export function size(octets: number): string {
  const power = Math.min(UNITS.length - 1, octets < 1_000 ? 0 : Math.floor(Math.log10(octets) / 3));
  const value = octets / 1_000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

const COLUMNS: readonly Column<Node>[] = [
  {
    head: "Node",
    width: "minmax(180px, 2fr)",
    plain: true,
    cell: ({ name, isSelf }) => (
      <span class="nodes-name">
        <span class="mono">{name}</span> {isSelf && <span class="soft">this one</span>}
      </span>
    ),
  },
  {
    head: "State",
    width: "120px",
    cell: ({ isAlive }) => <Status is={isAlive ? "done" : "failed"}>{isAlive ? "alive" : "silent"}</Status>,
  },
  { head: "Roles", width: "minmax(160px, 1.4fr)", cell: ({ roles }) => roles.join(", ") },
  { head: "Leads", width: "80px", cell: ({ leads }) => (leads ? "yes" : "–") },
  { head: "Number", width: "80px", number: true, cell: ({ slot }) => slot },
  {
    head: "Carriers' connections",
    width: "minmax(160px, 2fr)",
    cell: ({ binds }) =>
      binds.length === 0 ? "all" : binds.map(({ carrier, count }) => `${carrier} ${count}`).join(", "),
  },
];

const dayOf = (at: string): string => at.slice(0, 10);

export default function Nodes() {
  const { data, problem } = useView<Answer>("nodes");
  return (
    <Page title="Nodes" live>
      <ProblemBox of={problem} />
      {data === null ? problem === null && <Busy /> : <Sight of={data} />}
    </Page>
  );
}

function Sight({ of: { engine, leaseMs, nodes, gone, replication, storage } }: { of: Answer }) {
  const alive = nodes.filter(({ isAlive }) => isAlive).length;
  return (
    <>
      <p>
        {engine === "sqlite"
          ? "One node with its own data: all the work is done here."
          : `${alive} of ${nodes.length} ${nodes.length === 1 ? "node is" : "nodes are"} alive. One that is silent for ${duration(leaseMs ?? 0)} is taken over by the others.`}
      </p>
      {gone.length > 0 && <ProblemBox of={`What these nodes had is being taken over: ${gone.join(", ")}.`} />}
      <DataTable label="Nodes" columns={COLUMNS} rows={nodes} keyOf={({ name, slot }) => `${slot} ${name}`} />
      <div class="nodes-columns">
        <section class="panel stack" aria-label="Data">
          <h2>Data</h2>
          <dl class="facts">
            <dt>store</dt>
            <dd>{engine === "sqlite" ? "SQLite, embedded" : "PostgreSQL"}</dd>
            <dt>takes</dt>
            <dd>{size(storage.octets)}</dd>
            {replication !== null && (
              <>
                <dt>standbys</dt>
                <dd>{replication}</dd>
              </>
            )}
            {storage.journalEntries !== null && (
              <>
                <dt>journal</dt>
                <dd>
                  {storage.journalEntries.toLocaleString()} {storage.journalEntries === 1 ? "entry" : "entries"} to be
                  written to their tables
                </dd>
              </>
            )}
            <dt>version</dt>
            <dd>{about.value?.version ?? "–"}</dd>
          </dl>
        </section>
        {storage.files.length > 0 && (
          <section class="panel stack" aria-label="Files">
            <h2>Files</h2>
            <dl class="facts">
              {storage.files.map(({ name, octets }) => (
                <div key={name} class="nodes-file">
                  <dt class="mono">{name}</dt>
                  <dd>{size(octets)}</dd>
                </div>
              ))}
            </dl>
          </section>
        )}
        {storage.partitions.length > 0 && (
          <section class="panel stack" aria-label="Partitions">
            <h2>
              Partitions <span class="soft">{storage.partitions.length}</span>
            </h2>
            <ul class="nodes-partitions">
              {storage.partitions.map(({ name, from, to }) => (
                <li key={name}>
                  <span class="mono">{name}</span>
                  <span class="soft">
                    {dayOf(from)} to {dayOf(to)}
                  </span>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </>
  );
}
