/**
 * PINs: made to be sent, and verified. What is decided here is decided on locked rows, so the limits hold to the last one on any number of nodes.
 * Rows are locked in one order (a PIN, its application's count, its number's count), so that nobody waits in a circle.
 */
import type { Regional } from "../message/regional.ts";
import type { KeptFields, PinConfiguration, PinError, PinSending, PinVerdict } from "../pins/commands.ts";
import { DEFAULT_CONFIGURATION } from "../pins/defaults.ts";
import { isPin, maskOf, pinOf } from "../pins/pin.ts";
import { type Count, countOne, parseCount, parseRate, parseSpan, type Rate, uncountOne } from "../pins/rate.ts";
import { filledIn, unusedValues, valuesFault } from "../pins/text.ts";
import { finder, inserting, selecting } from "../store/by-name.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { PIN, PIN_APPLICATION, PIN_TEMPLATE, type PinApplicationRow, type PinRow } from "../store/schema/pin.ts";
import { commands } from "./entry.ts";
import { pinSecretPlace } from "./secrets.ts";

type ApplicationRow = Pick<PinApplicationRow, "enabled" | "configuration" | "secret"> & { applicationId: string };
type FoundPin = PinRow & ApplicationRow;

/** What is counted: PINs sent for an application (no number), PINs sent to a number, verifications of a number. */
type CountKind = "send" | "verify";
const OF_APPLICATION = "";

interface CountRow {
  readonly applicationId: string;
  readonly kind: CountKind;
  readonly number: string;
  readonly events: string;
  readonly untilMs: number;
  readonly configuration: PinApplicationRow["configuration"];
}

/** The rule that a count is held against. */
function limitOf({ kind, number }: CountRow) {
  if (kind === "verify") return "verifyPinLimit";
  return number === OF_APPLICATION ? "sendPinPerApplicationLimit" : "sendPinPerPhoneNumberLimit";
}

const NO_EVENTS = "[]";
/** A count may be purged between two of our statements: then it is made again. */
const MAX_RACES = 5;

const APPLICATION_COLUMNS = `pin_application.id AS "applicationId", ${PIN_APPLICATION.named("enabled", "configuration", "secret")}`;
const PIN_TABLES = "pin JOIN pin_application ON pin_application.id = pin.application_id";
const PIN_COLUMNS = `${PIN.named(...(Object.keys(PIN.columns) as (keyof PinRow)[]))}, ${PIN_APPLICATION.named("enabled", "configuration", "secret")}`;

function configurationOf({ configuration }: Pick<ApplicationRow, "configuration">): PinConfiguration {
  return { ...DEFAULT_CONFIGURATION, ...configuration };
}

/** What a template keeps for the rules of countries, in the spelling of messages. */
function regionalOf({ regional }: KeptFields): Regional | null {
  const { indiaDlt } = (regional ?? {}) as {
    readonly indiaDlt?: { principalEntityId: string; contentTemplateId?: string; teleMarketerId?: string };
  };
  if (indiaDlt === undefined) return null;
  const { teleMarketerId: telemarketerId, ...others } = indiaDlt;
  return { indiaDlt: { ...others, ...(telemarketerId === undefined ? {} : { telemarketerId }) } };
}

/** Rates are checked before they are stored. */
function rateOf(text: string): Rate {
  return parseRate(text)!;
}

function isUsedUp({ attempts, verifiedAtMs }: FoundPin, configuration: PinConfiguration): boolean {
  const isOver = verifiedAtMs !== null && !configuration.allowMultiplePinVerifications;
  return isOver || attempts >= configuration.pinAttempts;
}

function told(to: string, error: PinError | null, attemptsRemaining: number): PinVerdict {
  return { kind: "looked at", to, error, attemptsRemaining };
}

/** Why a PIN is not looked at; or, if it is, how often its number was verified then. */
function refusal(row: FoundPin, before: Count, nowMs: number): PinVerdict | { readonly count: Count; untilMs: number } {
  const configuration = configurationOf(row);
  if (isUsedUp(row, configuration)) return told(row.to, "NO_MORE_PIN_ATTEMPTS", 0);
  if (nowMs >= row.expiresAtMs) return told(row.to, "TTL_EXPIRED", configuration.pinAttempts - row.attempts);
  // Nobody can know it: whoever brings it has guessed. No guess is looked at, so none is worth counting.
  if (row.sentAtMs === null) return told(row.to, "WRONG_PIN", configuration.pinAttempts - row.attempts);
  const rate = rateOf(configuration.verifyPinLimit);
  const counted = countOne(before, rate, nowMs);
  if ("waitMs" in counted) return { kind: "too many", waitMs: counted.waitMs };
  return { count: counted.count, untilMs: nowMs + rate.spanMs };
}

export function pinCommands({ sql, secrets }: CommandParts) {
  const finding = finder(sql, PIN_APPLICATION, PIN);
  const application = finding<[string, number], ApplicationRow>(
    `SELECT ${APPLICATION_COLUMNS} FROM pin_application WHERE pin_application.id = ? AND account_id = ?`,
  );
  const template = selecting(
    sql,
    PIN_TEMPLATE,
    ["text", "pinType", "pinLength", "senderId", "kept"],
    ["id", "applicationId"],
  );
  const lockPin = finding<[string, number], FoundPin>(
    `SELECT ${PIN_COLUMNS} FROM ${PIN_TABLES} WHERE pin.id = ? AND account_id = ? ${sql.dialect.lock("pin")}`,
  );
  const readPin = finding<[string, number], FoundPin & { readonly events: string | null }>(
    `SELECT ${PIN_COLUMNS}, events FROM ${PIN_TABLES}
       LEFT JOIN pin_count ON pin_count.application_id = pin_application.id AND kind = 'verify' AND pin_count.number = pin.number
     WHERE pin.id = ? AND account_id = ?`,
  );
  const insertPin = inserting(sql, PIN);
  const sendAgain = sql.prepare<[number, number, string | null, string, string]>(
    `UPDATE pin SET sent_at_ms = coalesce(sent_at_ms, ?), expires_at_ms = ?, sender = ?, placeholders = ? WHERE id = ?`,
  );
  // Unless it was sent again since.
  const notSent = sql.prepare<[number | null, number, string, number]>(
    "UPDATE pin SET sent_at_ms = ?, expires_at_ms = ? WHERE id = ? AND expires_at_ms = ?",
  );
  const forgetPin = sql.prepare<[string]>("DELETE FROM pin WHERE id = ?");
  const lookAt = sql.prepare<[string]>("UPDATE pin SET attempts = attempts + 1 WHERE id = ?");
  const lookAtRight = sql.prepare<[number, string]>(
    "UPDATE pin SET attempts = attempts + 1, verified_at_ms = ? WHERE id = ?",
  );

  const beginCount = sql.prepare<[string, CountKind, string, number]>(
    `INSERT INTO pin_count (application_id, kind, number, events, until_ms) VALUES (?, ?, ?, '${NO_EVENTS}', ?) ON CONFLICT DO NOTHING`,
  );
  const lockCount = sql.prepare<[string, CountKind, string], { events: string }>(
    `SELECT events FROM pin_count WHERE application_id = ? AND kind = ? AND number = ? ${sql.dialect.lock()}`,
  );
  const writeCount = sql.prepare<[string, number, string, CountKind, string]>(
    "UPDATE pin_count SET events = ?, until_ms = ? WHERE application_id = ? AND kind = ? AND number = ?",
  );

  const keepEvents = sql.prepare<[string, string, CountKind, string]>(
    "UPDATE pin_count SET events = ? WHERE application_id = ? AND kind = ? AND number = ?",
  );
  const forgetCount = sql.prepare<[string, CountKind, string]>(
    "DELETE FROM pin_count WHERE application_id = ? AND kind = ? AND number = ?",
  );

  const flag = (column: string): string =>
    `(CAST(? AS INTEGER) < 0 OR CASE WHEN ${column} IS NULL THEN 0 ELSE 1 END = CAST(? AS INTEGER))`;
  const verifications = sql.prepare<
    [string, string, number, number, number, number, number],
    { to: string; sentAtMs: number | null; verifiedAtMs: number | null }
  >(
    `SELECT number AS "to", sent_at_ms AS "sentAtMs", verified_at_ms AS "verifiedAtMs" FROM pin
     WHERE application_id = ? AND number = ? AND ${flag("verified_at_ms")} AND ${flag("sent_at_ms")}
     ORDER BY created_at_ms DESC LIMIT ?`,
  );
  // Looked at once more when the row is locked: it may have been used since it was found.
  const purgePins = sql.prepare<[number, number, number]>(
    `DELETE FROM pin WHERE id IN (SELECT id FROM pin WHERE expires_at_ms < ? ORDER BY expires_at_ms LIMIT ?) AND expires_at_ms < ?`,
  );
  const endedCounts = finding<[number, number], CountRow>(
    `SELECT pin_count.application_id AS "applicationId", kind, number, events, until_ms AS "untilMs", configuration
     FROM pin_count JOIN pin_application ON pin_application.id = pin_count.application_id
     WHERE until_ms < ? ORDER BY until_ms LIMIT ?`,
  );
  const prolongCount = sql.prepare<[number, string, CountKind, string, number]>(
    "UPDATE pin_count SET until_ms = ? WHERE application_id = ? AND kind = ? AND number = ? AND until_ms = ?",
  );
  const purgeCounts = sql.prepare<[number, number, number]>(
    `DELETE FROM pin_count WHERE (application_id, kind, number) IN
       (SELECT application_id, kind, number FROM pin_count WHERE until_ms <= ? ORDER BY until_ms LIMIT ?) AND until_ms <= ?`,
  );

  /** A count, which nobody else may change before this transaction ends. */
  const countOf = async (applicationId: string, kind: CountKind, number: string, nowMs: number): Promise<Count> => {
    for (let tries = 0; tries < MAX_RACES; tries++) {
      await beginCount.run(applicationId, kind, number, nowMs);
      const row = await lockCount.get(applicationId, kind, number);
      if (row !== undefined) return parseCount(row.events);
    }
    throw new Error(`the count ${kind} of ${applicationId} does not stay`);
  };

  const keepCount = (applicationId: string, kind: CountKind, number: string, count: Count, untilMs: number) =>
    writeCount.run(JSON.stringify(count), untilMs, applicationId, kind, number);

  /** What a PIN is counted against when it is sent, in the order in which the counts are locked. */
  const sendingLimits = (configuration: PinConfiguration, to: string) =>
    [
      { of: "application", number: OF_APPLICATION, rate: rateOf(configuration.sendPinPerApplicationLimit) },
      { of: "phone number", number: to, rate: rateOf(configuration.sendPinPerPhoneNumberLimit) },
    ] as const;

  /** Counts a PIN against all its limits, or against none. */
  const countSending = async (applicationId: string, configuration: PinConfiguration, to: string, nowMs: number) => {
    const counted: [string, Count, number][] = [];
    for (const { of, number, rate } of sendingLimits(configuration, to)) {
      const outcome = countOne(await countOf(applicationId, "send", number, nowMs), rate, nowMs);
      if ("waitMs" in outcome) return { of, waitMs: outcome.waitMs };
      counted.push([number, outcome.count, nowMs + rate.spanMs]);
    }
    for (const [number, count, untilMs] of counted) await keepCount(applicationId, "send", number, count, untilMs);
    return null;
  };

  /** Deletes a page of counts. One whose rate has got a longer span since it was written counts on. Returns whether there are more. */
  const purgeEndedCounts = async (nowMs: number, limit: number): Promise<boolean> => {
    const ended = await endedCounts.all(nowMs, limit);
    let prolonged = 0;
    for (const row of ended) {
      const untilMs = (parseCount(row.events).at(-1)?.[0] ?? 0) + rateOf(configurationOf(row)[limitOf(row)]).spanMs;
      if (untilMs < nowMs) continue;
      await prolongCount.run(untilMs, row.applicationId, row.kind, row.number, row.untilMs);
      prolonged++;
    }
    if (prolonged > 0) return true;
    const lastMs = ended.at(-1)?.untilMs;
    return lastMs !== undefined && (await purgeCounts.run(lastMs, limit, lastMs)) >= limit;
  };

  /** The application, and the PIN as it was or is to be. */
  const subjectOf = async ({ accountId, pinId, first, from, placeholders }: PinSending) => {
    if (first === null) {
      const row = await lockPin.get(pinId, accountId);
      if (row === undefined) return "pin";
      const { templateId, to, sender } = row;
      return {
        row,
        again: row,
        templateId,
        to,
        from: from ?? sender,
        values: placeholders ?? row.placeholders,
      };
    }
    const row = await application.get(first.applicationId, accountId);
    if (row === undefined) return "application";
    return { row, again: null, templateId: first.templateId, to: first.to, from, values: placeholders ?? {} };
  };

  return commands({
    async sendPin(input) {
      const { pinId, nowMs } = input;
      const subject = await subjectOf(input);
      if (typeof subject === "string") return { kind: "unknown", what: subject };
      const { row, again, templateId, to, from, values } = subject;
      const { applicationId } = row;
      const configuration = configurationOf(row);
      if (!row.enabled) return { kind: "disabled" };
      if (again !== null && isUsedUp(again, configuration)) return { kind: "used up" };
      const wanted = await template.get(templateId, applicationId);
      if (wanted === undefined) return { kind: "unknown", what: "template" };
      const says = valuesFault(wanted.text, values);
      if (says !== null) return { kind: "wrong placeholders", says };
      const late = await countSending(applicationId, configuration, to, nowMs);
      if (late !== null) return { kind: "too many", ...late };

      // What was sent once stays the same PIN, whatever its template says by now.
      const { pinType: type, pinLength: length } = again ?? wanted;
      const timeToLiveMs = parseSpan(configuration.pinTimeToLive)!;
      const endMs = nowMs + timeToLiveMs;
      // Two sendings of one millisecond are told apart by it.
      const expiresAtMs = again?.expiresAtMs === endMs ? endMs + 1 : endMs;
      const times = { createdAtMs: nowMs, sentAtMs: nowMs, expiresAtMs };
      const sending = { id: pinId, applicationId, templateId, to, pinType: type, pinLength: length };
      if (again !== null) await sendAgain.run(nowMs, expiresAtMs, from, JSON.stringify(values), pinId);
      else await insertPin.run({ ...sending, ...times, sender: from, placeholders: values });
      const pin = pinOf({ id: pinId, type, length }, secrets.open(pinSecretPlace(applicationId), row.secret));
      return {
        kind: "made",
        times: {
          before: { sentAtMs: again?.sentAtMs ?? null, expiresAtMs: again?.expiresAtMs ?? expiresAtMs },
          expiresAtMs,
        },
        unused: unusedValues(wanted.text, values),
        message: {
          pinId,
          to,
          from: from ?? wanted.senderId,
          text: filledIn(wanted.text, pin, values),
          shownText: filledIn(wanted.text, maskOf(pin), values),
          timeToLiveMs,
          regional: regionalOf(wanted.kept),
        },
      };
    },

    async pinNotSent({ accountId, pinId, atMs, times: { before, expiresAtMs }, uncount, forget }) {
      const row = await lockPin.get(pinId, accountId);
      if (row === undefined) return;
      const { applicationId, to } = row;
      for (const { number } of uncount ? sendingLimits(configurationOf(row), to) : []) {
        const count = uncountOne(await countOf(applicationId, "send", number, atMs), atMs);
        if (count.length === 0) await forgetCount.run(applicationId, "send", number);
        else await keepEvents.run(JSON.stringify(count), applicationId, "send", number);
      }
      if (forget) await forgetPin.run(pinId);
      else await notSent.run(before.sentAtMs, before.expiresAtMs, pinId, expiresAtMs);
    },

    async verifyPin({ accountId, pinId, pin, nowMs }) {
      // Whoever tries all PINs there are is refused here, and keeps nobody waiting for a row.
      const read = await readPin.get(pinId, accountId);
      if (read === undefined) return { kind: "unknown" };
      const early = refusal(read, parseCount(read.events ?? NO_EVENTS), nowMs);
      if ("kind" in early) return early;

      const row = await lockPin.get(pinId, accountId);
      if (row === undefined) return { kind: "unknown" };
      const { applicationId, to, pinType: type, pinLength: length } = row;
      const outcome = refusal(row, await countOf(applicationId, "verify", to, nowMs), nowMs);
      if ("kind" in outcome) return outcome;
      await keepCount(applicationId, "verify", to, outcome.count, outcome.untilMs);
      const secret = secrets.open(pinSecretPlace(applicationId), row.secret);
      if (!isPin({ id: pinId, type, length }, secret, pin)) {
        await lookAt.run(pinId);
        return told(to, "WRONG_PIN", configurationOf(row).pinAttempts - row.attempts - 1);
      }
      await lookAtRight.run(nowMs, pinId);
      return told(to, null, 0);
    },

    async pinVerifications({ accountId, applicationId, to, verified, sent, limit }) {
      if ((await application.get(applicationId, accountId)) === undefined) return null;
      const [isVerified, isSent] = [verified, sent].map((wanted) => (wanted === null ? -1 : Number(wanted)));
      return verifications.all(applicationId, to, isVerified!, isVerified!, isSent!, isSent!, limit);
    },

    async purgePins({ beforeMs, nowMs, limit }) {
      const pins = await purgePins.run(beforeMs, limit, beforeMs);
      return { more: (await purgeEndedCounts(nowMs, limit)) || pins >= limit };
    },
  });
}
