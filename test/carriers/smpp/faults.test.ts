/**
 * The whole service against a carrier that misbehaves: for each fault the message reaches the right final status, is charged once, and,
 * where the fault allows it, reaches the phone once.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { SmppProfile } from "../../../src/carriers/smpp/profile.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { seededRandom } from "../../../src/runtime/random.ts";
import type { Faults } from "../../../src/smsc/faults.ts";
import { Smsc, type SmscSettings } from "../../../src/smsc/smsc.ts";
import { SWEEP_START } from "../../../src/store/port/delivery.ts";
import { ReportReceiver } from "../../support/report-receiver.ts";
import { eventually, startTestService, type TestService } from "../../support/service.ts";

interface Story {
  readonly name: string;
  readonly faults: Faults;
  readonly profile?: Partial<SmppProfile>;
  readonly smsc?: Partial<SmscSettings>;
  readonly text?: string;
  /** Messages sent; 5 unless given. */
  readonly count?: number;
  /** The final status of each; delivered (5) unless given. */
  readonly status?: number;
  /** How often a part may reach its phone: once unless given. */
  readonly mostCopies?: number;
  /** Receipts that must be recorded beside their messages, after the last word. */
  readonly later?: number;
  /** Receipts that must be known for such as have come before. */
  readonly repeated?: number;
}

const LONG = "A long message, in several parts, each of which has a header of its own. ".repeat(5);
/** An answer that comes is not taken for one that was dropped, also where others use the machine. */
const QUICK: Partial<SmppProfile> = { answerSeconds: 3, reconnectSeconds: 1 };

const STORIES: readonly Story[] = [
  { name: "nothing goes wrong", faults: {} },
  { name: "nothing goes wrong with a long message", faults: {}, text: LONG },
  { name: "answers are slow", faults: { delayAnswer: { ms: 200 } } },
  // The part was taken, and we cannot know: it is sent again, at most three times.
  { name: "an answer is dropped", faults: { dropAnswer: 1 }, profile: QUICK, mostCopies: 2 },
  {
    name: "an answer is dropped and the policy is to hold",
    faults: { dropAnswer: 1 },
    profile: { ...QUICK, unknownOutcome: "hold" },
  },
  {
    name: "every answer is dropped",
    faults: { dropAnswer: true },
    profile: QUICK,
    count: 1,
    mostCopies: 4,
    status: 22,
  },
  { name: "answers come twice", faults: { doubleAnswer: true } },
  { name: "the receipt comes before the answer", faults: { receiptFirst: true } },
  { name: "the receipts of a long message come before their answers", faults: { receiptFirst: true }, text: LONG },
  { name: "ids are hexadecimal", faults: { ids: "hex" } },
  {
    name: "ids are hexadecimal, then decimal",
    faults: { ids: "hex then decimal" },
    profile: { receiptIds: "hex then decimal" },
  },
  {
    name: "ids are decimal, then hexadecimal",
    faults: { ids: "decimal then hex" },
    profile: { receiptIds: "decimal then hex" },
  },
  { name: "ids have zeros in front", faults: { ids: "zeros then decimal" } },
  { name: "ids are UUIDs", faults: { ids: "uuid" } },
  {
    name: "only the first part of a long message has a receipt",
    faults: { receiptParts: "first" },
    text: LONG,
    profile: { partRule: "first" },
  },
  {
    name: "only the last part of a long message has a receipt",
    faults: { receiptParts: "last" },
    text: LONG,
    profile: { partRule: "last" },
  },
  { name: "receipts come twice", faults: { doubleReceipt: true }, repeated: 5 },
  { name: "receipts are late", faults: { delayReceipt: { ms: 500 } } },
  { name: "a receipt is contradicted by the next", faults: { contradictReceipt: true }, later: 5 },
  { name: "all parts of a message have one id", faults: { sameIds: { every: 1 } }, text: LONG, count: 1 },
  { name: "ids come again, for other phones", faults: { sameIds: { every: 2 } } },
  {
    name: "a state that nobody has heard of is not the last word",
    faults: { strangeState: { count: 1 } },
    count: 1,
    status: 29,
  },
  { name: "receipts have text only", faults: { receiptForm: "text" } },
  { name: "receipts have text in UCS-2 only", faults: { receiptForm: "ucs2 text" } },
  { name: "receipts have optional parameters only", faults: { receiptForm: "tlvs" } },
  { name: "receipts are not marked as such", faults: { unmarkedReceipt: true } },
  { name: "receipts have impossible dates", faults: { impossibleDates: true } },
  { name: "there is never a receipt", faults: { dropReceipt: true }, status: 29 },
  { name: "the carrier throttles", faults: { throttle: { perSecond: 10 } }, count: 25 },
  { name: "the carrier's queue is full for a while", faults: { queueFull: 3 } },
  { name: "the carrier is congested", faults: { congestion: { state: 95, count: 3 } } },
  { name: "the carrier refuses", faults: { refuseSubmit: true }, status: 4 },
  {
    name: "the carrier unbinds in mid-window",
    faults: { unbind: { skip: 2, count: 1 } },
    profile: QUICK,
    mostCopies: 2,
  },
  { name: "the connection drops in mid-window", faults: { dropConnection: { skip: 2, count: 1 } }, profile: QUICK },
  {
    name: "the connection drops in mid-window after the part was taken",
    faults: { dropConnection: { skip: 2, count: 1, taken: true } },
    profile: QUICK,
    mostCopies: 2,
  },
  {
    // Nobody ends it: the watchdog must notice by itself that the peer is dead.
    name: "the carrier falls silent and leaves the connection open",
    faults: { halfOpen: { skip: 2, count: 1 } },
    profile: { answerSeconds: 30, reconnectSeconds: 1, enquireLinkSeconds: 1 },
  },
  { name: "PDUs arrive torn to pieces", faults: { tornPdus: true } },
  { name: "PDUs arrive glued together", faults: { gluedPdus: true } },
  { name: "the bind is refused twice", faults: { refuseBind: 2 }, profile: QUICK },
];

const PRICE = 0.01;
const NO_FILTER = { bulkIds: null, messageIds: null, from: null, to: null, statusIds: null, mcc: null, mnc: null };
const ALL_LOGS = { ...NO_FILTER, sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER, after: null };

function catalogueFor(port: number, profile: Partial<SmppProfile>): string {
  const fields = { hosts: [`127.0.0.1:${port}`], systemId: "me", password: "secret", window: 10, ...profile };
  return `
[[carrier]]
id = "acme"
kind = "smpp"
${Object.entries(fields)
  .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  .join("\n")}
[[route]]
prefix = ""
carrier = "acme"
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "${PRICE}" }]
`;
}

async function start(
  t: TestContext,
  story: Story,
): Promise<{ smsc: Smsc; service: TestService; receiver: ReportReceiver }> {
  const smsc = new Smsc({ answerAfterMs: 20, faults: story.faults, ...story.smsc }, systemClock, seededRandom(1));
  await smsc.start();
  t.after(() => smsc.stop());
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const service = await startTestService(t, {
    catalogue: catalogueFor(smsc.port, story.profile ?? {}),
    // A receipt that never comes is given up for lost as soon as the validity is over.
    settings: { dispatch: { receiptWaitMs: 0, sweepEveryMs: 100 } },
  });
  return { smsc, service, receiver };
}

for (const story of STORIES) {
  const { name, text = "Hello", count = 5, status = 5, mostCopies = 1, later = 0, repeated = 0 } = story;
  test(`${name}: ${count === 1 ? "the message ends" : `${count} messages end`} with status ${status}`, {
    timeout: 600_000,
  }, async (t) => {
    const { smsc, service, receiver } = await start(t, story);
    const destinations = Array.from({ length: count }, (_, index) => ({
      to: `4179000000${index % 10}`,
      messageId: `m${index}`,
    }));
    const body = { messages: [{ from: "Sender", text, destinations, notifyUrl: `${receiver.url}/` }] };
    const answer = await service.call("POST", "/sms/1/text/advanced", { body });
    assert.equal(answer.status, 200, answer.text);
    const parts: number = answer.json.messages[0].smsCount;
    if (status === 29) {
      await eventually(async () => smsc.parts.length === count * parts);
      // A round need not see what came within the last second.
      await eventually(async () => {
        await service.store.sweep({
          nowMs: systemClock.now() + 49 * 3_600_000,
          receiptWaitMs: 0,
          limit: 1_000,
          cursor: SWEEP_START,
        });
        return receiver.items.length === count;
      });
    }
    await receiver.waitForItems(count, 45_000);

    const results = new Map(receiver.items.map((item) => [item.messageId, (item.status as { id: number }).id]));
    assert.deepEqual(
      [...results.values()],
      Array.from({ length: count }, () => status),
    );
    assert.equal(results.size, count, "each was reported");
    assert.equal(receiver.items.length, count, "once");
    const cost = status === 4 ? 0 : count * parts * PRICE;
    assert.equal((await service.call("GET", "/account/1/balance")).json.balance, Number((100 - cost).toFixed(6)));
    assert.deepEqual(await service.store.verifyLedger(), []);

    const copies = new Map<string, number>();
    for (const part of smsc.parts) {
      const key = `${part.to} ${part.text}`;
      copies.set(key, (copies.get(key) ?? 0) + 1);
    }
    const perPhone = Math.ceil(count / 10); // numbers repeat from the eleventh message on
    assert.ok(Math.max(0, ...copies.values()) <= mostCopies * perPhone, `copies: ${[...copies.values()]}`);
    if (status === 5) assert.equal(copies.size, Math.min(count, 10) * parts, "each part reached its phone");
    if (repeated > 0) {
      const line = `heliograph_receipts_unapplied_total{reason="repeated"} ${repeated}\n`;
      await eventually(async () => (await service.call("GET", "/metrics")).text.includes(line));
      assert.equal((await service.store.parkedReceipts({ limit: 1 })).count, 0);
    }
    if (later > 0) {
      const { id: accountId } = (await service.store.account({ resellerId: null, key: "DEMO0001" }))!;
      const { messages } = await service.store.logs({ ...ALL_LOGS, accountId, limit: count });
      const recorded = () => Promise.all(messages.map(({ key }) => service.store.laterReceipts({ messageKey: key })));
      await eventually(async () => (await recorded()).flat().length === later);
      assert.ok((await recorded()).every(([receipt]) => receipt?.outcome === "undeliverable"));
      assert.equal((await service.store.parkedReceipts({ limit: 1 })).count, 0);
    }
  });
}

test("a message from a phone that comes over SMPP is in its account's inbox", async (t) => {
  const { smsc, service } = await start(t, { name: "", faults: {} });
  const items = await service.store.catalogue();
  const number = { number: "80808", account: "DEMO0001" };
  await service.store.putCatalogue({
    items: [...items, { kind: "number", id: "80808", body: JSON.stringify(number) }],
  });
  await eventually(async () => smsc.connections.length === 1);
  const text = "A long answer from a phone, which needs several parts to be told. ".repeat(4);
  assert.equal(await smsc.incoming({ from: "41790000001", to: "80808", text }).acknowledged, true);
  const inbox = await service.call("GET", "/sms/1/inbox/reports");
  assert.deepEqual(
    inbox.json.results.map((item: { from: string; text: string }) => [item.from, item.text]),
    [["41790000001", text]],
  );
});
