/** Networks and addresses: every spelling of them, and which address is in which network. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Networks,
  parseNetwork,
  parseNetworks,
  plainAddress,
  siteOf,
  storedNetwork,
} from "../../src/runtime/networks.ts";

test("a network is an address with or without a width, IPv4 or IPv6", () => {
  const READ: readonly (readonly [text: string, address: string, bits: number])[] = [
    ["10.0.0.0/8", "10.0.0.0", 8],
    ["10.1.2.3", "10.1.2.3", 32],
    ["0.0.0.0/0", "0.0.0.0", 0],
    ["2001:DB8::/32", "2001:db8::", 32],
    ["::1", "::1", 128],
    ["::/0", "::", 0],
    ["::ffff:10.0.0.0/104", "10.0.0.0", 8],
    ["::ffff:0a00:1", "10.0.0.1", 32],
  ];
  for (const [text, address, bits] of READ) {
    assert.deepEqual(parseNetwork(text), { family: address.includes(".") ? "ipv4" : "ipv6", address, bits }, text);
  }
});

test("what is no network is none", () => {
  const WRONG = ["", " ", "10.0.0", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8 ", "256.0.0.1", "010.0.0.1"];
  const WRONG6 = ["::/129", "2001:db8::/x", ":::", "fe80::1%eth0", "::ffff:10.0.0.0/95", "[::1]", "localhost", "1/1/1"];
  const PORTS = ["10.0.0.1:80", "10.0.0.1:80/8", "[::1]:80"];
  const WIDTHS = ["10.0.0.0/08", "10.0.0.0/00", "::/00", "10.0.0.0/0x8", "10.0.0.0/1e1", "10.0.0.0/8/9", "10.0.0.0/8/"];
  for (const text of [...WRONG, ...WRONG6, ...PORTS, ...WIDTHS]) assert.equal(parseNetwork(text), null, text);
});

test("what was stored when more was taken is read as what was meant, and never as more", () => {
  const READ: readonly (readonly [text: string, address: string, bits: number])[] = [
    ["10.0.0.0/8", "10.0.0.0", 8],
    ["::ffff:10.0.0.0/8", "10.0.0.0", 8],
    ["::ffff:10.0.0.0/104", "10.0.0.0", 8],
    ["::ffff:10.0.0.0/96", "10.0.0.0", 0],
    ["::ffff:10.0.0.1", "10.0.0.1", 32],
    ["10.0.0.1:80", "10.0.0.1", 32],
    ["10.0.0.1:80/8", "10.0.0.1", 8],
    ["10.0.0.0/08", "10.0.0.0", 8],
    ["0.0.0.0/00", "0.0.0.0", 0],
    ["fe80::1%eth0", "fe80::1", 128],
    ["fe80::1%eth0/64", "fe80::1", 64],
  ];
  for (const [text, address, bits] of READ) {
    assert.deepEqual(storedNetwork(text), { family: address.includes(".") ? "ipv4" : "ipv6", address, bits }, text);
  }
  for (const text of ["", "localhost", "1/1/1", "10.0.0.0/x", `10.0.0.1${"0".repeat(10_000)}`])
    assert.equal(storedNetwork(text), null, text);
});

test("what let nobody in when it was stored lets nobody in who was not meant", () => {
  const EVERYBODY = ["::ffff:10.0.0.0/0", "::ffff:10.0.0.0/00", "fe80::1%a/0", "::1%lo/00", "::ffff:10.0.0.1%lo/96"];
  const MALFORMED = ["10.0.0.0/", "fe80::1%eth0/", "fe80::1%/64", "[::1]/0", "[::1]:80", "10.0.0.1%a"];
  const WIDTHS = ["0x8", "1e1", "8/9", "8/", "+8", " 8", "8 ", "-1", "0008", "33", "95", "129"];
  const NAMES = ["10.0.0.0", "::ffff:10.0.0.0", "10.0.0.0:80"];
  const widths = WIDTHS.flatMap((width) => NAMES.map((name) => `${name}/${width}`));
  for (const text of [...EVERYBODY, ...MALFORMED, ...widths, "fe80::1%eth0/129"])
    assert.equal(storedNetwork(text), null, text);
});

test("a list is separated by commas, and wrong as a whole when one of it is", () => {
  assert.deepEqual(parseNetworks(""), []);
  assert.equal(parseNetworks("127.0.0.0/8, ::1 ,10.0.0.1")?.length, 3);
  for (const text of [",", "10.0.0.1,", "10.0.0.1 ::1", "10.0.0.1,here"]) assert.equal(parseNetworks(text), null, text);
});

test("an address is in a network of its own family, however it is written", () => {
  const inside = (networks: string, address: string) => new Networks(parseNetworks(networks)!).has(address);
  assert.ok(inside("10.0.0.0/8", "10.255.255.255"));
  assert.ok(inside("10.9.9.9/8", "10.0.0.1"), "bits behind the mask do not matter");
  assert.ok(!inside("10.0.0.0/8", "11.0.0.0"));
  assert.ok(inside("10.0.0.0/8", "::ffff:10.1.2.3"));
  assert.ok(inside("10.0.0.0/8", "::ffff:0a01:0203"));
  assert.ok(inside("::ffff:10.0.0.0/104", "10.1.2.3"));
  assert.ok(inside("2001:db8::/32", "2001:0DB8:ffff::1"));
  assert.ok(!inside("2001:db8::/32", "2001:db9::1"));
  assert.ok(inside("192.0.2.1,2001:db8::/32", "192.0.2.1"));
  assert.ok(inside("0.0.0.0/0", "203.0.113.9"));
  assert.ok(!inside("0.0.0.0/0", "2001:db8::1"));
  assert.ok(inside("::/0", "2001:db8::1"));
  assert.ok(!inside("::/0", "203.0.113.9"));
  assert.ok(!inside("::/0", "::ffff:203.0.113.9"));
  assert.ok(inside("fe80::/10", "fe80::1%eth0"));
  assert.ok(!inside("0.0.0.0/0,::/0", "unknown"));
  assert.ok(!inside("", "10.0.0.1"));
  assert.equal(plainAddress("somewhere"), null);
});

test("callers are told apart by their IPv4 address, or by the /64 of their IPv6 address", () => {
  assert.equal(siteOf("192.0.2.1"), "192.0.2.1");
  assert.equal(siteOf("::ffff:192.0.2.1"), "192.0.2.1");
  assert.equal(siteOf("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  assert.equal(siteOf("2001:db8:1:2::1"), siteOf("2001:0db8:0001:0002:ffff:ffff:ffff:ffff"));
  assert.notEqual(siteOf("2001:db8:1:2::1"), siteOf("2001:db8:1:3::1"));
  assert.equal(siteOf("2001:db8::1"), "2001:db8:0:0::/64");
  assert.equal(siteOf("::1"), "0:0:0:0::/64");
  assert.equal(siteOf("unknown"), "unknown");
});

test("what is too long for an address is none, and only its beginning is remembered", () => {
  const long = `10.0.0.1${"0".repeat(10_000)}`;
  assert.equal(plainAddress(long), null);
  assert.equal(parseNetwork(long), null);
  assert.equal(siteOf(long), long.slice(0, 100));
  assert.equal(
    plainAddress(`[fe80:0000:0000:0000:0000:0000:255.255.255.255%${"z".repeat(15)}]:65535`),
    "fe80::ffff:ffff",
  );
});
