/** What the operations of operators and resellers share: whose accounts one may see, who made a change, versions and pages. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { type TSchema, Type } from "typebox";
import { MAX_AMOUNT, parseMicros } from "../../money/amounts.ts";
import type { Actor, ManagedAccount, Store, Tenant } from "../../store/port.ts";
import { ApiError, badField } from "../errors.ts";
import { accountOf } from "../operation.ts";
import { DEFAULT_LIMIT, MAX_LIMIT } from "../query.ts";

export const TAG = "Operating";
/** For operators alone. */
export const OPERATOR = { tag: TAG, auth: "operator", scope: "manage" } as const;
/** For resellers too, each for its own clients. */
export const MANAGER = { tag: TAG, auth: "manager", scope: "manage" } as const;

/** An operator sees every account, a reseller its clients. */
export function tenantOf(request: FastifyRequest): Tenant {
  const { kind, id } = accountOf(request);
  return { resellerId: kind === "operator" ? null : id };
}

export function actorOf(request: FastifyRequest): Actor {
  return { name: accountOf(request).key, address: request.ip };
}

/** A name in the path. What no store can hold names nothing. */
export function named(request: FastifyRequest, name: string): string {
  const value = (request.params as Readonly<Record<string, string | undefined>>)[name] ?? "";
  if (value.includes("\0")) throw new ApiError("notFound");
  return value;
}

type AccountStore = Pick<Store, "account">;

/** The account in the path, if the caller may know of it. */
export async function managedAccount(store: AccountStore, request: FastifyRequest): Promise<ManagedAccount> {
  const account = await store.account({ ...tenantOf(request), key: named(request, "key") });
  if (account === null) throw new ApiError("accountNotFound");
  return account;
}

/** The same, of one that can still be changed. */
export async function livingAccount(store: AccountStore, request: FastifyRequest): Promise<ManagedAccount> {
  const account = await managedAccount(store, request);
  if (account.retiredAtMs !== null) throw new ApiError("conflict", { description: "The account is retired." });
  return account;
}

// --- Versions --------------------------------------------------------------------------------------------------------------

export const Version = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "The version that you have seen. It can stand in an If-Match header instead.",
});
/** For an operation without a body. */
export const VersionQuery = Type.Object({ version: Type.Optional(Version) });

/** The version in an If-Match header: "any" for a star, null without one. */
function versionInHeader(request: FastifyRequest): number | "any" | null {
  const header = request.headers["if-match"]?.trim();
  if (header === undefined) return null;
  if (header === "*") return "any";
  const digits = /^(?:W\/)?"?(\d{1,15})"?$/.exec(header)?.[1];
  if (digits === undefined) throw badField("If-Match", "must be one version, or a star");
  return Number(digits);
}

/** The version that the caller has seen, from a body, the query or If-Match. */
export function versionOf(request: FastifyRequest, given: unknown): number | "any" | null {
  if (given === undefined) return versionInHeader(request);
  const version = typeof given === "string" && /^\d{1,15}$/.test(given) ? Number(given) : given;
  if (!Number.isSafeInteger(version) || (version as number) < 0) throw badField("version", "must be a whole number");
  return version as number;
}

/** The same where there must be one; null stands for any. */
export function neededVersion(request: FastifyRequest, given: unknown): number | null {
  const version = versionOf(request, given);
  if (version === null) throw badField("version", "is required: the one that you have seen, here or in If-Match");
  return version === "any" ? null : version;
}

/** Somebody has made a change since: the caller gets to see what is there now. */
export function outdated(current: { readonly version: number } | null): ApiError {
  if (current === null) return new ApiError("conflict", { description: "It is not there any more." });
  return new ApiError("conflict", {
    description: `It was changed meanwhile: its version is ${current.version} now.`,
    headers: { etag: `"${current.version}"` },
    current,
  });
}

/** Gives an answer that has a version, with it in the header too. */
export function versioned<Thing extends { readonly version: number }>(reply: FastifyReply, thing: Thing): Thing {
  reply.header("etag", `"${thing.version}"`);
  return thing;
}

// --- Pages -----------------------------------------------------------------------------------------------------------------

export const pageParameters = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT })),
  after: Type.Optional(Type.String({ description: "What the page before gave as next." })),
};

export function Page<Item extends TSchema>(item: Item) {
  return Type.Object({
    results: Type.Array(item),
    next: Type.Unsafe<string | null>({
      type: ["string", "null"],
      description: "Give it as after for the next page; null on the last one.",
    }),
  });
}

/** A page out of one row more than it has room for. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => string,
  show: (row: Row) => Item,
): { results: Item[]; next: string | null } {
  const results = rows.slice(0, limit);
  return { results: results.map(show), next: rows.length > limit ? placeOf(results.at(-1)!) : null };
}

// --- Amounts ---------------------------------------------------------------------------------------------------------------

export const Decimal = (description: string) =>
  Type.Unsafe<number | string>({
    type: ["number", "string"],
    maxLength: 40,
    description: `${description} At most 6 places.`,
  });

/** An amount of zero or more. */
export function amountIn(value: number | string, field: string): bigint {
  const micros = parseMicros(String(value));
  if (micros === null || micros < 0n)
    throw badField(field, "must be a decimal number of 0 or more with at most 6 places");
  if (micros > MAX_AMOUNT) throw badField(field, "is too large");
  return micros;
}
