/** PINs on two nodes of one database: a limit is one limit, on whichever node it is met. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { localStore } from "../../src/store/group.ts";
import { openEngine } from "../support/nodes.ts";
import { postgresUrl } from "../support/postgres.ts";
import {
  assertTenLookedAt,
  GUESSES,
  guessAll,
  makeApplication,
  PHONE,
  pinId,
  sendPin,
  sentPin,
} from "./contract-pins.ts";
import { Bench } from "./harness.ts";

test(`two nodes look at exactly 10 of ${GUESSES} verifications, and send exactly as many PINs as they may`, async (t) => {
  const url = await postgresUrl(t);
  const limits = { connections: 5, leaseMs: 300_000 };
  const bench = await Bench.start(t, async () => ({
    async open(clock, lanes, onFeed) {
      const engine = await openEngine(url, { ...limits, clock, lanes });
      const store = localStore(engine, onFeed);
      return { store, ids: engine.ids, overflowed: [], close: () => engine.close() };
    },
  }));
  const second = await openEngine(url, { ...limits, clock: bench.clock, lanes: { lane: 1, total: 1 } });
  t.after(() => second.close());
  const stores = [bench.store, localStore(second, () => undefined)];

  await makeApplication(bench, { sendPinPerPhoneNumberLimit: "5/1d" });
  await sentPin(bench, pinId(1));
  assertTenLookedAt(await guessAll(bench, pinId(1), stores));

  const outcomes = await Promise.all(
    Array.from({ length: 100 }, (_, index) => sendPin(bench, pinId(100 + index), PHONE, stores[index % 2]!)),
  );
  assert.equal(outcomes.filter(({ kind }) => kind === "made").length, 4, "one was sent before");
});
