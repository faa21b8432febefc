/** Which addresses a report may be sent to. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { PRIVATE_CALLBACKS, refusal, urlRefusal } from "../../src/http/guard.ts";

const strict = { allowLoopback: false, allowPrivate: false };
const sandbox = { allowLoopback: true, allowPrivate: false };
const inside = { allowLoopback: false, allowPrivate: true };
const everything = { allowLoopback: true, allowPrivate: true };

const PUBLIC = [
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "169.253.255.255",
  "169.255.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.0.1.0",
  "192.0.3.0",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "203.0.112.255",
  "203.0.114.0",
  "223.255.255.255",
  "2606:4700:4700::1111",
  "2001:4860:4860::8888",
  "2001:200::1",
  "2a00:1450:4001:81b::200e",
  "::ffff:8.8.8.8",
  "::ffff:808:808",
  "64:ff9b::8.8.8.8",
];

const LOOPBACK = [
  "127.0.0.1",
  "127.255.255.255",
  "127.0.1.1",
  "::1",
  "0:0:0:0:0:0:0:1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "64:ff9b::7f00:1",
];

const PRIVATE = [
  "10.0.0.0",
  "10.255.255.255",
  "100.64.0.0",
  "100.127.255.255",
  "172.16.0.0",
  "172.31.255.255",
  "192.168.0.0",
  "192.168.255.255",
  "fc00::1",
  "fdff:ffff::1",
  "::ffff:10.0.0.1",
  "::FFFF:C0A8:0101",
  "64:ff9b::c0a8:101",
];

const NEVER = [
  "0.0.0.0",
  "0.1.2.3",
  "100.100.100.200",
  "168.63.129.16",
  "169.254.0.0",
  "169.254.169.254",
  "192.0.0.1",
  "192.0.0.192",
  "192.0.2.1",
  "192.88.99.1",
  "198.18.0.0",
  "198.19.255.255",
  "198.51.100.7",
  "203.0.113.7",
  "224.0.0.1",
  "239.255.255.255",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "0:0:0:0:0:0:0:0",
  "::2",
  "::7f00:1",
  "::10.0.0.1",
  "::8.8.8.8",
  "::ffff:0.0.0.0",
  "::ffff:169.254.169.254",
  "::ffff:a9fe:a9fe",
  "::ffff:0:127.0.0.1",
  "64:ff9b::a9fe:a9fe",
  "64:ff9b:1::1",
  "64:ff9b:1:ffff::8.8.8.8",
  "100::1",
  "2001::1",
  "2001:0:4136:e378:8000:63bf:3fff:fdd2",
  "2001:2::1",
  "2001:10::1",
  "2001:20::1",
  "2001:db8::1",
  "2002:7f00:1::1",
  "2002:808:808::1",
  "3fff::1",
  "4000::1",
  "5f00::1",
  "fd00:ec2::254",
  "fd20:ce::254",
  "fe80::1",
  "fe80::1%eth0",
  "febf::1",
  "fec0::1",
  "ff02::1",
];

const NOT_ADDRESSES = ["", "localhost", "127.1", "0x7f.0.0.1", "2130706433", "127.0.0.1 ", "1.2.3.4.5", "[::1]", "::g"];

const TABLE: [string, readonly string[], (keyof typeof policies)[]][] = [
  ["public", PUBLIC, ["strict", "sandbox", "inside", "everything"]],
  ["loopback", LOOPBACK, ["sandbox", "everything"]],
  ["private", PRIVATE, ["inside", "everything"]],
  ["never", NEVER, []],
  ["not an address", NOT_ADDRESSES, []],
];
const policies = { strict, sandbox, inside, everything };

for (const [kind, addresses, allowedBy] of TABLE) {
  test(`${kind}: allowed by ${allowedBy.join(", ") || "no policy"}`, () => {
    for (const address of addresses) {
      for (const [name, policy] of Object.entries(policies)) {
        const allowed = allowedBy.includes(name as keyof typeof policies);
        assert.equal(
          refusal(address, policy) === null,
          allowed,
          `${address} under ${name}: ${refusal(address, policy)}`,
        );
      }
    }
  });
}

test("a refusal says what kind of address it was, and which setting allows it", () => {
  assert.equal(refusal("10.1.2.3", strict), `address not allowed: private network (${PRIVATE_CALLBACKS} allows it)`);
  assert.equal(refusal("::ffff:169.254.169.254", strict), "address not allowed: link-local or cloud metadata");
  assert.equal(refusal("4000::1", strict), "address not allowed: not a global address");
});

test("a URL is judged without asking for its name, in every spelling of an address and of this machine", () => {
  const open = { allowLoopback: true, allowPrivate: true };
  const inner = [
    ...["127.0.0.1:9000", "127.1", "2130706433", "0x7f.1", "[::1]:80", "localhost", "LOCALHOST.", "app.localhost:3000"],
    ...["10.0.0.1", "192.168.1.1:8080", "[fd00::1]", "name:word@127.0.0.1", "sms.example:80@127.0.0.1:9"],
  ];
  for (const host of inner) {
    assert.match(
      urlRefusal(`http://${host}/reports`, strict) ?? "",
      /dangerousAllowPrivateCallbacks = true allows it/,
      host,
    );
    assert.equal(urlRefusal(`http://${host}/reports`, open), null, host);
  }
  for (const host of ["169.254.169.254", "0.0.0.0", "[fe80::1]"])
    assert.match(urlRefusal(`https://${host}`, open) ?? "", /^address not allowed: [^(]+$/, host);
  for (const host of [
    "sms.example",
    "localhost.example:8080",
    "8.8.8.8",
    "[2606:4700::1111]",
    "inside",
    "bücher.example",
  ])
    assert.equal(urlRefusal(`https://${host}/?a=127.0.0.1`, strict), null, host);
});
