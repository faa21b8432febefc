/** What phones and networks send in other codings, from the simulated network over SMPP through the whole service to the client. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Smsc } from "../../src/smsc/smsc.ts";
import { runProgram } from "../support/child.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { SINGLE } from "../support/sending.ts";
import { basic, eventually, startTestService, type TestService, temporaryDirectory } from "../support/service.ts";
import { smppCatalogue, startSmsc } from "../support/smsc.ts";

const PHONE = "41793026727";
const NUMBER = "12345";

const catalogue = (port: number, profile = "", numbers = ""): string => `${smppCatalogue(port, profile)}
[[number]]
number = "${NUMBER}"
account = "DEMO0001"
stopKeywords = ["STOP"]
${numbers}
`;

interface Both {
  readonly smsc: Smsc;
  readonly service: TestService;
}

async function startBoth(t: TestContext, options: { profile?: string; numbers?: string; data?: string } = {}) {
  const smsc = await startSmsc(t);
  const { profile, numbers, data } = options;
  const service = await startTestService(t, {
    catalogue: catalogue(smsc.port, profile, numbers),
    ...(data === undefined ? {} : { data }),
  });
  return { smsc, service };
}

/** A phone sends octets, and the service has them. */
async function send({ smsc }: Both, hex: string, dataCoding: number, esmClass = 0, to = NUMBER): Promise<void> {
  const octets = Buffer.from(hex, "hex");
  assert.equal(await smsc.incoming({ from: PHONE, to, octets, dataCoding, esmClass }).acknowledged, true);
}

async function inbox({ service }: Both) {
  const { status, json } = await service.call("GET", "/sms/1/inbox/reports");
  assert.equal(status, 200);
  return json.results;
}

const textsOf = (results: { text: string }[]): string[] => results.map(({ text }) => text);

test("texts of phones are read in every coding of the standard", async (t) => {
  const both = await startBoth(t);
  const cases: [dataCoding: number, hex: string, text: string][] = [
    [0, "4d4f2066726f6d207065726c201b65", "MO from perl €"],
    [1, "615f62", "a_b"],
    [3, "e9", "é"],
    [5, "93fa967b", "日本"],
    [6, "bfe0d8d2d5e2", "Привет"],
    [7, "f9ece5ed", "שלום"],
    [8, "d83dde00", "😀"],
    [9, "93fa", "日"],
    [10, "1b2442467c1b2842", "日"],
    [13, "c6fc8fb0a1", "日丂"],
    [14, "c7d1b1db", "한글"],
  ];
  for (const [dataCoding, hex] of cases) await send(both, hex, dataCoding);
  assert.deepEqual(
    textsOf(await inbox(both)),
    cases.map(([, , text]) => text),
  );
});

test("a carrier that writes the GSM alphabet as IA5 is read so when its profile says it", async (t) => {
  const both = await startBoth(t, { profile: 'ia5 = "gsm"' });
  await send(both, "6279206461746111736d", 1);
  assert.deepEqual(textsOf(await inbox(both)), ["by data_sm"]);
});

test("a character that is cut between two parts arrives whole, in any alphabet", async (t) => {
  const both = await startBoth(t);
  const cases: [dataCoding: number, parts: string[], text: string][] = [
    [0, ["507269636520311b", "65"], "Price 1€"],
    [0xf0, ["1b", "3c48691b", "3e"], "[Hi]"],
    [8, ["0041d83d", "de000042"], "A😀B"],
    [8, ["00410042d8", "3dde000043"], "AB😀C"],
    [5, ["93fa96", "7b"], "日本"],
    [14, ["c7", "d1b1db"], "한글"],
  ];
  for (const [index, [dataCoding, parts]] of cases.entries()) {
    const header = (sequence: number) => Buffer.from([5, 0, 3, index, parts.length, sequence]).toString("hex");
    const inReverse = [...parts.entries()].reverse();
    for (const [place, hex] of inReverse) await send(both, header(place + 1) + hex, dataCoding, 0x40);
  }
  assert.deepEqual(
    textsOf(await inbox(both)),
    cases.map(([, , text]) => text),
  );
});

test("parts that each end in a counted NUL, and a text that only says it has a header, arrive whole and are understood", async (t) => {
  const both = await startBoth(t);
  const ucs2 = (text: string) => Buffer.from(text, "utf16le").swap16().toString("hex");
  await send(both, `050003070201${ucs2("Пишу вам: ")}00`, 8, 0x40);
  await send(both, `050003070202${ucs2("больше не надо")}00`, 8, 0x40);
  await send(both, Buffer.from("STOP all").toString("hex"), 0, 0x40);
  const results: { text: string; keyword?: string }[] = await inbox(both);
  assert.deepEqual(
    results.map(({ text, keyword }) => [text, keyword]),
    [
      ["Пишу вам: больше не надо", undefined],
      ["STOP all", "STOP"],
    ],
  );
});

test("octets that are no text are in the inbox as hex, in the form in which a client sends them, and are no stop word", async (t) => {
  const both = await startBoth(t);
  await send(both, Buffer.from("STOP").toString("hex"), 4);
  await send(both, "00ff", 2);
  await send(both, "0b0504158100000003070201aabb", 0xf5, 0x40);
  await send(both, "0b0504158100000003070202cc", 0xf5, 0x40);
  await send(both, "4869", 0);
  const results = await inbox(both);
  const binary = [
    { hex: "53544f50", dataCoding: 4, esmClass: 0 },
    { hex: "00ff", dataCoding: 2, esmClass: 0 },
    { hex: "06050415810000aabbcc", dataCoding: 0xf5, esmClass: 64 },
    undefined,
  ];
  assert.deepEqual(
    results.map((result: { binary?: object }) => result.binary),
    binary,
  );
  assert.deepEqual(textsOf(results), [...binary.slice(0, 3).map((each) => each!.hex), "Hi"]);
  const { messageId: _, receivedAt: __, ...first } = results[0];
  assert.deepEqual(first, {
    from: PHONE,
    to: NUMBER,
    text: "53544f50",
    cleanText: "53544f50",
    smsCount: 1,
    price: { pricePerMessage: 0, currency: "EUR" },
    binary: binary[0],
  });
  assert.equal(results[2].smsCount, 2);
  const sent = await both.service.call("POST", SINGLE, { body: { from: "InfoSMS", to: PHONE, text: "News" } });
  assert.equal(sent.json.messages[0].status.groupName, "PENDING");
});

test("what a client sends back as it came reaches the phone as the same octets", async (t) => {
  const both = await startBoth(t);
  await send(both, "06050415810000aabb", 0xf5, 0x40);
  const [{ binary }] = await inbox(both);
  const body = { from: "InfoSMS", to: PHONE, binary };
  assert.equal((await both.service.call("POST", "/sms/1/binary/single", { body })).status, 200);
  const [part] = await eventually(async () => both.smsc.parts.length === 1 && both.smsc.parts);
  assert.deepEqual(
    [Buffer.from(part!.octets).toString("hex"), part!.dataCoding, part!.esmClass],
    ["06050415810000aabb", 0xf5, 0x40],
  );
});

for (const contentType of ["application/json", "application/xml"]) {
  test(`octets are pushed as ${contentType}`, async (t) => {
    const receiver = await ReportReceiver.start();
    t.after(() => receiver.stop());
    const numbers = `[[number]]\nnumber = "777"\naccount = "DEMO0001"\nforwardUrl = "${receiver.url}"\ncontentType = "${contentType}"`;
    const both = await startBoth(t, { numbers });
    await send(both, "00ff", 4, 0, "777");
    const [item] = await eventually(async () => receiver.items.length === 1 && receiver.items);
    const { hex, dataCoding, esmClass } = item!.binary;
    assert.deepEqual([item!.text, hex, String(dataCoding), String(esmClass)], ["00ff", "00ff", "4", "0"]);
  });
}

test("octets to nobody's number are shown to operators as hex", async (t) => {
  const data = await temporaryDirectory(t);
  const both = await startBoth(t, { data });
  await send(both, "0401020304ff", 4, 0x40, "99999");
  const authorization = basic("operator", "operator-password");
  const { json } = await both.service.call("GET", "/operator/1/incoming/unmatched", { authorization });
  assert.deepEqual(json.results[0].binary, { hex: "0401020304ff", dataCoding: 4, esmClass: 64 });
  if (process.env.TEST_STORE === "postgres") return;
  const { stdout } = await runProgram(["incoming", "list", "--data", data]);
  assert.match(stdout, / +99999 +0401020304ff \(binary, data coding 4, with a header\)\n/);
});

for (const form of ["text", "ucs2 text", "tlvs"] as const) {
  test(`a receipt that has only ${form} settles its message`, async (t) => {
    const { smsc, service } = await startBoth(t);
    smsc.faults = { receiptForm: form };
    await service.call("POST", SINGLE, { body: { from: NUMBER, to: PHONE, text: "News" } });
    await eventually(async () => {
      const { json } = await service.call("GET", "/sms/1/logs");
      return json.results[0]?.status.name === "DELIVERED_TO_HANDSET";
    });
    assert.equal((await service.store.parkedReceipts({ limit: 1 })).count, 0);
  });
}
