/** The last requests of the account, also those that were refused: the reason stands in the list, and all of it behind a link. */
import { ScrollText } from "lucide";
import { withQuery } from "../../api.ts";
import { useView } from "../../live.ts";
import { type Column, DataTable } from "../../parts/DataTable.tsx";
import { Input } from "../../parts/Field.tsx";
import { Empty, Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy, Status } from "../../parts/Status.tsx";
import { duration, Time } from "../../parts/Time.tsx";
import { setQuery, useLocation } from "../../router.ts";
import { me } from "../../session.ts";
import { RequestDetail } from "./RequestDetail.tsx";
import { callerOf, doorOf, type RequestItem, type RequestList, stateOf } from "./request.ts";
import "./requests.css";

const COLUMNS: readonly Column<RequestItem>[] = [
  { head: "Time", width: "96px", cell: ({ at }) => <Time at={at} /> },
  {
    head: "Answer",
    width: "132px",
    cell: (item) => {
      const { is, word } = stateOf(item);
      return (
        <Status is={is}>
          {item.status} {is !== "done" && word}
        </Status>
      );
    },
  },
  {
    head: "Request",
    width: "minmax(180px, 4fr)",
    plain: true,
    cell: ({ method, path }) => (
      <span class="mono requests-clipped" title={path}>
        {method} {path}
      </span>
    ),
  },
  {
    head: "Reason",
    width: "minmax(140px, 7fr)",
    plain: true,
    cell: ({ reason }) => (
      <span class={reason === null ? "soft" : "requests-reason"} title={reason ?? undefined}>
        {reason ?? "–"}
      </span>
    ),
  },
  {
    head: "Caller",
    width: "minmax(96px, 2fr)",
    cell: (item) => (
      <span class="requests-clipped" title={doorOf(item)}>
        {callerOf(item)}
      </span>
    ),
  },
  { head: "Took", width: "72px", number: true, cell: ({ durationMs }) => duration(durationMs) },
];

const FILTERS = [
  { label: "All", query: { which: null, whose: null } },
  { label: "Refused", query: { which: "refused", whose: null } },
] as const;
const NOBODYS = { label: "Nobody’s", query: { which: null, whose: "nobody" } } as const;

export default function Requests() {
  const { path: place, query } = useLocation();
  const list = { which: query.which, path: query.path, whose: query.whose };
  const id = place.startsWith("/requests/") ? decodeURIComponent(place.slice("/requests/".length)) : "";
  return id === "" ? <List of={list} /> : <RequestDetail key={id} id={id} list={list} />;
}

interface Asked {
  readonly which: string | undefined;
  readonly path: string | undefined;
  readonly whose: string | undefined;
}

function List({ of: asked }: { of: Asked }) {
  const { data, problem } = useView<RequestList>("requests", { ...asked });
  return (
    <Page title="Requests" live>
      <div class="requests stack">
        <Filters of={asked} />
        <ProblemBox of={problem} />
        {data === null ? problem === null && <Busy /> : <Rows of={data} asked={asked} />}
      </div>
    </Page>
  );
}

function Filters({ of: { which, path, whose } }: { of: Asked }) {
  const filters = me.value?.kind === "operator" ? [...FILTERS, NOBODYS] : FILTERS;
  return (
    <div class="requests-filters">
      <fieldset class="chips">
        <legend class="visually-hidden">Which requests</legend>
        {filters.map(({ label, query }) => (
          <a
            key={label}
            class="chip"
            href={withQuery("/requests", { ...query, path })}
            aria-current={query.which === (which ?? null) && query.whose === (whose ?? null) ? "true" : undefined}
          >
            {label}
          </a>
        ))}
      </fieldset>
      <Input
        type="search"
        class="requests-search"
        placeholder="Path contains…"
        aria-label="Path contains"
        value={path ?? ""}
        onInput={(event) => setQuery({ path: event.currentTarget.value })}
      />
    </div>
  );
}

function Rows({ of: { items, kept }, asked }: { of: RequestList; asked: Asked }) {
  return (
    <>
      {items.length === 0 ? (
        <Nothing asked={asked} />
      ) : (
        <DataTable
          label="Requests"
          columns={COLUMNS}
          rows={items}
          keyOf={({ id }) => id}
          href={({ id }) => withQuery(`/requests/${id}`, { ...asked })}
        />
      )}
      <p class="soft">
        This node keeps the last {kept.requests} requests of an account in memory, until it is started anew; other nodes
        have their own. What the pages of the console read is not among them.
        {!kept.texts && " What messages say is masked."}
      </p>
    </>
  );
}

function Nothing({ asked: { which, path, whose } }: { asked: Asked }) {
  if (path !== undefined || which !== undefined)
    return (
      <Empty
        title={which === "refused" && path === undefined ? "Nothing was refused" : "No such request"}
        icon={ScrollText}
      >
        <a href="/requests">Show all requests</a>
      </Empty>
    );
  if (whose !== undefined)
    return (
      <Empty title="Everybody is known" icon={ScrollText}>
        Requests with wrong credentials that name no account are shown here.
      </Empty>
    );
  return (
    <Empty title="No requests yet" icon={ScrollText}>
      Send one: <a href="/compose">Compose</a> shows the same message as curl and in four languages. Requests that are
      refused are shown here with the reason.
    </Empty>
  );
}
