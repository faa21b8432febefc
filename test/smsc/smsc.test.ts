/** The simulated network over real sockets, with our own session as its customer. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Pdu } from "../../src/carriers/smpp/codec/pdu.ts";
import { statusName } from "../../src/carriers/smpp/codec/statuses.ts";
import { makeTlv, readTlv } from "../../src/carriers/smpp/codec/tlvs.ts";
import { HANDSETS_BY_SUFFIX } from "../../src/simulator/handsets.ts";
import { encodeParts, prepareText } from "../../src/sms/text.ts";
import { until } from "../support/patience.ts";
import { bindTo, type Customer, connectTo, SUBMIT, startSmsc, textOf } from "../support/smsc.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const SECOND_MS = 1000;
const HAS_HEADER = 0x40;

/** "stat:DELIVRD err:000" and the like of each receipt. */
function outcomes({ delivered }: Customer): string[] {
  return delivered.map((pdu) => /stat:\w+ err:\d+/.exec(textOf(pdu))?.[0] ?? textOf(pdu));
}

/** The customer has heard everything that it will hear: all receipts are acknowledged. */
async function settled(smsc: { readonly counters: { inHand: number; sent: number; acknowledged: number } }) {
  await until(() => smsc.counters.inHand === 0 && smsc.counters.sent === smsc.counters.acknowledged);
}

describe("a message goes to its phone, and its receipt comes back", () => {
  test("the receipt has the standard's text and the optional parameters", async (t) => {
    const clock = new VirtualClock(Date.UTC(2026, 0, 5, 12, 34));
    const smsc = await startSmsc(t, { answerAfterMs: SECOND_MS }, clock);
    const customer = await bindTo(t, smsc);
    const { messageId } = await customer.submit();
    assert.match(messageId, /^\d+$/);
    assert.equal(customer.delivered.length, 0);

    await clock.advance(2 * SECOND_MS);
    await until(() => customer.delivered.length === 1);
    const receipt = customer.delivered[0]!;
    const date = "2601051234";
    assert.equal(
      textOf(receipt),
      `id:${messageId} sub:001 dlvrd:001 submit date:${date} done date:${date} stat:DELIVRD err:000 text:Hello`,
    );
    assert.equal(receipt.esmClass, 0x04);
    assert.equal(readTlv(receipt.tlvs, "receipted_message_id"), messageId);
    assert.equal(readTlv(receipt.tlvs, "message_state"), 2);
    assert.deepEqual([...readTlv(receipt.tlvs, "network_error_code")!], [3, 0, 0]);
    assert.deepEqual(
      [receipt.sourceAddr, receipt.sourceAddrTon, receipt.sourceAddrNpi],
      [SUBMIT.destinationAddr, SUBMIT.destAddrTon, SUBMIT.destAddrNpi],
    );
    assert.deepEqual([receipt.destinationAddr, receipt.destAddrTon], [SUBMIT.sourceAddr, SUBMIT.sourceAddrTon]);
  });

  const stories: Record<string, string[]> = {
    "385991999003": ["stat:UNDELIV err:001"],
    "385991999004": ["stat:UNDELIV err:256"],
    "385991999005": ["stat:REJECTD err:632"],
    "385991999007": ["stat:EXPIRED err:811"],
    "385991999008": [],
  };
  for (const [number, expected] of Object.entries(stories)) {
    test(`${number}: ${expected.join() || "nothing is ever heard"}`, async (t) => {
      const smsc = await startSmsc(t);
      const customer = await bindTo(t, smsc);
      await customer.submit({ destinationAddr: number });
      await customer.submit();
      await settled(smsc);
      assert.deepEqual(outcomes(customer), [...expected, "stat:DELIVRD err:000"]);
    });
  }

  test("a phone that is off, then on: told of in between to whoever asked for that", async (t) => {
    const clock = new VirtualClock();
    const smsc = await startSmsc(t, {}, clock);
    const customer = await bindTo(t, smsc);
    for (const registeredDelivery of [0x11, 0x01]) {
      await customer.submit({ destinationAddr: "385991999002", registeredDelivery });
    }
    await clock.advance(SECOND_MS);
    await until(() => customer.delivered.length === 1);
    assert.deepEqual(outcomes(customer), ["stat:ENROUTE err:027"]);
    assert.equal(customer.delivered[0]!.esmClass, 0x20);
    await clock.advance(20 * SECOND_MS);
    await until(() => customer.delivered.length === 3);
    assert.deepEqual(outcomes(customer).slice(1), ["stat:DELIVRD err:000", "stat:DELIVRD err:000"]);
  });

  test("a busy number is queue full twice, a blocked one refused, and what is no number has no phone", async (t) => {
    const smsc = await startSmsc(t);
    const { submit } = await bindTo(t, smsc);
    const statuses = async (destinationAddr: string, times: number) => {
      const answers = [];
      for (let time = 0; time < times; time++) answers.push(statusName((await submit({ destinationAddr })).status));
      return answers;
    };
    assert.deepEqual(await statuses("385991999009", 3), ["ESME_RMSGQFUL", "ESME_RMSGQFUL", "ESME_ROK"]);
    assert.deepEqual(await statuses("385991999006", 1), ["ESME_RSUBMITFAIL"]);
    for (const nobody of ["", "Alice", "+", "38599x"]) assert.deepEqual(await statuses(nobody, 1), ["ESME_RINVDSTADR"]);
    assert.equal(smsc.parts.length, 1);
  });

  test("an address that no receipt could name is refused", async (t) => {
    const smsc = await startSmsc(t);
    const { session } = await bindTo(t, smsc);
    for (const [sourceAddr, destinationAddr, status] of [
      ["Heliograph", "3".repeat(40), "ESME_RINVDSTADR"],
      ["Heliograph".repeat(4), "385991234567", "ESME_RINVSRCADR"],
    ] as const) {
      const answer = await session.request({ command: "data_sm", sourceAddr, destinationAddr });
      assert.ok(answer.kind === "answered");
      assert.equal(statusName(answer.pdu.status), status);
    }
  });

  test("a number at which the connection breaks: the first time it is lost, the second it arrives", async (t) => {
    const smsc = await startSmsc(t);
    const first = await bindTo(t, smsc);
    const answer = await first.session.request({ ...SUBMIT, destinationAddr: "385991999010" });
    assert.equal(answer.kind, "unknown");
    assert.equal((await first.closed).why, "peer closed");
    const second = await bindTo(t, smsc);
    await second.submit({ destinationAddr: "385991999010" });
    await settled(smsc);
    assert.equal(smsc.parts.length, 1);
    assert.deepEqual(outcomes(second), ["stat:DELIVRD err:000"]);
  });
});

test("the page for users names every number that does something else", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/smsc.md"), "utf8");
  const named = [...page.matchAll(/^\| `(\d{6})` \|/gm)].map(([, suffix]) => suffix);
  assert.deepEqual(named, [...HANDSETS_BY_SUFFIX.keys()]);
});

describe("registered_delivery is honoured", () => {
  const DELIVERED = "385991234567";
  const FAILED = "385991999003";
  const wishes: [bits: number, what: string, receipts: string[]][] = [
    [0, "none", []],
    [1, "every outcome", [DELIVERED, FAILED]],
    [2, "failures", [FAILED]],
    [3, "successes", [DELIVERED]],
  ];
  for (const [registeredDelivery, what, expected] of wishes) {
    test(`${registeredDelivery}: ${what}`, async (t) => {
      const smsc = await startSmsc(t);
      const customer = await bindTo(t, smsc);
      for (const destinationAddr of [DELIVERED, FAILED]) await customer.submit({ destinationAddr, registeredDelivery });
      await settled(smsc);
      assert.deepEqual(customer.delivered.map((pdu) => pdu.sourceAddr).sort(), expected.toSorted());
    });
  }
});

describe("who gets what", () => {
  test("a receipt goes to a receiver or transceiver of the same system id, and to nobody else", async (t) => {
    const smsc = await startSmsc(t);
    const transmitter = await bindTo(t, smsc, { kind: "transmitter" });
    const receiver = await bindTo(t, smsc, { kind: "receiver" });
    const other = await bindTo(t, smsc, { systemId: "other" });
    await transmitter.submit();
    await other.submit();
    await settled(smsc);
    const counts = [transmitter, receiver, other].map(({ delivered }) => delivered.length);
    assert.deepEqual(counts, [0, 1, 1]);
    assert.deepEqual(
      smsc.connections.map(({ systemId, bind }) => `${systemId} ${bind}`),
      ["customer transmitter", "customer receiver", "other transceiver"],
    );
  });

  test("two receivers of one system id share the receipts", async (t) => {
    const smsc = await startSmsc(t);
    const both = [await bindTo(t, smsc), await bindTo(t, smsc)];
    await Promise.all(Array.from({ length: 20 }, () => both[0]!.submit()));
    await settled(smsc);
    assert.deepEqual(
      both.map(({ delivered }) => delivered.length),
      [10, 10],
    );
  });

  test("a receiver may not submit", async (t) => {
    const smsc = await startSmsc(t);
    const { session, stray } = await bindTo(t, smsc, { kind: "receiver" });
    // Our own session would not even send it in its window.
    session.send(SUBMIT);
    await until(() => stray.length === 1);
    assert.equal(statusName(stray[0]!.status), "ESME_RINVBNDSTS");
    assert.equal(smsc.counters.taken, 0);
  });

  test("a receipt that nobody is bound for waits, up to a bound", async (t) => {
    const smsc = await startSmsc(t, { waiting: 3 });
    const transmitter = await bindTo(t, smsc, { kind: "transmitter" });
    const numbers = ["385990000001", "385990000002", "385990000003", "385990000004", "385990000005"];
    for (const destinationAddr of numbers) await transmitter.submit({ destinationAddr });
    await until(() => smsc.counters.inHand === 0);
    assert.deepEqual([smsc.counters.waiting, smsc.counters.givenUp], [3, 2]);

    const receiver = await bindTo(t, smsc, { kind: "receiver" });
    await until(() => receiver.delivered.length === 3);
    assert.deepEqual(
      receiver.delivered.map((pdu) => pdu.sourceAddr),
      numbers.slice(2),
    );
    assert.equal(smsc.counters.waiting, 0);
  });

  test("a receipt that the customer cannot take is sent again; one that it refuses is not", async (t) => {
    const smsc = await startSmsc(t);
    const statuses = [0x64, 0x14, 0];
    const customer = await bindTo(t, smsc, {
      acknowledge: ({ sourceAddr }) => ({
        command: "deliver_sm_resp",
        status: sourceAddr === "385991234567" ? statuses.shift()! : 0x65,
      }),
    });
    await customer.submit();
    await until(() => customer.delivered.length === 3);
    await customer.submit({ destinationAddr: "385990000001" });
    await until(() => smsc.counters.givenUp === 1);
    assert.equal(customer.delivered.length, 4);
    assert.equal(new Set(customer.delivered.slice(0, 3).map(textOf)).size, 1);
  });

  test("receipts that a lost connection left without an answer go to the next one, in their order", async (t) => {
    const smsc = await startSmsc(t);
    const first = await bindTo(t, smsc, { acknowledge: () => new Promise(() => {}) });
    const numbers = Array.from({ length: 20 }, (_, n) => `3859900000${10 + n}`);
    await Promise.all(numbers.map((destinationAddr) => first.submit({ destinationAddr })));
    await until(() => first.delivered.length === 20);
    await first.session.close();
    const second = await bindTo(t, smsc);
    await until(() => second.delivered.length === 20);
    assert.deepEqual(
      second.delivered.map((pdu) => pdu.sourceAddr),
      numbers,
    );
  });

  test("a receipt without an answer is sent again after the session's timeout, and not for ever", async (t) => {
    const clock = new VirtualClock();
    const smsc = await startSmsc(t, { session: { requestTimeoutMs: 10_000, idleMs: 1e9 } }, clock);
    const customer = await bindTo(t, smsc, { acknowledge: () => null });
    await customer.submit();
    for (let tries = 1; tries <= 10; tries++) {
      await clock.advance(10_000);
      await until(() => customer.delivered.length === tries || smsc.counters.givenUp === 1);
    }
    await clock.advance(3_600_000);
    assert.equal(customer.delivered.length, 10);
    assert.equal(smsc.counters.givenUp, 1);
  });
});

describe("who may bind", () => {
  test("anyone, unless told otherwise", async (t) => {
    const smsc = await startSmsc(t);
    await bindTo(t, smsc, { systemId: "anyone", password: "" });
    await bindTo(t, smsc, { systemId: "", password: "whatever" });
  });

  const locked = { systemId: "us", password: "secret" };
  const attempts: [systemId: string, password: string, status: string][] = [
    ["us", "secret", "ESME_ROK"],
    ["them", "secret", "ESME_RINVSYSID"],
    ["us", "guess", "ESME_RINVPASWD"],
  ];
  for (const [systemId, password, status] of attempts) {
    test(`${systemId} with "${password}" is told ${status}`, async (t) => {
      const smsc = await startSmsc(t, locked);
      const { session } = await connectTo(t, smsc);
      const answer = await session.bind("transceiver", { systemId, password });
      assert.ok(answer.kind === "answered");
      assert.equal(statusName(answer.pdu.status), status);
    });
  }
});

describe("time", () => {
  test("a message whose validity ends before its phone answers is expired at that moment", async (t) => {
    const clock = new VirtualClock();
    const smsc = await startSmsc(t, {}, clock);
    const customer = await bindTo(t, smsc);
    await customer.submit({ destinationAddr: "385991999001", validityPeriod: "000000000100000R" });
    await clock.advance(59 * SECOND_MS);
    assert.equal(customer.delivered.length, 0);
    await clock.advance(2 * SECOND_MS);
    await until(() => customer.delivered.length === 1);
    assert.deepEqual(outcomes(customer), ["stat:EXPIRED err:811"]);
  });

  test("a message for later is delivered later", async (t) => {
    const clock = new VirtualClock(Date.UTC(2026, 0, 5, 12));
    const smsc = await startSmsc(t, {}, clock);
    const customer = await bindTo(t, smsc);
    await customer.submit({ scheduleDeliveryTime: "260105121000000+" });
    await clock.advance(599 * SECOND_MS);
    assert.equal(customer.delivered.length, 0);
    await clock.advance(2 * SECOND_MS);
    await until(() => customer.delivered.length === 1);
  });

  test("times that cannot be are refused", async (t) => {
    const smsc = await startSmsc(t);
    const { submit } = await bindTo(t, smsc);
    assert.equal(statusName((await submit({ validityPeriod: "tomorrow" })).status), "ESME_RINVEXPIRY");
    assert.equal(statusName((await submit({ validityPeriod: "200101000000000+" })).status), "ESME_RINVEXPIRY");
    assert.equal(statusName((await submit({ scheduleDeliveryTime: "269999000000000+" })).status), "ESME_RINVSCHED");
  });

  test("a thousand parts set a handful of timers", async (t) => {
    const clock = new VirtualClock();
    const smsc = await startSmsc(t, { answerAfterMs: SECOND_MS }, clock);
    const customer = await bindTo(t, smsc, { window: 1000 });
    const before = clock.timersSet;
    await Promise.all(Array.from({ length: 1000 }, () => customer.submit()));
    assert.ok(clock.timersSet - before < 50, `${clock.timersSet - before} timers for the submits`);
    while (smsc.counters.inHand > 0) await clock.advance(100);
    await until(() => customer.delivered.length === 1000);
    assert.ok(clock.timersSet - before < 150, `${clock.timersSet - before} timers in all`);
  });
});

describe("the record", () => {
  test("a part's place is found in a header of 16 bits, and beside a header that has none", async (t) => {
    const smsc = await startSmsc(t);
    const { submit } = await bindTo(t, smsc);
    const sar = (sequence: number) => [
      makeTlv("sar_msg_ref_num", 301),
      makeTlv("sar_total_segments", 2),
      makeTlv("sar_segment_seqnum", sequence),
    ];
    await submit({ esmClass: HAS_HEADER, shortMessage: Buffer.from("0608041234020168", "hex") });
    // The header is there for a shift table.
    await submit({ esmClass: HAS_HEADER, shortMessage: Buffer.from("0324010168", "hex"), tlvs: sar(2) });
    // The third part of two.
    await submit({ shortMessage: Buffer.from("hi"), tlvs: sar(3) });
    assert.deepEqual(
      smsc.parts.map(({ place }) => place),
      [{ reference: 0x1234, total: 2, sequence: 1 }, { reference: 301, total: 2, sequence: 2 }, null],
    );
  });

  test("a text is whole whose esm_class promises a header that is not there", async (t) => {
    const smsc = await startSmsc(t);
    const { submit } = await bindTo(t, smsc);
    for (const text of ["Hello", "\x05Hello all"]) {
      await submit({ esmClass: HAS_HEADER, dataCoding: 3, shortMessage: Buffer.from(text) });
    }
    assert.deepEqual(
      smsc.parts.map(({ text, place }) => [text, place]),
      [
        ["Hello", null],
        ["\x05Hello all", null],
      ],
    );
  });

  test("long messages lie there by parts, as they came, with their texts", async (t) => {
    const smsc = await startSmsc(t);
    const { submit } = await bindTo(t, smsc);
    const gsm = "0123456789 €uro @t home. ".repeat(10);
    const parts = encodeParts(prepareText(gsm, {}), { reference: 7, flash: false, unpacked: true });
    for (const { octets, dataCoding } of parts) {
      await submit({ esmClass: HAS_HEADER, dataCoding, shortMessage: octets });
    }
    const sar = ["Grüezi ", "mitenand"].map((text, index) => ({
      dataCoding: 3,
      shortMessage: Buffer.from(text, "latin1"),
      tlvs: [
        makeTlv("sar_msg_ref_num", 300),
        makeTlv("sar_total_segments", 2),
        makeTlv("sar_segment_seqnum", index + 1),
      ],
    }));
    for (const fields of sar) await submit(fields);
    const [ucs2] = encodeParts(prepareText("Привет", {}), { reference: 1, flash: false, unpacked: true });
    await submit({
      dataCoding: ucs2!.dataCoding,
      tlvs: [makeTlv("message_payload", ucs2!.octets)],
      shortMessage: Buffer.alloc(0),
    });

    const record = smsc.parts;
    assert.deepEqual(
      record.map(({ place }) => place),
      [
        { reference: 7, total: 2, sequence: 1 },
        { reference: 7, total: 2, sequence: 2 },
        { reference: 300, total: 2, sequence: 1 },
        { reference: 300, total: 2, sequence: 2 },
        null,
      ],
    );
    const text = (from: number, to?: number) =>
      record
        .slice(from, to)
        .map((part) => part.text)
        .join("");
    assert.deepEqual([text(0, 2), text(2, 4), text(4)], [gsm, "Grüezi mitenand", "Привет"]);
    const [first] = record;
    assert.deepEqual(
      [first?.arrival, first?.connection, first?.systemId, first?.from, first?.to, first?.esmClass],
      [1, 1, "customer", "Heliograph", "385991234567", HAS_HEADER],
    );
    assert.deepEqual(Buffer.from(first!.octets), Buffer.from(parts[0]!.octets));
  });

  test("it holds the last ones only, and none at all if that is wanted", async (t) => {
    const short = await startSmsc(t, { record: 3 });
    const none = await startSmsc(t, { record: 0 });
    for (const smsc of [short, none]) {
      const { submit } = await bindTo(t, smsc);
      for (let n = 1; n <= 5; n++) await submit({ destinationAddr: `38599000000${n}` });
    }
    assert.deepEqual(
      short.parts.map(({ to }) => to.slice(-1)),
      ["3", "4", "5"],
    );
    assert.deepEqual(none.parts, []);
    assert.equal(none.counters.taken, 5);
    assert.deepEqual(
      [short.find({ to: "385990000004" }), short.find({ after: 3, limit: 1 }), short.find({ limit: 1 })].map((parts) =>
        parts.map(({ arrival }) => arrival),
      ),
      [[4], [4], [5]],
    );
  });

  test("a network that has its hands full says so", async (t) => {
    const clock = new VirtualClock();
    const smsc = await startSmsc(t, { capacity: 2 }, clock);
    const { submit } = await bindTo(t, smsc);
    const statuses = [];
    for (let n = 0; n < 3; n++) statuses.push(statusName((await submit()).status));
    assert.deepEqual(statuses, ["ESME_ROK", "ESME_ROK", "ESME_RMSGQFUL"]);
    await clock.advance(SECOND_MS);
    assert.equal((await submit()).status, 0);
  });
});

describe("the other requests", () => {
  test("data_sm and submit_multi hand messages over too", async (t) => {
    const smsc = await startSmsc(t);
    const customer = await bindTo(t, smsc);
    const data = await customer.session.request({
      command: "data_sm",
      sourceAddr: "Heliograph",
      destinationAddr: "385990000001",
      registeredDelivery: 1,
      tlvs: [makeTlv("message_payload", Buffer.from("Hello")), makeTlv("qos_time_to_live", 60)],
    });
    assert.ok(data.kind === "answered" && data.pdu.command === "data_sm_resp" && data.pdu.messageId !== "");

    const { command: _command, ...fields } = SUBMIT;
    const multi = await customer.session.request({
      ...fields,
      command: "submit_multi",
      destinations: [
        { kind: "address", ton: 1, npi: 1, address: "385990000002" },
        { kind: "address", ton: 1, npi: 1, address: "385991999006" },
        { kind: "list", name: "friends" },
        { kind: "address", ton: 1, npi: 1, address: "385990000003" },
      ],
    });
    assert.ok(multi.kind === "answered" && multi.pdu.command === "submit_multi_resp");
    const { messageId, unsuccessful } = multi.pdu;
    assert.deepEqual(
      unsuccessful.map(({ address, status }) => [address, statusName(status)]),
      [
        ["385991999006", "ESME_RSUBMITFAIL"],
        ["friends", "ESME_RINVDLNAME"],
      ],
    );
    await until(() => customer.delivered.length === 3);
    const idOf = (pdu: Pdu<"deliver_sm">) => readTlv(pdu.tlvs, "receipted_message_id");
    assert.deepEqual(Object.fromEntries(customer.delivered.map((pdu) => [pdu.sourceAddr, idOf(pdu)])), {
      "385990000001": data.pdu.messageId,
      "385990000002": messageId,
      "385990000003": messageId,
    });
    assert.deepEqual(
      smsc.parts.map(({ text }) => text),
      ["Hello", "Hello", "Hello"],
    );
  });

  test("query_sm tells how a message of one's own stands", async (t) => {
    const clock = new VirtualClock(Date.UTC(2026, 0, 5, 12));
    const smsc = await startSmsc(t, { answerAfterMs: SECOND_MS }, clock);
    const customer = await bindTo(t, smsc);
    const stranger = await bindTo(t, smsc, { systemId: "stranger" });
    const { messageId } = await customer.submit();
    const query = async (asking: Customer, sourceAddr: string, id = messageId) => {
      const answer = await asking.session.request({ command: "query_sm", messageId: id, sourceAddr });
      assert.ok(answer.kind === "answered" && answer.pdu.command === "query_sm_resp");
      const { status, messageState, finalDate } = answer.pdu;
      return `${statusName(status)} ${messageState} ${finalDate}`;
    };
    assert.equal(await query(customer, "Heliograph"), "ESME_ROK 1 ");
    await clock.advance(2 * SECOND_MS);
    assert.match(await query(customer, "Heliograph"), /^ESME_ROK 2 2601051200\d{3}00\+$/);
    assert.equal(await query(customer, "Another"), "ESME_RQUERYFAIL 0 ");
    assert.equal(await query(customer, "Heliograph", "4711"), "ESME_RQUERYFAIL 0 ");
    assert.equal(await query(stranger, "Heliograph"), "ESME_RQUERYFAIL 0 ");
  });

  test("cancel_sm deletes what is under way, one by its id or all for a number, and nothing twice", async (t) => {
    const clock = new VirtualClock();
    const smsc = await startSmsc(t, { answerAfterMs: SECOND_MS }, clock);
    const customer = await bindTo(t, smsc);
    const { messageId } = await customer.submit();
    for (let n = 0; n < 2; n++) await customer.submit({ destinationAddr: "385990000001" });
    const cancel = async (id: string, destinationAddr: string) => {
      const source = { sourceAddr: "Heliograph" };
      const answer = await customer.session.request({
        command: "cancel_sm",
        messageId: id,
        ...source,
        destinationAddr,
      });
      assert.ok(answer.kind === "answered");
      return statusName(answer.pdu.status);
    };
    assert.equal(await cancel(messageId, ""), "ESME_ROK");
    assert.equal(await cancel(messageId, ""), "ESME_RCANCELFAIL");
    assert.equal(await cancel("", "385990000001"), "ESME_ROK");
    assert.equal(await cancel("", "385990000001"), "ESME_RCANCELFAIL");
    await clock.advance(2 * SECOND_MS);
    await until(() => customer.delivered.length === 3);
    assert.deepEqual(outcomes(customer), Array(3).fill("stat:DELETED err:000"));
    assert.equal(smsc.counters.inHand, 0);
  });

  test("what is not offered is answered all the same", async (t) => {
    const smsc = await startSmsc(t);
    const { session } = await bindTo(t, smsc);
    const replace = await session.request({ command: "replace_sm", messageId: "1", sourceAddr: "Heliograph" });
    assert.ok(replace.kind === "answered");
    assert.equal(statusName(replace.pdu.status), "ESME_RREPLACEFAIL");
    assert.equal((await session.request({ command: "enquire_link" })).kind, "answered");
  });
});

describe("phones write", () => {
  test("a short message comes in one part, a long one in several with a header, and both are acknowledged", async (t) => {
    const smsc = await startSmsc(t);
    const customer = await bindTo(t, smsc);
    const long = "Здравствуйте, ".repeat(12);
    for (const [text, parts] of [
      ["Hello @ home", 1],
      [long, 3],
    ] as const) {
      const sent = smsc.incoming({ from: "385991234567", to: "12345", text });
      assert.equal(sent.parts, parts);
      assert.equal(await sent.acknowledged, true);
    }
    const [short, ...rest] = customer.delivered;
    assert.deepEqual(
      [short!.sourceAddr, short!.sourceAddrTon, short!.destinationAddr, short!.destAddrTon, short!.esmClass],
      ["385991234567", 1, "12345", 3, 0],
    );
    const reference = rest[0]!.shortMessage[3];
    assert.deepEqual(
      rest.map(({ esmClass, dataCoding, shortMessage }) => [esmClass, dataCoding, [...shortMessage.subarray(0, 6)]]),
      [1, 2, 3].map((part) => [HAS_HEADER, 8, [5, 0, 3, reference, 3, part]]),
    );
    const octets = Buffer.concat(rest.map(({ shortMessage }) => shortMessage.subarray(6)));
    assert.equal(octets.swap16().toString("utf16le"), long);
  });

  test("256 long messages in a row have 256 references, however many short ones are between", async (t) => {
    const smsc = await startSmsc(t);
    const customer = await bindTo(t, smsc);
    const texts = Array.from({ length: 512 }, (_, index) => (index % 2 === 0 ? "long ".repeat(40) : "short"));
    const sent = texts.map((text) => smsc.incoming({ from: "385991234567", to: "12345", text }).acknowledged);
    assert.ok((await Promise.all(sent)).every((acknowledged) => acknowledged));
    const long = customer.delivered.filter(({ esmClass }) => esmClass === HAS_HEADER);
    assert.equal(new Set(long.map(({ shortMessage }) => shortMessage[3])).size, 256);
  });

  test("it goes to the system id that it is for, and waits for it", async (t) => {
    const smsc = await startSmsc(t);
    const other = await bindTo(t, smsc, { systemId: "other" });
    const sent = smsc.incoming({ from: "385991234567", to: "12345", text: "Hello", systemId: "customer" });
    const refused = smsc.incoming({ from: "385991234567", to: "12345", text: "Hello", systemId: "nobody" });
    assert.equal(smsc.counters.waiting, 2);
    const customer = await bindTo(t, smsc);
    assert.equal(await sent.acknowledged, true);
    assert.deepEqual([customer.delivered.length, other.delivered.length], [1, 0]);
    await smsc.stop();
    assert.equal(await refused.acknowledged, false);
  });

  test("what the customer cannot take now is given up when the network stops", async (t) => {
    const smsc = await startSmsc(t, { retryAfterMs: 60_000 });
    const customer = await bindTo(t, smsc, { acknowledge: () => ({ command: "deliver_sm_resp", status: 0x64 }) });
    const sent = smsc.incoming({ from: "385991234567", to: "12345", text: "Hello" });
    await until(() => customer.delivered.length === 1 && smsc.counters.waiting === 1);
    await smsc.stop();
    assert.equal(await sent.acknowledged, false);
  });

  test("a text that no message holds is an error", async (t) => {
    const smsc = await startSmsc(t);
    assert.throws(() => smsc.incoming({ from: "1", to: "2", text: "x".repeat(153 * 256) }), RangeError);
  });
});

describe("the end", () => {
  test("everyone is told goodbye, then nobody is listened to", async (t) => {
    const smsc = await startSmsc(t);
    const customer = await bindTo(t, smsc);
    const { port } = smsc;
    await smsc.stop();
    assert.equal((await customer.closed).why, "peer unbound");
    assert.equal(smsc.port, 0);
    await smsc.stop();
    assert.notEqual(port, 0);
  });

  test("it starts again, and has forgotten what was under way, but not the record", async (t) => {
    const clock = new VirtualClock();
    const smsc = await startSmsc(t, { answerAfterMs: SECOND_MS }, clock);
    const before = await (await bindTo(t, smsc)).submit();
    await smsc.stop();
    await smsc.start();
    const customer = await bindTo(t, smsc);
    await customer.submit();
    const source = { sourceAddr: "Heliograph" };
    await customer.session.request({ command: "cancel_sm", messageId: before.messageId, ...source });
    assert.equal(smsc.counters.inHand, 1);
    await clock.advance(2 * SECOND_MS);
    await until(() => customer.delivered.length === 2);
    assert.equal(smsc.counters.inHand, 0);
  });

  test("a disconnect ends the connections and forgets nothing", async (t) => {
    const clock = new VirtualClock();
    const smsc = await startSmsc(t, { answerAfterMs: SECOND_MS }, clock);
    const first = await bindTo(t, smsc);
    await first.submit();
    smsc.disconnect();
    assert.equal((await first.closed).why, "peer closed");
    await clock.advance(2 * SECOND_MS);
    assert.equal(smsc.counters.waiting, 1);
    const second = await bindTo(t, smsc);
    await until(() => second.delivered.length === 1);
  });
});
