/** The list of messages: live, newest first, by a search that stands in the address. */
import "./messages.css";
import { ArrowUp, ChevronDown, PenLine, Search } from "lucide";
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { MessageItem } from "../../../../src/api/console/message-schemas.ts";
import { readMessageSearch, SEARCH_FILTERS, SEARCH_WORDS } from "../../../../src/api/console/message-search.ts";
import { useView } from "../../live.ts";
import { count } from "../../parts/Amount.tsx";
import { Button } from "../../parts/Button.tsx";
import { type Column, DataTable } from "../../parts/DataTable.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Empty, Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy, Status } from "../../parts/Status.tsx";
import { clockTime, duration, minuteTime, Time } from "../../parts/Time.tsx";
import { setQuery, useLocation } from "../../router.ts";
import { me } from "../../session.ts";
import type { Scroll } from "./left.ts";
import { type Reading, useRows } from "./rows.ts";
import { colourOf, wordsOf } from "./state.ts";

interface Counts {
  readonly of: number;
  readonly isAll: boolean;
  readonly isAllWaiting: boolean;
  readonly failed: number;
  readonly retrying: number;
  readonly stuck: number;
  readonly scheduled: number;
}

const CHIPS = ["failed", "retrying", "stuck", "scheduled", "delivered"] as const;
/** These are counted among the newest messages, the others among all. */
const OF_THE_NEWEST: readonly string[] = ["failed", "stuck"];
/** Further down than this the reader is reading. */
const AWAY_PX = 80;

const zoneMinutes = (): number => -new Date().getTimezoneOffset();

/** The terms of a search, as they are written. */
const termsOf = (q: string): string[] => q.match(/(?:[^\s"]+|"[^"]*")+/g) ?? [];
const isWord = (term: string): boolean => (SEARCH_WORDS as readonly string[]).includes(term.toLowerCase());
const accountIn = (q: string): string | undefined =>
  termsOf(q)
    .find((term) => term.startsWith("account:"))
    ?.slice("account:".length);
const wordIn = (q: string): string | null => termsOf(q).find(isWord)?.toLowerCase() ?? null;
/** The same search with another word, or without one. */
const withWord = (q: string, word: string | null): string =>
  [...(word === null ? [] : [word]), ...termsOf(q).filter((term) => !isWord(term))].join(" ");

function problemIn(q: string): string | null {
  try {
    readMessageSearch(q, { nowMs: 0, zoneMinutes: 0 });
    return null;
  } catch (error) {
    const { message } = error as Error;
    return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`;
  }
}

export default function Messages() {
  const { query } = useLocation();
  const q = query.q ?? "";
  const zone = useMemo(zoneMinutes, []);
  const frame = useRef<HTMLDivElement>(null);
  const reading = useMemo(() => readingOf(frame), []);
  const wrong = problemIn(q);
  const { rows, isOld, view, held, showHeld, ...list } = useRows(wrong === null ? q : "", zone, reading);
  const isOperator = me.value?.kind === "operator";
  const isOfAll = isOperator && accountIn(q) === undefined;
  const columns = useMemo(() => columnsFor(isOperator, isOfAll), [isOperator, isOfAll]);
  const showNewest = (): void => {
    showHeld();
    reading.scrollTo({ page: 0, table: 0 });
  };

  return (
    <Page
      title="Messages"
      live
      actions={
        <a class="button primary" href="/compose">
          <Icon of={PenLine} />
          Compose
        </a>
      }
    >
      <SearchBar q={q} />
      <Chips q={q} />
      <ProblemBox of={wrong ?? view.problem ?? list.problem} />
      <div ref={frame} class={isOld ? "messages-list old" : "messages-list"} aria-busy={isOld}>
        {held > 0 && (
          <button type="button" class="messages-new" onClick={showNewest}>
            <Icon of={ArrowUp} size={14} />
            {count(held)} new
          </button>
        )}
        {rows.length > 0 && wrong === null && (
          <DataTable label="Messages, newest first" columns={columns} rows={rows} keyOf={keyOf} href={placeOf}>
            {list.hasMore && (
              <Button kind="quiet" busy={list.isLooking} onClick={list.older}>
                Older
                <Icon of={ChevronDown} size={14} />
              </Button>
            )}
          </DataTable>
        )}
        {rows.length === 0 && wrong === null && view.problem === null && (
          <Nothing q={q} isLoading={view.data === null || list.isLooking} {...list} />
        )}
      </div>
    </Page>
  );
}

/** A long list scrolls in itself, a short one with the page. */
function readingOf(frame: RefObject<HTMLDivElement | null>): Reading {
  const table = (): Element | null => frame.current?.querySelector(".data-scroll") ?? null;
  const scroll = (): Scroll => ({ page: window.scrollY, table: table()?.scrollTop ?? 0 });
  return {
    scroll,
    isAway: () => Math.max(scroll().page, scroll().table) > AWAY_PX,
    scrollTo(to) {
      window.scrollTo({ top: to.page });
      table()?.scrollTo({ top: to.table });
    },
  };
}

const keyOf = ({ id }: MessageItem): string => id;
const placeOf = ({ id }: MessageItem): string => `/messages/${id}`;

/** Those of all accounts stand in the order in which they came, those of one in the order in which they were sent: that is the time of a row. */
function columnsFor(isOperator: boolean, isOfAll: boolean): readonly Column<MessageItem>[] {
  return [
    { head: isOfAll ? "Received" : "Sent", width: "112px", cell: timeCell },
    ...(isOperator
      ? [{ head: "Account", width: "110px", cell: ({ account }: MessageItem) => <span class="mono">{account}</span> }]
      : []),
    { head: "To", width: "136px", cell: ({ to }) => <span class="mono">{to}</span> },
    { head: "From", width: "104px", cell: ({ from }) => <bdi>{from}</bdi> },
    { head: "Text", width: "minmax(0, 1fr)", plain: true, cell: ({ text }) => <bdi class="soft">{text}</bdi> },
    {
      head: "State",
      width: "216px",
      cell: (row) => (
        <span title={wordsOf(row, clockTime)} class="messages-state">
          <Status is={row.isOverdue ? "retrying" : colourOf(row.state)}>
            <span class="messages-state-words">{wordsOf(row, minuteTime)}</span>
          </Status>
        </span>
      ),
    },
    { head: "Took", width: "84px", number: true, cell: tookCell },
  ];
}

/** What was not sent yet stands by the time when it came. */
function timeCell({ at, state }: MessageItem) {
  return (
    <span class={state === "scheduled" || state === "waiting" ? "soft" : ""}>
      <Time at={at} as="clock" />
    </span>
  );
}

function tookCell({ receivedAt, doneAt }: MessageItem) {
  return <span class="soft">{doneAt === null ? "–" : duration(Date.parse(doneAt) - Date.parse(receivedAt))}</span>;
}

function SearchBar({ q }: { q: string }) {
  const [text, setText] = useState(q);
  const [isHelpOpen, setHelpOpen] = useState(false);
  useEffect(() => setText(q), [q]);
  const wrong = text === q ? null : problemIn(text);
  const apply = (event: Event): void => {
    event.preventDefault();
    setQuery({ q: text.trim() });
  };
  return (
    <form class="messages-search" role="search" onSubmit={apply}>
      <div class="messages-field">
        <Icon of={Search} size={14} />
        <input
          class="input"
          type="search"
          name="q"
          aria-label="Search messages"
          placeholder={`to:4179*  from:Shop  failed  since:2h  text:"your parcel"`}
          spellcheck={false}
          autocomplete="off"
          maxLength={500}
          value={text}
          aria-invalid={wrong !== null}
          aria-describedby="messages-search-words"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <Button type="submit">Search</Button>
      <Button kind="quiet" aria-expanded={isHelpOpen} onClick={() => setHelpOpen(!isHelpOpen)}>
        Filters
      </Button>
      <div id="messages-search-words" class="messages-words" role="status">
        {wrong !== null && <p class="wrong">{wrong}</p>}
        {isHelpOpen && <SearchHelp />}
      </div>
    </form>
  );
}

const EXAMPLES: Readonly<Record<string, string>> = {
  to: "to:41793026727, or to:4179* for all that begin so",
  from: 'from:Shop, from:"My Shop"',
  status: "status:pending, status:DELIVERED_TO_HANDSET",
  error: "error:EC_ABSENT_SUBSCRIBER, error:27",
  carrier: "carrier:sandbox",
  bulk: "bulk:spring-sale",
  id: "id: and a messageId",
  text: 'text:"your parcel"',
  account: "account:DEMO0001",
  since: "since:2h, since:today, since:14:00, since:2026-02-12",
  until: "until:yesterday, until:2026-02-12T14:00Z",
};

function SearchHelp() {
  const filters = SEARCH_FILTERS.filter((name) => name !== "account" || me.value?.kind !== "client");
  return (
    <dl class="messages-help">
      {filters.map((name) => (
        <div key={name}>
          <dt class="mono">{name}:</dt>
          <dd class="soft">{EXAMPLES[name]}</dd>
        </div>
      ))}
    </dl>
  );
}

function Chips({ q }: { q: string }) {
  const { data } = useView<Counts>("message-counts", { account: accountIn(q) });
  const chosen = wordIn(q);
  // They are of all messages: a search for some of them has other numbers.
  const isNarrowed = termsOf(q).some((term) => !isWord(term) && !term.startsWith("account:"));
  const hasNumbers = data !== null && !isNarrowed;
  const numberOf = (word: (typeof CHIPS)[number]) => {
    if (!hasNumbers || word === "delivered") return null;
    return <b>{`${count(data[word])}${data.isAllWaiting || OF_THE_NEWEST.includes(word) ? "" : "+"}`}</b>;
  };
  return (
    <div class="chips" role="group" aria-label="Messages by their state">
      <button
        type="button"
        class="chip"
        aria-pressed={chosen === null}
        onClick={() => setQuery({ q: withWord(q, null) })}
      >
        all
      </button>
      {CHIPS.map((word) => (
        <button
          key={word}
          type="button"
          class="chip"
          aria-pressed={chosen === word}
          onClick={() => setQuery({ q: withWord(q, chosen === word ? null : word) })}
        >
          {word} {numberOf(word)}
        </button>
      ))}
      {hasNumbers && !data.isAll && (
        <span class="soft">
          {OF_THE_NEWEST.join(" and ")}: of the newest {count(data.of)}
        </span>
      )}
    </div>
  );
}

interface NothingProps {
  readonly q: string;
  readonly isLoading: boolean;
  readonly lookedBackTo: string | null;
  readonly hasMore: boolean;
  readonly older: () => void;
}

function Nothing({ q, isLoading, lookedBackTo, hasMore, older }: NothingProps) {
  if (isLoading)
    return <Busy>{lookedBackTo === null ? "Loading" : `Looking, back to ${clockTime(lookedBackTo)} so far`}</Busy>;
  if (hasMore && lookedBackTo !== null)
    return (
      <Empty title={`Nothing since ${clockTime(lookedBackTo)}`}>
        Older messages were not looked at yet. <Button onClick={older}>Look further</Button>
      </Empty>
    );
  if (q !== "")
    return (
      <Empty title="No message is like that">
        Take a filter out, or <a href="/messages">show all messages</a>.
      </Empty>
    );
  return (
    <Empty title="No messages yet">
      <a href="/compose">Compose one</a>: it appears here as soon as it is accepted, and every step of it behind it.
    </Empty>
  );
}
