/** `heliograph receipt list`, and what `message show` says of receipts: what an operator sees who wants to find out why. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { systemClock } from "../../src/runtime/clock.ts";
import { eventually, startTestService, temporaryDirectory } from "../support/service.ts";
import { commandsOn } from "./in-process.ts";

const data = await temporaryDirectory({ after });
const service = await startTestService({ after }, { data });
const { done, json } = commandsOn("--data", data);

const receipt = (change: object) => ({
  carrierMessageId: "",
  outcome: "delivered" as const,
  errorId: 0,
  atMs: systemClock.now(),
  mccMnc: null,
  to: null,
  ...change,
});

test("parked receipts are shown with their age and why they are there, and their octets, whole for scripts", async () => {
  const octets = `000000ff00000005${"00".repeat(8)}${"ab".repeat(500)}`;
  const threeDaysAgo = systemClock.now() - 3 * 86_400_000;
  const receipts = [
    receipt({ carrierMessageId: "lost", atMs: threeDaysAgo, to: "41790000009" }),
    receipt({ octets, outcome: "held" }),
    receipt({ octets, outcome: "held" }),
  ];
  await service.store.received({ carrierId: "simulator", receipts });
  const [unreadable, lost] = await json("receipt", "list");
  assert.deepEqual(
    [unreadable.why, unreadable.times, unreadable.octets, unreadable.carrierMessageId],
    ["unreadable", 2, octets, ""],
  );
  assert.deepEqual([lost.why, lost.times, lost.octets, lost.carrierMessageId], ["unmatched", 1, null, "lost"]);
  assert.ok(lost.ageSeconds >= 3 * 86_400 && unreadable.ageSeconds < 3_600);
  const shown = await done("receipt", "list");
  assert.match(shown, /^RECEIVED +AGE +WHY +CARRIER +ID +TO +OUTCOME +ERROR +OCTETS\n/);
  assert.match(shown, /^\S+ +\d+[sm] +unreadable +simulator .* held +000000ff00000005[0]{16}abababab…$/m);
  assert.match(shown, /^\S+ +3d +unmatched +simulator +lost +41790000009 +delivered$/m);
  assert.equal((await json("receipt", "list", "--limit", "1")).length, 1);
});

/** To a phone that never answers. */
const TO = "41793999008";

test("a message shows what its carrier said after its last word", async () => {
  const body = { from: "Shop", to: TO, text: "Hello" };
  const { json: answer } = await service.call("POST", "/sms/1/text/single", { body });
  const id: string = answer.messages[0].messageId;
  const { carrierMessageId } = await eventually(async () => {
    const parts = await service.store.outstanding({ carrierId: "simulator", afterRow: 0, limit: 10 });
    return parts.find(({ to }) => to === TO);
  });
  const receive = (change: object) =>
    service.store.received({
      carrierId: "simulator",
      receipts: [receipt({ carrierMessageId, to: TO, ...change })],
    });
  await receive({});
  assert.deepEqual((await json("message", "show", id))[0].laterReceipts, []);
  assert.doesNotMatch(await done("message", "show", id), /After its end/);
  await receive({ outcome: "expired", errorId: 811 });
  const [message] = await json("message", "show", id);
  assert.equal(message.status, "DELIVERED_TO_HANDSET");
  const [{ receivedAt, ...later }] = message.laterReceipts;
  assert.match(receivedAt, /^\d{4}-/);
  assert.deepEqual([later.carrier, later.outcome, later.carrierMessageId], ["simulator", "expired", carrierMessageId]);
  assert.match(await done("message", "show", id), /^After its end +the carrier said expired \(\w+\) of /m);
});
