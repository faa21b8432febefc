/** Live events as lines for people: one each, in columns that stay in place, without what a terminal would obey. */
import type { LiveEvent } from "../events/live.ts";
import { visibleLine } from "../runtime/visible.ts";
import { formatDateTime } from "../schedule/date-time.ts";

type Moment = string | number;

/** An event as the service writes it, or as it is in memory. */
export type ToldEvent = Omit<LiveEvent, "accountId" | "atMs" | "dueAtMs" | "report"> & {
  readonly at: Moment;
  readonly account?: string;
  readonly dueAt?: Moment | undefined;
  readonly report?:
    | (Omit<NonNullable<LiveEvent["report"]>, "retryAtMs"> & { readonly retryAt: Moment | null })
    | undefined;
};

const SHOWN_TEXT = 60;
const KIND_WIDTH = 9;

function clipped(text: string): string {
  const characters = [...text.slice(0, 2 * SHOWN_TEXT)];
  return characters.length <= SHOWN_TEXT && text.length <= 2 * SHOWN_TEXT
    ? text
    : `${characters.slice(0, SHOWN_TEXT).join("")}…`;
}

function momentOf(at: Moment): string {
  return typeof at === "number" ? formatDateTime(at) : at;
}

function timeOf(at: Moment): string {
  return momentOf(at).slice(11, 19);
}

function wordsOf(event: ToldEvent): (string | null)[] {
  const { kind, from = "", to = "", text = "", status = "", error, carrier = "", dueAt } = event;
  const why = `${status}${error === undefined ? "" : ` (${error})`}`;
  switch (kind) {
    case "accepted":
      return [
        `to ${to} from ${from}`,
        JSON.stringify(clipped(text)),
        dueAt === undefined ? null : `goes at ${momentOf(dueAt)}`,
      ];
    case "rejected":
      return [`to ${to} from ${from}`, JSON.stringify(clipped(text)), why];
    case "sent":
      return [`to ${to}`, `carrier ${carrier} took it`];
    case "delivered":
      return [`to ${to}`];
    case "failed":
      return [`to ${to}`, why];
    case "incoming":
      return [`from ${from} to ${to}`, JSON.stringify(clipped(text))];
    case "report":
      return reportWords(event);
    case "warning":
      return [`${event.request}: ${(event.warnings ?? []).join(" ")}`];
  }
}

function reportWords({ report, to }: ToldEvent): (string | null)[] {
  if (report === undefined) return [];
  const { url, items, answer, tookMs, reason, retryAt } = report;
  const about = items > 1 ? `of ${items} items` : to === undefined ? null : `about ${to}`;
  const answered = answer === null ? null : `answered ${answer}${tookMs === null ? "" : ` in ${tookMs} ms`}`;
  const next = retryAt === null ? "not tried again: a dead letter" : `try ${report.try + 1} at ${timeOf(retryAt)}`;
  return [
    about,
    `to ${url}`,
    answered ?? (reason === null ? null : `not taken: ${reason}`),
    reason === null ? null : next,
  ];
}

/**
 * "09:58:20 accepted  to 41793026727 from Heliograph · "Hello" · 123", with the account where events of several are told. The times are UTC, as
 * everywhere.
 */
export function lineOf(event: ToldEvent, isOneAccount = true): string {
  const { at, kind, account, messageId } = event;
  const words = [isOneAccount ? null : (account ?? null), ...wordsOf(event), messageId ?? null].filter(
    (each) => each !== null && each !== "",
  );
  return visibleLine(`${timeOf(at)} ${kind.padEnd(KIND_WIDTH)} ${words.join(" · ")}`);
}
