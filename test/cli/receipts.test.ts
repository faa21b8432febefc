/** `heliograph receipt list|clear`, and what `message show` says of receipts: what an operator sees who wants to find out why. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { systemClock } from "../../src/runtime/clock.ts";
import { good, operating } from "../support/operator.ts";
import { startRealService } from "../support/real-service.ts";
import { eventually, startTestService, temporaryDirectory } from "../support/service.ts";
import { commandsOn } from "./in-process.ts";

const data = await temporaryDirectory({ after });
const service = await startTestService({ after }, { data, strongPasswords: true });
const { done, json, refused, run } = commandsOn("--data", data);

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
  assert.match(shown, /^RECEIPT +RECEIVED +AGE +WHY +CARRIER +ID +TO +OUTCOME +ERROR +OCTETS\n/);
  assert.match(shown, /^ *\d+ +\S+ +\d+[sm] +unreadable +simulator .* held +000000ff00000005[0]{16}abababab…$/m);
  assert.match(shown, /^ *\d+ +\S+ +3d +unmatched +simulator +lost +41790000009 +delivered$/m);
  assert.equal((await json("receipt", "list", "--limit", "1")).length, 1);
});

test("parked receipts are cleared by number, carrier and age, over both doors, and the audit says by whom", async () => {
  const old = systemClock.now() - 3 * 86_400_000;
  const park = (carrierId: string, ...receipts: object[]) =>
    service.store.received({
      carrierId,
      receipts: receipts.map((change, index) => receipt({ carrierMessageId: `${carrierId}-${index}`, ...change })),
    });
  const listed = async (...args: string[]): Promise<string[]> =>
    (await json("receipt", "list", ...args)).map((each: { carrierMessageId: string }) => each.carrierMessageId);
  for (const id of ["west", "east"]) await done("carrier", "set", id, "kind=simulator");
  await park("west", {}, { atMs: old }, {});
  await park("east", { atMs: old }, {});
  assert.deepEqual(await listed("--carrier", "west"), ["west-2", "west-1", "west-0"]);

  // By number, and only what was named.
  const [{ receipt: number }] = await json("receipt", "list", "--carrier", "west");
  assert.equal(await done("receipt", "clear", number, "--yes"), "1 receipt deleted.\n");
  assert.deepEqual(await listed("--carrier", "west"), ["west-1", "west-0"]);
  // A number that is mistyped, or was cleared before, is no success.
  const gone = await refused("receipt", "clear", number, "--yes");
  assert.deepEqual([gone[0], gone[1].split(":")[0]], [1, `there is no receipt ${number} that matches no message`]);
  // By age and carrier.
  assert.equal(
    await done("receipt", "clear", "--carrier", "west", "--older-than", "2d", "--yes"),
    "1 receipt deleted.\n",
  );
  assert.deepEqual(
    [await listed("--carrier", "west"), await listed("--carrier", "east")],
    [["west-0"], ["east-1", "east-0"]],
  );

  // Nothing goes without a word that it is meant.
  const usage = await refused("receipt", "clear", "--carrier", "west");
  assert.deepEqual([usage[0], usage[1].split(":")[0]], [2, "what is deleted is gone for good"]);
  const unsure = await run(["receipt", "clear", "--carrier", "west"], { answer: "n" });
  assert.deepEqual([unsure.code, unsure.stderr], [1, "heliograph: nothing is changed\n"]);
  assert.equal((await refused("receipt", "clear", "--yes"))[0], 2);
  assert.equal((await refused("receipt", "clear", "--all", "--carrier", "west", "--yes"))[0], 2);
  assert.equal((await refused("receipt", "clear", "x1", "--yes"))[0], 2);
  assert.equal((await refused("receipt", "clear", "--older-than", "a week", "--yes"))[0], 2);
  assert.deepEqual(await listed("--carrier", "west"), ["west-0"]);
  const sure = await run(["receipt", "clear", "--carrier", "west"], { answer: "y" });
  assert.deepEqual([sure.code, await listed("--carrier", "west")], [0, []]);

  // A carrier that there is none of has no receipts for another reason.
  for (const command of [["list"], ["clear", "--yes"]])
    assert.deepEqual(await refused("receipt", ...command, "--carrier", "wset"), [
      2,
      'there is no carrier "wset", only east, simulator, west; did you mean "west"?',
    ]);

  // Over the API.
  const operate = operating(service);
  const parked = good(await operate("GET", "/receipts/parked"));
  const { id } = parked.results.find((each: { carrier: string }) => each.carrier === "east");
  assert.deepEqual(good(await operate("POST", "/receipts/parked/clear", { ids: [id] })), { cleared: 1, more: false });
  const before = new Date(systemClock.now() - 86_400_000).toISOString();
  assert.deepEqual(good(await operate("POST", "/receipts/parked/clear", { carrier: "east", before })), {
    cleared: 1,
    more: false,
  });
  assert.deepEqual(await listed("--carrier", "east"), []);
  for (const body of [{}, { all: true, carrier: "east" }, { before: "yesterday" }, { ids: ["x"] }, { all: false }])
    assert.equal((await operate("POST", "/receipts/parked/clear", body)).status, 400, JSON.stringify(body));

  const audited = await json("audit", "--kind", "receipt");
  assert.deepEqual(
    audited.map((entry: { action: string; by: string }) => entry.action),
    ["delete", "delete", "delete", "delete", "delete"],
  );
  assert.equal(JSON.stringify(audited).match(/"command line"/g)?.length, 3);
  assert.ok((await listed()).length > 0, "what nobody named is still there");
  assert.match(await done("receipt", "clear", "--all", "--yes"), /^\d+ receipts? deleted\.\n$/);
  assert.equal(await done("receipt", "list"), "There are none that wait for their message.\n");
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

test("receipts that were parked for wrong receiptIds find their messages when those are set right", async (t) => {
  const real = await startRealService(t, null);
  real.smsc.faults = { ids: { as: "hex then decimal" } };
  // The first ids are the same in both.
  const ids: string[] = [];
  for (let count = 0; count < 12; count++) {
    const body = { from: "Acme", to: "41793026727", text: `Hello ${count}` };
    const { json: sent } = await real.call("POST", "/sms/1/text/single", { body });
    ids.push(sent.messages[0].messageId);
  }
  const parked = async (): Promise<number> => (await real.json("receipt", "list")).length;
  await eventually(async () => (await parked()) > 0);
  await real.done("carrier", "set", "carrier", "receiptIds=hex then decimal");
  await eventually(async () => (await parked()) === 0);
  await eventually(async () => {
    const shown = await Promise.all(ids.map(async (id) => (await real.json("message", "show", id))[0].status));
    return shown.every((status) => status === "DELIVERED_TO_HANDSET");
  });
  assert.match(real.child.output(), /"receipts that matched no message have found theirs"/);
});
