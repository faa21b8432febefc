import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, type TestContext, test } from "node:test";
import type { OutstandingPart, PartToSubmit, Submission } from "../../src/carriers/port.ts";
import type { IncomingPart } from "../../src/message/incoming.ts";
import type { Receipt, ReceiptOutcome } from "../../src/message/receipt.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { HANDSETS_BY_SUFFIX } from "../../src/simulator/handsets.ts";
import { SimulatedCarrier, type SimulatorSettings } from "../../src/simulator/simulator.ts";
import { encodeBody } from "../../src/sms/body.ts";
import { errorById, errorByName } from "../../src/sms/errors.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const SECOND_MS = 1000;
const DAY_MS = 86_400_000;

interface Setting {
  clock: VirtualClock;
  carrier: SimulatedCarrier;
  /** All that came, in order. */
  receipts: Receipt[];
}

async function network(
  t: TestContext,
  settings: Partial<SimulatorSettings> = {},
  clock = new VirtualClock(),
): Promise<Setting> {
  const carrier = new SimulatedCarrier({ id: "simulator", ...settings }, clock, seededRandom(1));
  const receipts: Receipt[] = [];
  carrier.listen({ onReceipt: async (receipt) => void receipts.push(receipt) });
  await carrier.start();
  t.after(async () => {
    await carrier.stop();
    assert.equal(clock.timersPending, 0, "a stopped carrier leaves no timer behind");
  });
  return { clock, carrier, receipts };
}

function part(clock: VirtualClock, to: string, validityMs = DAY_MS): PartToSubmit {
  const expiresAtMs = clock.now() + validityMs;
  const message = {
    from: "Sender",
    to,
    text: "Hello",
    encoding: "gsm7",
    flash: false,
    expiresAtMs,
    reference: 1,
    intermediateReport: false,
  } as const;
  return { message, userData: encodeBody(message, message)[0]!, place: null };
}

async function accepted(submission: Promise<Submission>): Promise<string> {
  const answer = await submission;
  assert.equal(answer.kind, "accepted");
  return answer.kind === "accepted" ? answer.carrierMessageId : "";
}

/** What a receipt says, and how many seconds after `sinceMs`, near enough. */
function summary(receipt: Receipt, sinceMs: number) {
  return {
    outcome: receipt.outcome,
    error: errorById(receipt.errorId).name,
    afterSeconds: Math.round((receipt.atMs - sinceMs) / SECOND_MS),
  };
}

describe("a number's ending decides what becomes of a part", () => {
  type Story = {
    answers: Submission["kind"][];
    receipts: [outcome: ReceiptOutcome, error: string, afterSeconds: number][];
  };
  const delivered: Story["receipts"][number] = ["delivered", "NO_ERROR", 1];
  const stories: Record<string, Story> = {
    "385991234567": { answers: ["accepted"], receipts: [delivered] },
    "385991999001": { answers: ["accepted"], receipts: [["delivered", "NO_ERROR", 91]] },
    "385991999002": {
      answers: ["accepted"],
      receipts: [
        ["held", "EC_ABSENT_SUBSCRIBER", 1],
        ["delivered", "NO_ERROR", 11],
      ],
    },
    "385991999003": { answers: ["accepted"], receipts: [["undeliverable", "EC_UNKNOWN_SUBSCRIBER", 1]] },
    "385991999004": { answers: ["accepted"], receipts: [["undeliverable", "EC_SM_DF_MEMORYCAPACITYEXCEEDED", 1]] },
    "385991999005": { answers: ["accepted"], receipts: [["rejected", "EC_SMS_REJECTED_BY_MOBILE_OPERATOR", 1]] },
    "385991999006": { answers: ["refused"], receipts: [] },
    "385991999007": { answers: ["accepted"], receipts: [["expired", "EC_MESSAGE_EXPIRED", 1]] },
    "385991999008": { answers: ["accepted"], receipts: [] },
    "385991999009": { answers: ["not now", "not now", "accepted"], receipts: [delivered] },
    "385991999010": { answers: ["unknown", "accepted"], receipts: [delivered] },
    "999003": { answers: ["accepted"], receipts: [["undeliverable", "EC_UNKNOWN_SUBSCRIBER", 1]] },
    "99900": { answers: ["accepted"], receipts: [delivered] },
    "3859990031": { answers: ["accepted"], receipts: [delivered] },
  };

  for (const [number, story] of Object.entries(stories)) {
    const name = HANDSETS_BY_SUFFIX.get(number.slice(-6))?.name ?? "delivered";
    test(`${number}: ${name}`, async (t) => {
      const { clock, carrier, receipts } = await network(t);

      const answers: Submission[] = [];
      while (answers.length < story.answers.length) answers.push(await carrier.submit(part(clock, number)));
      assert.deepEqual(
        answers.map((answer) => answer.kind),
        story.answers,
      );

      const submittedAtMs = clock.now();
      await clock.advance(2 * DAY_MS);
      assert.deepEqual(
        receipts.map((receipt) => summary(receipt, submittedAtMs)),
        story.receipts.map(([outcome, error, afterSeconds]) => ({ outcome, error, afterSeconds })),
      );
      assert.ok(receipts.every((receipt) => receipt.mccMnc === "00101"));
    });
  }

  test("every ending has a story here", () => {
    const told = new Set(Object.keys(stories).map((number) => number.slice(-6)));
    assert.deepEqual(
      [...HANDSETS_BY_SUFFIX.keys()].filter((suffix) => !told.has(suffix)),
      [],
    );
  });

  test("and a row in the sandbox's page, with its errors", async () => {
    const page = await readFile(new URL("../../docs/sandbox.md", import.meta.url), "utf8");
    const rows = page.split("\n").filter((line) => line.startsWith("|"));
    for (const [suffix, { receipts, answers }] of HANDSETS_BY_SUFFIX) {
      const row = rows.find((line) => line.startsWith(`| \`${suffix}\` |`));
      assert.ok(row, `${suffix} is missing`);
      const refusals = answers.flatMap((answer) =>
        typeof answer === "object" && answer.kind === "refused" ? [answer] : [],
      );
      for (const { errorId } of [...refusals, ...receipts.slice(0, 1)]) {
        assert.ok(
          row.includes(`${errorId} \`${errorById(errorId).name}\``),
          `${suffix} does not name error ${errorId}`,
        );
      }
    }
  });
});

test("a refusal says why", async (t) => {
  const { clock, carrier } = await network(t);
  const errorId = errorByName("EC_DESTINATION_BLOCKED_BY_OPERATOR").id;
  assert.deepEqual(await carrier.submit(part(clock, "385991999006")), { kind: "refused", errorId });
});

describe("a network that stumbles", () => {
  test("takes all parts of a long message once it is over it", async (t) => {
    const { clock, carrier } = await network(t);
    const kinds: string[] = [];
    for (let tries = 0; tries < 6; tries++) {
      kinds.push((await carrier.submit(part(clock, "385991999009"))).kind);
      await clock.advance(20 * SECOND_MS);
    }
    assert.deepEqual(kinds, ["not now", "not now", "accepted", "accepted", "accepted", "accepted"]);
  });

  test("stumbles again when the number was left alone for a minute", async (t) => {
    const { clock, carrier } = await network(t);
    await carrier.submit(part(clock, "385991999010"));
    await accepted(carrier.submit(part(clock, "385991999010")));
    await clock.advance(60 * SECOND_MS);
    assert.equal((await carrier.submit(part(clock, "385991999010"))).kind, "unknown");
  });

  test("stumbles over each number on its own", async (t) => {
    const { clock, carrier } = await network(t);
    await carrier.submit(part(clock, "385991999010"));
    assert.equal((await carrier.submit(part(clock, "385992999010"))).kind, "unknown");
    await accepted(carrier.submit(part(clock, "385991999010")));
  });
});

describe("validity", () => {
  test("a part whose handset would answer too late expires when its validity ends", async (t) => {
    const { clock, carrier, receipts } = await network(t);
    const expiresAtMs = clock.now() + 60 * SECOND_MS;
    await carrier.submit(part(clock, "385991999001", 60 * SECOND_MS));
    await clock.advance(59 * SECOND_MS);
    assert.equal(receipts.length, 0);
    await clock.advance(DAY_MS);
    assert.deepEqual(
      receipts.map(({ outcome, errorId, atMs }) => ({ outcome, errorId, atMs })),
      [{ outcome: "expired", errorId: errorByName("EC_MESSAGE_EXPIRED").id, atMs: expiresAtMs }],
    );
  });

  test("a part that is held expires too", async (t) => {
    const { clock, carrier, receipts } = await network(t);
    await carrier.submit(part(clock, "385991999002", 5 * SECOND_MS));
    await clock.advance(DAY_MS);
    assert.deepEqual(
      receipts.map((receipt) => receipt.outcome),
      ["held", "expired"],
    );
  });

  test("a part that comes too late already is told so soon, and not before it came", async (t) => {
    const { clock, carrier, receipts } = await network(t);
    await carrier.submit(part(clock, "385991234567", -DAY_MS));
    const submittedAtMs = clock.now();
    await clock.advance(SECOND_MS);
    assert.deepEqual(
      receipts.map(({ outcome, atMs }) => ({ outcome, atMs })),
      [{ outcome: "expired", atMs: submittedAtMs }],
    );
  });
});

describe("time", () => {
  test("handsets answer after about the time that is set, not all at once, each once, in the order of their answers", async (t) => {
    const { clock, carrier, receipts } = await network(t, { answerAfterMs: 500 });
    const submittedAtMs = clock.now();
    for (let n = 0; n < 200; n++) await carrier.submit(part(clock, `3859910${1000 + n}`));

    await clock.advance(399);
    assert.equal(receipts.length, 0);
    await clock.advance(250);
    assert.equal(new Set(receipts.map((receipt) => receipt.carrierMessageId)).size, 200);
    assert.equal(receipts.length, 200);

    const moments = receipts.map((receipt) => receipt.atMs - submittedAtMs);
    assert.ok(moments.every((moment) => moment >= 400 && moment <= 600));
    assert.ok(new Set(moments).size > 50);
    assert.deepEqual(
      moments,
      moments.toSorted((a, b) => a - b),
    );
  });

  test("parts that are answered in the same moment keep their order", async (t) => {
    const { clock, carrier, receipts } = await network(t, { answerAfterMs: 0 });
    const ids: string[] = [];
    for (let n = 0; n < 100; n++) ids.push(await accepted(carrier.submit(part(clock, "385991234567"))));
    await clock.advance(SECOND_MS);
    assert.deepEqual(
      receipts.map((receipt) => receipt.carrierMessageId),
      ids,
    );
  });

  test("a receipt never overtakes the answer to its submit", async (t) => {
    const { clock, carrier, receipts } = await network(t, { answerAfterMs: 0 });
    await accepted(carrier.submit(part(clock, "385991234567")));
    assert.equal(receipts.length, 0);
    await clock.advance(20);
    assert.equal(receipts.length, 1);
  });

  test("a wall clock that steps back delays no receipt", async (t) => {
    const { clock, carrier, receipts } = await network(t);
    await carrier.submit(part(clock, "385991999002"));
    clock.stepBack(DAY_MS / 24);
    await clock.advance(2 * SECOND_MS);
    assert.deepEqual(
      receipts.map((receipt) => receipt.outcome),
      ["held"],
    );
    clock.stepBack(DAY_MS / 24);
    await clock.advance(12 * SECOND_MS);
    assert.deepEqual(
      receipts.map((receipt) => receipt.outcome),
      ["held", "delivered"],
    );
  });

  test("ten thousand parts share one timer, which rests when there is nothing to do", async (t) => {
    const { clock, carrier, receipts } = await network(t);
    for (let n = 0; n < 10_000; n++) {
      await carrier.submit(part(clock, `3859910${10_000 + n}`));
      assert.ok(clock.timersPending <= 1);
    }
    const setForSubmits = clock.timersSet;
    assert.ok(setForSubmits < 50, `${setForSubmits} timers set while nothing was due`);

    await clock.advance(2 * SECOND_MS);
    assert.equal(receipts.length, 10_000);
    // Handsets answer over 400 ms, and the timer sleeps for no less than 10.
    assert.ok(clock.timersSet - setForSubmits <= 42, `${clock.timersSet - setForSubmits} timers set for the receipts`);

    const setSoFar = clock.timersSet;
    await clock.advance(DAY_MS);
    assert.equal(clock.timersSet, setSoFar);
    assert.equal(clock.timersPending, 0);
  });
});

describe("bounds", () => {
  test("a full network says later, and tells when there is room again", async (t) => {
    const { clock, carrier, receipts } = await network(t, { capacity: 3 });
    let timesToldOfRoom = 0;
    carrier.listen({ onChange: () => timesToldOfRoom++ });

    for (const roomLeft of [2, 1, 0]) {
      await accepted(carrier.submit(part(clock, "385991234567")));
      assert.equal(carrier.room(), roomLeft);
    }
    const answer = await carrier.submit(part(clock, "385991234567"));
    assert.ok(answer.kind === "later" && answer.retryAfterMs > 0);
    assert.equal(timesToldOfRoom, 0);

    await clock.advance(2 * SECOND_MS);
    assert.equal(receipts.length, 3);
    assert.equal(carrier.room(), 3);
    assert.equal(timesToldOfRoom, 1);
  });

  test("a part that is held takes up room until its last receipt", async (t) => {
    const { clock, carrier } = await network(t, { capacity: 1 });
    await accepted(carrier.submit(part(clock, "385991999002")));
    await clock.advance(5 * SECOND_MS);
    assert.equal(carrier.room(), 0);
    await clock.advance(10 * SECOND_MS);
    assert.equal(carrier.room(), 1);
  });

  test("a part that nothing will be heard of takes up no room", async (t) => {
    const { clock, carrier } = await network(t, { capacity: 1 });
    await accepted(carrier.submit(part(clock, "385991999008")));
    assert.equal(carrier.room(), 1);
  });

  test("a hundred thousand receipts due at once come in bites, so that other work gets its turn", async (t) => {
    const { clock, carrier, receipts } = await network(t);
    carrier.resume(outstanding(100_000, "385991234567", clock.now() - DAY_MS));
    assert.equal(carrier.room(), 0);
    await clock.advance(10);
    assert.equal(receipts.length, 1000);
    await clock.advance(SECOND_MS);
    assert.equal(receipts.length, 100_000);
    assert.equal(carrier.room(), 100_000);
  });

  test("what is remembered of numbers that stumble has an end", async (t) => {
    const { clock, carrier } = await network(t);
    const first = "385991999010";
    await carrier.submit(part(clock, first));
    for (let n = 0; n < 10_000; n++) await carrier.submit(part(clock, `${10_000 + n}999010`));
    assert.equal((await carrier.submit(part(clock, first))).kind, "unknown", "the oldest is forgotten");
    await accepted(carrier.submit(part(clock, "19999999010")));
  });
});

describe("a network that is stopped", () => {
  test("has no room before it starts, and tells when it has", async () => {
    const clock = new VirtualClock();
    const carrier = new SimulatedCarrier({ id: "simulator", capacity: 5 }, clock, seededRandom(1));
    let timesToldOfRoom = 0;
    carrier.listen({ onChange: () => timesToldOfRoom++ });
    assert.equal(carrier.room(), 0);
    assert.equal((await carrier.submit(part(clock, "385991234567"))).kind, "later");
    await carrier.start();
    assert.equal(carrier.room(), 5);
    assert.equal(timesToldOfRoom, 1);
    await carrier.stop();
  });

  test("sends nothing any more", async (t) => {
    const { clock, carrier, receipts } = await network(t);
    await carrier.submit(part(clock, "385991234567"));
    await carrier.stop();
    await clock.advance(DAY_MS);
    assert.deepEqual(receipts, []);
    assert.equal(carrier.room(), 0);
  });
});

function outstanding(count: number, to: string, submittedAtMs: number): OutstandingPart[] {
  return Array.from({ length: count }, (_, n) => ({
    carrierMessageId: `earlier-${n}`,
    to,
    submittedAtMs,
    expiresAtMs: submittedAtMs + 2 * DAY_MS,
  }));
}

describe("after a restart", () => {
  test("what came due meanwhile arrives soon, with the time at which it happened, and the rest at its time", async (t) => {
    const { clock, carrier, receipts } = await network(t);
    const submittedAtMs = clock.now() - 30 * SECOND_MS;
    const numbers = ["385991234567", "385991999001", "385991999002", "385991999003", "385991999008"];
    carrier.resume(
      numbers.flatMap((to) => outstanding(1, to, submittedAtMs).map((one) => ({ ...one, carrierMessageId: to }))),
    );

    await clock.advance(20);
    const soon = receipts.splice(0);
    assert.deepEqual(soon.map((receipt) => `${receipt.carrierMessageId} ${receipt.outcome}`).toSorted(), [
      "385991234567 delivered",
      "385991999002 delivered",
      "385991999002 held",
      "385991999003 undeliverable",
    ]);
    const ofAbsent = soon.filter((receipt) => receipt.carrierMessageId === "385991999002");
    assert.deepEqual(
      ofAbsent.map((receipt) => summary(receipt, submittedAtMs)),
      [
        { outcome: "held", error: "EC_ABSENT_SUBSCRIBER", afterSeconds: 1 },
        { outcome: "delivered", error: "NO_ERROR", afterSeconds: 11 },
      ],
    );

    await clock.advance(59 * SECOND_MS);
    assert.deepEqual(receipts, []);
    await clock.advance(DAY_MS);
    assert.deepEqual(
      receipts.map((receipt) => summary(receipt, submittedAtMs)),
      [{ outcome: "delivered", error: "NO_ERROR", afterSeconds: 91 }],
    );
  });

  test("parts may be handed over before the start", async () => {
    const clock = new VirtualClock();
    const carrier = new SimulatedCarrier({ id: "simulator" }, clock, seededRandom(1));
    const receipts: Receipt[] = [];
    carrier.listen({ onReceipt: async (receipt) => void receipts.push(receipt) });
    carrier.resume(outstanding(1, "385991234567", clock.now()));
    await clock.advance(5 * SECOND_MS);
    assert.equal(receipts.length, 0);
    await carrier.start();
    await clock.advance(20);
    assert.equal(receipts.length, 1);
    await carrier.stop();
  });

  test("a part whose validity ended meanwhile has expired then", async (t) => {
    const { clock, carrier, receipts } = await network(t);
    const submittedAtMs = clock.now() - DAY_MS;
    const expiresAtMs = submittedAtMs + 60 * SECOND_MS;
    carrier.resume(outstanding(1, "385991999001", submittedAtMs).map((one) => ({ ...one, expiresAtMs })));
    await clock.advance(20);
    assert.deepEqual(
      receipts.map(({ outcome, atMs }) => ({ outcome, atMs })),
      [{ outcome: "expired", atMs: expiresAtMs }],
    );
  });

  test("a clock that was set back meanwhile keeps no part waiting", async (t) => {
    const { clock, carrier, receipts } = await network(t);
    carrier.resume(outstanding(1, "385991234567", clock.now() + DAY_MS));
    await clock.advance(2 * SECOND_MS);
    assert.equal(receipts.length, 1);
  });

  test("more parts than there is room for are taken, and new ones wait", async (t) => {
    const { clock, carrier, receipts } = await network(t, { capacity: 2 });
    carrier.resume(outstanding(5, "385991234567", clock.now()));
    assert.equal(carrier.room(), 0);
    await clock.advance(2 * SECOND_MS);
    assert.equal(receipts.length, 5);
    assert.equal(carrier.room(), 2);
  });

  test("ids are new ones, even with the same seed", async (t) => {
    const clock = new VirtualClock();
    const before = await network(t, {}, clock);
    const ids = new Set<string>();
    for (let n = 0; n < 100; n++) ids.add(await accepted(before.carrier.submit(part(clock, "385991234567"))));
    await before.carrier.stop();
    await clock.advance(1);
    const after = await network(t, {}, clock);
    for (let n = 0; n < 100; n++) ids.add(await accepted(after.carrier.submit(part(clock, "385991234567"))));
    await after.carrier.stop();
    assert.equal(ids.size, 200);
  });
});

test("256 long messages of its phones in a row have 256 references, however many short ones are between", async (t) => {
  const { carrier } = await network(t);
  const parts: IncomingPart[] = [];
  carrier.listen({ onIncoming: async (part) => void parts.push(part) });
  for (let count = 0; count < 512; count++)
    await carrier.write({ from: "41790000001", to: "12345", text: count % 2 === 0 ? "long ".repeat(40) : "short" });
  const references = parts.flatMap(({ concatenation }) => (concatenation === null ? [] : [concatenation.reference]));
  assert.deepEqual([references.length, new Set(references).size], [512, 256]);
});

test("phones behave as the operator says, the longest ending first, and all others as before", async (t) => {
  const { clock, carrier, receipts } = await network(t, {
    handset: [
      { suffix: "777", outcome: "undeliverable", error: "EC_ABSENT_SUBSCRIBER", laterMs: 5 * SECOND_MS },
      { suffix: "4777", outcome: "delivered" },
      { suffix: "888", outcome: "refused" },
      { suffix: "889", outcome: "silent" },
      { suffix: "999003", outcome: "delivered" },
    ],
  });
  const startedMs = clock.now();
  const refused = await carrier.submit(part(clock, "385991000888"));
  assert.deepEqual(refused, { kind: "refused", errorId: errorByName("EC_DESTINATION_BLOCKED_BY_OPERATOR").id });
  const ids = new Map<string, string>();
  for (const to of ["385991000777", "385991004777", "385991000889", "385991999003", "385991999004"]) {
    ids.set(await accepted(carrier.submit(part(clock, to))), to);
  }
  await clock.advance(60 * SECOND_MS);
  const told = new Map(receipts.map((receipt) => [ids.get(receipt.carrierMessageId), summary(receipt, startedMs)]));
  assert.deepEqual(
    told,
    new Map([
      ["385991000777", { outcome: "undeliverable", error: "EC_ABSENT_SUBSCRIBER", afterSeconds: 6 }],
      ["385991004777", { outcome: "delivered", error: "NO_ERROR", afterSeconds: 1 }],
      ["385991999003", { outcome: "delivered", error: "NO_ERROR", afterSeconds: 1 }],
      ["385991999004", { outcome: "undeliverable", error: "EC_SM_DF_MEMORYCAPACITYEXCEEDED", afterSeconds: 1 }],
    ]),
  );
});
