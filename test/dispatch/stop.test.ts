/** A stop while the store is away: it ends, and nothing is acknowledged that was not kept. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import { NOW } from "../store/harness.ts";
import { numbered, settle, startDispatch } from "./setup.ts";

const RECEIPT = {
  carrierMessageId: "nobody's",
  outcome: "delivered",
  errorId: 0,
  atMs: NOW,
  mccMnc: null,
  to: null,
} as const;
const PART = { from: "41790000001", to: "12345", text: "Hello", concatenation: null, atMs: NOW };

test("a stop while the store is away ends, acknowledges nothing, and leaves nothing behind that goes on trying", async (t) => {
  let tries = 0;
  const away = async (): Promise<never> => {
    tries++;
    throw new StoreUnavailable("the database is away");
  };
  const { bench, carrier, dispatcher } = await startDispatch(t);
  for (const command of ["submitted", "received", "incoming"] as const) t.mock.method(bench.store, command, away);
  await bench.accept(numbered(bench, 2));
  const acknowledged: string[] = [];
  void carrier.receipt(RECEIPT).then(() => acknowledged.push("receipt"));
  void carrier.incoming(PART).then(() => acknowledged.push("part"));
  await settle(bench);
  assert.ok(tries > 0);

  await Promise.all([dispatcher.stop(), bench.clock.advance(10_000)]);
  const triesAtEnd = tries;
  await bench.clock.advance(60_000);
  assert.equal(tries, triesAtEnd);
  assert.deepEqual(acknowledged, []);
});
