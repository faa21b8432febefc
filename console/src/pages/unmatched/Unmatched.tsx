/** What came in and belongs to nothing, and what the store refused: why, and what can be done about it. */
import { CircleCheck } from "lucide";
import { useState } from "preact/hooks";
import { api } from "../../api.ts";
import { useView } from "../../live.ts";
import { Button } from "../../parts/Button.tsx";
import { Code, Id } from "../../parts/Copy.tsx";
import { type Column, DataTable } from "../../parts/DataTable.tsx";
import { Confirm, Dialog } from "../../parts/Dialog.tsx";
import { Field, Input } from "../../parts/Field.tsx";
import { Empty, Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy, Status } from "../../parts/Status.tsx";
import { Tabs } from "../../parts/Tabs.tsx";
import { Time } from "../../parts/Time.tsx";
import { say } from "../../parts/Toast.tsx";
import { setQuery, useLocation } from "../../router.ts";
import "./unmatched.css";

type Kind = "receipts" | "incoming" | "quarantine";

interface Row {
  readonly id: string;
  readonly at: string;
  readonly carrier: string | null;
  readonly why: string;
  readonly subject: string;
  readonly to: string | null;
  readonly detail: string;
  readonly times: number;
}

interface Answer {
  readonly counts: Readonly<Record<Kind, number>>;
  readonly promised: number;
  readonly found: number;
  readonly lookedThrough: number;
  readonly results: readonly Row[];
}

const KINDS: Readonly<Record<Kind, { title: string; empty: string; next: string }>> = {
  receipts: {
    title: "Receipts",
    empty: "Every receipt found its message",
    next: "Here are receipts of carriers that match no message. Where all of a carrier's do, look at its receiptIds.",
  },
  incoming: {
    title: "Incoming",
    empty: "Every message from a phone found its account",
    next: "Here are messages to numbers that are nobody's. Under Routes and prices a number is given to an account.",
  },
  quarantine: {
    title: "Refused by the store",
    empty: "The store has refused nothing",
    next: "Here is what carriers said, or what was promised, that the database would not take.",
  },
};

/** Why a receipt is here, and what it most likely means. */
const REASONS: Readonly<Record<string, { word: string; means: string }>> = {
  unmatched: {
    word: "no such message",
    means:
      "No message has its id. It may be of another system that shares the account with the carrier, or older than what is kept.",
  },
  foreign: {
    word: "another phone",
    means:
      "The message with its id goes to another phone. If all of a carrier's receipts are so, its receiptIds are set wrong.",
  },
  doubtful: {
    word: "several messages",
    means: "The carrier gave one id to several messages, and which is meant cannot be known.",
  },
  unreadable: {
    word: "unreadable",
    means: "It could not be read. Its octets are kept as they came, for you and the carrier to find out why.",
  },
};

const wordOf = (why: string): string => REASONS[why]?.word ?? why;

export default function Unmatched() {
  const { of = "receipts", search = "" } = useLocation().query;
  const kind: Kind = of in KINDS ? (of as Kind) : "receipts";
  const { data, problem } = useView<Answer>("unmatched", { of: kind, search });
  const [looked, setLooked] = useState<Row | null>(null);
  const [dropping, setDropping] = useState<readonly string[]>([]);
  const count = (name: Kind): string => (data === null ? "" : ` ${data.counts[name].toLocaleString()}`);

  const columns: readonly Column<Row>[] = [
    { head: "Came", width: "96px", cell: ({ at }) => <Time at={at} /> },
    {
      head: "Why",
      width: kind === "quarantine" ? "minmax(160px, 2fr)" : "168px",
      cell: ({ why }) => <Status is={kind === "quarantine" ? "failed" : "retrying"}>{wordOf(why)}</Status>,
    },
    ...(kind === "quarantine"
      ? []
      : [{ head: "Carrier", width: "110px", cell: ({ carrier }: Row) => carrier ?? "–" } satisfies Column<Row>]),
    {
      head: kind === "receipts" ? "Its id" : kind === "incoming" ? "From" : "About",
      width: "minmax(120px, 1fr)",
      cell: ({ subject }) => <span class="mono">{subject}</span>,
    },
    ...(kind === "quarantine"
      ? []
      : [
          {
            head: kind === "receipts" ? "Phone" : "To",
            width: "minmax(110px, 1fr)",
            cell: ({ to }: Row) => <span class="mono">{to ?? "–"}</span>,
          } satisfies Column<Row>,
        ]),
    { head: kind === "incoming" ? "Text" : "It says", width: "minmax(120px, 1.6fr)", cell: ({ detail }) => detail },
    {
      head: "Actions",
      width: "116px",
      number: true,
      plain: true,
      cell: (row) => (
        <span class="unmatched-actions">
          <Button small kind="quiet" onClick={() => setLooked(row)} aria-label={`Look at ${row.subject}`}>
            Look
          </Button>
          <Button small kind="quiet" onClick={() => setDropping([row.id])} aria-label={`Drop ${row.subject}`}>
            Drop
          </Button>
        </span>
      ),
    },
  ];

  return (
    <Page
      title="Unmatched"
      live
      actions={
        data !== null &&
        data.results.length > 1 && (
          <Button onClick={() => setDropping(data.results.map(({ id }) => id))}>
            Drop the {data.results.length} shown
          </Button>
        )
      }
    >
      <Tabs
        label="What it is"
        chosen={kind}
        tabs={(Object.keys(KINDS) as Kind[]).map((id) => ({ id, label: `${KINDS[id].title}${count(id)}` }))}
        onChoose={(id) => setQuery({ of: id === "receipts" ? null : id, search: null })}
      >
        <div class="stack">
          <Field label="Search">
            <Input
              type="search"
              class="unmatched-search"
              value={search}
              placeholder="an id, a number, a carrier, a reason"
              onInput={(event) => setQuery({ search: event.currentTarget.value })}
            />
          </Field>
          <ProblemBox of={problem} />
          {kind === "quarantine" && data !== null && data.promised > 0 && (
            <ProblemBox
              of={`${data.promised} of them were promised to clients and are in no table: make up for each before you drop it.`}
            />
          )}
          {data === null ? (
            problem === null && <Busy />
          ) : data.results.length === 0 ? (
            <Empty title={search === "" ? KINDS[kind].empty : "Nothing has these words"} icon={CircleCheck}>
              {search === "" ? KINDS[kind].next : `${data.lookedThrough} were looked through, the newest first.`}
            </Empty>
          ) : (
            <>
              <DataTable label={KINDS[kind].title} columns={columns} rows={data.results} keyOf={({ id }) => id} />
              {data.found > data.results.length && (
                <p class="soft">
                  The newest {data.results.length} of {data.found.toLocaleString()} are shown.
                </p>
              )}
            </>
          )}
        </div>
      </Tabs>
      {looked !== null && <Looked of={looked} kind={kind} onClose={() => setLooked(null)} />}
      {dropping.length > 0 && (
        <Confirm
          title={dropping.length === 1 ? "Drop it" : `Drop ${dropping.length}`}
          action="Drop"
          danger
          onClose={() => setDropping([])}
          onConfirm={async () => {
            const { dropped } = await api.post<{ dropped: number }>("/console/1/unmatched/drop", {
              of: kind,
              ids: dropping,
            });
            say(dropped === 1 ? "It is dropped." : `${dropped} are dropped.`);
          }}
        >
          What is dropped is gone for good; the audit says who dropped it. What is left alone goes by itself after some
          days.
        </Confirm>
      )}
    </Page>
  );
}

function Looked({ of, kind, onClose }: { of: Row; kind: Kind; onClose: () => void }) {
  const reason = REASONS[of.why];
  return (
    <Dialog title={KINDS[kind].title} wide onClose={onClose}>
      {reason !== undefined && <p>{reason.means}</p>}
      <dl class="facts">
        <dt>came</dt>
        <dd>
          <Time at={of.at} as="clock" />
          {kind === "receipts" && of.times > 1 && <span class="soft">, {of.times} times</span>}
        </dd>
        <dt>why</dt>
        <dd>{wordOf(of.why)}</dd>
        {of.carrier !== null && (
          <>
            <dt>carrier</dt>
            <dd>
              <a href={`/carriers/${encodeURIComponent(of.carrier)}`}>{of.carrier}</a>
            </dd>
          </>
        )}
        <dt>{kind === "receipts" ? "its id" : kind === "incoming" ? "from" : "about"}</dt>
        <dd>{of.subject === "" ? "–" : <Id of={of.subject} />}</dd>
        {of.to !== null && (
          <>
            <dt>{kind === "receipts" ? "phone" : "to"}</dt>
            <dd>
              <Id of={of.to} />
            </dd>
          </>
        )}
      </dl>
      {of.detail !== "" && <Code text={of.detail} label="what it says" />}
    </Dialog>
  );
}
