/** Messages from phones, from a carrier to the store: acknowledged when they are safe, and only then. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { RULES } from "../../src/commands/table.ts";
import { Dispatcher } from "../../src/dispatch/dispatcher.ts";
import { Maintenance } from "../../src/maintenance/maintenance.ts";
import type { IncomingPart, NumberRule } from "../../src/message/incoming.ts";
import { Lease } from "../../src/node/lease.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { localStore } from "../../src/store/group.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import type { Store } from "../../src/store/port/store.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { Bench, HOUR, NOW } from "../store/harness.ts";
import { storeDirectory } from "../support/service.ts";
import { ScriptedCarrier } from "./scripted-carrier.ts";

const NUMBER: NumberRule = { number: "12345", account: "CLIENT" };
const SETTINGS = { claimMessages: 50, laneMessages: 100, sweepEveryMs: 10_000 };
const MAINTENANCE = {
  everyMs: 10_000,
  receiptWaitMs: HOUR,
  unmatchedDays: 7,
  unmatchedRows: 1_000,
  retentionDays: 0,
  loginAuditDays: 90,
  timelineDays: 30,
};
const TEN_MINUTES = 600_000;

interface CarrierQueue {
  readonly bench: Bench;
  /** As long as it is set, the store takes nothing from phones. */
  away: boolean;
  /** How many parts each command brought that the store took. */
  readonly commands: number[];
  /** The service starts on what is in the store. */
  start(...carriers: ScriptedCarrier[]): Promise<Dispatcher>;
}

async function prepareDispatch(t: TestContext): Promise<CarrierQueue> {
  const directory = await storeDirectory(t);
  const bench = await Bench.start(t, async () => ({
    async open(clock, lanes, onFeed) {
      const engine = new SqliteEngine({ rules: RULES, directory, clock, lanes, mode: "deliver" });
      return {
        store: localStore(engine, onFeed),
        overflowed: engine.overflowedLanes(),
        close: async () => engine.close(),
      };
    },
  }));
  await bench.store.putCatalogue({ items: [{ kind: "number", id: NUMBER.number, body: JSON.stringify(NUMBER) }] });
  const commands: number[] = [];
  const carrierQueue: CarrierQueue = {
    bench,
    away: false,
    commands,
    async start(...carriers) {
      const incoming: Store["incoming"] = async (input) => {
        if (carrierQueue.away) throw new StoreUnavailable("the disk is full");
        const outcome = await bench.store.incoming(input);
        commands.push(input.parts.length);
        return outcome;
      };
      const store = { ...bench.store, incoming };
      const { clock } = bench;
      const lease = Lease.endless();
      const dispatcher = new Dispatcher({
        store,
        clock,
        log: silentLog,
        settings: SETTINGS,
        lease,
        route: () => null,
        knows: () => false,
        lookAgain: async () => undefined,
      });
      for (const carrier of carriers) await dispatcher.addCarrier(carrier);
      dispatcher.start([]);
      return dispatcher;
    },
  };
  return carrierQueue;
}

function part(text: string, sequence: number | null = null, total = 2): IncomingPart {
  const concatenation = sequence === null ? null : { reference: 1, total, sequence };
  return { from: "41790000001", to: NUMBER.number, text, concatenation, atMs: NOW };
}

async function inbox(bench: Bench): Promise<string[]> {
  const { messages } = await bench.fetchIncoming(100);
  return messages.map(({ text }) => text);
}

test("what came in one turn is written together, and acknowledged when it is in the store", async (t) => {
  const carrierQueue = await prepareDispatch(t);
  const [one, other] = [new ScriptedCarrier("one"), new ScriptedCarrier("other")];
  const dispatcher = await carrierQueue.start(one, other);
  const given = [one.incoming(part("a")), one.incoming(part("b")), other.incoming(part("c"))];
  assert.deepEqual(carrierQueue.commands, []);
  await Promise.all(given);
  assert.deepEqual(carrierQueue.commands, [2, 1]);
  assert.deepEqual(await inbox(carrierQueue.bench), ["a", "b", "c"]);
  assert.equal(dispatcher.counts.incomingParts, 3);
  await dispatcher.stop();
});

test("while the store is away nothing is acknowledged and nothing is lost", async (t) => {
  const carrierQueue = await prepareDispatch(t);
  const carrier = new ScriptedCarrier();
  const dispatcher = await carrierQueue.start(carrier);
  carrierQueue.away = true;
  const acknowledged: string[] = [];
  const all = ["a", "b", "c"].map((text) => carrier.incoming(part(text)).then(() => acknowledged.push(text)));
  await carrierQueue.bench.clock.advance(60_000);
  assert.deepEqual(acknowledged, []);
  assert.deepEqual(await inbox(carrierQueue.bench), []);
  carrierQueue.away = false;
  await Promise.all([...all, carrierQueue.bench.clock.advance(1_000)]);
  assert.deepEqual(acknowledged, ["a", "b", "c"]);
  assert.deepEqual(await inbox(carrierQueue.bench), ["a", "b", "c"]);
  await dispatcher.stop();
});

test("a stop waits until what came in is in the store, and the next start goes on from there", async (t) => {
  const carrierQueue = await prepareDispatch(t);
  const before = new ScriptedCarrier();
  const first = await carrierQueue.start(before);
  void before.incoming(part("half ", 1));
  await first.stop();
  assert.deepEqual(carrierQueue.commands, [1]);

  await carrierQueue.bench.restart();
  const after = new ScriptedCarrier();
  const second = await carrierQueue.start(after);
  await after.incoming(part("half ", 1)); // its acknowledgement was lost
  await after.incoming(part("and half", 2));
  assert.deepEqual(await inbox(carrierQueue.bench), ["half and half"]);
  await second.stop();
});

test("a part whose others never come is a message after ten minutes, and a round is enough for many", async (t) => {
  const carrierQueue = await prepareDispatch(t);
  const carrier = new ScriptedCarrier();
  const dispatcher = await carrierQueue.start(carrier);
  const { store, clock } = carrierQueue.bench;
  const maintenance = new Maintenance({ store, clock, log: silentLog, settings: MAINTENANCE });
  maintenance.start();
  const phones = Array.from({ length: 120 }, (_, index) => String(41_790_000_000 + index));
  await Promise.all(phones.map((from) => carrier.incoming({ ...part("the first of three", 1, 3), from })));
  await carrier.incoming({ ...part("to nobody", 1), to: "999" });
  await carrierQueue.bench.clock.advance(TEN_MINUTES - 1);
  assert.deepEqual(await inbox(carrierQueue.bench), []);
  // A round has its pages one after the other.
  for (let waits = 0; waits < 2; waits++) await carrierQueue.bench.clock.advance(MAINTENANCE.everyMs / 2);
  const { messages, pending } = await carrierQueue.bench.fetchIncoming(100);
  assert.equal(messages.length + pending, phones.length);
  assert.equal(maintenance.counts.incomingUnmatched, 1);
  await maintenance.stop();
  await dispatcher.stop();
});

test("what is to a number that is nobody's is acknowledged, kept and counted", async (t) => {
  const carrierQueue = await prepareDispatch(t);
  const carrier = new ScriptedCarrier();
  const dispatcher = await carrierQueue.start(carrier);
  await Promise.all([carrier.incoming({ ...part("to nobody"), to: "999" }), carrier.incoming(part("to the client"))]);
  assert.equal(dispatcher.counts.incomingUnmatched, 1);
  const { messages } = await carrierQueue.bench.store.unmatchedIncoming({ limit: 10 });
  assert.deepEqual(
    messages.map(({ text, carrierId }) => [text, carrierId]),
    [["to nobody", carrier.id]],
  );
  await dispatcher.stop();
});
