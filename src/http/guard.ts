/**
 * The guard against callbacks into our own network: which addresses a report may be sent to. The client chooses the URL, so
 * the URL is hostile until its address has been looked at. Pure: names are resolved in connector.ts.
 */
import { isIPv4, isIPv6 } from "node:net";
import { once } from "../runtime/lazy.ts";
import { parseHttpUrl } from "../runtime/urls.ts";

export interface AddressPolicy {
  /** This machine itself: for the sandbox. */
  readonly allowLoopback: boolean;
  /** The operator's own networks. */
  readonly allowPrivate: boolean;
}

type Reach = "loopback" | "private" | "never";

/**
 * The special-purpose registries of IANA (RFC 6890), and the addresses where clouds keep credentials. The first row that holds
 * the address counts, so exceptions stand above what they are taken from.
 */
const RANGES: readonly (readonly [range: string, reach: Reach, name: string])[] = [
  ["100.100.100.200/32", "never", "cloud metadata"], // Alibaba
  ["168.63.129.16/32", "never", "cloud metadata"], // Azure
  ["fd00:ec2::254/128", "never", "cloud metadata"], // AWS
  ["fd20:ce::254/128", "never", "cloud metadata"], // Google

  ["0.0.0.0/8", "never", "unspecified"],
  ["10.0.0.0/8", "private", "private network"],
  ["100.64.0.0/10", "private", "carrier-grade NAT"],
  ["127.0.0.0/8", "loopback", "loopback"],
  ["169.254.0.0/16", "never", "link-local or cloud metadata"],
  ["172.16.0.0/12", "private", "private network"],
  ["192.0.0.0/24", "never", "protocol assignments"],
  ["192.0.2.0/24", "never", "documentation"],
  ["192.88.99.0/24", "never", "6to4 relay"],
  ["192.168.0.0/16", "private", "private network"],
  ["198.18.0.0/15", "never", "benchmarks"],
  ["198.51.100.0/24", "never", "documentation"],
  ["203.0.113.0/24", "never", "documentation"],
  ["224.0.0.0/4", "never", "multicast"],
  ["240.0.0.0/4", "never", "reserved or broadcast"],

  ["::/128", "never", "unspecified"],
  ["::1/128", "loopback", "loopback"],
  ["::/96", "never", "IPv4-compatible"],
  ["64:ff9b:1::/48", "never", "local NAT64"],
  ["100::/64", "never", "discard"],
  ["2001::/23", "never", "Teredo or protocol assignments"],
  ["2001:db8::/32", "never", "documentation"],
  ["2002::/16", "never", "6to4"],
  ["3fff::/20", "never", "documentation"],
  ["fc00::/7", "private", "private network"],
  ["fe80::/10", "never", "link-local"],
  ["fec0::/10", "never", "site-local"],
  ["ff00::/8", "never", "multicast"],
];

/** An IPv4 address in the last four bytes of one of these is where the packet goes: it is judged in its place. */
const carriersOfIpv4 = once(() => ["::ffff:0:0/96", "64:ff9b::/96"].map(readRange));

/** All of IPv6 that is given out for the open Internet; what lies outside needs a row of its own above. */
const globalIpv6 = once(() => readRange("2000::/3"));

/** Read with the first address that is judged: Node compiles what it tells IPv6 by, which takes a start 5 ms in each thread. */
const rows = once(() => RANGES.map(([range, reach, name]) => ({ range: readRange(range), reach, name })));

/** Begins the words for an address that is not called, so that whoever reads them later knows it from any other failure. */
const REFUSED = "address not allowed: ";
export const PRIVATE_CALLBACKS = "[reports] dangerousAllowPrivateCallbacks = true";

/** `why` is the kind of address, such as "loopback". */
function refusedAddress(why: string, isAllowable: boolean): string {
  return `${REFUSED}${why}${isAllowable ? ` (${PRIVATE_CALLBACKS} allows it)` : ""}`;
}

/** Of the reason why a report was not taken. */
export function isRefusedAddress(reason: string): boolean {
  return reason.startsWith(REFUSED);
}

/** Whether the setting would have it called. */
export function isAllowable(reason: string): boolean {
  return isRefusedAddress(reason) && reason.endsWith(`(${PRIVATE_CALLBACKS} allows it)`);
}

/** Why this address may not be connected to, in words that name the setting that would allow it; null when it may. */
export function refusal(address: string, policy: AddressPolicy): string | null {
  const bytes = readAddress(address);
  if (bytes === null) return refusedAddress("not an address", false);
  const judged = carriersOfIpv4().some((range) => holds(range, bytes)) ? bytes.slice(-4) : bytes;
  const row = rows().find(({ range }) => holds(range, judged));
  if (row === undefined)
    return judged.length === 4 || holds(globalIpv6(), judged) ? null : refusedAddress("not a global address", false);
  if (row.reach === "loopback" && policy.allowLoopback) return null;
  if (row.reach === "private" && policy.allowPrivate) return null;
  return refusedAddress(row.name, row.reach !== "never");
}

/** A name by the usual rules, which is no address: one of those ends in a number. Nearly all URLs have one, and need no parser to be told by. */
const PLAIN_NAME = /^https?:\/\/[a-z\d.-]{1,253}\.(?!localhost\b)[a-z]{2,63}(?:$|[/?#]|:\d{0,5}(?:$|[/?#]))/i;

/** The same of a URL, as far as can be said without asking for a name: addresses, and the names of this machine. */
export function urlRefusal(url: string, policy: AddressPolicy): string | null {
  if (PLAIN_NAME.test(url)) return null;
  const hostname = parseHttpUrl(url)?.hostname.replace(/\.$/, "");
  if (hostname === undefined) return null;
  if (hostname === "localhost" || hostname.endsWith(".localhost")) return refusal("127.0.0.1", policy);
  const address = hostname.replace(/^\[|\]$/g, "");
  return isIPv4(address) || isIPv6(address) ? refusal(address, policy) : null;
}

interface Range {
  readonly bytes: readonly number[];
  readonly bits: number;
}

function readRange(range: string): Range {
  const [address, bits] = range.split("/") as [string, string];
  return { bytes: readAddress(address)!, bits: Number(bits) };
}

function holds(range: Range, address: readonly number[]): boolean {
  if (range.bytes.length !== address.length) return false;
  return range.bytes.every((byte, index) => {
    const bitsHere = Math.min(Math.max(range.bits - 8 * index, 0), 8);
    return (byte ^ address[index]!) >> (8 - bitsHere) === 0;
  });
}

/** The four or sixteen bytes of an address, or null when it is none. A zone (`%eth0`) does not count. */
function readAddress(address: string): readonly number[] | null {
  if (isIPv4(address)) return address.split(".").map(Number);
  if (!isIPv6(address)) return null;
  const [head, tail] = address.split("%", 1)[0]!.split("::") as [string, string?];
  const start = readGroups(head);
  if (tail === undefined) return start;
  const end = readGroups(tail);
  return [...start, ...new Array<number>(16 - start.length - end.length).fill(0), ...end];
}

function readGroups(groups: string): number[] {
  if (groups === "") return [];
  return groups.split(":").flatMap((group) => {
    if (group.includes(".")) return group.split(".").map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
