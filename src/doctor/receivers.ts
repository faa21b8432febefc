/** The doctor on those whom reports go to, and on what came back that belongs to nobody. */
import { isAllowable, isRefusedAddress, PRIVATE_CALLBACKS } from "../http/guard.ts";
import { systemClock } from "../runtime/clock.ts";
import { shownUrl } from "../runtime/shown-url.ts";
import { counted, shellWord } from "../runtime/text.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import { type DeadLetter, MAX_COUNTED_REPORTS, type ReportHost } from "../store/port/reports.ts";
import type { Store } from "../store/port/store.ts";
import { problemOf } from "./connections.ts";
import type { Examined, Findings } from "./finding.ts";

/** How many dead letters are looked at, and how many at a time. */
interface LettersLookedAt {
  readonly most: number;
  readonly page: number;
}

export const ALL_LETTERS: LettersLookedAt = { most: 5_000, page: 500 };
export const SOME_LETTERS: LettersLookedAt = { most: 500, page: 100 };
/** Hosts that fail are told one by one up to this. */
const MAX_HOSTS = 50;
/** Receipts are told by their carriers, as far as the newest of them go. */
const RECEIPTS_LOOKED_AT = 500;
const MAX_EXCERPT = 80;

export async function lookAtCallbacks(
  { store, connect }: Examined,
  found: Findings,
  lookedAt: LettersLookedAt,
): Promise<void> {
  const letters = await deadLetters(store, lookedAt);
  const isAll = letters.length < lookedAt.most;
  const byHost = Map.groupBy(letters, ({ url }) => URL.parse(url)?.origin ?? url);
  await Promise.all([...byHost].map(([origin, some]) => lookAtReceiver(origin, some, isAll, connect, found)));
  if (letters.length === 0) found.ok("dead letters", "there are none");
  await lookAtReceipts(store, found);
  const { count: incoming } = await store.unmatchedIncoming({ limit: 1 });
  if (incoming > 0)
    found.warn(
      "incoming",
      `${counted(incoming, "message from a phone was to a number that is", "messages from phones were to numbers that are")} nobody's`,
      '"heliograph incoming list" shows them; "heliograph number set" gives a number to an account',
    );
}

/** Those that came again after they were applied are not among them: they say nothing new of any message. */
async function lookAtReceipts(store: Pick<Store, "parkedReceipts">, found: Findings): Promise<void> {
  const { count, receipts } = await store.parkedReceipts({ limit: RECEIPTS_LOOKED_AT });
  if (count === 0) return;
  const carriers = [...Map.groupBy(receipts, ({ carrierId }) => carrierId)].map(
    ([carrierId, some]) => `${carrierId} (${count > receipts.length ? "at least " : ""}${some.length})`,
  );
  found.warn(
    "receipts",
    `${counted(count, "receipt of a carrier matches", "receipts of carriers match")} no message: of ${carriers.join(", ")}`,
    '"heliograph receipt list" shows them; look at receiptIds of the carrier',
  );
}

/** Hosts that do not take reports now: since when, what they answered last, and how many wait for them. */
export async function lookAtFailingHosts({ store, connect }: Examined, found: Findings): Promise<void> {
  const hosts = await store.reportHosts({ accountKey: null, limit: MAX_HOSTS });
  const failing = hosts.filter(({ waiting }) => waiting > 0);
  if (failing.length === 0) found.ok("receivers", "no report waits for another try");
  await Promise.all(failing.map((host) => lookAtFailingHost(host, connect, found)));
}

async function lookAtFailingHost(host: ReportHost, connect: boolean, found: Findings): Promise<void> {
  const { accountKey, waiting, failingSinceMs, last, nextTryAtMs } = host;
  const most = waiting >= MAX_COUNTED_REPORTS ? "at least " : "";
  const since = failingSinceMs === null ? "" : ` since ${formatDateTime(failingSinceMs)}`;
  const answer = last === null ? "" : `, at ${formatDateTime(last.atMs)}: ${answerOf(last)}`;
  const nowMs = systemClock.now();
  const next =
    nextTryAtMs === null
      ? ""
      : nextTryAtMs <= nowMs
        ? ", and they are due"
        : `, the next at ${formatDateTime(nextTryAtMs)}`;
  const says = `it does not take the reports of ${accountKey}${since}; ${most}${counted(waiting, "report waits", "reports wait")} for another try${next}. Its last answer${answer === "" ? " is not known" : answer}`;
  const mend = `tell the client ${accountKey}; the reports are kept and tried again by themselves, and none is lost`;
  if (last !== null && isRefusedAddress(last.reason)) {
    found.wrong(host.host, `${says}. Nothing is pushed there`, mendRefused(last.reason, accountKey));
    return;
  }
  const problem = connect ? await problemOfReceiver(host.host) : null;
  if (problem === null) found.warn(host.host, says, mend);
  else found.wrong(host.host, `${says}. It cannot be reached from here: ${problem}`, mend);
}

/** It was never called, so whether it can be reached says nothing. */
function mendRefused(reason: string, accounts: string): string {
  const other = `have ${accounts} name an address that is open to all`;
  return isAllowable(reason) ? `set ${PRIVATE_CALLBACKS} if every client is trusted, or ${other}` : other;
}

function answerOf({ reason, excerpt }: NonNullable<ReportHost["last"]>): string {
  const said = excerpt === "" ? "" : ` (${excerpt.slice(0, MAX_EXCERPT)})`;
  return `${reason}${said}`;
}

/** Why a receiver cannot be connected to; null if it can, or has no address that could be tried. */
async function problemOfReceiver(origin: string): Promise<string | null> {
  const url = URL.parse(origin);
  // As reports are pushed: trusting the authorities that Node brings.
  return url === null ? null : problemOf(url, () => ({}));
}

async function deadLetters(
  store: Pick<Store, "deadLetters">,
  { most, page: limit }: LettersLookedAt,
): Promise<DeadLetter[]> {
  const letters: DeadLetter[] = [];
  while (letters.length < most) {
    const beforeId = letters.at(-1)?.id ?? null;
    const page = await store.deadLetters({ accountKey: null, url: null, beforeId, limit });
    letters.push(...page);
    if (page.length < limit) break;
  }
  return letters;
}

async function lookAtReceiver(
  origin: string,
  letters: readonly DeadLetter[],
  isAll: boolean,
  connect: boolean,
  found: Findings,
): Promise<void> {
  const newest = letters[0]!;
  const accounts = [...new Set(letters.map(({ accountKey }) => accountKey))].join(", ");
  const told = `${isAll ? "" : "at least "}${counted(letters.length, "report")} of ${accounts} ${letters.length === 1 ? "was" : "were"} not taken; the last: ${newest.reason}`;
  // By its host: that is all of them, and the secrets that clients have in their URLs stay where they are.
  const replay = `"heliograph report replay --host ${shellWord(origin)}" sends them again`;
  if (URL.parse(origin) === null) {
    found.warn(shownUrl(origin), told, '"heliograph report dead" shows them; tell the client');
    return;
  }
  if (isRefusedAddress(newest.reason)) {
    found.wrong(origin, `${told}. Nothing is pushed there`, `${mendRefused(newest.reason, accounts)}; then ${replay}`);
    return;
  }
  if (!connect) {
    found.warn(origin, told, replay);
    return;
  }
  const problem = await problemOfReceiver(origin);
  if (problem === null) found.warn(origin, `${told}. It can be reached now`, replay);
  else found.wrong(origin, `${told}. It cannot be reached from here: ${problem}`, `tell the client; then ${replay}`);
}
