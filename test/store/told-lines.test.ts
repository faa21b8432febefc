/** In which line of delivery what is told goes. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { lineOfCall, lineOfId } from "../../src/store/told-lines.ts";

const IDS: Readonly<Record<string, (index: number) => string>> = {
  "counted up": (index) => String(1_000_000 + index),
  "counted up in tens": (index) => String(1_000_000 + 10 * index),
  "counted up in hex": (index) => (0xfffff + index).toString(16),
  "of our own": (index) => String(1_900_000_000_000_000_005n + 1024n * BigInt(index)),
  random: () => randomUUID(),
};

test("ids of every kind go into both lines, each always into the same", () => {
  for (const [kind, idOf] of Object.entries(IDS)) {
    const ids = Array.from({ length: 1_000 }, (_, index) => idOf(index));
    const inSecond = ids.filter((id) => lineOfId(id, 2) === 1).length;
    assert.ok(inSecond > 350 && inSecond < 650, `${kind}: ${inSecond} of 1,000`);
    assert.ok(ids.every((id) => lineOfId(id, 1) === 0));
  }
});

test("a submit goes where its receipt goes, and what has no id in the first line", () => {
  for (const id of ["1", "2", "", "4a5f"]) {
    const message = { key: "5", carrierId: "acme", parts: [{ carrierMessageId: id, counts: true }] };
    const submitted = { command: "submitted", input: { messages: [message] } } as const;
    const received = {
      command: "received",
      input: { carrierId: "acme", receipts: [{ carrierMessageId: id }] },
    } as const;
    assert.equal(lineOfCall(submitted, 2), lineOfId(id, 2));
    assert.equal(lineOfCall(received, 2), lineOfId(id, 2));
  }
  assert.equal(lineOfCall({ command: "received", input: { carrierId: "acme", receipts: [] } }, 2), 0);
  assert.equal(lineOfCall({ command: "finish", input: { endings: [] } }, 2), 0);
});
