/** Accounts with their balances, live: searched and filtered by the address, and a reseller's clients set in below it. */
import { Building2, Download } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { api, download, withQuery } from "../../api.ts";
import { useView } from "../../live.ts";
import { Amount } from "../../parts/Amount.tsx";
import { Button } from "../../parts/Button.tsx";
import { type Column, DataTable } from "../../parts/DataTable.tsx";
import { useAction } from "../../parts/Dialog.tsx";
import { Input } from "../../parts/Field.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Empty, Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy, Status } from "../../parts/Status.tsx";
import { now, Time } from "../../parts/Time.tsx";
import { setQuery, useLocation } from "../../router.ts";
import { placed } from "../money/Statement.tsx";
import type { AccountRow } from "./account.ts";
import { NewAccount } from "./NewAccount.tsx";

interface AccountPage {
  readonly results: readonly AccountRow[];
  readonly next: string | null;
}

const DAY_MS = 86_400_000;
const STATEMENT_DAYS = 366;

const FILTERS: readonly { readonly label: string; readonly kind: string | null; readonly suspended: string | null }[] =
  [
    { label: "All", kind: null, suspended: null },
    { label: "Clients", kind: "client", suspended: null },
    { label: "Resellers", kind: "reseller", suspended: null },
    { label: "Operators", kind: "operator", suspended: null },
    { label: "Suspended", kind: null, suspended: "true" },
  ];
/** What a reseller's clients can be filtered by. */
const CLIENT_FILTERS = FILTERS.filter(({ kind }) => kind === null);

export function AccountState({ suspended, retired }: { suspended: boolean; retired: boolean }) {
  if (retired) return <Status is="waiting">retired</Status>;
  if (suspended) return <Status is="failed">suspended</Status>;
  return <Status is="done">active</Status>;
}

interface Placed extends AccountRow {
  /** Whether it stands below its reseller. */
  readonly below: boolean;
}

/** Clients below their reseller, where that is among the rows; the order is the keys' otherwise. */
function treeOf(rows: readonly AccountRow[]): Placed[] {
  const keys = new Set(rows.map(({ key }) => key));
  const children = Map.groupBy(
    rows.filter(({ parent }) => parent !== null && keys.has(parent)),
    ({ parent }) => parent,
  );
  return rows
    .filter(({ parent }) => parent === null || !keys.has(parent))
    .flatMap((row) => [
      { ...row, below: false },
      ...(children.get(row.key) ?? []).map((child) => ({ ...child, below: true })),
    ]);
}

export interface AccountListProps {
  readonly title: string;
  readonly base: string;
  /** Whether all there are are clients. */
  readonly clientsOnly: boolean;
}

export function AccountList({ title, base, clientsOnly }: AccountListProps) {
  const { query } = useLocation();
  const { search = null, kind = null, suspended = null, parent = null } = query;
  const asked = { search, kind, suspended, parent };
  const { data, problem } = useView<AccountPage>("accounts", asked);
  const [older, setOlder] = useState<AccountPage | null>(null);
  const [making, setMaking] = useState(false);
  const question = JSON.stringify(asked);
  useEffect(() => setOlder(null), [question]);
  const next = older === null ? (data?.next ?? null) : older.next;
  const more = useAction(
    () => api.get<AccountPage>("/console/1/accounts", { ...asked, after: next }),
    (page) => setOlder({ results: [...(older?.results ?? []), ...page.results], next: page.next }),
  );
  const statement = useAction(() => {
    const from = new Date(now.peek() - STATEMENT_DAYS * DAY_MS).toISOString();
    return download(withQuery("/operator/1/statement", { from, format: "csv" }), "statement.csv");
  });
  const seen = new Set(data?.results.map(({ key }) => key));
  const rows =
    data === null ? null : treeOf([...data.results, ...(older?.results ?? []).filter(({ key }) => !seen.has(key))]);
  const isNarrowed = search !== null || kind !== null || suspended !== null || parent !== null;
  const columns: Column<Placed>[] = [
    {
      head: "Account",
      width: "minmax(0, 1.4fr)",
      plain: true,
      cell: ({ key, below }) => <span class={below ? "accounts-child mono" : "mono"}>{key}</span>,
    },
    ...(clientsOnly
      ? []
      : [
          { head: "Kind", width: "80px", cell: (row: AccountRow) => row.kind },
          { head: "Reseller", width: "minmax(0, 1fr)", cell: (row: AccountRow) => row.parent ?? "–" },
        ]),
    { head: "User", width: "minmax(0, 1fr)", cell: ({ usernames }) => usernames.join(", ") },
    { head: "Rate plan", width: "minmax(0, 0.8fr)", cell: ({ ratePlan }) => ratePlan },
    { head: "State", width: "108px", cell: (row) => <AccountState {...row} /> },
    { head: "Since", width: "128px", cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      head: "Balance",
      width: "136px",
      number: true,
      cell: ({ balance, currency }) => <Amount of={placed(balance)} currency={currency} />,
    },
  ];
  return (
    <Page
      title={title}
      live
      actions={
        <>
          {clientsOnly && (
            <Button busy={statement.busy} onClick={statement.run}>
              <Icon of={Download} size={14} /> Statement of all
            </Button>
          )}
          <Button kind="primary" onClick={() => setMaking(true)}>
            {clientsOnly ? "New client" : "New account"}
          </Button>
        </>
      }
    >
      <div class="accounts-filters">
        <Input
          type="search"
          aria-label="Search accounts"
          placeholder="A part of a key or a username"
          value={search ?? ""}
          onInput={(event) => setQuery({ search: event.currentTarget.value || null })}
        />
        <div class="chips">
          {(clientsOnly ? CLIENT_FILTERS : FILTERS).map((filter) => (
            <button
              key={filter.label}
              type="button"
              class="chip"
              aria-pressed={filter.kind === kind && filter.suspended === suspended && parent === null}
              onClick={() => setQuery({ kind: filter.kind, suspended: filter.suspended, parent: null })}
            >
              {filter.label}
            </button>
          ))}
          {parent !== null && (
            <button type="button" class="chip" aria-pressed="true" onClick={() => setQuery({ parent: null })}>
              Clients of {parent} ✕
            </button>
          )}
        </div>
      </div>
      <ProblemBox of={problem ?? more.problem ?? statement.problem} />
      {rows === null && problem === null && <Busy />}
      {rows?.length === 0 && (
        <Empty title={isNarrowed ? "No account is like that" : "There are no clients yet"} icon={Building2}>
          {isNarrowed
            ? next === null
              ? "Take a filter away, or search for less."
              : "None of those looked at so far."
            : "Make one: it gets a name, a password and its own balance."}
          {isNarrowed && next !== null && (
            <Button busy={more.busy} onClick={more.run}>
              Look further
            </Button>
          )}
        </Empty>
      )}
      {rows !== null && rows.length > 0 && (
        <DataTable
          label={title}
          columns={columns}
          rows={rows}
          keyOf={({ key }) => key}
          href={({ key }) => `${base}/${encodeURIComponent(key)}`}
        >
          {next !== null && (
            <Button busy={more.busy} onClick={more.run}>
              More
            </Button>
          )}
        </DataTable>
      )}
      {making && <NewAccount base={base} onClose={() => setMaking(false)} />}
    </Page>
  );
}
