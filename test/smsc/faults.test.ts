/** What can go wrong at the simulated network: each fault shows what it says, and strikes when it says. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import type { Pdu, PduDraft } from "../../src/carriers/smpp/codec/pdu.ts";
import { statusName } from "../../src/carriers/smpp/codec/statuses.ts";
import { makeTlv, readTlv } from "../../src/carriers/smpp/codec/tlvs.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { BadFaults, FAULTS, Fault, type Faults, readFault, readFaults } from "../../src/smsc/faults.ts";
import { ID_SPELLINGS, ID_STYLES, idsOf, numbersSpelled } from "../../src/smsc/ids.ts";
import type { Smsc } from "../../src/smsc/smsc.ts";
import { Peer } from "../carriers/smpp/session-support.ts";
import { until } from "../support/patience.ts";
import { bindTo, type Customer, connectTo, SUBMIT, startSmsc, textOf } from "../support/smsc.ts";
import { hasTlv } from "../support/tlvs.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const SECOND_MS = 1000;

/** A network with these faults, and a customer bound to it. */
async function faulty(t: TestContext, faults: Faults): Promise<{ smsc: Smsc; customer: Customer }> {
  const smsc = await startSmsc(t);
  const customer = await bindTo(t, smsc, { window: 1000 });
  smsc.faults = faults;
  return { smsc, customer };
}

/** The same on a clock that stands still: nothing comes of itself. */
async function faultyInTime(t: TestContext, faults: Faults) {
  const clock = new VirtualClock();
  const smsc = await startSmsc(t, {}, clock);
  const customer = await bindTo(t, smsc);
  smsc.faults = faults;
  return { smsc, customer, clock };
}

function statesOf(delivered: readonly Pdu<"deliver_sm">[]): string[] {
  return delivered.map((pdu) => /stat:(\w+)/.exec(textOf(pdu))?.[1] ?? "");
}

function number(n: number): string {
  return `3859900${String(n).padStart(5, "0")}`;
}

/** Long messages in three parts, by sar_ parameters. */
function part(sequence: number): Partial<PduDraft<"submit_sm">> {
  const place = { sar_msg_ref_num: 1, sar_total_segments: 3, sar_segment_seqnum: sequence } as const;
  const tlvs = (Object.keys(place) as (keyof typeof place)[]).map((name) => makeTlv(name, place[name]));
  return { destinationAddr: number(sequence), tlvs };
}

describe("binds", () => {
  test("refuseBind: so many are refused, with that status, and the next is not", async (t) => {
    const smsc = await startSmsc(t, { faults: { refuseBind: { count: 2, status: "ESME_RALYBND" } } });
    const statuses = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      const { session } = await connectTo(t, smsc);
      const answer = await session.bind("transceiver", { systemId: "customer" });
      assert.ok(answer.kind === "answered");
      statuses.push(statusName(answer.pdu.status));
    }
    assert.deepEqual(statuses, ["ESME_RALYBND", "ESME_RALYBND", "ESME_ROK"]);
    assert.deepEqual(smsc.counters.hits, { refuseBind: 2 });
  });
});

describe("answers", () => {
  test("delayAnswer: the answer comes that much later", async (t) => {
    const { customer, clock } = await faultyInTime(t, { delayAnswer: { ms: 700 }, dropReceipt: true });
    let answered = false;
    const submitting = customer.submit().then(() => {
      answered = true;
    });
    // Whatever is asked behind it is answered before.
    await customer.session.request({ command: "enquire_link" });
    await clock.advance(690);
    await customer.session.request({ command: "enquire_link" });
    assert.equal(answered, false);
    await clock.advance(20);
    await submitting;
  });

  test("dropAnswer: the part is taken and its receipt comes, but no answer", async (t) => {
    const { smsc, customer } = await faulty(t, { dropAnswer: true });
    const submitting = customer.session.request(SUBMIT);
    await until(() => customer.delivered.length === 1);
    assert.equal(smsc.parts.length, 1);
    assert.equal(customer.session.inFlight, 1);
    await customer.session.close();
    assert.equal((await submitting).kind, "unknown");
  });

  test("doubleAnswer: the same answer twice", async (t) => {
    const { smsc, customer } = await faulty(t, { doubleAnswer: true });
    const { messageId } = await customer.submit();
    await until(() => customer.stray.length === 1);
    const [again] = customer.stray;
    assert.ok(again?.command === "submit_sm_resp");
    assert.equal(again.messageId, messageId);
    assert.equal(smsc.parts.length, 1);
  });

  test("throttle: above so many a second, and no longer when the second is over", async (t) => {
    const { smsc, customer, clock } = await faultyInTime(t, { throttle: { perSecond: 5 } });
    const submitSeven = async () => {
      const answers = await Promise.all(Array.from({ length: 7 }, () => customer.submit()));
      return answers.map(({ status }) => statusName(status));
    };
    const expected = [...Array(5).fill("ESME_ROK"), "ESME_RTHROTTLED", "ESME_RTHROTTLED"];
    assert.deepEqual(await submitSeven(), expected);
    await clock.advance(SECOND_MS);
    assert.deepEqual(await submitSeven(), expected);
    assert.equal(smsc.parts.length, 10);
  });

  const refusals: [faults: Faults, status: string][] = [
    [{ queueFull: true }, "ESME_RMSGQFUL"],
    [{ systemError: true }, "ESME_RSYSERR"],
    [{ refuseSubmit: true }, "ESME_RSUBMITFAIL"],
    [{ refuseSubmit: { status: "ESME_RINVSRCADR" } }, "ESME_RINVSRCADR"],
    [{ refuseSubmit: { status: 0x450 } }, "0x00000450"],
  ];
  for (const [faults, status] of refusals) {
    test(`${JSON.stringify(faults)}: ${status}, and nothing is taken`, async (t) => {
      const { smsc, customer } = await faulty(t, faults);
      const answer = await customer.submit();
      assert.equal(statusName(answer.status), status);
      assert.equal(answer.messageId, "");
      assert.equal(smsc.parts.length, 0);
    });
  }

  test("congestion: the answer says how busy the network is", async (t) => {
    const { customer } = await faulty(t, { congestion: { state: 80, count: 1 } });
    assert.equal(readTlv((await customer.submit()).tlvs, "congestion_state"), 80);
    assert.equal(hasTlv((await customer.submit()).tlvs, "congestion_state"), false);
  });
});

describe("ids", () => {
  const DECIMAL = /^[1-9]\d+$/;
  const shapes: [style: NonNullable<Faults["ids"]> & string, answer: RegExp, receipt: RegExp][] = [
    ["decimal", DECIMAL, DECIMAL],
    ["hex", /^[0-9a-f]+$/, /^[0-9a-f]+$/],
    ["hex then decimal", /^[0-9a-f]+$/, DECIMAL],
    ["decimal then hex", DECIMAL, /^[0-9a-f]+$/],
    ["capital hex then hex", /^[0-9A-F]+$/, /^[0-9a-f]+$/],
    ["zeros", /^0\d{19}$/, /^0\d{19}$/],
    ["zeros then decimal", /^0\d{19}$/, DECIMAL],
    ["64-bit", /^9\d{18}$/, /^9\d{18}$/],
    ["uuid", /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/, /-/],
  ];
  for (const [style, answer, receipt] of shapes) {
    test(`${style}: in the answer, and in the receipt's text and parameter`, async (t) => {
      const { smsc, customer } = await faulty(t, { ids: style });
      const { messageId } = await customer.submit();
      await until(() => customer.delivered.length === 1);
      const [told] = customer.delivered;
      const id = readTlv(told!.tlvs, "receipted_message_id")!;
      assert.match(messageId, answer);
      assert.match(id, receipt);
      assert.ok(textOf(told!).startsWith(`id:${id} `));
      assert.equal(smsc.parts[0]?.id, messageId);
      const asked = await customer.session.request({ command: "query_sm", messageId, sourceAddr: "Heliograph" });
      assert.ok(asked.kind === "answered" && asked.pdu.status === 0, "the network knows its id");
    });
  }

  test("sameIds: they begin anew after so many, and the newest part of an id is the one that it knows", async (t) => {
    const { smsc, customer } = await faulty(t, { sameIds: { every: 2 } });
    const answers = [];
    for (let number = 0; number < 5; number++)
      answers.push(await customer.submit({ destinationAddr: `38599123456${number}` }));
    const ids = answers.map(({ messageId }) => messageId);
    assert.deepEqual([ids[2], ids[3], ids[4]], [ids[0], ids[1], ids[0]]);
    assert.notEqual(ids[0], ids[1]);
    await until(() => customer.delivered.length === 5);
    assert.deepEqual(
      customer.delivered.map((pdu) => readTlv(pdu.tlvs, "receipted_message_id")).toSorted(),
      ids.toSorted(),
    );
    assert.equal(smsc.parts.length, 5);
    const query = { command: "query_sm", messageId: ids[0]!, sourceAddr: "Heliograph" } as const;
    const asked = await customer.session.request(query);
    assert.ok(asked.kind === "answered" && asked.pdu.status === 0);
  });

  test("every spelling can be read back, and no two numbers have one spelling", () => {
    const numbers = [1, 255, 1_794_713_835_600_001, 1_794_713_835_600_002];
    for (const style of ID_STYLES) {
      for (const n of numbers) assert.ok(numbersSpelled(idsOf(n, style).inAnswer).includes(n), `${n} as ${style}`);
      assert.equal(new Set(numbers.map((n) => idsOf(n, style).inReceipt)).size, numbers.length);
    }
    assert.equal(ID_STYLES.length, ID_SPELLINGS.length ** 2);
    assert.deepEqual(numbersSpelled("not an id"), []);
  });
});

describe("receipts", () => {
  test("receiptFirst: the receipt is there before the answer", async (t) => {
    const { smsc, customer } = await faulty(t, { receiptFirst: true });
    const { messageId } = await customer.submit({ destinationAddr: "385991999003" });
    const [receipt] = customer.delivered;
    assert.equal(receipt && readTlv(receipt.tlvs, "receipted_message_id"), messageId);
    assert.deepEqual(statesOf(customer.delivered), ["UNDELIV"]);
    assert.equal(smsc.parts[0]?.outcome, "undeliverable");
  });

  test("receiptFirst: the answer waits for the receipt's acknowledgement, but not for ever", async (t) => {
    const clock = new VirtualClock();
    const smsc = await startSmsc(t, { faults: { receiptFirst: { ms: 300 } } }, clock);
    const transmitter = await bindTo(t, smsc, { kind: "transmitter" });
    const receiver = await bindTo(t, smsc, { kind: "receiver", acknowledge: () => new Promise(() => {}) });
    const submitting = transmitter.submit();
    await until(() => receiver.delivered.length === 1);
    assert.equal(transmitter.session.inFlight, 1);
    await clock.advance(300);
    assert.equal((await submitting).status, 0);
  });

  for (const [as, expected] of [
    ["first", [1]],
    ["last", [3]],
    [undefined, [1, 2, 3]],
  ] as const) {
    test(`receiptParts: ${as ?? "without it every part"} has a receipt`, async (t) => {
      const { smsc, customer } = await faulty(t, as === undefined ? {} : { receiptParts: as });
      for (const sequence of [2, 3, 1]) await customer.submit(part(sequence));
      await customer.submit({ destinationAddr: number(9) });
      await until(() => smsc.counters.inHand === 0 && customer.delivered.length === expected.length + 1);
      const told = customer.delivered.map((pdu) => pdu.sourceAddr).sort();
      assert.deepEqual(told, [...expected.map(number), number(9)]);
    });
  }

  test("doubleReceipt: the same twice", async (t) => {
    const { customer } = await faulty(t, { doubleReceipt: true });
    await customer.submit();
    await until(() => customer.delivered.length === 2);
    assert.equal(new Set(customer.delivered.map(textOf)).size, 1);
  });

  test("delayReceipt: that much later", async (t) => {
    const { smsc, customer, clock } = await faultyInTime(t, { delayReceipt: { ms: 60_000 } });
    await customer.submit();
    await clock.advance(59_000);
    assert.equal(smsc.counters.sent, 0);
    await clock.advance(2_000);
    await until(() => customer.delivered.length === 1);
  });

  test("contradictReceipt: delivered, then not; not delivered, then it is", async (t) => {
    const { customer, clock } = await faultyInTime(t, { contradictReceipt: { ms: 5_000 } });
    await customer.submit();
    await clock.advance(SECOND_MS);
    await customer.submit({ destinationAddr: "385991999003" });
    await clock.advance(SECOND_MS);
    await until(() => customer.delivered.length === 2);
    assert.deepEqual(statesOf(customer.delivered), ["DELIVRD", "UNDELIV"]);
    await clock.advance(10_000);
    await until(() => customer.delivered.length === 4);
    assert.deepEqual(statesOf(customer.delivered).slice(2), ["UNDELIV", "DELIVRD"]);
  });

  test("dropReceipt: none", async (t) => {
    const { smsc, customer } = await faulty(t, { dropReceipt: { to: "7$" } });
    await customer.submit({ destinationAddr: number(7) });
    await customer.submit({ destinationAddr: number(8) });
    await until(() => smsc.counters.inHand === 0 && customer.delivered.length === 1);
    assert.deepEqual(customer.delivered[0]!.sourceAddr, number(8));
    assert.deepEqual(
      smsc.parts.map(({ outcome }) => outcome),
      ["delivered", "delivered"],
    );
  });

  interface Shape {
    readonly text: string | null;
    readonly state: number | undefined;
    readonly esmClass: number;
  }
  const shapes: [faults: Faults, shape: Shape][] = [
    [{ strangeState: true }, { text: "MYSTERY", state: 99, esmClass: 4 }],
    [{ strangeState: { word: "ZZZ", state: 200 } }, { text: "ZZZ", state: 200, esmClass: 4 }],
    [{ receiptForm: "text" }, { text: "DELIVRD", state: undefined, esmClass: 4 }],
    [{ receiptForm: "ucs2 text" }, { text: null, state: undefined, esmClass: 4 }],
    [{ receiptForm: "tlvs" }, { text: null, state: 2, esmClass: 4 }],
    [{ unmarkedReceipt: true }, { text: "DELIVRD", state: 2, esmClass: 0 }],
    [
      { unmarkedReceipt: true, receiptForm: "text", strangeState: { word: "BUFFERED" } },
      { text: "BUFFERED", state: undefined, esmClass: 0 },
    ],
  ];
  for (const [faults, shape] of shapes) {
    test(`${JSON.stringify(faults)}`, async (t) => {
      const { customer } = await faulty(t, faults);
      await customer.submit();
      await until(() => customer.delivered.length === 1);
      const [receipt] = customer.delivered;
      const [word] = statesOf(customer.delivered);
      assert.deepEqual(
        {
          text: receipt!.shortMessage.length === 0 ? null : word,
          state: readTlv(receipt!.tlvs, "message_state"),
          esmClass: receipt!.esmClass,
        },
        shape,
      );
      assert.equal(hasTlv(receipt!.tlvs, "receipted_message_id"), shape.state !== undefined);
    });
  }

  test("impossibleDates: no calendar has them", async (t) => {
    const { customer } = await faulty(t, { impossibleDates: true });
    await customer.submit();
    await until(() => customer.delivered.length === 1);
    assert.match(textOf(customer.delivered[0]!), /submit date:\d{4}31241\d done date:\d{4}31241\d /);
  });
});

describe("connections", () => {
  /** Ten submits in one window; the fault strikes at the fifth. */
  async function tenSubmits(t: TestContext, faults: Faults) {
    const { smsc, customer } = await faulty(t, faults);
    const submits = Array.from({ length: 10 }, (_, n) =>
      customer.session.request({ ...SUBMIT, destinationAddr: number(n) }),
    );
    return { smsc, customer, submits };
  }
  const AT_THE_FIFTH = { skip: 4, count: 1 };
  const answered = (kinds: readonly string[]) => kinds.filter((kind) => kind === "answered").length;

  for (const taken of [false, true]) {
    test(`dropConnection: it ends in mid-window, and the fifth was ${taken ? "" : "not "}taken`, async (t) => {
      const faults = { dropConnection: { ...AT_THE_FIFTH, taken } };
      const { smsc, customer, submits } = await tenSubmits(t, faults);
      const kinds = (await Promise.all(submits)).map(({ kind }) => kind);
      assert.equal(answered(kinds), 4);
      assert.deepEqual(kinds.slice(4), Array(6).fill("unknown"));
      assert.equal(smsc.parts.length, taken ? 5 : 4);
      assert.match((await customer.closed).why, /peer closed|connection failed/);

      const next = await bindTo(t, smsc);
      await until(() => customer.delivered.length + next.delivered.length >= smsc.parts.length);
      assert.equal((await next.submit()).status, 0);
    });

    test(`unbind: it says goodbye in mid-window, and the fifth was ${taken ? "" : "not "}taken`, async (t) => {
      const { smsc, customer, submits } = await tenSubmits(t, { unbind: { ...AT_THE_FIFTH, taken } });
      const kinds = (await Promise.all(submits)).map(({ kind }) => kind);
      assert.equal(answered(kinds), 4);
      assert.equal((await customer.closed).why, "peer unbound");
      assert.equal(smsc.parts.length, taken ? 5 : 4);
    });

    test(`halfOpen: it falls silent, the connection stays, and the fifth was ${taken ? "" : "not "}taken`, async (t) => {
      const { smsc, customer, submits } = await tenSubmits(t, { halfOpen: { ...AT_THE_FIFTH, taken } });
      await Promise.all(submits.slice(0, 4));
      await until(() => smsc.connections.length === 0);
      assert.equal(customer.session.send({ command: "enquire_link" }), true);
      // Others are served as ever, and get what the silent one does not.
      const next = await bindTo(t, smsc);
      await until(() => customer.delivered.length + next.delivered.length >= smsc.parts.length);
      assert.equal(customer.session.state, "bound_trx");
      assert.equal(customer.session.inFlight, 6);
      assert.equal(smsc.parts.length, taken ? 5 : 4);
      await smsc.stop();
      await customer.closed;
      assert.deepEqual(
        (await Promise.all(submits)).slice(4).map(({ kind }) => kind),
        Array(6).fill("unknown"),
      );
    });
  }

  /** A peer by hand, and the chunks in which what it gets comes. */
  async function byHand(t: TestContext, smsc: Smsc) {
    const socket = connect({ host: "127.0.0.1", port: smsc.port });
    t.after(() => socket.destroy());
    const chunks: number[] = [];
    socket.on("data", (chunk) => chunks.push(chunk.length));
    const peer = new Peer(socket);
    peer.send({ command: "bind_transmitter", sequence: 1, systemId: "customer" });
    await peer.take("bind_transmitter_resp");
    return { peer, chunks };
  }

  test("tornPdus: in pieces, and nothing is lost", async (t) => {
    const smsc = await startSmsc(t);
    const { peer, chunks } = await byHand(t, smsc);
    smsc.faults = { tornPdus: true };
    peer.send({ ...SUBMIT, sequence: 2 });
    const { messageId } = await peer.take("submit_sm_resp");
    assert.equal(smsc.parts[0]?.id, messageId);
    const pieces = chunks.slice(1);
    assert.ok(pieces.length > 1, `it came in ${pieces.length} piece`);
    assert.ok(pieces.every((length) => length < 16 + messageId.length + 1));
  });

  test("gluedPdus: many in one, and nothing is lost", async (t) => {
    const clock = new VirtualClock();
    const smsc = await startSmsc(t, {}, clock);
    const { peer, chunks } = await byHand(t, smsc);
    smsc.faults = { gluedPdus: { ms: 100 } };
    for (let sequence = 2; sequence < 12; sequence++) {
      peer.send({ ...SUBMIT, sequence });
      await until(() => smsc.counters.taken === sequence - 1);
    }
    assert.equal(chunks.length, 1, "only the answer to the bind so far");
    // The last answer is with the wire after a turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(100);
    await peer.takeMany(10, "submit_sm_resp");
    assert.equal(chunks.length, 2);
  });

  test("torn or glued, a session does not mind", async (t) => {
    for (const faults of [
      { tornPdus: { octets: 7 } },
      { gluedPdus: { ms: 20 } },
      { gluedPdus: { ms: 5, probability: 0.5 } },
    ]) {
      const { smsc, customer } = await faulty(t, faults);
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, n) => customer.submit({ destinationAddr: number(n) })),
      );
      assert.ok(answers.every(({ status }) => status === 0));
      await until(() => customer.delivered.length === 30);
      await smsc.stop();
      assert.equal((await customer.closed).why, "peer unbound");
    }
  });
});

describe("when a fault strikes", () => {
  const struck = (fault: Faults["dropAnswer"] & object, times: number, to = "1") => {
    const one = new Fault(fault, seededRandom(7));
    return Array.from({ length: times }, () => one.strikes(to))
      .map(Number)
      .join("");
  };

  test("always, so many times, not at first, for some numbers, or by chance", () => {
    assert.equal(struck({}, 4), "1111");
    assert.equal(struck({ count: 2 }, 4), "1100");
    assert.equal(struck({ skip: 1, count: 2 }, 5), "01100");
    assert.equal(struck({ count: 0 }, 2), "00");
    assert.equal(struck({ to: "^38" }, 1, "385"), "1");
    assert.equal(struck({ to: /^38/g }, 2, "385"), "11");
    assert.equal(struck({ to: (n) => n.length > 3 }, 1, "385"), "0");
    const hits = struck({ probability: 0.25 }, 10_000).replaceAll("0", "").length;
    assert.ok(hits > 2_200 && hits < 2_800, `${hits} of 10,000`);
  });

  test("several at once, and set anew while it runs", async (t) => {
    const { smsc, customer } = await faulty(t, { queueFull: 1, systemError: { to: "1$" }, congestion: 0.999999 });
    const statuses = [];
    for (const n of [2, 1, 2])
      statuses.push(statusName((await customer.submit({ destinationAddr: number(n) })).status));
    assert.deepEqual(statuses, ["ESME_RMSGQFUL", "ESME_RSYSERR", "ESME_ROK"]);
    assert.deepEqual(smsc.counters.hits, { queueFull: 1, systemError: 1, congestion: 1 });
    smsc.faults = { queueFull: 1 };
    assert.equal(statusName((await customer.submit()).status), "ESME_RMSGQFUL");
    smsc.faults = {};
    assert.equal((await customer.submit()).status, 0);
    assert.deepEqual(smsc.counters.hits, {});
  });

  test("false and 0 are off", async (t) => {
    const { customer } = await faulty(t, { queueFull: false, systemError: 0 });
    assert.equal((await customer.submit()).status, 0);
  });
});

describe("faults from outside", () => {
  const wrong: [value: unknown, message: RegExp][] = [
    [[], /^faults must be an object/],
    [{ toString: true }, /^there is no fault "toString"; there are refuseBind, /],
    [
      { dropAnswer: "yes" },
      /^dropAnswer must be true, a number or an object with some of probability, count, skip, to$/,
    ],
    [{ dropAnswer: 1.5 }, /^dropAnswer must be a share from 0 to 1 or a whole number of times, not 1.5$/],
    [{ dropAnswer: { constructor: 1 } }, /^dropAnswer has no "constructor"; it has probability, count, skip, to$/],
    [{ dropAnswer: { probability: 2 } }, /^dropAnswer.probability must be a number from 0 to 1, not 2$/],
    [{ dropAnswer: { to: "(" } }, /^dropAnswer.to must be a regular expression, not "\("$/],
    [{ delayAnswer: { ms: -1 } }, /^delayAnswer.ms must be a whole number from 0 to 86400000, not -1$/],
    [
      { refuseBind: { status: "ESME_OOPS" } },
      /^refuseBind.status must be a status such as ESME_RSYSERR, or its number/,
    ],
    [{ refuseBind: { to: "1" } }, /^refuseBind has no "to"/],
    [{ ids: "roman" }, /^ids must be decimal, hex, .* or two as in "hex then decimal", not "roman"$/],
    [{ receiptParts: { as: "middle" } }, /^receiptParts.as must be one of "first", "last", not "middle"$/],
    [{ unbind: { taken: 1 } }, /^unbind.taken must be true or false, not 1$/],
    [{ strangeState: { word: "two words" } }, /^strangeState.word must be a word/],
  ];
  for (const [value, message] of wrong) {
    test(`${JSON.stringify(value)} is told what is wrong with it`, () => {
      assert.throws(
        () => readFaults(value),
        (error: Error) => error instanceof BadFaults && message.test(error.message),
      );
    });
  }

  test("on the command line: a name, a word, a number, or JSON", () => {
    assert.deepEqual(readFault("dropAnswer"), { dropAnswer: true });
    assert.deepEqual(readFault("dropAnswer=0.1"), { dropAnswer: 0.1 });
    assert.deepEqual(readFault("ids=hex then decimal"), { ids: "hex then decimal" });
    assert.deepEqual(readFault('throttle={"perSecond": 5, "to": "a=b"}'), { throttle: { perSecond: 5, to: "a=b" } });
  });

  test("the page for users has a line for each fault with all its fields, and no others", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/smsc.md"), "utf8");
    const table = page.slice(page.indexOf("| fault |"));
    const rows = [...table.matchAll(/^\| `(\w+)` \|([^|]*)\|/gm)].map(([, name, fields]) => [
      name!,
      [...fields!.matchAll(/`(\w+)`/g)].map(([, field]) => field!).sort(),
    ]);
    const common = new Set(["probability", "count", "skip", "to"]);
    const expected = Object.entries(FAULTS).map(([name, fields]) => [
      name,
      Object.keys(fields)
        .filter((field) => !common.has(field))
        .sort(),
    ]);
    assert.deepEqual(rows, expected);
  });
});
