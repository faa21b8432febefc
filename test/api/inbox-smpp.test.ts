/** Messages from phones over SMPP: the npm library as the carrier, the whole service, and the client's inbox. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import smpp from "smpp";
import { REJECTED, SINGLE } from "../support/sending.ts";
import { eventually, startTestService, type TestService } from "../support/service.ts";
import { smppCatalogue } from "../support/smsc.ts";

type TheirSession = ReturnType<typeof smpp.connect>;
type TheirPdu = InstanceType<typeof smpp.PDU>;

const PHONE = "41793026727";
const NUMBER = "12345";

interface Network {
  readonly port: number;
  /** Sends a deliver_sm to whoever is bound, and gives the status that it is answered with. */
  deliver(fields: Readonly<Record<string, unknown>>): Promise<number>;
}

async function startNetwork(t: TestContext): Promise<Network> {
  const bound = Promise.withResolvers<TheirSession>();
  const server = smpp.createServer((session) => {
    session.on("error", () => {});
    t.after(() => session.destroy());
    session.on("bind_transceiver", (pdu: TheirPdu) => {
      session.send(pdu.response());
      bound.resolve(session);
    });
    session.on("submit_sm", (pdu: TheirPdu) => session.send(pdu.response({ message_id: "1001" })));
    session.on("unbind", (pdu: TheirPdu) => {
      session.send(pdu.response());
      session.close();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return {
    port: (server.address() as AddressInfo).port,
    async deliver(fields) {
      const session = await bound.promise;
      const pdu = new smpp.PDU("deliver_sm", {
        source_addr_ton: 1,
        source_addr_npi: 1,
        source_addr: `+${PHONE}`,
        destination_addr: NUMBER,
        ...fields,
      });
      return new Promise((resolve) => session.send(pdu, ({ command_status }) => resolve(command_status)));
    },
  };
}

const catalogue = (port: number): string => `${smppCatalogue(port)}
[[number]]
number = "${NUMBER}"
account = "DEMO0001"
stopKeywords = ["STOP"]
`;

/** A part of a long text in UCS-2, with the header of 3GPP TS 23.040 §9.2.3.24.1. */
function ucs2Part(text: string, sequence: number, total: number) {
  const header = Buffer.from([5, 0, 3, 0x2a, total, sequence]);
  const body = Buffer.from(text, "utf16le").swap16();
  return { esm_class: 0x40, data_coding: 8, short_message: Buffer.concat([header, body]) };
}

test("a long message arrives whole, its parts out of order, doubled, and cut through a character", async (t) => {
  const network = await startNetwork(t);
  const service = await startTestService(t, { catalogue: catalogue(network.port) });
  const text = "Příliš žluťoučký kůň 😀 úpěl ďábelské ódy";
  const cut = text.indexOf("😀") + 1;
  const first = ucs2Part(text.slice(0, cut), 1, 2);
  const second = ucs2Part(text.slice(cut), 2, 2);
  for (const part of [second, second, first, first]) assert.equal(await network.deliver(part), 0);
  const { json } = await service.call("GET", "/sms/1/inbox/reports");
  const [{ messageId, receivedAt, ...message }] = json.results;
  assert.match(`${messageId} ${receivedAt}`, /^[0-9]{19} \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$/);
  assert.deepEqual(
    [message, json.messageCount, json.pendingMessageCount],
    [
      {
        from: PHONE,
        to: NUMBER,
        text,
        cleanText: text,
        smsCount: 2,
        price: { pricePerMessage: 0, currency: "EUR" },
      },
      1,
      0,
    ],
  );
});

test("long messages of one phone with the number 5 in 8 bits, in 16 and in sar_ parameters, mixed, are all whole", async (t) => {
  const network = await startNetwork(t);
  const service = await startTestService(t, { catalogue: catalogue(network.port) });
  const inHeader = (start: number[]) => (text: string, sequence: number) => ({
    esm_class: 0x40,
    short_message: Buffer.concat([Buffer.from([start.length + 2, ...start, 2, sequence]), Buffer.from(text)]),
  });
  const sar = (text: string, sequence: number) => ({
    sar_msg_ref_num: 5,
    sar_total_segments: 2,
    sar_segment_seqnum: sequence,
    short_message: Buffer.from(text),
  });
  const ways = { narrow: inHeader([0, 3, 5]), wide: inHeader([8, 4, 0, 5]), sar };
  for (const [name, sequence] of [
    ["narrow", 1],
    ["wide", 2],
    ["sar", 2],
    ["wide", 1],
    ["narrow", 2],
    ["sar", 1],
  ] as const)
    assert.equal(await network.deliver(ways[name](`${name} ${sequence} `, sequence)), 0);
  assert.deepEqual(await textsOf(service), ["wide 1 wide 2 ", "narrow 1 narrow 2 ", "sar 1 sar 2 "]);
});

test("once a stop word is acknowledged to the carrier, nothing more is sent to that phone", async (t) => {
  const network = await startNetwork(t);
  const service = await startTestService(t, { catalogue: catalogue(network.port) });
  assert.equal(await network.deliver({ short_message: Buffer.from("Stop.") }), 0);
  const { json } = await service.call("POST", SINGLE, { body: { from: "InfoSMS", to: PHONE, text: "News" } });
  assert.deepEqual(json.messages[0].status, REJECTED.optedOut);
});

/** The status of the only message that was sent. */
async function statusOf(service: TestService): Promise<string> {
  const { json } = await service.call("GET", "/sms/1/logs");
  return json.results[0].status.name;
}

async function textsOf(service: TestService): Promise<string[]> {
  const { json } = await service.call("GET", "/sms/1/inbox/reports");
  return json.results.map(({ text }: { text: string }) => text);
}

const FORGED = "id:1001 sub:001 dlvrd:000 stat:UNDELIV err:001 text:";
const GENUINE = { esm_class: 4, short_message: Buffer.from("id:1001 stat:DELIVRD err:000") };

test("no phone changes what became of a message: its text is in the inbox, to the letter", async (t) => {
  const network = await startNetwork(t);
  const service = await startTestService(t, { catalogue: catalogue(network.port) });
  await service.call("POST", SINGLE, { body: { from: NUMBER, to: PHONE, text: "News" } });
  await eventually(async () => (await statusOf(service)) === "PENDING_WAITING_DELIVERY");
  for (const source_addr of ["41790000666", PHONE])
    assert.equal(await network.deliver({ source_addr, short_message: Buffer.from(FORGED) }), 0);
  // An acknowledgement by whoever received it: any customer of the carrier can send one, with the phone as its sender.
  assert.equal(await network.deliver({ esm_class: 8, short_message: Buffer.from(FORGED) }), 0);
  assert.deepEqual(await textsOf(service), [FORGED, FORGED, FORGED]);
  assert.equal(await statusOf(service), "PENDING_WAITING_DELIVERY");
  // Marked, but about another phone: parked.
  assert.equal(await network.deliver({ ...GENUINE, source_addr: "41790000666" }), 0);
  assert.equal(await statusOf(service), "PENDING_WAITING_DELIVERY");
  assert.equal((await service.store.parkedReceipts({ limit: 1 })).count, 1);
  assert.equal(await network.deliver(GENUINE), 0);
  assert.equal(await statusOf(service), "DELIVERED_TO_HANDSET");
});

test("for a carrier that marks no receipts, only the message's own phone is believed", async (t) => {
  const network = await startNetwork(t);
  const own = catalogue(network.port).replace('kind = "smpp"', 'kind = "smpp"\nunmarkedReceipts = true');
  const service = await startTestService(t, { catalogue: own });
  await service.call("POST", SINGLE, { body: { from: NUMBER, to: PHONE, text: "News" } });
  await eventually(async () => (await statusOf(service)) === "PENDING_WAITING_DELIVERY");
  assert.equal(await network.deliver({ source_addr: "41790000666", short_message: Buffer.from(FORGED) }), 0);
  assert.deepEqual(await textsOf(service), [FORGED]);
  assert.equal(await statusOf(service), "PENDING_WAITING_DELIVERY");
  assert.equal(await network.deliver({ short_message: Buffer.from("id:1001 stat:DELIVRD err:000 text:News") }), 0);
  assert.equal(await statusOf(service), "DELIVERED_TO_HANDSET");
  assert.deepEqual(await textsOf(service), []);
});

test("whatever characters a phone sends, they are in the inbox and stop nobody else's", async (t) => {
  const network = await startNetwork(t);
  const service = await startTestService(t, { catalogue: catalogue(network.port) });
  const odd = Buffer.from([0xd8, 0, 0, 0, 0, 0x41]); // half a pair, a NUL, an A
  const all = [
    network.deliver({ data_coding: 8, short_message: odd }),
    network.deliver({ short_message: Buffer.from("Hello") }),
  ];
  assert.deepEqual(await Promise.all(all), [0, 0]);
  const [hello, kept] = (await textsOf(service)).sort();
  assert.equal(hello, "Hello");
  assert.match(kept!, /^\ufffd+A$/);
});
