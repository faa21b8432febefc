/** What every engine of the store must do with PINs, and with messages whose text is a secret. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PinConfiguration, PinSendingOutcome, PinVerdict } from "../../src/pins/commands.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import type { Store } from "../../src/store/port/store.ts";
import { isLong } from "../support/chance.ts";
import { Bench, CARRIER, HOUR, type MakeDatabase, NOW } from "./harness.ts";

export const APPLICATION = "A".repeat(32);
export const TEMPLATE = "B".repeat(32);
export const PHONE = "41790000001";
const DAY = 24 * HOUR;
/** In the long run as many as come at once when somebody tries all PINs of four digits. */
export const GUESSES = isLong ? 10_000 : 500;

export const pinId = (number: number): string => number.toString(16).toUpperCase().padStart(32, "0");

/** Limits that are in no case's way, unless it names them. */
const WIDE = { verifyPinLimit: "1000000/1s", sendPinPerPhoneNumberLimit: "1000000/1d" };

export async function makeApplication(bench: Bench, configuration: Partial<PinConfiguration> = {}): Promise<void> {
  const { accountId, store } = bench;
  const change = { name: "Login", configuration: { ...WIDE, ...configuration } };
  await store.putPinApplication({ accountId, id: APPLICATION, change, secret: "a secret", atMs: NOW });
  await store.putPinTemplate({
    accountId,
    applicationId: APPLICATION,
    id: TEMPLATE,
    change: { text: "PIN {{pin}}", pinType: "NUMERIC" },
    isNew: true,
    atMs: NOW,
  });
}

/** Brings the same PIN on its way again. */
function resendPin(bench: Bench, id: string) {
  const { accountId, clock, store } = bench;
  return store.sendPin({ accountId, pinId: id, first: null, from: null, placeholders: null, nowMs: clock.now() });
}

/** What came of a sending is taken back, as after a message that was rejected, or (`uncount`) that never was. */
async function takeBack(
  bench: Bench,
  id: string,
  outcome: PinSendingOutcome,
  { uncount = false, forget = false } = {},
): Promise<void> {
  assert.ok(outcome.kind === "made", outcome.kind);
  const { accountId, clock, store } = bench;
  await store.pinNotSent({ accountId, pinId: id, atMs: clock.now(), times: outcome.times, uncount, forget });
}

const pinIn = (outcome: PinSendingOutcome): string =>
  outcome.kind === "made" ? outcome.message.text.slice("PIN ".length) : assert.fail(outcome.kind);
const wrongFor = (pin: string): string => (pin === "0000" ? "1111" : "0000");

export function sendPin(bench: Bench, id: string, to = PHONE, store: Store = bench.store) {
  return store.sendPin({
    accountId: bench.accountId,
    pinId: id,
    first: { applicationId: APPLICATION, templateId: TEMPLATE, to },
    from: null,
    placeholders: null,
    nowMs: bench.clock.now(),
  });
}

export async function sentPin(bench: Bench, id: string, to = PHONE): Promise<string> {
  return pinIn(await sendPin(bench, id, to));
}

export const verify = (bench: Bench, id: string, pin: string, store: Store = bench.store): Promise<PinVerdict> =>
  store.verifyPin({ accountId: bench.accountId, pinId: id, pin, nowMs: bench.clock.now() });

/** All PINs of four digits at once, each to one of the stores in turn; returns what was said of how many. */
export async function guessAll(bench: Bench, id: string, stores: readonly Store[]): Promise<Record<string, number>> {
  const verdicts = await Promise.all(
    Array.from({ length: GUESSES }, (_, guess) =>
      verify(bench, id, String(guess).padStart(4, "0"), stores[guess % stores.length]!).catch(busy),
    ),
  );
  const counts: Record<string, number> = {};
  for (const verdict of verdicts) {
    const said = verdict.kind === "looked at" ? (verdict.error ?? "right") : verdict.kind;
    counts[said] = (counts[said] ?? 0) + 1;
  }
  return counts;
}

export function assertTenLookedAt({ WRONG_PIN = 0, right = 0, ...others }: Record<string, number>): void {
  assert.equal(WRONG_PIN + right, 10);
  const { NO_MORE_PIN_ATTEMPTS = 0, busy: unanswered = 0, ...strange } = others;
  assert.equal(NO_MORE_PIN_ATTEMPTS + unanswered, GUESSES - 10);
  assert.deepEqual(strange, {});
}

/** A store that has more to do than it can says so in time: nothing was looked at then. */
function busy(error: unknown): { readonly kind: "busy" } {
  if (error instanceof StoreUnavailable) return { kind: "busy" };
  throw error;
}

export function pinsContract(engine: string, make: MakeDatabase): void {
  describe(`the store on ${engine}: PINs`, () => {
    test(`of ${GUESSES} verifications at once of a PIN with 10 attempts exactly 10 are looked at`, async (t) => {
      const bench = await Bench.start(t, make);
      await makeApplication(bench);
      await sentPin(bench, pinId(1));
      assertTenLookedAt(await guessAll(bench, pinId(1), [bench.store]));
    });

    test(`with one verification in three seconds one of ${GUESSES} is looked at, and the others cost no attempt`, async (t) => {
      const bench = await Bench.start(t, make);
      await makeApplication(bench, { verifyPinLimit: "1/3s" });
      const pin = await sentPin(bench, pinId(1));
      const counts = await guessAll(bench, pinId(1), [bench.store]);
      const { "too many": tooMany = 0, busy: unanswered = 0 } = counts;
      assert.equal(tooMany + unanswered, GUESSES - 1);
      await bench.clock.advance(3_000);
      const wrong = pin === "0000" ? "1111" : "0000";
      const verdict = await verify(bench, pinId(1), wrong);
      assert.deepEqual(verdict, { kind: "looked at", to: PHONE, error: "WRONG_PIN", attemptsRemaining: 8 });
    });

    test("the limits of a number and of an application hold to the last PIN when many are sent at once", async (t) => {
      const bench = await Bench.start(t, make);
      await makeApplication(bench, { sendPinPerPhoneNumberLimit: "3/1d", sendPinPerApplicationLimit: "100/1d" });
      const made = async (count: number, to: (index: number) => string): Promise<number> => {
        const outcomes = await Promise.all(
          Array.from({ length: count }, (_, index) => sendPin(bench, pinId(10_000 * count + index), to(index))),
        );
        return outcomes.filter(({ kind }) => kind === "made").length;
      };
      assert.equal(await made(200, () => PHONE), 3);
      assert.equal(await made(300, (index) => String(41_790_001_000 + index)), 97);
    });

    test("a PIN without a message is not counted, and is forgotten with its counts", async (t) => {
      const bench = await Bench.start(t, make);
      await makeApplication(bench, { sendPinPerPhoneNumberLimit: "1/1d", sendPinPerApplicationLimit: "1/1d" });
      for (let number = 0; number < 5; number++) {
        const id = pinId(number);
        const outcome = await sendPin(bench, id);
        assert.equal((await sendPin(bench, pinId(7))).kind, "too many");
        await takeBack(bench, id, outcome, { uncount: true, forget: true });
        assert.equal((await verify(bench, id, "none")).kind, "unknown");
      }
      assert.deepEqual(await bench.rows("SELECT id FROM pin"), []);
      assert.deepEqual(await bench.rows("SELECT kind FROM pin_count"), []);
      await sentPin(bench, pinId(7));
    });

    test("a PIN whose message was rejected is counted, is never right, and costs nothing, until it is sent", async (t) => {
      const bench = await Bench.start(t, make);
      await makeApplication(bench, { sendPinPerPhoneNumberLimit: "3/1d", verifyPinLimit: "1/3s" });
      const outcome = await sendPin(bench, pinId(1));
      await takeBack(bench, pinId(1), outcome);
      const pin = pinIn(outcome);
      const notLookedAt = { kind: "looked at", to: PHONE, error: "WRONG_PIN", attemptsRemaining: 10 };
      for (const guess of [pin, wrongFor(pin), pin]) {
        assert.deepEqual(await verify(bench, pinId(1), guess), notLookedAt);
      }
      assert.deepEqual(await bench.rows("SELECT number FROM pin_count WHERE kind = 'verify'"), []);
      await takeBack(bench, pinId(1), await resendPin(bench, pinId(1)));
      assert.deepEqual(await verify(bench, pinId(1), pin), notLookedAt);
      assert.equal(pinIn(await resendPin(bench, pinId(1))), pin);
      assert.deepEqual(await verify(bench, pinId(1), pin), { ...notLookedAt, error: null, attemptsRemaining: 0 });
      assert.equal((await sendPin(bench, pinId(2))).kind, "too many", "those that were rejected count");
    });

    test("a sending that is taken back leaves the PIN's times as they were, and not those of a later one", async (t) => {
      const bench = await Bench.start(t, make);
      await makeApplication(bench, { pinTimeToLive: "10m" });
      const times = async () => (await bench.rows("SELECT sent_at_ms, expires_at_ms FROM pin"))[0];
      const pin = await sentPin(bench, pinId(1));
      const first = await times();
      // Within the millisecond of the first, and later.
      for (const uncount of [false, true]) {
        await takeBack(bench, pinId(1), await resendPin(bench, pinId(1)), { uncount });
        assert.deepEqual(await times(), first);
        await bench.clock.advance(60_000);
      }
      const rejected = await resendPin(bench, pinId(1));
      await resendPin(bench, pinId(1));
      const later = await times();
      await takeBack(bench, pinId(1), rejected);
      assert.deepEqual(await times(), later);
      assert.notDeepEqual(later, first);
      await bench.clock.advance(9 * 60_000);
      const verdict = await verify(bench, pinId(1), pin);
      assert.ok(verdict.kind === "looked at" && verdict.error === null);
    });

    test("attempts are kept when a PIN is sent again", async (t) => {
      const bench = await Bench.start(t, make);
      await makeApplication(bench, { pinAttempts: 3 });
      const pin = await sentPin(bench, pinId(1));
      for (const attemptsRemaining of [2, 1, 0]) {
        const verdict = await verify(bench, pinId(1), wrongFor(pin));
        assert.deepEqual(verdict, { kind: "looked at", to: PHONE, error: "WRONG_PIN", attemptsRemaining });
        assert.equal((await resendPin(bench, pinId(1))).kind, attemptsRemaining === 0 ? "used up" : "made");
      }
    });

    test("verifications of a number are limited over all its PINs, and those of others are not", async (t) => {
      const bench = await Bench.start(t, make);
      await makeApplication(bench, { verifyPinLimit: "2/3s" });
      for (let number = 1; number <= 4; number++) await sentPin(bench, pinId(number));
      await sentPin(bench, pinId(5), "41790000002");
      const kinds = [];
      for (let number = 1; number <= 5; number++) kinds.push((await verify(bench, pinId(number), "none")).kind);
      assert.deepEqual(kinds, ["looked at", "looked at", "too many", "too many", "looked at"]);
      assert.deepEqual(
        (await bench.rows("SELECT attempts FROM pin ORDER BY id")).map(({ attempts }) => attempts),
        [1, 1, 0, 0, 1],
      );
    });

    test("a count that a longer span makes count on is not purged, and neither is one with an event taken out", async (t) => {
      const bench = await Bench.start(t, make);
      await makeApplication(bench, { sendPinPerPhoneNumberLimit: "2/1h" });
      await sentPin(bench, pinId(1));
      await bench.clock.advance(HOUR / 2);
      await takeBack(bench, pinId(2), await sendPin(bench, pinId(2)), { uncount: true, forget: true });
      const { accountId, store, clock } = bench;
      const put = (sendPinPerPhoneNumberLimit: string) =>
        store.putPinApplication({
          accountId,
          id: APPLICATION,
          change: { name: "Login", configuration: { sendPinPerPhoneNumberLimit } },
          secret: null,
          atMs: clock.now(),
        });
      await put("1/1d");
      await clock.advance(2 * HOUR);
      const purge = async () => {
        while ((await store.purgePins({ beforeMs: NOW, nowMs: clock.now(), limit: 1 })).more);
      };
      await purge();
      const late = await sendPin(bench, pinId(3));
      assert.deepEqual(late, { kind: "too many", of: "phone number", waitMs: DAY - 2.5 * HOUR });
      await clock.advance(DAY);
      await purge();
      assert.deepEqual(await bench.rows("SELECT number FROM pin_count WHERE number <> ''"), []);
    });

    test("nothing grows: counts and PINs leave when their time is over", async (t) => {
      const bench = await Bench.start(t, make);
      await makeApplication(bench, { pinTimeToLive: "1h", sendPinPerApplicationLimit: "1000000/1h" });
      for (let hour = 0; hour < 50; hour++) {
        const pin = await sentPin(bench, pinId(hour));
        await verify(bench, pinId(hour), pin);
        await bench.clock.advance(HOUR / 10);
      }
      const count = async (table: string) => (await bench.rows(`SELECT * FROM ${table}`)).length;
      assert.equal(await count("pin_count"), 3, "a row for each limit, however often it is held");
      const longest = (await bench.rows("SELECT max(length(events)) AS octets FROM pin_count"))[0]!;
      assert.ok(Number(longest.octets) < 2_500);
      const nowMs = bench.clock.now() + 2 * DAY;
      assert.deepEqual(await bench.store.purgePins({ beforeMs: NOW, nowMs, limit: 500 }), { more: false });
      assert.deepEqual([await count("pin"), await count("pin_count")], [50, 0]);
      assert.deepEqual(await bench.store.purgePins({ beforeMs: nowMs, nowMs, limit: 20 }), { more: true });
      assert.equal(await count("pin"), 30);
      assert.deepEqual(await bench.store.purgePins({ beforeMs: nowMs, nowMs, limit: 100 }), { more: false });
      assert.equal(await count("pin"), 0);
    });

    test("no PIN stands in the store, and the applications of a retired account can tell none", async (t) => {
      const bench = await Bench.start(t, make);
      await makeApplication(bench);
      const pin = await sentPin(bench, pinId(1));
      for (const table of ["pin", "pin_count", "pin_template"])
        assert.doesNotMatch(
          JSON.stringify(await bench.rows(`SELECT * FROM ${table}`), big),
          new RegExp(`"[^"]*${pin}"`),
        );
      const by = { by: { name: "test", address: null }, atMs: bench.clock.now() };
      await bench.store.changeAccount({
        key: "CLIENT",
        resellerId: null,
        version: null,
        change: { retired: true, settlement: { kind: "paidOut" } },
        ...by,
      });
      assert.deepEqual(await bench.rows("SELECT enabled, secret FROM pin_application"), [{ enabled: 0, secret: "" }]);
    });

    test("applications of an account and templates of an application have a bound, when many are made at once too", async (t) => {
      const bench = await Bench.start(t, make);
      await makeApplication(bench);
      const { accountId, store } = bench;
      const change = { name: "x" };
      const made = await Promise.all(
        Array.from({ length: 1_010 }, (_, index) =>
          store.putPinApplication({ accountId, id: pinId(index), change, secret: "x", atMs: NOW }),
        ),
      );
      assert.equal(made.filter((each) => each === "too many").length, 11);
      assert.equal((await store.pinApplications({ accountId })).length, 1_000);
      const template = { text: "{{pin}}", pinType: "HEX" } as const;
      const templates = await Promise.all(
        Array.from({ length: 105 }, (_, index) =>
          store.putPinTemplate({
            accountId,
            applicationId: APPLICATION,
            id: pinId(index),
            change: template,
            isNew: true,
            atMs: NOW,
          }),
        ),
      );
      assert.equal(templates.filter((each) => each === "too many").length, 6);
    });

    test("the carrier gets a secret text after a restart too, and once it has all of it the text is gone", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message(), bench.message({ rejectedStatusId: 52 })], {
        text: "PIN 1234",
        shownText: "PIN ****",
      });
      assert.deepEqual(
        bench.takeMessages().map(({ text }) => text),
        ["PIN 1234"],
      );
      await bench.restart();
      await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 10 });
      const messages = bench.takeMessages();
      assert.deepEqual(
        messages.map(({ text }) => text),
        ["PIN 1234"],
      );
      // Whether the carrier has it is not known: it is handed over once more.
      await bench.store.again({ messages: [{ key: messages[0]!.key, unknown: true, taken: null }] });
      const texts = async () => {
        await bench.restart();
        return bench.rows("SELECT body, secret_body FROM message ORDER BY state");
      };
      const ended = { body: "PIN ****", secret_body: null };
      assert.deepEqual(await texts(), [{ body: "PIN ****", secret_body: "PIN 1234" }, ended]);
      await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 10 });
      const again = bench.takeMessages();
      assert.deepEqual(
        again.map(({ text, unknownCount }) => [text, unknownCount]),
        [["PIN 1234", 1]],
      );
      await bench.submit(again);
      assert.deepEqual(await texts(), [ended, ended], "before its receipt");
      await bench.receive(bench.receipt(`${messages[0]!.key}.1`));
      assert.deepEqual(await texts(), [ended, ended]);
    });
  });
}

const big = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);
