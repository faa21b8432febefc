/** What the rules of a country ask for goes to the carriers whose profile names a tag for it, and to no other: octet by octet, and over a socket to the npm library `smpp`. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import smpp from "smpp";
import type { OutgoingMessage } from "../../../src/carriers/port.ts";
import { SmppCarrier } from "../../../src/carriers/smpp/carrier.ts";
import { encodePdu } from "../../../src/carriers/smpp/codec/encode.ts";
import { partsOf, submitOf } from "../../../src/carriers/smpp/outgoing.ts";
import type { SmppProfile } from "../../../src/carriers/smpp/profile.ts";
import type { Regional } from "../../../src/message/regional.ts";
import { Lease } from "../../../src/node/lease.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { silentLog } from "../../../src/runtime/log.ts";
import { seededRandom } from "../../../src/runtime/random.ts";
import { prepareText } from "../../../src/sms/text.ts";
import { eventually } from "../../support/service.ts";

type TheirPdu = InstanceType<typeof smpp.PDU>;

const PROFILE: SmppProfile = { id: "acme", kind: "smpp", hosts: ["127.0.0.1:1"], systemId: "me", password: "secret" };
/** As the operators of India publish them. */
const INDIA = { principalEntityId: 0x1400, contentTemplateId: 0x1401, telemarketerId: 0x1402 };
const DLT: Regional = {
  indiaDlt: { principalEntityId: "1201159100000000001", contentTemplateId: "1207161", telemarketerId: "1302" },
};

function message(change: Partial<OutgoingMessage> & { readonly text?: string }): OutgoingMessage {
  const { text, encoding } = prepareText(change.text ?? "Hello", {});
  const times = { expiresAtMs: systemClock.now() + 3_600_000, intermediateReport: false };
  return { from: "Sender", to: "919800000001", flash: false, reference: 7, ...times, ...change, text, encoding };
}

/** The octets of the submit that lie behind its short message, in hex. */
function tlvOctets(profile: Partial<SmppProfile>, regional: Regional | null): string {
  const whole = { ...PROFILE, ...profile };
  const [part] = partsOf(message({ regional }), whole);
  const [withThem, without] = [part!, { ...part!, message: { ...part!.message, regional: null } }].map((one) =>
    encodePdu(submitOf(one, whole, systemClock.now())!).toString("hex"),
  );
  // But for the length, which stands first.
  assert.ok(withThem!.slice(8).startsWith(without!.slice(8)));
  assert.equal(Number.parseInt(withThem!.slice(0, 8), 16), withThem!.length / 2);
  return withThem!.slice(without!.length);
}

const VECTORS: readonly (readonly [
  name: string,
  profile: Partial<SmppProfile>,
  regional: Regional | null,
  octets: string,
])[] = [
  [
    "India, all three",
    { tlvs: INDIA },
    DLT,
    "1400001331323031313539313030303030303030303031140100073132303731363114020004" + "31333032",
  ],
  ["India, only the tag that is named", { tlvs: { contentTemplateId: 0x1401 } }, DLT, "1401000731323037313631"],
  [
    "with a NUL at the end",
    { tlvs: { contentTemplateId: 0x1401 }, tlvStrings: "c-octets" },
    DLT,
    "140100083132303731363100",
  ],
  [
    "only what the message has",
    { tlvs: INDIA },
    { indiaDlt: { principalEntityId: "12", contentTemplateId: "" } },
    "140000023132",
  ],
  [
    "Turkey, a number in decimal digits",
    { tlvs: { brandCode: 0x1501, recipientType: 0x1500 } },
    { turkeyIys: { recipientType: "TACIR", brandCode: 2147483647 } },
    "1500000554414349521501000a32313437343833363437",
  ],
  [
    "South Korea, in UTF-8",
    { tlvs: { resellerCode: 0x3ffe, title: 0x3fff } },
    { southKorea: { resellerCode: 0, title: "알림" } },
    "3ffe0001303fff0006ec958ceba6bc",
  ],
  ["a country that the profile does not name", { tlvs: INDIA }, { turkeyIys: { recipientType: "BIREYSEL" } }, ""],
  ["a message without any", { tlvs: INDIA }, null, ""],
  ["a profile without tags", {}, DLT, ""],
  ["a profile with an empty table", { tlvs: {} }, DLT, ""],
];

for (const [name, profile, regional, octets] of VECTORS) {
  test(`the octets: ${name}`, () => assert.equal(tlvOctets(profile, regional), octets));
}

test("as long as a request may write them, they still fit a submit", () => {
  const id = "ह".repeat(255);
  const regional: Regional = {
    indiaDlt: { principalEntityId: id, contentTemplateId: id, telemarketerId: id },
    southKorea: { title: "알".repeat(66) },
  };
  const octets = tlvOctets({ tlvs: { ...INDIA, title: 0x1403 } }, regional);
  assert.equal(octets.length / 2, 3 * (4 + 765) + 4 + 198);
});

/** The library as the carrier, and our carrier bound to it. */
async function overSocket(t: TestContext, profile: Partial<SmppProfile>) {
  const submits: TheirPdu[] = [];
  const server = smpp.createServer((session) => {
    session.on("error", () => {});
    t.after(() => session.destroy());
    session.on("bind_transceiver", (pdu: TheirPdu) => session.send(pdu.response({ system_id: "library" })));
    session.on("submit_sm", (pdu: TheirPdu) => session.send(pdu.response({ message_id: `id-${submits.push(pdu)}` })));
    session.on("unbind", (pdu: TheirPdu) => session.send(pdu.response()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const parts = { clock: systemClock, random: seededRandom(1), log: silentLog, lease: Lease.endless() };
  const carrier = new SmppCarrier({ ...PROFILE, ...profile, hosts: [`127.0.0.1:${port}`] }, parts);
  carrier.listen({ onReceipt: async () => {} });
  carrier.listen({ onIncoming: async () => {} });
  await carrier.start();
  t.after(() => carrier.stop());
  await eventually(async () => carrier.isUp());
  const submitAll = (outgoing: OutgoingMessage) =>
    Promise.all(carrier.partsOf(outgoing).map((part) => carrier.submit(part)));
  return { submits, submitAll };
}

/** The library keeps what it does not know under the number of its tag. */
const read = (pdu: TheirPdu, tag: number): string | undefined => (pdu[String(tag)] as Buffer | undefined)?.toString();

for (const longMessages of ["udh", "sar", "payload"] as const) {
  test(`the library reads them in every submit of a long message: ${longMessages}`, async (t) => {
    const { submits, submitAll } = await overSocket(t, { tlvs: INDIA, longMessages });
    await submitAll(message({ text: "नमस्ते ".repeat(30), regional: DLT }));
    assert.equal(submits.length, longMessages === "payload" ? 1 : 4);
    for (const pdu of submits) {
      assert.deepEqual(
        [0x1400, 0x1401, 0x1402].map((tag) => read(pdu, tag)),
        ["1201159100000000001", "1207161", "1302"],
      );
    }
  });
}

test("the library finds none where the profile names no tag, nor in the message after one that had some", async (t) => {
  const without = await overSocket(t, {});
  await without.submitAll(message({ regional: DLT }));
  const withTags = await overSocket(t, { tlvs: INDIA });
  await withTags.submitAll(message({ regional: DLT }));
  await withTags.submitAll(message({}));
  assert.deepEqual(
    [without.submits[0]!, ...withTags.submits].map((pdu) => read(pdu, 0x1400)),
    [undefined, "1201159100000000001", undefined],
  );
});
