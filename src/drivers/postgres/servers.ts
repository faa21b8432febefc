/**
 * The servers that a database's URL names: one, or several with commas between them, of which one at a time takes writes.
 * Parameters are those of libpq. What is not understood is refused, for a setting that does nothing is worse than none.
 */
import { DatabaseUnavailable } from "../errors.ts";

export interface Server {
  /** For people: host and port, without a password. */
  readonly name: string;
  /** The URL that names this server alone. */
  readonly url: string;
}

const ANY = /./;
const PARAMETERS: Readonly<Record<string, RegExp>> = {
  host: ANY,
  port: ANY,
  user: ANY,
  password: ANY,
  options: ANY,
  application_name: ANY,
  fallback_application_name: ANY,
  client_encoding: /^utf-?8$/i,
  connect_timeout: /^\d{1,4}$/,
  ssl: ANY,
  sslmode: /^(disable|prefer|require|verify-ca|verify-full|no-verify)$/,
  sslcert: ANY,
  sslkey: ANY,
  sslrootcert: ANY,
  sslnegotiation: ANY,
  uselibpqcompat: ANY,
  // All that follow change nothing: they say what is done in any case.
  target_session_attrs: /^(read-write|primary|any)$/,
  load_balance_hosts: /^disable$/,
  keepalives: /^1$/,
  keepalives_idle: ANY,
  keepalives_interval: ANY,
  keepalives_count: ANY,
  gssencmode: /^(disable|prefer)$/,
  channel_binding: /^(disable|prefer)$/,
};

const PARTS = /^(?<scheme>postgres(?:ql)?:\/\/)(?<authority>[^/?#]*)(?<path>[^?#]*)(?:\?(?<query>[^#]*))?/;

interface UrlParts {
  readonly scheme: string;
  /** User and password, with the sign behind them. */
  readonly user: string;
  readonly hosts: readonly string[];
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Null for one that cannot be taken apart: behind a password with a slash that is not written as %2F, the host stands in the path. */
function partsOf(url: string): UrlParts | null {
  const { scheme, authority, path, query } = PARTS.exec(url)?.groups ?? {};
  if (scheme === undefined || path!.includes("@")) return null;
  const user = authority!.slice(0, authority!.lastIndexOf("@") + 1);
  const parameters = new URLSearchParams(query);
  const hosts = (parameters.get("host") ?? authority!.slice(user.length)).split(",");
  return { scheme, user, hosts, path: path!, query: parameters };
}

/** The database without user and password; null where what would be told may be a part of them. */
export function databaseName(url: string): string | null {
  const parts = partsOf(url);
  if (parts === null || parts.hosts[0] === "" || parts.query.has("host")) return null;
  return `${parts.scheme}${parts.hosts.join(",")}${parts.path}`;
}

function unusable(why: string): DatabaseUnavailable {
  return new DatabaseUnavailable(`the database's URL cannot be used (${why})`, "url");
}

function serversIn(url: string): Server[] {
  const parts = partsOf(url);
  if (parts === null) return [{ name: "the database", url }];
  const { scheme, user, hosts, path, query } = parts;
  for (const [name, value] of query) {
    const known = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name]! : null;
    if (known === null) throw unusable(`its parameter ${name} is not understood`);
    if (!known.test(value)) throw unusable(`its parameter ${name} cannot have that value here`);
  }
  if (hosts.length === 1) return [{ name: hosts[0]!, url }];
  const ports = query.get("port")?.split(",") ?? [];
  if (ports.length > 1 && ports.length !== hosts.length) throw unusable("it has not as many ports as hosts");
  const isInQuery = query.has("host");
  return hosts.map((host, index) => {
    const own = new URLSearchParams(query);
    if (isInQuery) own.set("host", host);
    if (ports.length > 0) own.set("port", ports[index] ?? ports[0]!);
    const text = own.size === 0 ? "" : `?${own}`;
    return { name: host, url: `${scheme}${user}${isInQuery ? "" : host}${path}${text}` };
  });
}

/** How long a connection may take; null where the URL does not say. */
export function connectTimeoutMs(url: string): number | null {
  const seconds = partsOf(url)?.query.get("connect_timeout");
  return seconds == null ? null : Number(seconds) * 1_000;
}

/** By the URL, the name of the server that took writes last: all connections of a thread learn it of each other. */
const LAST = new Map<string, string>();

/** The servers in the order in which to try them. */
export function serversOf(url: string): Server[] {
  const servers = serversIn(url);
  const last = LAST.get(url);
  return servers.toSorted((one, other) => Number(other.name === last) - Number(one.name === last));
}

export function tookWrites(url: string, { name }: Server): void {
  LAST.set(url, name);
}
