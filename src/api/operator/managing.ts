/** What the operations of operators and resellers share: whose accounts one may see, who made a change, versions and pages. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { type AccountReader, managedAccount as findAccount, type Manager } from "../../admin/manager.ts";
import { Refused } from "../../admin/refusal.ts";
import type { Clock } from "../../runtime/clock.ts";
import { type TSchema, Type } from "../../runtime/type.ts";
import type { Actor, ManagedAccount } from "../../store/port/accounts.ts";
import { ApiError, badField } from "../errors.ts";
import { accountOf } from "../operation.ts";
import { DEFAULT_LIMIT, MAX_LIMIT } from "../query.ts";
import { outdatedError } from "../refusals.ts";
import { OptionalText, TextOrNull } from "../shapes.ts";

const TAG = "Operating";
/** For operators alone. */
export const OPERATOR = { tag: TAG, auth: "operator", scope: "manage" } as const;
/** For resellers too, each for its own clients. */
export const MANAGER = { tag: TAG, auth: "manager", scope: "manage" } as const;

/** The same, for what gives somebody a way in. */
export const GIVER = { tag: TAG, auth: "manager", scope: "credentials" } as const;

export function actorOf(request: FastifyRequest): Actor {
  const { key, apiKey } = accountOf(request);
  return { name: key, address: request.ip, ...(apiKey === null ? {} : { apiKey: apiKey.id }) };
}

/** Who asks for a use case of admin/. */
export function managerOf(request: FastifyRequest, clock: Clock): Manager {
  return { account: accountOf(request), by: actorOf(request), atMs: clock.now() };
}

/** A name in the path. What no store can hold names nothing. */
export function named(request: FastifyRequest, name: string): string {
  const value = (request.params as Readonly<Record<string, string | undefined>>)[name] ?? "";
  if (value.includes("\0")) throw new ApiError("notFound");
  return value;
}

/** The account in the path, if the caller may know of it. */
export function managedAccount(store: AccountReader, request: FastifyRequest): Promise<ManagedAccount> {
  return findAccount(store, { account: accountOf(request) }, named(request, "key"));
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

/** Runs a use case. Whoever wanted to change an older version gets to see what is there now. */
export async function orCurrent<Thing, Result>(
  show: (current: Thing) => { readonly version: number },
  work: Promise<Result>,
): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Refused) || error.refusal.kind !== "outdated") throw error;
    const { current } = error.refusal;
    throw outdatedError(current === null ? null : show(current as Thing));
  }
}

/** Gives an answer that has a version, with it in the header too. */
export function versioned<Thing extends { readonly version: number }>(reply: FastifyReply, thing: Thing): Thing {
  reply.header("etag", `"${thing.version}"`);
  return thing;
}

// --- Pages -----------------------------------------------------------------------------------------------------------------

export const pageParameters = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT })),
  after: OptionalText("What the page before gave as next."),
};

export function Page<Item extends TSchema>(item: Item) {
  return Type.Object({
    results: Type.Array(item),
    next: TextOrNull("Give it as after for the next page; null on the last one."),
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
