/**
 * Networks and addresses of callers: "10.0.0.0/8", "2001:db8::/32", or one address alone. An IPv4 address that comes written as IPv6
 * (::ffff:10.0.0.1, as a socket for both kinds gives it) is the IPv4 address everywhere here. Pure.
 */
import { BlockList, isIP, isIPv4, isIPv6, SocketAddress } from "node:net";

export interface Network {
  readonly family: "ipv4" | "ipv6";
  readonly address: string;
  readonly bits: number;
}

/** Hosts that only this machine can reach. */
export const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

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

/** Null for what is no network: an address as it is written by itself, alone or with a width. Bits behind the mask do not matter. */
export function parseNetwork(text: string): Network | null {
  const [, name = "", width] = /^([0-9a-fA-F.:]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const address = isIP(name) === 0 ? null : plainAddress(name);
  if (address === null) return null;
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  const mapped = family === "ipv4" && isIPv6(name);
  const bits = width === undefined ? ADDRESS_BITS[family] : Number(width) - (mapped ? MAPPED_BITS : 0);
  return bits < 0 || bits > ADDRESS_BITS[family] ? null : { family, address, bits };
}

/**
 * A network that is stored already, in a spelling that is not taken any more. Two worked: an IPv4 address with a port, and a width with zeros
 * before it. In two that the command line took no address was ever found, so that whoever had them was shut out: an address with a zone
 * (fe80::1%eth0), and an IPv4 network that is written as IPv6 with the width of IPv4 (::ffff:10.0.0.0/8). Each is read as what was meant. One
 * of the last two with the width 0 stays without any address: it would let everybody in who was shut out until now.
 */
export function storedNetwork(text: string): Network | null {
  const network = parseNetwork(text);
  if (network !== null || text.length > MAX_ADDRESS) return network;
  const [, name = "", zone, width] = /^([0-9a-fA-F.:]+(%[^/%]+)?)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = plainAddress(name);
  if (address === null) return null;
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  const mapped = family === "ipv4" && isIPv6(name);
  const written = width === undefined ? ADDRESS_BITS[family] : Number(width);
  const bits = mapped && written > ADDRESS_BITS.ipv4 ? written - MAPPED_BITS : written;
  const least = mapped || zone !== undefined ? 1 : 0;
  return bits < least || bits > ADDRESS_BITS[family] ? null : { family, address, bits };
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

/** Where an address is, for whoever may have very many of them: its /24 for IPv4, its /48 for IPv6. */
export function networkOf(text: string): string {
  const site = siteOf(text);
  return site.includes(":") ? site.split(":", NETWORK_GROUPS).join(":") : site.slice(0, site.lastIndexOf(".") + 1);
}

/** Of 16 bits each. */
const NETWORK_GROUPS = 3;
