/** `heliograph message show`: all that is known of a message, for whoever is asked where it is. The operator's API answers with the same facts. */
import type { Command } from "commander";
import { Snapshot } from "../catalogue/snapshot.ts";
import { CARRIED_NAMES } from "../message/fields.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Settings } from "../settings/settings.ts";
import type { Store } from "../store/port/store.ts";
import type { TrackedMessage } from "../tracking/facts.ts";
import { trackMessages } from "../tracking/track.ts";
import { liveCarrierStates } from "./carrier-states.ts";
import { type Cell, counted, type JsonOption, printable, showFields, shownAsJson } from "./show.ts";
import { accountNamed, allAccounts, CommandFault, type CommonOptions, jsonCommand, onStore, say } from "./support.ts";

interface ShowOptions extends CommonOptions, JsonOption {
  readonly account?: string;
}

export function showCommand(): Command {
  return jsonCommand(
    "show",
    "Show one message: what was asked for, how it is encoded, which carrier has it, under which ids and why, what became of it, what it cost, where its report goes, each try of that with its answer, and when the next one is.",
    "heliograph message show 1234567890123456789 --account ACME",
  )
    .argument("<id>", "the messageId that the client has")
    .option("--account <key>", "whose it is (default: look at all accounts)")
    .action(showMessage);
}

async function find(
  store: Store,
  settings: Settings,
  messageId: string,
  accountKey: string | undefined,
): Promise<TrackedMessage[]> {
  const accounts = accountKey === undefined ? allAccounts(store) : [await accountNamed(store, accountKey)];
  const routes = new Snapshot(await store.catalogue());
  const carriers = await liveCarrierStates(store, settings);
  const found: TrackedMessage[] = [];
  const pushing = { settings: settings.reports, sandbox: (await store.purpose()) === "sandbox" };
  for await (const account of accounts) {
    const nowMs = systemClock.now();
    found.push(...(await trackMessages(store, { account, messageId, nowMs, routes, carriers, pushing })));
  }
  return found;
}

async function showMessage(id: string, options: ShowOptions): Promise<void> {
  const found = await onStore(options, (store, settings) => find(store, settings, id, options.account));
  if (found.length === 0)
    throw new CommandFault(
      `there is no message ${id}${options.account === undefined ? "" : ` of ${options.account}`}, or it was deleted after store.retentionDays`,
    );
  if (shownAsJson(options, found)) return;
  for (const [index, one] of found.entries()) {
    if (index > 0) say("");
    showFields(fieldsOf(one));
    say("");
    for (const event of one.events) say(`${event.at}  ${printable(eventLine(event))}`);
  }
}

function fieldsOf(one: TrackedMessage): Record<string, Cell> {
  return {
    Message: one.messageId,
    Bulk: one.request.bulkState === null ? one.bulkId : `${one.bulkId} (${one.request.bulkState})`,
    Account: one.account,
    From: one.from,
    To: one.to,
    Text: JSON.stringify(one.text),
    Encoding: `${one.encoding}${one.flash ? ", flash" : ""}`,
    Parts: one.parts,
    Request: requestLine(one),
    Received: one.receivedAt,
    Due: one.dueAt,
    Sent: one.takenAt ?? (one.final ? "never" : "not yet"),
    Done: one.doneAt ?? "not yet",
    "Valid until": one.expiresAt,
    Status: `${one.status} (${one.statusGroup}: ${one.statusDescription})`,
    Error: one.error === null ? "none" : `${one.error} (${one.errorDescription ?? ""})`,
    ...(one.carrierStatus === null ? {} : { "Carrier's status": one.carrierStatus }),
    Price: `${one.price} ${one.currency} (${one.pricePerPart} a part)`,
    Network: one.mccMnc,
    ...Object.fromEntries(CARRIED_NAMES.map((name) => [wordsOf(name), one[name]])),
    Carrier: carrierLine(one),
    "Carrier's ids": idLine(one),
    ...(one.waitsFor === null ? {} : { "Waits for": awaitedLine(one.waitsFor) }),
    Route: one.route?.why ?? "none",
    "Report to": one.notifyUrl === null ? fetchedWords(one) : `${one.notifyUrl} (${one.notifyContentType})`,
    ...(one.notCalled === null ? {} : { "Not called": one.notCalled }),
    ...reportFields(one),
    "Next try": one.nextTryAt ?? "none",
    "Dead letters":
      one.deadLetters === 0
        ? "none since"
        : `${counted(one.deadLetters, "report")} of the account since: see "heliograph report dead"`,
    ...(one.links.length === 0 ? {} : { Links: one.links.map(linkLine).join("; ") }),
    ...(one.conversion === null ? {} : { Conversion: conversionLine(one.conversion) }),
    ...(one.laterReceipts.length === 0
      ? {}
      : { "After its end": `the carrier said ${one.laterReceipts.map(laterLine).join(", ")}` }),
  };
}

/** Those words that there are. */
function joined(words: readonly (string | null)[], separator = ", "): string {
  return words.filter((each) => each !== null).join(separator);
}

/** "callbackData" → "Callback data" */
function wordsOf(name: string): string {
  return name
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^./, (letter) => letter.toUpperCase());
}

function requestLine({ request }: TrackedMessage): string {
  const { door, by, messages, validityMinutes, deliveryWindow, intermediateReport } = request;
  return joined([
    door ?? "not noted (console.timeline)",
    by,
    messages !== null && messages > 1 ? `with ${messages - 1} others` : null,
    validityMinutes === null ? null : `valid for ${validityMinutes} minutes`,
    deliveryWindow === null ? null : `only ${deliveryWindow}`,
    intermediateReport ? "with intermediate reports" : null,
  ]);
}

function carrierLine({ carrier, carrierHosts, takenAt, partsWaiting, unanswered }: TrackedMessage): string {
  if (carrier === null) return "none";
  return joined([
    carrierHosts.length === 0 ? carrier : `${carrier} at ${carrierHosts.join(", ")}`,
    takenAt === null ? "has not taken it" : `took it at ${takenAt}`,
    partsWaiting === 0 ? null : `its receipt is awaited for ${counted(partsWaiting, "part")}`,
    unanswered === 0 ? null : `did not answer ${counted(unanswered, "time")}`,
  ]);
}

/** "carrier acme, which is refused since …: the bind was refused: ESME_RINVPASWD; tried again at …" */
function awaitedLine({ carrier, state, since, reason, nextTryAt }: NonNullable<TrackedMessage["waitsFor"]>): string {
  if (state === "not served")
    return `carrier ${carrier}, which no running service serves: "heliograph doctor" says whether one runs`;
  const words = state === "throttled" ? "throttled" : `down (${state})`;
  return joined(
    [
      `carrier ${carrier}, which is ${words}${since === null ? "" : ` since ${since}`}${reason === null ? "" : `: ${reason}`}`,
      nextTryAt === null ? null : `it is tried again at ${nextTryAt}`,
    ],
    "; ",
  );
}

function idLine({ carrierIds, takenAt, final }: TrackedMessage): string {
  if (carrierIds.length > 0) return carrierIds.map(({ carrier, id }) => `${id} (${carrier})`).join(", ");
  if (takenAt === null) return "none yet";
  return final
    ? 'kept for a day after the receipt; console.timeline = "all" keeps them longer'
    : "none that the carrier told";
}

function fetchedWords({ toFetch }: TrackedMessage): string {
  return toFetch ? "nowhere: it waits to be fetched" : "nowhere: it has no notifyUrl";
}

/** A line for each report, and one for each try of it. */
function reportFields({ reports, notifyUrl, final }: TrackedMessage): Record<string, string> {
  if (notifyUrl === null) return {};
  if (reports.length === 0)
    return { Report: final ? "none waits: it was taken at the first try" : "none yet: the message has no last status" };
  return Object.fromEntries(
    reports.flatMap((report, index) => {
      const name = reports.length === 1 ? "Report" : `Report ${index + 1}`;
      return [
        [name, reportLine(report)],
        ...report.attempts.map((attempt) => [`${name}, try ${attempt.try}`, attemptLine(attempt)]),
      ];
    }),
  );
}

function reportLine(report: TrackedMessage["reports"][number]): string {
  const { id, state, tries, triedWithOthers, replays, reason } = report;
  const says = { waiting: "waits", taken: "was taken", dead: "is a dead letter" }[state];
  const again = replays === 0 ? "" : ` and ${counted(replays, "replay")}`;
  const others = triedWithOthers === 0 ? "" : `, ${triedWithOthers} of them with another report to the same host`;
  return `${id} ${says} after ${counted(tries, "try", "tries")}${again}${others}${reason === null ? "" : `: ${reason}`}`;
}

function attemptLine(attempt: TrackedMessage["reports"][number]["attempts"][number]): string {
  const { at, status, tookMs, reason, answer, nextTryAt } = attempt;
  return joined([
    `${at}: ${status === null ? (reason ?? "not answered") : `answered ${status}`} in ${tookMs} ms`,
    answer === "" ? null : JSON.stringify(answer),
    nextTryAt === null ? null : `next try at ${nextTryAt}`,
  ]);
}

function laterLine({ receivedAt, carrier, carrierMessageId, outcome, error }: TrackedMessage["laterReceipts"][number]) {
  return `${outcome}${error === null ? "" : ` (${error})`} of ${carrierMessageId} from ${carrier} at ${receivedAt}`;
}

function linkLine({ code, target, clicks, lastClickAt }: TrackedMessage["links"][number]): string {
  return `/l/${code} to ${target}: ${counted(clicks, "click")}${lastClickAt === null ? "" : `, the last at ${lastClickAt}`}`;
}

function conversionLine({ name, processKey, endedAt }: NonNullable<TrackedMessage["conversion"]>): string {
  return `${name === null ? "" : `${name}, `}process key ${processKey}, ${endedAt === null ? "not told of yet" : `told at ${endedAt}`}`;
}

function eventLine({ what, detail, until }: TrackedMessage["events"][number]): string {
  return joined([what, detail === "" ? null : detail, until === null ? null : `until ${until}`], " · ");
}
