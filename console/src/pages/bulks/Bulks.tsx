/** The account's bulks: how far each is, when the last of it goes, and a way to find one by its id. */
import { Layers } from "lucide";
import { useState } from "preact/hooks";
import { withQuery } from "../../api.ts";
import { useView } from "../../live.ts";
import { DataTable } from "../../parts/DataTable.tsx";
import { Empty, Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy, Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { navigate, useLocation } from "../../router.ts";
import "./bulks.css";
import { BulkBar, BulkShares } from "./BulkBar.tsx";
import {
  type Bulk,
  type BulkList,
  type BulkStatus,
  lastGoesAt,
  STATUSES,
  speedWords,
  totalOf,
  useSpeed,
} from "./bulk.ts";

const COLUMNS = [
  {
    head: "Bulk",
    width: "minmax(140px, 1.2fr)",
    plain: true,
    cell: (bulk: Bulk) => <span class="mono">{bulk.bulkId}</span>,
  },
  {
    head: "State",
    width: "130px",
    cell: ({ status }: Bulk) => <Status is={STATUSES[status].is}>{STATUSES[status].word}</Status>,
  },
  { head: "Progress", width: "minmax(220px, 2fr)", plain: true, cell: (bulk: Bulk) => <Progress of={bulk} /> },
  { head: "Messages", width: "90px", number: true, cell: (bulk: Bulk) => totalOf(bulk) },
  { head: "Speed", width: "110px", number: true, cell: (bulk: Bulk) => <Speed of={bulk} /> },
  { head: "Last goes", width: "130px", cell: (bulk: Bulk) => <LastGoes of={bulk} /> },
  { head: "Made", width: "130px", cell: ({ madeAt }: Bulk) => <Time at={madeAt} /> },
];

export default function Bulks() {
  const { query } = useLocation();
  const { status, before } = query;
  const { data, problem } = useView<BulkList>("bulks", { status, before });
  return (
    <Page title="Bulks" live actions={<Finder />}>
      <nav class="chips" aria-label="State of the bulks">
        <a class="chip" href="/bulks" aria-current={status === undefined ? "true" : undefined}>
          all
        </a>
        {(Object.keys(STATUSES) as BulkStatus[]).map((each) => (
          <a
            key={each}
            class="chip"
            href={withQuery("/bulks", { status: each })}
            aria-current={status === each ? "true" : undefined}
          >
            {STATUSES[each].word}
          </a>
        ))}
      </nav>
      <ProblemBox of={problem} />
      {data === null ? (
        problem === null && <Busy />
      ) : data.bulks.length === 0 && data.next === null ? (
        <NoBulks filtered={status !== undefined || before !== undefined} />
      ) : (
        <DataTable
          label="Bulks"
          columns={COLUMNS}
          rows={data.bulks}
          keyOf={({ bulkId }) => bulkId}
          href={({ bulkId }) => `/bulks/${encodeURIComponent(bulkId)}`}
        >
          {(data.next !== null || before !== undefined) && (
            <span class="row">
              {before !== undefined && (
                <a class="button small" href={withQuery("/bulks", { status })}>
                  Newest
                </a>
              )}
              {data.next !== null && (
                <a class="button small" href={withQuery("/bulks", { status, before: data.next })}>
                  Older
                </a>
              )}
            </span>
          )}
        </DataTable>
      )}
    </Page>
  );
}

function NoBulks({ filtered }: { filtered: boolean }) {
  if (filtered)
    return (
      <Empty title="No such bulk" icon={Layers}>
        <a href="/bulks">Show all bulks</a>
      </Empty>
    );
  return (
    <Empty title="No bulks yet" icon={Layers}>
      A bulk is listed here if it was scheduled, or has 50 messages or more. <a href="/compose">Write a message</a> with
      a time to send it at, and it waits here: you can pause, move and cancel it.
    </Empty>
  );
}

function Finder() {
  const [id, setId] = useState("");
  return (
    <form
      class="row"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        if (id.trim() !== "") navigate(`/bulks/${encodeURIComponent(id.trim())}`);
      }}
    >
      <input
        class="input bulks-find"
        aria-label="Find a bulk by its id"
        placeholder="bulk id"
        value={id}
        onInput={(event) => setId(event.currentTarget.value)}
      />
      <button class="button" type="submit">
        Open
      </button>
    </form>
  );
}

/** A card leaves out what has no value. */
function None() {
  return <span class="soft bulks-none">–</span>;
}

function Progress({ of }: { of: Bulk }) {
  return (
    <div class="bulks-progress">
      <BulkBar of={of} />
      <BulkShares of={of} />
    </div>
  );
}

function Speed({ of }: { of: Bulk }) {
  const speed = useSpeed(of);
  if (of.status !== "PROCESSING" || speed === null) return <None />;
  return <>{speedWords(speed)}</>;
}

function LastGoes({ of }: { of: Bulk }) {
  const at = lastGoesAt(of, useSpeed(of));
  return at === null ? <None /> : <Time at={at} />;
}
