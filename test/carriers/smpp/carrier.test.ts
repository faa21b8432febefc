/** The SMPP carrier against a scripted network on a real socket: connections, answers, long messages, receipts, messages from phones. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import type { OutgoingMessage, PartToSubmit, Submission } from "../../../src/carriers/port.ts";
import { SmppCarrier } from "../../../src/carriers/smpp/carrier.ts";
import type { Pdu, PduDraft } from "../../../src/carriers/smpp/codec/pdu.ts";
import { makeTlv, readTlv } from "../../../src/carriers/smpp/codec/tlvs.ts";
import type { SmppCounts } from "../../../src/carriers/smpp/problems.ts";
import type { SmppProfile } from "../../../src/carriers/smpp/profile.ts";
import type { Reply } from "../../../src/carriers/smpp/session/contract.ts";
import { SmppSession } from "../../../src/carriers/smpp/session/session.ts";
import type { IncomingPart } from "../../../src/message/incoming.ts";
import type { Receipt } from "../../../src/message/receipt.ts";
import { Lease } from "../../../src/node/lease.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { silentLog } from "../../../src/runtime/log.ts";
import { seededRandom } from "../../../src/runtime/random.ts";
import { errorByName } from "../../../src/sms/errors.ts";
import { prepareText } from "../../../src/sms/text.ts";
import { CERTIFICATE } from "../../support/certificate.ts";
import fc from "../../support/chance.ts";
import { eventually, temporaryDirectory } from "../../support/service.ts";

/** A network whose answers the test writes. */
class Network {
  readonly submits: Pdu<"submit_sm">[] = [];
  readonly binds: string[] = [];
  sessions: SmppSession[] = [];
  bindStatus = 0;
  answer: (pdu: Pdu<"submit_sm">, count: number) => Reply | Promise<Reply> = (_, count) => ({
    command: "submit_sm_resp",
    messageId: `id-${count}`,
  });
  /** In place of it: octets that no session of ours would write. */
  raw: ((pdu: Pdu<"submit_sm">, count: number) => Buffer) | null = null;
  readonly #server: Server;
  port = 0;

  private constructor(tls: boolean) {
    const onSocket = (socket: Socket): void => {
      const session: SmppSession = new SmppSession(socket, {
        role: "smsc",
        clock: systemClock,
        onBind: (pdu) => {
          this.binds.push(`${pdu.command} ${pdu.systemId}/${pdu.password}`);
          if (this.bindStatus !== 0) return { kind: "refuse", status: this.bindStatus };
          return { kind: "accept", systemId: "network" };
        },
        onBound: () => void this.sessions.push(session),
        onRequest: (pdu) => {
          if (pdu.command !== "submit_sm") return { command: "generic_nack", status: 3 };
          const count = this.submits.push(pdu);
          if (this.raw === null) return this.answer(pdu, count);
          socket.write(this.raw(pdu, count));
          return null;
        },
        onClose: () => {
          this.sessions = this.sessions.filter((other) => other !== session);
        },
      });
    };
    this.#server = tls ? createTlsServer(CERTIFICATE, onSocket) : createServer(onSocket);
  }

  static async start(t: TestContext, tls = false): Promise<Network> {
    const network = new Network(tls);
    await new Promise<void>((resolve) => network.#server.listen(0, "127.0.0.1", resolve));
    network.port = (network.#server.address() as { port: number }).port;
    t.after(() => network.stop());
    return network;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    await Promise.all(this.sessions.map((session) => session.close()));
    await closed;
  }

  async deliver(fields: Omit<PduDraft<"deliver_sm">, "command">): Promise<number> {
    const answer = await this.sessions[0]!.request({ command: "deliver_sm", ...fields });
    return answer.kind === "answered" ? answer.pdu.status : -1;
  }
}

function rawSubmitResponse(sequence: number, messageId: string): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt32BE(16 + messageId.length + 1, 0);
  header.writeUInt32BE(0x80000004, 4);
  header.writeUInt32BE(sequence, 12);
  return Buffer.concat([header, Buffer.from(`${messageId}\0`, "latin1")]);
}

interface Customer {
  readonly carrier: SmppCarrier;
  readonly lease: Lease;
  readonly receipts: Receipt[];
  readonly messages: IncomingPart[];
}

const PROFILE = { id: "acme", kind: "smpp", systemId: "me", password: "secret", reconnectSeconds: 1 } as const;

async function startCarrier(
  t: TestContext,
  networks: Network[],
  change: Partial<SmppProfile> = {},
  counts: SmppCounts = { unusableIds: 0, problems: 0, mended: 0 },
): Promise<Customer> {
  const hosts = networks.map(({ port }) => `127.0.0.1:${port}`);
  const profile: SmppProfile = { ...PROFILE, hosts, ...change };
  const lease = Lease.endless();
  const carrier = new SmppCarrier(profile, {
    clock: systemClock,
    random: seededRandom(1),
    log: silentLog,
    lease,
    counts,
  });
  const customer: Customer = { carrier, lease, receipts: [], messages: [] };
  carrier.listen({ onReceipt: async (receipt) => void customer.receipts.push(receipt) });
  carrier.listen({ onIncoming: async (part) => void customer.messages.push(part) });
  await carrier.start();
  t.after(() => carrier.stop());
  return customer;
}

const isUp = ({ carrier }: Customer) => eventually(async () => carrier.isUp());

function message(change: Partial<OutgoingMessage> = {}): OutgoingMessage {
  const prepared = prepareText(change.text ?? "Hello", {});
  return {
    from: "Sender",
    to: "41790000001",
    text: prepared.text,
    encoding: prepared.encoding,
    flash: false,
    intermediateReport: false,
    expiresAtMs: systemClock.now() + 3_600_000,
    reference: 7,
    ...change,
  };
}

const onlyPart = (carrier: SmppCarrier, change: Partial<OutgoingMessage> = {}): PartToSubmit =>
  carrier.partsOf(message(change))[0]!;

const submitAll = (carrier: SmppCarrier, change: Partial<OutgoingMessage>): Promise<Submission[]> =>
  Promise.all(carrier.partsOf(message(change)).map((part) => carrier.submit(part)));

describe("connections", () => {
  test("it binds, says when it is up, and submits", async (t) => {
    const network = await Network.start(t);
    const customer = await startCarrier(t, [network], { window: 3 });
    await isUp(customer);
    assert.deepEqual(network.binds, ["bind_transceiver me/secret"]);
    assert.equal(customer.carrier.room(), 3);
    assert.deepEqual(await customer.carrier.submit(onlyPart(customer.carrier)), {
      kind: "accepted",
      carrierMessageId: "id-1",
    });
  });

  test("several binds, one for each way, share the work", async (t) => {
    const network = await Network.start(t);
    const customer = await startCarrier(t, [network], { bind: "transmitter and receiver", binds: 2, window: 5 });
    await eventually(async () => customer.carrier.room() === 10);
    await eventually(async () => network.sessions.length === 4);
    assert.deepEqual(network.binds.map((bind) => bind.split(" ")[0]).sort(), [
      "bind_receiver",
      "bind_receiver",
      "bind_transmitter",
      "bind_transmitter",
    ]);
  });

  test("connections come and go with their slots: one that leaves waits for its answers, takes nothing new and unbinds", async (t) => {
    const network = await Network.start(t);
    const { carrier } = await startCarrier(t, [network], { binds: 2, window: 1, partsPerSecond: 100 });
    await eventually(async () => network.sessions.length === 2 && carrier.room() === 2);
    let answer = (): void => assert.fail("nothing was submitted");
    network.answer = (_, count) => {
      const { promise, resolve } = Promise.withResolvers<Reply>();
      const before = answer;
      answer = () => {
        if (count > 1) before();
        resolve({ command: "submit_sm_resp", messageId: `id-${count}` });
      };
      return promise;
    };
    const submissions = [carrier.submit(onlyPart(carrier)), carrier.submit(onlyPart(carrier))];
    await eventually(async () => network.submits.length === 2);
    let closed = false;
    const leaving = carrier.setSlots([0]).then(() => {
      closed = true;
    });
    assert.equal(carrier.room(), 0);
    assert.deepEqual([closed, network.sessions.length], [false, 2], "it waits for the answer");
    answer();
    for (const submission of await Promise.all(submissions)) assert.equal(submission.kind, "accepted");
    await leaving;
    await eventually(async () => network.sessions.length === 1);
    assert.equal(carrier.room(), 1);
    await carrier.setSlots([0, 1]);
    await eventually(async () => network.sessions.length === 2 && carrier.room() === 2);
    await carrier.setSlots([]);
    assert.equal(carrier.isUp(), false);
    assert.equal((await carrier.submit(onlyPart(carrier))).kind, "later");
    await eventually(async () => network.sessions.length === 0);
  });

  test("a lost connection is made again, and what was in flight is unknown", async (t) => {
    const network = await Network.start(t);
    const customer = await startCarrier(t, [network]);
    await isUp(customer);
    let changes = 0;
    customer.carrier.listen({ onChange: () => changes++ });
    network.answer = () => null;
    const submission = customer.carrier.submit(onlyPart(customer.carrier));
    await eventually(async () => network.submits.length === 1);
    await network.sessions[0]!.close();
    assert.deepEqual(await submission, { kind: "unknown" });
    await eventually(async () => !customer.carrier.isUp() || network.binds.length === 2);
    await eventually(async () => network.binds.length === 2 && customer.carrier.isUp());
    assert.ok(changes >= 2, "down and up again were both told");
  });

  test("a lease that ran out between submit and flush ends the connection, and nothing arrives until it is renewed", async (t) => {
    const network = await Network.start(t);
    const customer = await startCarrier(t, [network], { unknownOutcome: "hold" });
    const { carrier, lease } = customer;
    await isUp(customer);
    const before = network.sessions[0]!;
    const submissions = [carrier.submit(onlyPart(carrier)), carrier.submit(onlyPart(carrier))];
    lease.end();
    for (const submission of await Promise.all(submissions)) assert.equal(submission.kind, "later", "it never left");
    assert.equal((await before.closed).why, "peer closed");
    // It was about to connect again, twice.
    const looks = t.mock.method(lease, "holds");
    await eventually(async () => looks.mock.callCount() >= 2);
    assert.deepEqual([network.binds.length, network.submits.length], [1, 0], "nor does it bind without the lease");
    lease.renew(Lease.moment(), 3_600_000);
    await isUp(customer);
    assert.equal((await carrier.submit(onlyPart(carrier))).kind, "accepted");
    assert.equal(network.submits.length, 1);
  });

  test("when a host refuses, the next is tried", async (t) => {
    const [first, second] = [await Network.start(t), await Network.start(t)];
    first.bindStatus = 0x0d;
    const customer = await startCarrier(t, [first, second]);
    await isUp(customer);
    assert.deepEqual([first.binds.length, second.binds.length], [1, 1]);
  });

  test("a host that is not there is passed over, and stopping ends the tries", async (t) => {
    const network = await Network.start(t);
    const gone = await Network.start(t);
    await gone.stop();
    const customer = await startCarrier(t, [gone, network]);
    await isUp(customer);
    await customer.carrier.stop();
    assert.equal(customer.carrier.isUp(), false);
    assert.deepEqual(network.sessions, []);
  });

  test("over TLS the carrier's certificate must be good, and for the right name", async (t) => {
    const network = await Network.start(t, true);
    const tlsCa = join(await temporaryDirectory(t), "ca.pem");
    await writeFile(tlsCa, CERTIFICATE.cert);
    const trusting = await startCarrier(t, [network], { tls: true, tlsCa, tlsName: "receiver.test" });
    await isUp(trusting);
    const warnings: unknown[] = [];
    const log = { ...silentLog, warn: (facts: unknown) => void warnings.push(facts) } as typeof silentLog;
    const base: SmppProfile = {
      id: "acme",
      kind: "smpp",
      hosts: [`127.0.0.1:${network.port}`],
      systemId: "me",
      password: "secret",
      tls: true,
    };
    for (const profile of [base, { ...base, tlsCa, tlsName: "another.test" }]) {
      const carrier = new SmppCarrier(profile, {
        clock: systemClock,
        random: seededRandom(1),
        log,
        lease: Lease.endless(),
      });
      const before = warnings.length;
      await carrier.start();
      await eventually(async () => warnings.length > before);
      assert.equal(carrier.isUp(), false);
      await carrier.stop();
    }
    assert.equal(network.binds.length, 1, "only the trusting one got as far as a bind");
  });

  test("the carrier's authority may stand in its profile", async (t) => {
    const network = await Network.start(t, true);
    await isUp(await startCarrier(t, [network], { tls: true, tlsCaPem: CERTIFICATE.cert, tlsName: "receiver.test" }));
  });

  test("a certificate authority that is no file, or never ends, is a failure like any other", async (t) => {
    const network = await Network.start(t);
    const pipe = join(await temporaryDirectory(t), "pipe");
    execFileSync("mkfifo", [pipe]);
    for (const tlsCa of ["/dev/zero", pipe, "/"]) {
      const warnings: string[] = [];
      const log = { ...silentLog, warn: ({ why }: { why: string }) => void warnings.push(why) } as typeof silentLog;
      const profile: SmppProfile = { ...PROFILE, hosts: [`127.0.0.1:${network.port}`], tls: true, tlsCa };
      const carrier = new SmppCarrier(profile, {
        clock: systemClock,
        random: seededRandom(1),
        log,
        lease: Lease.endless(),
      });
      await carrier.start();
      await eventually(async () => warnings.length > 0);
      await carrier.stop();
      assert.match(warnings[0]!, /is not a file/);
    }
    assert.deepEqual(network.binds, []);
  });

  test("a certificate authority that cannot be read is a failure like any other", async (t) => {
    const network = await Network.start(t);
    const { carrier } = await startCarrier(t, [network], { tls: true, tlsCa: "/nowhere/ca.pem" });
    assert.equal(carrier.isUp(), false);
    await carrier.stop();
    assert.deepEqual(network.binds, []);
  });

  test("nothing is handed over while it is down", async (t) => {
    const network = await Network.start(t);
    network.bindStatus = 0x0e;
    const { carrier } = await startCarrier(t, [network]);
    await eventually(async () => network.binds.length === 1);
    assert.deepEqual([carrier.isUp(), carrier.room()], [false, 0]);
    assert.equal((await carrier.submit(onlyPart(carrier))).kind, "later");
  });
});

describe("answers", () => {
  const cases: [name: string, reply: Reply, expected: Partial<Submission>][] = [
    ["throttled", { command: "submit_sm_resp", status: 0x58 }, { kind: "later" }],
    ["queue full", { command: "submit_sm_resp", status: 0x14 }, { kind: "not now" }],
    ["system error", { command: "submit_sm_resp", status: 0x08 }, { kind: "not now" }],
    ["invalid destination", { command: "submit_sm_resp", status: 0x0b }, { kind: "refused", errorId: 351 }],
    ["a code of its own", { command: "submit_sm_resp", status: 0x4ff }, { kind: "refused", errorId: 632 }],
    ["generic_nack", { command: "generic_nack", status: 0x02 }, { kind: "refused", errorId: 4096 }],
    [
      "taken without an id",
      { command: "submit_sm_resp", messageId: "" },
      { kind: "accepted", carrierMessageId: "unknown:41790000001" },
    ],
    [
      "an id with zeros and capitals",
      { command: "submit_sm_resp", messageId: "000AbC" },
      { kind: "accepted", carrierMessageId: "abc" },
    ],
  ];
  for (const [name, reply, expected] of cases) {
    test(name, async (t) => {
      const network = await Network.start(t);
      const customer = await startCarrier(t, [network]);
      await isUp(customer);
      network.answer = () => reply;
      const submission = await customer.carrier.submit(onlyPart(customer.carrier));
      assert.deepEqual({ ...submission, ...expected }, submission);
    });
  }

  test("a carrier that throttles is sent less, and one that is at its optimum load is not", async (t) => {
    const network = await Network.start(t);
    const { carrier } = await startCarrier(t, [network], { window: 1_000 });
    await isUp({ carrier } as Customer);
    const submitMany = () => Promise.all(Array.from({ length: 150 }, () => carrier.submit(onlyPart(carrier))));
    network.answer = () => ({ command: "submit_sm_resp", messageId: "1", tlvs: [makeTlv("congestion_state", 81)] });
    await submitMany();
    assert.equal(carrier.room(), 1_000);
    network.answer = () => ({ command: "submit_sm_resp", status: 0x58 });
    const answers = await submitMany();
    assert.deepEqual(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1, "each goes again in its turn");
    assert.ok(carrier.room() < 20, `room for ${carrier.room()}`);
  });

  test("phones that are full say nothing of the carrier, unless there are many", async (t) => {
    const network = await Network.start(t);
    const { carrier } = await startCarrier(t, [network], { window: 1_000 });
    await isUp({ carrier } as Customer);
    network.answer = () => ({ command: "submit_sm_resp", status: 0x14 });
    const submitTo = (to: string) => carrier.submit(onlyPart(carrier, { to }));
    await Promise.all(Array.from({ length: 150 }, (_, index) => submitTo(String(41_790_000_000 + (index % 5)))));
    assert.equal(carrier.room(), 1_000);
    await Promise.all(Array.from({ length: 150 }, (_, index) => submitTo(String(41_790_000_000 + index))));
    assert.ok(carrier.room() < 20, `room for ${carrier.room()}`);
  });

  test("a sender that does not fit the field is refused, not sent", async (t) => {
    const network = await Network.start(t);
    const { carrier } = await startCarrier(t, [network]);
    await isUp({ carrier } as Customer);
    const submission = await carrier.submit(onlyPart(carrier, { from: "x".repeat(30) }));
    assert.deepEqual(submission, { kind: "refused", errorId: 4096 });
    assert.equal(network.submits.length, 0);
  });
});

describe("submits", () => {
  test("what went before does not show in a message, whether its text is the same or not", () => {
    const profile: SmppProfile = { id: "acme", kind: "smpp", hosts: ["127.0.0.1:1"], systemId: "me", password: "" };
    const parts = { clock: systemClock, random: seededRandom(1), log: silentLog, lease: Lease.endless() };
    const fresh = (): SmppCarrier => new SmppCarrier(profile, parts);
    const used = fresh();
    const long = "a".repeat(200);
    const changes: Partial<OutgoingMessage>[] = [
      { to: "41790000001" },
      { to: "41790000002", reference: 8 },
      { flash: true },
      { encoding: "ucs2" },
      { text: "Hello you" },
      { text: long, reference: 9 },
      { text: long, reference: 10 },
      { text: "48656c6c6f", encoding: { dataCoding: 4, esmClass: 0 } },
      { text: "48656c6c6f" },
      {},
    ];
    for (const change of changes) {
      const outgoing = message(change);
      assert.deepEqual(used.partsOf(outgoing), fresh().partsOf(outgoing));
    }
  });

  test("addresses, validity, receipts and flash are marked as they should be", async (t) => {
    const network = await Network.start(t);
    const { carrier } = await startCarrier(t, [network], { serviceType: "OTP", nameType: { ton: 5, npi: 1 } });
    await isUp({ carrier } as Customer);
    await submitAll(carrier, { from: "Sender", flash: true, intermediateReport: true });
    await submitAll(carrier, { from: "41790000009" });
    await submitAll(carrier, { from: "80808" });
    const [named, international, short] = network.submits;
    assert.deepEqual([named!.sourceAddrTon, named!.sourceAddrNpi, named!.sourceAddr], [5, 1, "Sender"]);
    assert.deepEqual([international!.sourceAddrTon, international!.sourceAddrNpi], [1, 1]);
    assert.deepEqual([short!.sourceAddrTon, short!.sourceAddrNpi], [3, 0]);
    assert.deepEqual([named!.destAddrTon, named!.destAddrNpi, named!.destinationAddr], [1, 1, "41790000001"]);
    assert.equal(named!.serviceType, "OTP");
    assert.equal(named!.validityPeriod, "000000010000000R");
    assert.deepEqual([named!.registeredDelivery, international!.registeredDelivery], [0x11, 0x01]);
    assert.deepEqual([named!.dataCoding & 0x13, international!.dataCoding], [0x10, 0]);
  });

  for (const [name, profile, from, octets] of [
    ["in Latin-1, unless told otherwise", {}, "Café [@]", "436166e9205b405d"],
    ["in the GSM alphabet", { nameAlphabet: "gsm" }, "ΔΣ_é", "10181105"],
    ["in the GSM alphabet, an escape before what is of its extension", { nameAlphabet: "gsm" }, "A€[", "411b651b3c"],
    ["in ASCII", { nameAlphabet: "ascii" }, "A [@]", "41205b405d"],
  ] as const) {
    test(`a sender's name goes ${name}`, async (t) => {
      const network = await Network.start(t);
      const { carrier } = await startCarrier(t, [network], profile);
      await isUp({ carrier } as Customer);
      await submitAll(carrier, { from });
      assert.equal(Buffer.from(network.submits[0]!.sourceAddr, "latin1").toString("hex"), octets);
    });
  }

  test("a sender that the carrier has no letters for is refused as such, before anything is written", async (t) => {
    const network = await Network.start(t);
    for (const [nameAlphabet, from] of [
      ["latin1", "ΔΣ"],
      ["latin1", "A€"],
      ["gsm", "me@home"],
      ["ascii", "Café"],
    ] as const) {
      const counts = { unusableIds: 0, problems: 0, mended: 0 };
      const { carrier } = await startCarrier(t, [network], { nameAlphabet }, counts);
      await isUp({ carrier } as Customer);
      const [answer] = await submitAll(carrier, { from });
      assert.deepEqual(answer, { kind: "refused", errorId: errorByName("EC_INVALID_SOURCE_ADDRESS").id });
      assert.equal(counts.problems, 0, "nothing was wrong with the carrier");
    }
    assert.deepEqual(network.submits, []);
  });

  test("a clock that was set back by a year makes no validity that cannot be written", async (t) => {
    const network = await Network.start(t);
    const { carrier } = await startCarrier(t, [network]);
    await isUp({ carrier } as Customer);
    await submitAll(carrier, { expiresAtMs: Date.now() + 366 * 86_400_000 });
    assert.equal(network.submits[0]!.validityPeriod, "000031000000000R");
  });

  const long = "0123456789".repeat(20);
  const LONG_CASES: [
    name: string,
    profile: Partial<SmppProfile>,
    text: string,
    check: (pdus: Pdu<"submit_sm">[]) => void,
  ][] = [
    [
      "with a header in each part",
      {},
      long,
      (pdus) => {
        assert.deepEqual(
          pdus.map((pdu) => Buffer.from(pdu.shortMessage.subarray(0, 6)).toString("hex")),
          ["050003070201", "050003070202"],
        );
        assert.ok(pdus.every(({ esmClass }) => esmClass === 0x40));
        const texts = pdus.map((pdu) => Buffer.from(pdu.shortMessage.subarray(6)).toString("latin1"));
        assert.deepEqual([texts.join(""), texts[0]!.length], [long, 153]);
      },
    ],
    [
      "with a header of 16 bits in each part",
      { referenceBits: 16 },
      long,
      (pdus) => {
        assert.deepEqual(
          pdus.map((pdu) => Buffer.from(pdu.shortMessage.subarray(0, 7)).toString("hex")),
          ["06080400070201", "06080400070202"],
        );
        assert.ok(pdus.every(({ esmClass }) => esmClass === 0x40));
        const texts = pdus.map((pdu) => Buffer.from(pdu.shortMessage.subarray(7)).toString("latin1"));
        assert.deepEqual([texts.join(""), texts[0]!.length], [long, 152]);
      },
    ],
    [
      "with 8 bits where 16 would cost a part",
      { referenceBits: 16 },
      long.repeat(2).slice(0, 306),
      (pdus) =>
        assert.deepEqual(
          pdus.map((pdu) => Buffer.from(pdu.shortMessage.subarray(0, 6)).toString("hex")),
          ["050003070201", "050003070202"],
        ),
    ],
    [
      "with 16 bits in UCS-2, as many as are in 8",
      { referenceBits: 16 },
      "ж".repeat(132),
      (pdus) =>
        assert.deepEqual(
          pdus.map((pdu) => [Buffer.from(pdu.shortMessage.subarray(0, 7)).toString("hex"), pdu.shortMessage.length]),
          [
            ["06080400070201", 139],
            ["06080400070202", 139],
          ],
        ),
    ],
    [
      "with 8 bits in UCS-2 where 16 would cost a part",
      { referenceBits: 16 },
      "ж".repeat(134),
      (pdus) =>
        assert.deepEqual(
          pdus.map((pdu) => [Buffer.from(pdu.shortMessage.subarray(0, 6)).toString("hex"), pdu.shortMessage.length]),
          [
            ["050003070201", 140],
            ["050003070202", 140],
          ],
        ),
    ],
    [
      "with 16 bits to a carrier that takes Latin-1",
      { referenceBits: 16, alphabet: "latin1" },
      "é_@$".repeat(50),
      (pdus) => {
        const texts = pdus.map((pdu) => Buffer.from(pdu.shortMessage.subarray(7)).toString("latin1"));
        assert.equal(texts.join(""), "é_@$".repeat(50));
        assert.ok(pdus.every((pdu) => pdu.shortMessage[1] === 8));
      },
    ],
    [
      "with sar_ parameters",
      { longMessages: "sar" },
      long,
      (pdus) => {
        assert.deepEqual(
          pdus.map(({ tlvs }) => [
            readTlv(tlvs, "sar_msg_ref_num"),
            readTlv(tlvs, "sar_total_segments"),
            readTlv(tlvs, "sar_segment_seqnum"),
          ]),
          [
            [7, 2, 1],
            [7, 2, 2],
          ],
        );
        assert.ok(pdus.every(({ esmClass }) => esmClass === 0));
        assert.equal(pdus.map((pdu) => Buffer.from(pdu.shortMessage).toString("latin1")).join(""), long);
      },
    ],
    [
      "whole in message_payload",
      { longMessages: "payload" },
      long.repeat(2),
      ([pdu, ...others]) => {
        assert.deepEqual([others.length, pdu!.shortMessage.length], [0, 0]);
        assert.equal(Buffer.from(readTlv(pdu!.tlvs, "message_payload")!).toString("latin1"), long.repeat(2));
      },
    ],
    [
      "@, _ and $ in the GSM alphabet",
      {},
      "@_$",
      ([pdu]) => assert.equal(Buffer.from(pdu!.shortMessage).toString("hex"), "001102"),
    ],
    [
      "@, _ and $ to a carrier that takes Latin-1",
      { alphabet: "latin1" },
      "@_$é",
      ([pdu]) => assert.deepEqual([Buffer.from(pdu!.shortMessage).toString("hex"), pdu!.dataCoding], ["405f24e9", 0]),
    ],
    [
      "what Latin-1 lacks is written with what it has",
      { alphabet: "latin1" },
      "é 10 €",
      ([pdu]) =>
        assert.deepEqual([Buffer.from(pdu!.shortMessage).toString("latin1"), pdu!.dataCoding], ["é 10 EUR", 0]),
    ],
    [
      "a form feed, which Latin-1 has too",
      { alphabet: "latin1" },
      "é\f1",
      ([pdu]) => assert.deepEqual([Buffer.from(pdu!.shortMessage).toString("hex"), pdu!.dataCoding], ["e90c31", 0]),
    ],
    [
      "a form feed, for which no text goes in UCS-2",
      { alphabet: "ascii", missingLetters: "ucs2" },
      "a\f1",
      ([pdu]) => assert.deepEqual([Buffer.from(pdu!.shortMessage).toString("hex"), pdu!.dataCoding], ["610c31", 0]),
    ],
    [
      "what Latin-1 lacks goes in UCS-2, where the profile says so",
      { alphabet: "latin1", missingLetters: "ucs2" },
      "10 €",
      ([pdu]) =>
        assert.deepEqual([Buffer.from(pdu!.shortMessage).toString("hex"), pdu!.dataCoding], ["00310030002020ac", 8]),
    ],
    [
      "what ASCII lacks is written with what it has, in all parts alike",
      { alphabet: "ascii", longMessages: "sar" },
      `${"é".repeat(160)}€`,
      (pdus) => {
        assert.equal(
          pdus.map((pdu) => Buffer.from(pdu.shortMessage).toString("latin1")).join(""),
          `${"e".repeat(160)}EUR`,
        );
        assert.deepEqual([pdus.length, new Set(pdus.map((pdu) => pdu.dataCoding))], [2, new Set([0])]);
      },
    ],
    [
      "packed septets of which the last bits would read as an @: a CR",
      { alphabet: "gsm packed" },
      "seventy",
      // The last octet is the top bit of the y, and a CR above it; without one, 01 would end the text in an @.
      ([pdu]) => assert.equal(Buffer.from(pdu!.shortMessage).toString("hex"), "f3b2bdeca6e71b"),
    ],
    [
      "packed septets that end in a CR where an octet ends: another CR",
      { alphabet: "gsm packed" },
      "seventy\r",
      ([pdu]) => assert.equal(Buffer.from(pdu!.shortMessage).toString("hex"), "f3b2bdeca6e71b0d"),
    ],
    [
      "packed septets in several parts, the fill bits of the header counted",
      { alphabet: "gsm packed" },
      // 153 and 152 after a header of seven septets: the second ends in seven spare bits.
      "a".repeat(153 + 152),
      ([first, second]) => {
        assert.deepEqual([first!.shortMessage.length, second!.shortMessage.length], [140, 140]);
        assert.equal(second!.shortMessage[139]! >> 1, 0x0d);
        assert.notEqual(first!.shortMessage[139]! >> 1, 0x0d);
      },
    ],
    [
      "packed septets",
      { alphabet: "gsm packed" },
      "hellohello",
      ([pdu]) => assert.equal(Buffer.from(pdu!.shortMessage).toString("hex"), "e8329bfd4697d9ec37"),
    ],
    [
      "UCS-2",
      {},
      "Привет",
      ([pdu]) =>
        assert.deepEqual(
          [Buffer.from(pdu!.shortMessage).toString("hex"), pdu!.dataCoding],
          ["041f04400438043204350442", 8],
        ),
    ],
  ];
  for (const [name, profile, text, check] of LONG_CASES) {
    test(name, async (t) => {
      const network = await Network.start(t);
      const { carrier } = await startCarrier(t, [network], profile);
      await isUp({ carrier } as Customer);
      const { encoding } = prepareText(text, {});
      await submitAll(carrier, { text, encoding });
      check(network.submits);
    });
  }
});

describe("what the carrier sends", () => {
  test("a receipt is passed on in one spelling of its id, and acknowledged when it is safe", async (t) => {
    const network = await Network.start(t);
    const customer = await startCarrier(t, [network], { receiptIds: "hex then decimal" });
    await isUp(customer);
    let safe: () => void = () => undefined;
    customer.carrier.listen({
      onReceipt: (receipt) =>
        new Promise((resolve) => {
          customer.receipts.push(receipt);
          safe = resolve;
        }),
    });
    let acknowledged: number | null = null;
    const delivery = network
      .deliver({
        sourceAddr: "41790000001",
        destinationAddr: "Sender",
        esmClass: 4,
        shortMessage: Buffer.from(
          "id:0000042483 sub:001 dlvrd:001 submit date:2602121000 done date:2602121001 stat:DELIVRD err:000 text:Hello",
        ),
      })
      .then((status) => {
        acknowledged = status;
      });
    await eventually(async () => customer.receipts.length === 1);
    assert.equal(acknowledged, null);
    safe();
    await delivery;
    assert.equal(acknowledged, 0);
    const { atMs: _, ...receipt } = customer.receipts[0]!;
    assert.deepEqual(receipt, {
      carrierMessageId: "42483",
      outcome: "delivered",
      errorId: 0,
      mccMnc: null,
      to: "41790000001",
      other: null,
      submittedAtMs: Date.UTC(2026, 1, 12, 10, 0),
    });
  });

  test("a text that looks like a receipt is a message from its phone, to the letter", async (t) => {
    const network = await Network.start(t);
    const customer = await startCarrier(t, [network]);
    await isUp(customer);
    const text = "id:1001 sub:001 dlvrd:001 stat:UNDELIV err:000 text:Hello";
    await network.deliver({ sourceAddr: "41790000666", destinationAddr: "80808", shortMessage: Buffer.from(text) });
    assert.deepEqual(customer.receipts, []);
    assert.deepEqual(
      customer.messages.map(({ from, text }) => [from, text]),
      [["41790000666", text]],
    );
  });

  test("for a carrier that marks no receipts, such a text is a receipt that says so, with the message that it may be", async (t) => {
    const network = await Network.start(t);
    const customer = await startCarrier(t, [network], { unmarkedReceipts: true });
    await isUp(customer);
    const listened: [Receipt, IncomingPart | undefined][] = [];
    customer.carrier.listen({ onReceipt: async (receipt, asMessage) => void listened.push([receipt, asMessage]) });
    const text = "id:1001 stat:DELIVRD err:000";
    await network.deliver({ sourceAddr: "+41790000001", destinationAddr: "80808", shortMessage: Buffer.from(text) });
    const [receipt, asMessage] = listened[0]!;
    assert.deepEqual([receipt.carrierMessageId, receipt.to, receipt.unmarked], ["1001", "41790000001", true]);
    assert.equal(asMessage?.text, text);
    await network.deliver({
      sourceAddr: "41790000001",
      destinationAddr: "80808",
      shortMessage: Buffer.from("My id: 4"),
    });
    assert.equal(customer.messages.length, 1);
  });

  test("the addresses of a receipt are read as numbers, and not at all where they are the carrier's own", async (t) => {
    const network = await Network.start(t);
    const customer = await startCarrier(t, [network]);
    await isUp(customer);
    await network.deliver({ esmClass: 4, sourceAddr: "0041790000001", destinationAddr: "Sender" });
    await network.deliver({ esmClass: 4, sourceAddr: "ACME", destinationAddr: "+41790000001" });
    await network.deliver({ esmClass: 4, sourceAddr: "4179000****", destinationAddr: "41791234567" });
    const own = await startCarrier(t, [network], { receiptAddresses: "carrier" });
    await isUp(own);
    await eventually(async () => network.sessions.length === 2);
    await network.sessions[1]!.request({
      command: "deliver_sm",
      esmClass: 4,
      sourceAddr: "15550000",
      destinationAddr: "1",
    });
    assert.deepEqual(
      [...customer.receipts, ...own.receipts].map(({ to, other }) => [to, other]),
      [
        ["41790000001", null],
        [null, "41790000001"],
        [null, "41791234567"],
        [null, null],
      ],
    );
  });

  test("whatever a phone sends, it is acknowledged, is no receipt, and can be kept by any database", async (t) => {
    const network = await Network.start(t);
    const customer = await startCarrier(t, [network]);
    await isUp(customer);
    const octets = (maxLength: number) => fc.uint8Array({ maxLength });
    // No NUL: that would end the string.
    const address = fc.array(fc.integer({ min: 1, max: 255 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(
        address,
        address,
        fc.constantFrom(0, 0x40, 0x80, 0xc0, 3),
        fc.integer({ min: 0, max: 255 }),
        octets(254),
        fc.option(octets(2_000)),
        async (source, destination, esmClass, dataCoding, shortMessage, payload) => {
          const before = customer.messages.length;
          const status = await network.deliver({
            sourceAddr: Buffer.from(source).toString("latin1"),
            destinationAddr: Buffer.from(destination).toString("latin1"),
            esmClass,
            dataCoding,
            shortMessage,
            tlvs: payload === null ? [] : [makeTlv("message_payload", payload)],
          });
          assert.equal(status, 0);
          assert.equal(customer.messages.length, before + 1);
          const { from, to } = customer.messages.at(-1)!;
          for (const text of [from, to]) assert.doesNotMatch(text, /\p{Cc}/u);
        },
      ),
    );
    assert.deepEqual(customer.receipts, []);
  });

  test("an id that no part can be kept under leaves the part to its phone, and is counted", async (t) => {
    const network = await Network.start(t);
    const counts = { unusableIds: 0, problems: 0, mended: 0 };
    const customer = await startCarrier(t, [network], {}, counts);
    await isUp(customer);
    // Our own session would not write them, so they are written to the socket by hand.
    const ids = ["a".repeat(65), "b".repeat(60_000), "unknown:41790000009", "c\u0001"];
    network.raw = (pdu, count) => rawSubmitResponse(pdu.sequence, ids[count - 1]!);
    for (const _ of ids) {
      assert.deepEqual(await customer.carrier.submit(onlyPart(customer.carrier)), {
        kind: "accepted",
        carrierMessageId: "unknown:41790000001",
      });
    }
    assert.equal(counts.unusableIds, ids.length);
  });

  test("a receipt without an id is passed on all the same", async (t) => {
    const network = await Network.start(t);
    const customer = await startCarrier(t, [network]);
    await isUp(customer);
    assert.equal(await network.deliver({ esmClass: 4, shortMessage: Buffer.from("gibberish") }), 0);
    assert.deepEqual(
      customer.receipts.map(({ carrierMessageId, outcome }) => [carrierMessageId, outcome]),
      [["", "held"]],
    );
  });

  test("a message from a phone is read in its alphabet, and its place among several parts is found", async (t) => {
    const network = await Network.start(t);
    const customer = await startCarrier(t, [network]);
    await isUp(customer);
    const from = { sourceAddr: "+41790000001", destinationAddr: "80808" };
    await network.deliver({ ...from, shortMessage: Buffer.from([0, 0x11, 2]) });
    await network.deliver({ ...from, dataCoding: 8, shortMessage: Buffer.from("041f0440", "hex") });
    await network.deliver({ ...from, dataCoding: 3, shortMessage: Buffer.from("é", "latin1") });
    await network.deliver({
      ...from,
      esmClass: 0x40,
      shortMessage: Buffer.from("050003090201 6869".replace(" ", ""), "hex"),
    });
    await network.deliver({
      ...from,
      shortMessage: Buffer.from("hi"),
      tlvs: [makeTlv("sar_msg_ref_num", 9), makeTlv("sar_total_segments", 2), makeTlv("sar_segment_seqnum", 2)],
    });
    assert.deepEqual(
      customer.messages.map(({ text }) => text),
      ["@_$", "Пр", "é", "hi", "hi"],
    );
    assert.deepEqual(
      customer.messages.map(({ concatenation }) => concatenation?.sequence ?? null),
      [null, null, null, 1, 2],
    );
    assert.ok(customer.messages.every((part) => part.from === "41790000001" && part.to === "80808"));
  });

  test("a reference of 8 bits, one of 16 and one in sar_ parameters are never taken for the same", async (t) => {
    const network = await Network.start(t);
    const customer = await startCarrier(t, [network]);
    await isUp(customer);
    const inHeader = (hex: string) => ({ esmClass: 0x40, shortMessage: Buffer.from(hex, "hex") });
    const sar = (octets: Uint8Array, total = 2) => ({
      shortMessage: Buffer.from("hi"),
      tlvs: [
        { ...makeTlv("sar_msg_ref_num", 0), value: octets },
        makeTlv("sar_total_segments", total),
        makeTlv("sar_segment_seqnum", 1),
      ],
    });
    const given = [
      inHeader("0500030502016869"),
      inHeader("06080400050201 6869".replace(" ", "")),
      sar(Uint8Array.of(0, 5)),
      // The same numbers again, otherwise written; of two elements the last counts.
      inHeader("0b08040005020100030502016869"),
      sar(Uint8Array.of(5)),
      // More octets than the number has, and a total that cannot be.
      sar(Uint8Array.of(0xff, 0xff, 0, 5)),
      sar(Uint8Array.of(0, 5), 0),
    ];
    for (const fields of given) await network.deliver({ sourceAddr: "1", destinationAddr: "2", ...fields });
    const places = customer.messages.map(({ concatenation }) => concatenation);
    const [narrow, wide, named, last, short, long, none] = places.map((place) => place?.reference);
    assert.equal(new Set([narrow, wide, named]).size, 3);
    assert.deepEqual([last, short, long, none], [narrow, named, named, undefined]);
  });
});
