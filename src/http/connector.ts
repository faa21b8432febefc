/**
 * How a connection to a receiver is made: the name is resolved here, every address it has is checked, and the connection goes
 * to an address that was checked. A name that answers differently the next time gains nothing by it: every connection
 * is checked anew.
 */
import { promises as dns, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { buildConnector } from "undici";
import { once } from "../runtime/lazy.ts";
import { type AddressPolicy, refusal } from "./guard.ts";
import { undici } from "./undici.ts";

export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface ConnectorOptions {
  readonly policy: AddressPolicy;
  readonly resolve: Resolve;
  /** For the name and the connection together. */
  readonly timeoutMs: number;
  /** Certificate authorities in PEM, in place of the system's. */
  readonly authority?: string;
}

/** Says which kind of address it was, never which: the client who reads it should not learn our inner names. */
class AddressRefused extends Error {}

export function guardedConnector(options: ConnectorOptions): buildConnector.connector {
  const connector = once(() =>
    undici().buildConnector({
      timeout: options.timeoutMs,
      lookup: guardedLookup(options),
      ...(options.authority === undefined ? {} : { ca: options.authority }),
    }),
  );
  return (target, callback) => {
    // A literal address is never looked up. Odd spellings (127.1, 0x7f000001) have become plain ones in the URL's parser.
    const why = isIP(target.hostname) === 0 ? null : refusal(target.hostname, options.policy);
    if (why === null) connector()(target, callback);
    else queueMicrotask(() => callback(new AddressRefused(why), null));
  };
}

/** One address that may not be reached condemns the name: an honest one has no reason to list it. */
export function guardedLookup({ policy, resolve }: ConnectorOptions): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const first = addresses[0];
        const why = addresses.map(({ address }) => refusal(address, policy)).find((found) => found !== null);
        if (first === undefined) callback(new Error("the name has no address"), "");
        else if (why !== undefined) callback(new AddressRefused(why), "");
        else if (options.all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ""),
    );
  };
}

const QUERY_TIMEOUT_MS = 3000;
const QUERY_TRIES = 2;

/** So many names wait for the system at a time. */
const MAX_WAITING = 100;
let waiting = 0;
let lastAsked: Promise<unknown> = Promise.resolve();

/**
 * The system is asked for one name at a time, and so holds one thread: the others of the process check passwords, among other things, and a client
 * whose name server is quick to deny a name and slow to be asked again must not have them all.
 */
async function askSystem(hostname: string): Promise<LookupAddress[]> {
  if (waiting >= MAX_WAITING) throw new Error("too many names are being looked up");
  waiting++;
  const asked = lastAsked
    .then(() => dns.lookup(hostname, { all: true }))
    .finally(() => {
      waiting--;
    });
  lastAsked = asked.catch(() => undefined);
  return asked;
}

/**
 * Asks the name servers itself, because getaddrinfo would hold one of the process's few threads for as long as a dead name server
 * keeps silent, and so one client's dead name would hold all others'. What no name server knows (localhost, /etc/hosts, search
 * domains) is asked of the system.
 */
export const resolveName: Resolve = async (hostname) => {
  if (!hostname.includes(".") || hostname.endsWith(".localhost")) return askSystem(hostname);
  const resolver = new dns.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [
    ...(v4.status === "fulfilled" ? v4.value.map((address) => ({ address, family: 4 })) : []),
    ...(v6.status === "fulfilled" ? v6.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (addresses.length > 0) return addresses;
  if (v4.status === "rejected" && v4.reason.code === dns.TIMEOUT) throw v4.reason;
  return askSystem(hostname);
};
