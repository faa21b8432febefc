/** API keys as they are asked for and shown, and what goes into a new one: never more than its maker has. */
import { type Static, Type } from "typebox";
import { newApiKey, storedForm } from "../auth/api-keys.ts";
import { areWithin, type Network, parseNetwork } from "../runtime/networks.ts";
import { formatDateTime, parseDateTime } from "../schedule/date-time.ts";
import { type Account, type Actor, type ApiKey, SCOPES, type Scope, type Store } from "../store/port.ts";
import { ApiError, badField } from "./errors.ts";
import { TextOrNull } from "./schemas.ts";

/** So that the list stays one page. */
const MAX_KEYS = 1_000;
const MAX_NETWORKS = 100;
/** What a network or a date is written in. */
const MAX_NETWORK_LENGTH = 64;
const MAX_DATE_LENGTH = 40;

const Scopes = Type.Array(Type.Unsafe<Scope>({ type: "string", enum: SCOPES }));

export const ApiKeyRequest = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: "What it is for." })),
    scopes: Type.Optional(
      Type.Array(Type.Unsafe<Scope>({ type: "string", enum: SCOPES }), {
        minItems: 1,
        maxItems: SCOPES.length,
        description: "What it is good for; all that its maker may give unless given.",
      }),
    ),
    expiresAt: Type.Optional(
      Type.String({
        maxLength: MAX_DATE_LENGTH,
        description: "From when on it is good for nothing, such as 2027-02-01T00:00:00.000+0000. Never unless given.",
      }),
    ),
    allowedAddresses: Type.Optional(
      Type.Array(Type.String({ maxLength: MAX_NETWORK_LENGTH }), {
        minItems: 1,
        maxItems: MAX_NETWORKS,
        description: "The only networks from which it may be used, such as 192.0.2.0/24. The account's hold too.",
      }),
    ),
  },
  { additionalProperties: false },
);

const shown = {
  id: Type.String({ description: "What stands in the key between the first two underscores." }),
  name: TextOrNull("What it is for."),
  scopes: Type.Union([Scopes, Type.Null()], {
    description: "What it is good for; null for all that the account may do.",
  }),
  expiresAt: TextOrNull("From when on it is good for nothing; null for never."),
  allowedAddresses: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: "The only networks from which it may be used; null for any.",
  }),
  createdAt: Type.String(),
  usedAt: TextOrNull("When it was last used, to the minute."),
};
export const ApiKeyAnswer = Type.Object(shown);
export const NewApiKeyAnswer = Type.Object({
  ...shown,
  key: Type.String({ description: "For Authorization: App …; shown only now." }),
});

const momentOrNull = (atMs: number | null): string | null => (atMs === null ? null : formatDateTime(atMs));

export function keyAnswer(key: Omit<ApiKey, "accountKey">): Static<typeof ApiKeyAnswer> {
  const { id, name, scopes, expiresAtMs, allowedAddresses, createdAtMs, usedAtMs } = key;
  return {
    id,
    name,
    scopes: scopes === null ? null : [...scopes],
    expiresAt: momentOrNull(expiresAtMs),
    allowedAddresses: allowedAddresses === null ? null : [...allowedAddresses],
    createdAt: formatDateTime(createdAtMs),
    usedAt: momentOrNull(usedAtMs),
  };
}

const refused = (field: string, description: string) => new ApiError("forbidden", { variables: [field], description });

/** What a key is good for. Unless given it is all that the maker has, spelled out where that is not everything. */
function scopesFor(maker: Account, wanted: readonly Scope[] | undefined, withoutMessages: ApiError | null) {
  const most = (maker.scopes ?? SCOPES).filter((scope) => scope !== "track" || withoutMessages === null);
  if (wanted === undefined) return most.length === SCOPES.length && maker.scopes === null ? null : most;
  const scopes = [...new Set(wanted)];
  const beyond = scopes.find((scope) => !most.includes(scope));
  if (beyond === undefined) return scopes;
  if (beyond === "track" && withoutMessages !== null) throw withoutMessages;
  throw refused("scopes", `The API key that you use is not good for ${beyond}, and makes none that is.`);
}

function expiryFor(maker: Account, wanted: string | undefined, nowMs: number): number | null {
  const most = maker.apiKey?.expiresAtMs ?? null;
  if (wanted === undefined) return most;
  const atMs = parseDateTime(wanted);
  if (atMs === null) throw badField("expiresAt", "is not a date and time like 2027-02-01T00:00:00.000+0000");
  if (atMs <= nowMs) throw badField("expiresAt", "must be in the future");
  if (most !== null && atMs > most)
    throw refused(
      "expiresAt",
      `The API key that you use ends at ${formatDateTime(most)}, and makes none that lasts longer.`,
    );
  return atMs;
}

function addressesFor(maker: Account, wanted: readonly string[] | undefined): readonly string[] | null {
  const most = maker.apiKey?.allowedAddresses ?? null;
  if (wanted === undefined) return most;
  const networks = wanted.map((text, index): Network => {
    const network = parseNetwork(text);
    if (network === null)
      throw badField(`allowedAddresses[${index}]`, "must be an address, or a network such as 192.0.2.0/24");
    return network;
  });
  const own = most?.map(parseNetwork).filter((network) => network !== null) ?? null;
  if (own !== null && !areWithin(networks, own))
    throw refused("allowedAddresses", "The API key that you use makes none for networks that it is not for itself.");
  return [...new Set(wanted)];
}

export interface KeyOrder {
  readonly accountKey: string;
  readonly body: Static<typeof ApiKeyRequest>;
  /** Who makes it. Whoever came with an API key gives no more than that key has. */
  readonly maker: Account;
  /** Why it may not read messages, if it may not. */
  readonly withoutMessages: ApiError | null;
  readonly by: Actor;
  readonly atMs: number;
}

/** Makes a key. It is in the answer, and nowhere else any more. */
export async function makeKey(
  store: Pick<Store, "apiKeys" | "createApiKey">,
  { accountKey, body, maker, withoutMessages, by, atMs }: KeyOrder,
): Promise<Static<typeof NewApiKeyAnswer>> {
  const bounds = {
    scopes: scopesFor(maker, body.scopes, withoutMessages),
    expiresAtMs: expiryFor(maker, body.expiresAt, atMs),
    allowedAddresses: addressesFor(maker, body.allowedAddresses),
  };
  if ((await store.apiKeys({ accountKey })).length >= MAX_KEYS)
    throw new ApiError("conflict", { description: `The account has ${MAX_KEYS} keys already.` });
  const key = newApiKey();
  const stored = storedForm(key);
  const { name = null } = body;
  const madeWith = maker.apiKey?.id ?? null;
  const made = await store.createApiKey({ ...stored, accountKey, name, ...bounds, madeWith, by, atMs });
  if (made !== "created") throw new Error(`an API key could not be made: ${made}`);
  return { ...keyAnswer({ id: stored.id, name, ...bounds, createdAtMs: atMs, usedAtMs: null }), key };
}
