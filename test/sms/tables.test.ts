/** The tables that clients of this API family know by heart. */
import assert from "node:assert/strict";
import test from "node:test";
import rows from "../../src/sms/data/errors.json" with { type: "json" };
import { errorById, errorByName } from "../../src/sms/errors.ts";
import { STATUS, statusById } from "../../src/sms/statuses.ts";

test("the contract's own two statuses are word for word", () => {
  assert.deepEqual(STATUS.PENDING_ENROUTE, {
    groupId: 1,
    groupName: "PENDING",
    id: 7,
    name: "PENDING_ENROUTE",
    description: "Message sent to next instance",
    final: false,
  });
  assert.deepEqual(STATUS.PENDING_ACCEPTED, {
    groupId: 1,
    groupName: "PENDING",
    id: 26,
    name: "PENDING_ACCEPTED",
    description: "Pending Accepted",
    final: false,
  });
});

test("a status is found by its number and by its name", () => {
  for (const [name, status] of Object.entries(STATUS)) {
    assert.equal(status.name, name);
    assert.equal(statusById(status.id), status);
  }
  assert.equal(new Set(Object.values(STATUS).map((status) => status.id)).size, Object.keys(STATUS).length);
  assert.throws(() => statusById(999), RangeError);
});

test("one group has one name, and pending is never final", () => {
  const names = new Map<number, string>();
  for (const { groupId, groupName, final } of Object.values(STATUS)) {
    assert.equal(names.get(groupId) ?? groupName, groupName);
    names.set(groupId, groupName);
    if (groupName === "PENDING" || groupName === "ACCEPTED") assert.equal(final, false);
    if (groupName === "REJECTED" || groupName === "EXPIRED" || groupName === "UNDELIVERABLE") assert.equal(final, true);
  }
});

test("an error is found by its number and by its name", () => {
  for (const row of rows.rows) {
    assert.deepEqual(errorById(row.id), row);
    assert.equal(errorByName(row.name), errorById(row.id));
  }
  assert.equal(errorById(0).name, "NO_ERROR");
  assert.throws(() => errorById(-1), RangeError);
  assert.throws(() => errorByName("EC_NOTHING"), RangeError);
});

test("nobody can change a table", () => {
  assert.throws(() => Object.assign(STATUS.PENDING_ENROUTE, { id: 1 }), TypeError);
  assert.throws(() => Object.assign(errorById(0), { id: 1 }), TypeError);
});
