/** What carriers and strangers send that is not as the standard says: what is forgiven, what is answered, and what is never sent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Decoded, decodePdu, type Malformed } from "../../../src/carriers/smpp/codec/decode.ts";
import { encodePdu } from "../../../src/carriers/smpp/codec/encode.ts";
import { MAX_STRING_OCTETS } from "../../../src/carriers/smpp/codec/octets.ts";
import type { Pdu, PduDraft } from "../../../src/carriers/smpp/codec/pdu.ts";
import { octets } from "./codec-octets.ts";

/** A PDU of these octets, whose length is filled in. */
function decodeBody(commandId: string, body: string, status = "00000000"): Decoded {
  const wire = octets(`00000000 ${commandId} ${status} 0000002a ${body}`);
  wire.writeUInt32BE(wire.length, 0);
  return decodePdu(wire);
}

function read(decoded: Decoded): Pdu {
  assert.equal(decoded.kind, "pdu");
  return (decoded as { pdu: Pdu }).pdu;
}

const ADDRESSES = "00 0101 34313738 00 0500 48656c696f 00"; // service_type, 4178, Helio
const UP_TO_LENGTH = `${ADDRESSES} 040000 00 00 00 00 00 00`;

test("a response that lacks its body is read, with or without an error", () => {
  for (const status of ["00000000", "00000008"]) {
    for (const id of ["80000001", "80000004", "80000005", "80000021", "80000103", "80000003"]) {
      assert.equal(decodeBody(id, "", status).kind, "pdu", id);
    }
  }
});

test("a response whose last string lacks its NUL is read", () => {
  const pdu = read(decodeBody("80000004", "34663261"));
  assert.ok(pdu.command === "submit_sm_resp" && pdu.messageId === "4f2a");
});

test("a response that breaks off, or has broken optional parameters, gives what it has: the message was taken all the same", () => {
  const cutShort = read(decodeBody("80000003", "6131 00 3236"));
  assert.ok(cutShort.command === "query_sm_resp");
  assert.deepEqual([cutShort.messageId, cutShort.finalDate, cutShort.messageState], ["a1", "26", 0]);
  const broken = read(decodeBody("80000004", "6131 00 0428 0001 05 0424 00ff 00"));
  assert.ok(broken.command === "submit_sm_resp" && broken.messageId === "a1");
  assert.deepEqual(broken.tlvs, [{ tag: 0x0428, value: Buffer.from([5]) }]);
  const many = read(decodeBody("80000021", "6131 00 ff 0101 34313738 00 0000000b 0101"));
  assert.ok(many.command === "submit_multi_resp");
  assert.deepEqual(many.unsuccessful, [{ ton: 1, npi: 1, address: "4178", status: 11 }]);
});

test("message ids of 64 characters and of more are read whole", () => {
  for (const length of [64, 65, 255, 1000]) {
    const pdu = read(decodeBody("80000004", `${"61".repeat(length)}00`));
    assert.ok(pdu.command === "submit_sm_resp" && pdu.messageId === "a".repeat(length));
  }
});

test("strings longer than the standard allows are read whole, also in requests", () => {
  const pdu = read(decodeBody("00000005", `00 0101 ${"34".repeat(40)} 00 0500 00 040000 00 00 00 00 00 00 00`));
  assert.ok(pdu.command === "deliver_sm" && pdu.sourceAddr === "4".repeat(40));
});

test("a string without end is refused in a request, and cut off in a response", () => {
  const endless = "34".repeat(60_000);
  const decoded = decodeBody("00000005", `00 0101 ${endless} 00 0500 00 040000 00 00 00 00 00 00 00`);
  assert.ok(decoded.kind === "malformed");
  assert.equal(decoded.fault, "ESME_RINVPARLEN");
  const pdu = read(decodeBody("80000004", `${endless}00`));
  assert.ok(pdu.command === "submit_sm_resp" && pdu.messageId === "4".repeat(MAX_STRING_OCTETS));
});

test("octets of a string beyond ASCII come back as they were", () => {
  const pdu = read(decodeBody("80000004", "e4ff80 00"));
  assert.ok(pdu.command === "submit_sm_resp");
  assert.equal(encodePdu(pdu).subarray(16).toString("hex"), "e4ff8000");
});

test("a request whose last string is cut off, NUL and all, is read", () => {
  const pdu = read(decodeBody("00000009", "6d65 00 70617373 00 00 34 01 01"));
  assert.ok(pdu.command === "bind_transceiver");
  assert.deepEqual([pdu.systemId, pdu.addressRange], ["me", ""]);
});

test("a short message of 255 octets is read, though the standard stops at 254", () => {
  const pdu = read(decodeBody("00000005", `${UP_TO_LENGTH} ff ${"61".repeat(255)}`));
  assert.ok(pdu.command === "deliver_sm" && pdu.shortMessage.length === 255);
});

const DELIVRD = "69643a39"; // id:9
const STATE = "0427 0001 02"; // message_state
const ID = "001e 0002 3900"; // receipted_message_id

/** A deliver_sm from sm_length on, what had to be put right, and the message and parameters that were meant. */
const MENDED: readonly { name: string; behind: string; how: string; message?: string; tlvs?: readonly string[] }[] = [
  { name: "a NUL behind the message", behind: `04 ${DELIVRD} 00`, how: "octets after the message", tlvs: [] },
  {
    name: "a NUL between message and parameters",
    behind: `04 ${DELIVRD} 00 ${ID} ${STATE}`,
    how: "octets after the message",
  },
  {
    name: "a NUL behind an empty message",
    behind: `00 00 ${ID} ${STATE}`,
    how: "octets after the message",
    message: "",
  },
  { name: "an sm_length one too large at the end", behind: `05 ${DELIVRD}`, how: "sm_length is wrong", tlvs: [] },
  {
    name: "an sm_length one too large before parameters",
    behind: `05 ${DELIVRD} ${ID} ${STATE}`,
    how: "sm_length is wrong",
  },
  { name: "an sm_length one too small at the end", behind: `03 ${DELIVRD}`, how: "sm_length is wrong", tlvs: [] },
  {
    name: "an sm_length one too small before parameters",
    behind: `03 ${DELIVRD} ${ID} ${STATE}`,
    how: "sm_length is wrong",
  },
  {
    name: "a NUL behind the parameters",
    behind: `04 ${DELIVRD} ${ID} ${STATE} 00`,
    how: "octets after the parameters",
  },
  {
    name: "two octets behind the parameters",
    behind: `04 ${DELIVRD} ${ID} ${STATE} 0427`,
    how: "octets after the parameters",
  },
  {
    name: "three octets behind the parameters",
    behind: `04 ${DELIVRD} ${ID} ${STATE} 042700`,
    how: "octets after the parameters",
  },
  { name: "two NULs behind the message", behind: `04 ${DELIVRD} 0000`, how: "octets after the message", tlvs: [] },
  {
    name: "two NULs between message and parameters",
    behind: `04 ${DELIVRD} 0000 ${ID} ${STATE}`,
    how: "octets after the message",
  },
  {
    name: "an sm_length that counts characters, two too few at the end",
    behind: `02 ${DELIVRD}`.replace("3a39", "7a39"),
    how: "sm_length is wrong",
    message: "69647a39",
    tlvs: [],
  },
  {
    name: "an sm_length that counts characters, three too few before parameters",
    behind: `01 ${DELIVRD} ${ID} ${STATE}`,
    how: "sm_length is wrong",
  },
  {
    name: "an sm_length that counts characters, two digits too few at the end",
    behind: "0c 5ac3bc72696368204bc3a473 3132",
    how: "sm_length is wrong",
    message: "5ac3bc72696368204bc3a4733132",
    tlvs: [],
  },
  {
    name: "an sm_length that counts characters, three too few at the end, which begin with a space",
    behind: `02 ${DELIVRD}`.replace("3a39", "206f6b"),
    how: "sm_length is wrong",
    message: "6964206f6b",
    tlvs: [],
  },
  {
    name: "an sm_length two digits too small before parameters",
    behind: `02 69643132 ${ID} ${STATE}`,
    how: "sm_length is wrong",
    message: "69643132",
  },
  {
    name: "an sm_length one too large before a parameter whose tag begins with no NUL",
    behind: `05 ${DELIVRD} ${STATE} ${ID}`,
    how: "sm_length is wrong",
    tlvs: ["0427:02", "001e:3900"],
  },
  {
    name: "a NUL behind an empty parameter of the carrier's own",
    behind: `04 ${DELIVRD} 1400 0000 00`,
    how: "octets after the parameters",
    tlvs: ["1400:"],
  },
  {
    name: "a NUL behind an empty parameter of the standard",
    behind: `04 ${DELIVRD} 020e 0000 00`,
    how: "octets after the parameters",
    tlvs: ["020e:"],
  },
  {
    name: "two NULs behind a parameter of the carrier's own",
    behind: `04 ${DELIVRD} 1400 0001 34 0000`,
    how: "octets after the parameters",
    tlvs: ["1400:34"],
  },
  {
    name: "a last parameter that claims an octet too many",
    behind: `04 ${DELIVRD} ${STATE} 001e 0002 39`,
    how: "a parameter's length is wrong",
    tlvs: ["0427:02", "001e:39"],
  },
  {
    name: "a NUL behind the message and one behind the parameters",
    behind: `04 ${DELIVRD} 00 ${ID} ${STATE} 00`,
    how: "octets after the parameters",
  },
];

for (const { name, behind, how, message = DELIVRD, tlvs = ["001e:3900", "0427:02"] } of MENDED) {
  test(`${name}: the request is read as it was meant`, () => {
    const decoded = decodeBody("00000005", `${UP_TO_LENGTH} ${behind}`);
    assert.equal(decoded.kind === "pdu" && decoded.mended, how);
    const pdu = read(decoded);
    assert.ok(pdu.command === "deliver_sm");
    assert.deepEqual([pdu.sequence, pdu.sourceAddr, pdu.destinationAddr, pdu.esmClass], [42, "4178", "Helio", 4]);
    assert.equal(Buffer.from(pdu.shortMessage).toString("hex"), message);
    const found = pdu.tlvs.map(
      ({ tag, value }) => `${tag.toString(16).padStart(4, "0")}:${Buffer.from(value).toString("hex")}`,
    );
    assert.deepEqual(found, tlvs);
  });
}

/** A deliver_sm from sm_length on, whose message nobody can tell. */
const DOUBTFUL: readonly [name: string, behind: string][] = [
  // "id:9" and an empty parameter 0x1400, or "id:" with an empty 0x3914 and a NUL.
  ["a digit that may begin a parameter", "03 69643a39 1400 0000"],
  ["a NUL behind octets that no length counts", `04 ${DELIVRD} 4100`],
  ["octets behind parameters that nobody knows", `04 ${DELIVRD} 1400 0001 34 41`],
];
for (const [name, behind] of DOUBTFUL) {
  test(`${name}: the request is not read, and no text is made up`, () => {
    assert.equal(decodeBody("00000005", `${UP_TO_LENGTH} ${behind}`).kind, "malformed");
  });
}

test("an sm_length of 255 that is one too small is not made 256", () => {
  const decoded = decodeBody("00000005", `${UP_TO_LENGTH} ff ${"61".repeat(256)} ${STATE}`);
  assert.equal(decoded.kind, "malformed");
});

test("stray octets behind a request without a message are passed over", () => {
  for (const body of [`${ADDRESSES} 000000 00 0424 0001 61`, `${ADDRESSES} 000000 0424 0001 61 00`]) {
    const pdu = read(decodeBody("00000103", body));
    assert.ok(pdu.command === "data_sm");
    assert.deepEqual(pdu.tlvs, [{ tag: 0x0424, value: Buffer.from("a") }]);
  }
  const bind = read(decodeBody("00000009", "6d65 00 70617373 00 00 34 01 01 00 00"));
  assert.ok(bind.command === "bind_transceiver" && bind.systemId === "me");
});

test("a request that says all with its header is taken whatever is behind", () => {
  for (const id of ["00000015", "00000006"]) {
    for (const body of ["00", "ffffffff", "6e6f6973652c206e6f697365"])
      assert.equal(decodeBody(id, body).kind, "pdu", body);
  }
});

test("a request that is right is not put right: a NUL that sm_length counts is the message's", () => {
  const decoded = decodeBody("00000005", `${UP_TO_LENGTH} 05 ${DELIVRD} 00 ${ID}`);
  assert.deepEqual(Object.keys(decoded), ["kind", "pdu"]);
  const pdu = read(decoded);
  assert.ok(pdu.command === "deliver_sm" && pdu.shortMessage.length === 5);
});

const ANSWERED: readonly { name: string; id: string; body: string; fault: string; answer: PduDraft }[] = [
  {
    name: "an unknown command",
    id: "00000111",
    body: "00",
    fault: "ESME_RINVCMDID",
    answer: { command: "generic_nack", status: 0x03, sequence: 42 },
  },
  {
    name: "a request without its body",
    id: "00000004",
    body: "",
    fault: "ESME_RINVCMDLEN",
    answer: { command: "submit_sm_resp", status: 0x02, sequence: 42 },
  },
  {
    name: "a request that breaks off",
    id: "00000005",
    body: `${ADDRESSES} 04`,
    fault: "ESME_RINVCMDLEN",
    answer: { command: "deliver_sm_resp", status: 0x02, sequence: 42 },
  },
  {
    name: "a short message longer than its PDU",
    id: "00000005",
    body: `${UP_TO_LENGTH} 07 69643a6131`,
    fault: "ESME_RINVMSGLEN",
    answer: { command: "deliver_sm_resp", status: 0x01, sequence: 42 },
  },
  {
    name: "an optional parameter that claims two octets too many",
    id: "00000005",
    body: `${UP_TO_LENGTH} 00 0427 0003 02`,
    fault: "ESME_RINVPARLEN",
    answer: { command: "deliver_sm_resp", status: 0xc2, sequence: 42 },
  },
  {
    name: "an optional parameter longer than its PDU",
    id: "00000103",
    body: `${ADDRESSES} 00 00 00 0424 ffff 00`,
    fault: "ESME_RINVPARLEN",
    answer: { command: "data_sm_resp", status: 0xc2, sequence: 42 },
  },
  {
    name: "a destination that is neither an address nor a list",
    id: "00000021",
    body: "00 0101 00 01 03",
    fault: "ESME_RINVDESTFLAG",
    answer: { command: "submit_multi_resp", status: 0x40, sequence: 42 },
  },
  {
    name: "fewer destinations than promised",
    id: "00000021",
    body: "00 0101 00 ff 01 01 01 34313738 00",
    fault: "ESME_RINVCMDLEN",
    answer: { command: "submit_multi_resp", status: 0x02, sequence: 42 },
  },
  {
    name: "a bind that breaks off",
    id: "00000009",
    body: "6d65 00",
    fault: "ESME_RINVCMDLEN",
    answer: { command: "bind_transceiver_resp", status: 0x02, sequence: 42 },
  },
  {
    name: "a request without a response of its own",
    id: "00000102",
    body: "01",
    fault: "ESME_RINVCMDLEN",
    answer: { command: "generic_nack", status: 0x02, sequence: 42 },
  },
];

for (const { name, id, body, fault, answer } of ANSWERED) {
  test(`${name} is answered with ${fault}`, () => {
    const decoded = decodeBody(id, body);
    const { octets: whole, ...told } = decoded as Malformed;
    assert.deepEqual(told, { kind: "malformed", commandId: Number.parseInt(id, 16), sequence: 42, fault, answer });
    assert.equal(whole.subarray(16).toString("hex"), octets(body).toString("hex"), "it comes with its octets");
    // What answers it can itself be sent.
    assert.equal(encodePdu(answer).length, 16);
  });
}

test("a response of an unknown command is never answered: two ends would nack each other for ever", () => {
  const decoded = decodeBody("80000111", "00");
  assert.ok(decoded.kind === "malformed" && decoded.answer === null);
});

const UNENCODABLE: readonly [PduDraft, RegExp][] = [
  [{ command: "submit_sm", sourceAddr: "4".repeat(21) }, /submit_sm, sourceAddr: .* longer than 20/],
  [{ command: "submit_sm", destinationAddr: "41\u000079" }, /submit_sm, destinationAddr: character 0/],
  [{ command: "submit_sm", sourceAddr: "Ωmega" }, /submit_sm, sourceAddr: character 937/],
  [{ command: "submit_sm", shortMessage: Buffer.alloc(255) }, /submit_sm, shortMessage: 255 octets/],
  [{ command: "submit_sm", dataCoding: 256 }, /submit_sm, dataCoding: 256 is no octet/],
  [{ command: "submit_sm", esmClass: -1 }, /esmClass: -1/],
  [{ command: "submit_sm", priorityFlag: 0.5 }, /priorityFlag: 0.5/],
  [{ command: "submit_sm", tlvs: [{ tag: 0x10000, value: Buffer.alloc(0) }] }, /tlvs: 65536/],
  [{ command: "submit_sm", tlvs: [{ tag: 0x0424, value: Buffer.alloc(0x10000) }] }, /tlvs: 65536/],
  [{ command: "submit_sm_resp", messageId: "a".repeat(65) }, /messageId: .* longer than 64/],
  [{ command: "submit_sm_resp", status: 2 ** 32 }, /status: 4294967296/],
  [{ command: "submit_multi", destinations: Array(255).fill({ kind: "list", name: "x" }) }, /destinations: 255/],
];

for (const [draft, message] of UNENCODABLE) {
  test(`what has no place on the wire is not written: ${message.source}`, () => {
    assert.throws(() => encodePdu(draft), { name: "RangeError", message });
  });
}
