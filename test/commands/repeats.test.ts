/** What is read of the receipts that commits have applied: each row once, in whatever order it came to be seen. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Repeats } from "../../src/commands/receipts/repeats.ts";
import type { Receipt } from "../../src/message/receipt.ts";
import { settledRow } from "../../src/store/settled.ts";
import type { Sql } from "../../src/store/sql.ts";
import { Unit } from "../../src/store/unit.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const CARRIER = "carrier";

function receipt(id: string): Receipt {
  return { carrierMessageId: id, to: "41793026727", outcome: "delivered" } as Receipt;
}

/** Rows that others have committed, by their ids, and the ids that each question was answered with. */
function setUp() {
  const clock = new VirtualClock();
  const rows = new Map<number, { id: number; atMs: number; names: string }>();
  const read: number[][] = [];
  const unit = new Unit();
  const sql = {
    prepare: (text: string) => ({
      get: async () => ({ id: null }),
      all: async (after: number, limit: number) => {
        assert.match(text, /WHERE id > \?/);
        const found = [...rows.values()].filter(({ id }) => id > after).sort((one, other) => one.id - other.id);
        read.push(found.slice(0, limit).map(({ id }) => id));
        return found.slice(0, limit);
      },
    }),
  } as unknown as Sql;
  const repeats = new Repeats(
    sql,
    () => unit,
    () => clock.now(),
  );
  const commit = (id: number): void => {
    const other = new Unit();
    new Repeats(
      sql,
      () => other,
      () => clock.now(),
    ).note(CARRIER, receipt(`message ${id}`), "1");
    rows.set(id, { id, atMs: clock.now(), names: settledRow(other.settled)!.names });
  };
  const isKnown = (id: number): boolean => repeats.find(CARRIER, receipt(`message ${id}`))?.isRepeat === true;
  return { clock, read, commit, isKnown, look: () => repeats.look() };
}

test("what was read is not read again, however young it is", async () => {
  const { read, commit, isKnown, look } = setUp();
  for (const id of [1, 2, 3]) commit(id);
  await look();
  commit(4);
  await look();
  await look();
  assert.deepEqual(read, [[1, 2, 3], [4], []]);
  assert.deepEqual([1, 2, 3, 4].map(isKnown), [true, true, true, true]);
});

test("a row that is seen later than one behind it is read, as long as it may still be written", async () => {
  const { clock, read, commit, isKnown, look } = setUp();
  for (const id of [1, 3, 4]) commit(id);
  await look();
  assert.equal(isKnown(2), false);
  commit(2);
  await look();
  assert.equal(isKnown(2), true);
  commit(6);
  await look();
  await clock.advance(2_500);
  await look();
  // The one that never came is waited for no longer.
  await look();
  assert.deepEqual(read, [[1, 3, 4], [2, 3, 4], [6], [6], []]);
});
