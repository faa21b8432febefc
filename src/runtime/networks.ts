/**
 * Networks and addresses of callers: "10.0.0.0/8", "2001:db8::/32", or one address alone. An IPv4 address that comes written as IPv6
 * (::ffff:10.0.0.1, as a socket for both kinds gives it) is the IPv4 address everywhere here. Pure.
 */
import { BlockList, isIPv4, isIPv6, SocketAddress } from "node:net";

export interface Network {
  readonly family: "ipv4" | "ipv6";
  readonly address: string;
  readonly bits: number;
}

const MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/;
const MAPPED_BITS = 96;
const ADDRESS_BITS = { ipv4: 32, ipv6: 128 };
/** Characters: the longest address, with a zone and a port. A proxy hands on what its client wrote, up to 16 KiB of it. */
const MAX_ADDRESS = 100;
/** What one household or one machine has of IPv6, and may send from any address of. */
const SITE_BITS = 64;

/** The address in the one spelling that everything compares, or null for what is none. A zone ("%eth0") does not count. */
export function plainAddress(written: string): string | null {
  if (written.length > MAX_ADDRESS) return null;
  // Some proxies write the port behind it.
  const text =
    /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(written)?.[1] ?? /^\[([^\]]+)\](?::\d+)?$/.exec(written)?.[1] ?? written;
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return null;
  const { address } = new SocketAddress({ address: text.split("%", 1)[0]!, family: "ipv6" });
  return MAPPED.exec(address)?.[1] ?? address;
}

/** Null for what is no network. Bits behind the mask do not matter. */
export function parseNetwork(text: string): Network | null {
  const [, name = "", width] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = plainAddress(name);
  if (address === null) return null;
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  const mapped = family === "ipv4" && isIPv6(name);
  const bits = width === undefined ? ADDRESS_BITS[family] : Number(width) - (mapped ? MAPPED_BITS : 0);
  return bits < 0 || bits > ADDRESS_BITS[family] ? null : { family, address, bits };
}

/**
 * A network that is stored already. The command line once took spellings in which no address was ever found, so that whoever had them was
 * shut out: an address with a zone (fe80::1%eth0), and an IPv4 network that is written as IPv6 with the width of IPv4 (::ffff:10.0.0.0/8).
 * Each is read as what was meant, and never as more than that.
 */
export function storedNetwork(text: string): Network | null {
  const network = parseNetwork(text);
  if (network !== null || text.length > MAX_ADDRESS) return network;
  const [name = "", width] = text.split("/", 2);
  const address = plainAddress(name);
  if (address === null) return null;
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  const bits = width === undefined ? ADDRESS_BITS[family] : Number(width);
  return bits >= 0 ? { family, address, bits: Math.min(bits, ADDRESS_BITS[family]) } : null;
}

/** Networks separated by commas; null where one of them is none. An empty text has none. */
export function parseNetworks(text: string): Network[] | null {
  const pieces = text.split(",").map((piece) => piece.trim());
  if (pieces.length === 1 && pieces[0] === "") return [];
  const networks = pieces.map(parseNetwork);
  return networks.every((network) => network !== null) ? networks : null;
}

/** Whether each of these networks lies within one of the others. */
export function areWithin(networks: readonly Network[], others: readonly Network[]): boolean {
  return networks.every(({ family, address, bits }) =>
    others.some((other) => other.family === family && other.bits <= bits && new Networks([other]).has(address)),
  );
}

/** Some networks, to look an address up in. */
export class Networks {
  /** One for each family: Node's list takes every IPv4 address for a part of ::/0. */
  readonly #lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  readonly any: boolean;

  constructor(networks: readonly Network[]) {
    this.any = networks.length > 0;
    for (const { address, bits, family } of networks) this.#lists[family].addSubnet(address, bits, family);
  }

  has(text: string): boolean {
    const address = plainAddress(text);
    if (address === null) return false;
    const family = isIPv4(address) ? "ipv4" : "ipv6";
    return this.#lists[family].check(address, family);
  }
}

/** Whom an address belongs to, as far as can be told: itself for IPv4, its /64 for IPv6. What is no address is itself, or its beginning. */
export function siteOf(text: string): string {
  const address = plainAddress(text);
  if (address === null || isIPv4(address)) return address ?? text.slice(0, MAX_ADDRESS);
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const end = tail === "" ? [] : tail.split(":");
    while (groups.length + end.length < 8) groups.push("0");
    groups.push(...end);
  }
  return `${groups.slice(0, SITE_BITS / 16).join(":")}::/${SITE_BITS}`;
}
