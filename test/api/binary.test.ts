/** The binary operations: octets in place of a text, answered, limited and charged alike. */
import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import type { PartRecord } from "../../src/smsc/part.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { ACCEPTED, accepted, balanceOf, ENROUTE, ID, REJECTED, TRACKING } from "../support/sending.ts";
import { errorObject, eventually, startTestService } from "../support/service.ts";
import { startSmsc } from "../support/smsc.ts";

const TO = "41793026727";
const OTHER = "41793026834";
const HEX = "0f c2 4a bf 34 13 ba";
const DATA = 4;
const UCS2 = 8;
const HAS_HEADER = 0x40;
const INVALID_UDH = {
  groupId: 5,
  groupName: "REJECTED",
  id: 24,
  name: "REJECTED_INVALID_UDH",
  description: "Rejected invalid UDH",
};

const service = await startTestService({ after });

const send = (operation: string, body: unknown) => service.call("POST", `/sms/${operation}`, { body });
const single = (binary: unknown, more: Record<string, unknown> = {}) =>
  send("1/binary/single", { from: "InfoSMS", to: TO, binary, ...more });

const octets = (count: number): string => "a5".repeat(count);

test("single, multi and advanced in both versions take octets and answer as they do for texts", async () => {
  const binary = { hex: HEX, dataCoding: DATA, esmClass: 0 };
  const enroute = { to: TO, status: ENROUTE, smsCount: 1, messageId: ID };
  const before = service.handedOn.length;

  assert.deepEqual(accepted(await single(binary)), { messages: [enroute] });
  assert.deepEqual(accepted(await send("1/binary/multi", { messages: [{ from: "InfoSMS", to: TO, binary }] })), {
    bulkId: ID,
    messages: [enroute],
  });
  const advanced = {
    messages: [{ from: "InfoSMS", destinations: [{ to: TO }, { to: OTHER, messageId: "b" }], binary }],
  };
  assert.deepEqual(accepted(await send("1/binary/advanced", advanced)), {
    bulkId: ID,
    trackingProcessKey: TRACKING,
    messages: [enroute, { ...enroute, to: OTHER, messageId: "b" }],
  });
  const counted = { ...advanced, includeSmsCountInResponse: true };
  assert.deepEqual(accepted(await send("2/binary/advanced", counted)), {
    bulkId: ID,
    messages: [
      { to: TO, status: ACCEPTED, smsCount: 1, messageId: ID },
      { to: OTHER, status: REJECTED.duplicate, smsCount: 1, messageId: "b" },
    ],
  });
  const sent = service.handedOn.slice(before).map(({ to, text, encoding }) => ({ to, text, encoding }));
  const body = { text: "0fc24abf3413ba", encoding: { dataCoding: DATA, esmClass: 0 } };
  assert.deepEqual(
    sent,
    [TO, TO, TO, OTHER, TO].map((to) => ({ to, ...body })),
  );
});

test("data coding and esm class are 0 unless given, and null is as good as none", async () => {
  for (const binary of [{ hex: "48656C6C6F" }, { hex: "48656C6C6F", dataCoding: null, esmClass: null }]) {
    accepted(await single(binary));
    const { text, encoding } = service.handedOn.at(-1)!;
    assert.deepEqual([text, encoding], ["48656C6C6F", { dataCoding: 0, esmClass: 0 }]);
  }
});

test("flash makes a coding that has no class one of class 0, and leaves any other", async () => {
  const codings: readonly (readonly [given: number, sent: number])[] = [
    [0, 0x10],
    [DATA, 0x14],
    [UCS2, 0x18],
    [3, 3],
    [0xf5, 0xf5],
  ];
  for (const [given, sent] of codings) {
    accepted(await single({ hex: "0041", dataCoding: given }, { flash: true }));
    assert.deepEqual(service.handedOn.at(-1)!.encoding, { dataCoding: sent, esmClass: 0 });
  }
});

test("parts are counted by the octets, and each costs as much as one of a text", async () => {
  const cases: readonly (readonly [binary: object, smsCount: number])[] = [
    [{ hex: octets(140), dataCoding: DATA }, 1],
    [{ hex: octets(141), dataCoding: DATA }, 2],
    [{ hex: octets(134 * 25), dataCoding: DATA }, 25],
    [{ hex: "0041".repeat(70), dataCoding: UCS2 }, 1],
    [{ hex: "0041".repeat(71), dataCoding: UCS2 }, 2],
    [{ hex: "41".repeat(160) }, 1],
    [{ hex: "41".repeat(161) }, 2],
    [{ hex: `050003070201${octets(134)}`, dataCoding: DATA, esmClass: HAS_HEADER }, 1],
  ];
  for (const [binary, smsCount] of cases) {
    const balance = await balanceOf(service);
    const { messages } = accepted(await single(binary));
    assert.deepEqual(messages, [{ to: TO, status: ENROUTE, smsCount, messageId: ID }]);
    assert.equal(Math.round((balance - (await balanceOf(service))) * 100), smsCount);
  }
});

test("what does not fit, or begins with a header that is none, is rejected, costs nothing and is reported", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const rejections: readonly (readonly [binary: object, status: object, smsCount: number])[] = [
    [{ hex: octets(134 * 25 + 1), dataCoding: DATA }, REJECTED.tooLong, 26],
    [{ hex: octets(1_000_000), dataCoding: DATA }, REJECTED.tooLong, 26],
    [{ hex: `050003070201${octets(135)}`, dataCoding: DATA, esmClass: HAS_HEADER }, REJECTED.tooLong, 26],
    [{ hex: "050003", dataCoding: DATA, esmClass: HAS_HEADER }, INVALID_UDH, 1],
    [{ hex: "0500030702", dataCoding: DATA, esmClass: HAS_HEADER }, INVALID_UDH, 1],
    [{ hex: `050004070201${octets(10)}`, dataCoding: DATA, esmClass: HAS_HEADER }, INVALID_UDH, 1],
  ];
  const before = [service.handedOn.length, await balanceOf(service)];
  for (const [binary, status, smsCount] of rejections) {
    const { messages } = accepted(await single(binary, { notifyUrl: receiver.url }));
    assert.deepEqual(messages, [{ to: TO, status, smsCount, messageId: ID }]);
  }
  assert.deepEqual([service.handedOn.length, await balanceOf(service)], before);
  const items = await eventually(async () => receiver.items.length === rejections.length && receiver.items);
  const told = items.map(({ status, error }) => `${status.name} ${error.name}`).sort();
  const tooLong = "REJECTED_MESSAGE_TOO_LONG EC_MSG_TEXT_TOO_LONG";
  const badHeader = "REJECTED_INVALID_UDH EC_INVALID_PDU_FORMAT";
  assert.deepEqual(told, [badHeader, badHeader, badHeader, tooLong, tooLong, tooLong]);
});

test("a message whose header was rejected does not use up its messageId", async () => {
  const named = { messageId: "header" };
  const rejected = accepted(await single({ hex: "05", dataCoding: DATA, esmClass: HAS_HEADER }, named));
  assert.deepEqual(rejected.messages, [{ to: TO, status: INVALID_UDH, smsCount: 1, messageId: "header" }]);
  const sent = accepted(await single({ hex: "05", dataCoding: DATA }, named));
  assert.deepEqual(sent.messages, [{ to: TO, status: ENROUTE, smsCount: 1, messageId: "header" }]);
});

test("what is wrong with the request is told by field, and nothing is sent", async () => {
  const before = [service.handedOn.length, await balanceOf(service)];
  const even = "must have an even number of digits";
  const digits = "must be hexadecimal digits, with or without spaces";
  const cases: readonly (readonly [binary: unknown, field: string, says: string])[] = [
    [undefined, "binary", "is required"],
    [null, "binary", "is required"],
    ["0f", "binary", "must be an object"],
    [{}, "binary.hex", "is required"],
    [{ hex: "" }, "binary.hex", "must not be empty"],
    [{ hex: "  " }, "binary.hex", "must not be empty"],
    [{ hex: 15 }, "binary.hex", "must be a string"],
    [{ hex: "0" }, "binary.hex", even],
    [{ hex: "0f c" }, "binary.hex", even],
    [{ hex: "xy" }, "binary.hex", digits],
    [{ hex: "0x0f" }, "binary.hex", digits],
    [{ hex: "0f\n0f" }, "binary.hex", digits],
    [{ hex: "0f", dataCoding: 256 }, "binary.dataCoding", "must be 255 or less"],
    [{ hex: "0f", dataCoding: -1 }, "binary.dataCoding", "must be 0 or more"],
    [{ hex: "0f", dataCoding: "4" }, "binary.dataCoding", "must be an integer"],
    [{ hex: "0f", esmClass: 1.5 }, "binary.esmClass", "must be an integer"],
    [{ hex: "0f", esmClass: 256 }, "binary.esmClass", "must be 255 or less"],
  ];
  for (const [binary, field, says] of cases) {
    const { status, json } = await single(binary);
    const object = errorObject("BAD_REQUEST", "Bad request", [field], `${field} ${says}.`);
    assert.deepEqual([status, json], [400, object], JSON.stringify(binary));
  }
  const second = await send("1/binary/advanced", {
    messages: [
      { from: "InfoSMS", destinations: [{ to: TO }], binary: { hex: HEX } },
      { from: "InfoSMS", destinations: [{ to: TO }], binary: { hex: "f" } },
    ],
  });
  const field = "messages[1].binary.hex";
  assert.deepEqual([second.status, second.json.requestError.serviceException.variables], [400, [field]]);
  assert.deepEqual([service.handedOn.length, await balanceOf(service)], before);
});

test("of a text, binary is an unknown field, and of octets, text is one", async () => {
  const text = await send("1/text/single", { from: "InfoSMS", to: TO, text: "Hello", binary: { hex: "x" } });
  accepted(text);
  assert.deepEqual([service.handedOn.at(-1)!.text, service.handedOn.at(-1)!.encoding], ["Hello", "gsm7"]);
  accepted(await single({ hex: "0f" }, { text: 5 }));
  assert.deepEqual(service.handedOn.at(-1)!.text, "0f");
});

test("octets are delivered by the sandbox's phones", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  accepted(await single({ hex: octets(300), dataCoding: DATA }, { notifyUrl: receiver.url }));
  const [report] = await eventually(async () => receiver.items.length > 0 && receiver.items);
  assert.deepEqual([report!.status.name, report!.smsCount], ["DELIVERED_TO_HANDSET", 3]);
});

// --- Over SMPP ---------------------------------------------------------------------------------------------------------------

const catalogue = (port: number, profile: string): string => `
[[carrier]]
id = "smpp"
kind = "smpp"
hosts = ["127.0.0.1:${port}"]
systemId = "heliograph"
password = "secret"
${profile}
[[route]]
prefix = ""
carrier = "smpp"
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "0.01" }]
`;

/** Sends one binary message through the whole service, and gives the parts that the carrier took. */
async function partsTaken(t: TestContext, binary: object, count: number, profile = ""): Promise<PartRecord[]> {
  const smsc = await startSmsc(t);
  const sending = await startTestService(t, { catalogue: catalogue(smsc.port, profile) });
  const body = { from: "InfoSMS", to: TO, binary };
  accepted(await sending.call("POST", "/sms/1/binary/single", { body }));
  const parts = await eventually(async () => smsc.parts.length >= count && smsc.parts);
  assert.equal(parts.length, count);
  // By their content, since they may arrive in any order.
  return parts.toSorted((one, other) => Buffer.compare(one.octets!, other.octets!));
}

const hexOf = ({ octets }: PartRecord): string => Buffer.from(octets!).toString("hex");

test("over SMPP the carrier gets the octets, the data coding and the esm class as they were given", async (t) => {
  const [part] = await partsTaken(t, { hex: HEX, dataCoding: 0xf5, esmClass: 0x80 }, 1);
  assert.deepEqual([hexOf(part!), part!.dataCoding, part!.esmClass], ["0fc24abf3413ba", 0xf5, 0x80]);
});

test("over SMPP a header of the client's own stays as it is", async (t) => {
  // A WAP push: application ports 2948 and 9200.
  const hex = "0605040b8423f0dc0601ae02056a0045c60c03";
  const [part] = await partsTaken(t, { hex, dataCoding: DATA, esmClass: HAS_HEADER }, 1);
  assert.deepEqual([hexOf(part!), part!.dataCoding, part!.esmClass], [hex, DATA, HAS_HEADER]);
});

test("over SMPP long octets are cut, each part with a header of ours", async (t) => {
  const parts = await partsTaken(t, { hex: octets(300), dataCoding: DATA, esmClass: 0x80 }, 3);
  const lengths = [134, 134, 32];
  const reference = hexOf(parts[0]!).slice(6, 8);
  for (const [index, part] of parts.entries()) {
    assert.equal(hexOf(part), `050003${reference}030${index + 1}${octets(lengths[index]!)}`);
    assert.deepEqual([part.dataCoding, part.esmClass], [DATA, 0x80 | HAS_HEADER]);
  }
});

test("a carrier that wants long messages without headers gets octets without ours", async (t) => {
  const long = { hex: octets(300), dataCoding: DATA };
  await t.test("numbered beside them", async (t) => {
    const parts = await partsTaken(t, long, 3, 'longMessages = "sar"');
    const found = parts.map((part) => [hexOf(part), part.place?.sequence, part.place?.total, part.esmClass]);
    assert.deepEqual(
      found.sort((one, other) => Number(one[1]) - Number(other[1])),
      [
        [octets(134), 1, 3, 0],
        [octets(134), 2, 3, 0],
        [octets(32), 3, 3, 0],
      ],
    );
  });
  await t.test("whole", async (t) => {
    const [part] = await partsTaken(t, long, 1, 'longMessages = "payload"');
    assert.deepEqual([hexOf(part!), part!.dataCoding, part!.esmClass], [octets(300), DATA, 0]);
  });
});
