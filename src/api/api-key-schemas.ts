/** API keys as they are asked for and shown. What a key may be is decided in admin/. */
import { MAX_NETWORK_LENGTH } from "../admin/account-settings.ts";
import { type CreatedApiKey, MAX_KEY_NAME, MAX_KEY_NETWORKS, MAX_KEY_SCOPES } from "../admin/api-keys.ts";
import { Type } from "../runtime/type.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import { SCOPES } from "../store/port/accounts.ts";
import type { ApiKey } from "../store/port/credentials.ts";
import { OneOf, Text, TextOrNull } from "./shapes.ts";

/** What a date is written in. */
const MAX_DATE_LENGTH = 40;

const Scopes = Type.Array(OneOf(SCOPES));

export const ApiKeyRequest = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_KEY_NAME, description: "What it is for." })),
    scopes: Type.Optional(
      Type.Array(OneOf(SCOPES), {
        minItems: 1,
        maxItems: MAX_KEY_SCOPES,
        description:
          "What it is good for; all that its maker may give unless given, but credentials only if it is named.",
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
        maxItems: MAX_KEY_NETWORKS,
        description: "The only networks from which it may be used, such as 192.0.2.0/24. The account's hold too.",
      }),
    ),
  },
  { additionalProperties: false, title: "ApiKeyRequest" },
);

const shown = {
  id: Text("What stands in the key between the first two underscores."),
  name: TextOrNull("What it is for."),
  scopes: Type.Union([Scopes, Type.Null()], {
    description: "What it is good for; null for all that the account may do, but credentials.",
  }),
  expiresAt: TextOrNull("From when on it is good for nothing; null for never."),
  allowedAddresses: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: "The only networks from which it may be used; null for any.",
  }),
  createdAt: Type.String(),
  usedAt: TextOrNull("When it was last used, to the minute."),
};
export const ApiKeyAnswer = Type.Object(shown, { title: "ApiKey" });
export const NewApiKeyAnswer = Type.Object(
  {
    ...shown,
    key: Text("For Authorization: App …; shown only now."),
  },
  { title: "NewApiKey" },
);

const momentOrNull = (atMs: number | null): string | null => (atMs === null ? null : formatDateTime(atMs));

export function keyAnswer(key: Omit<ApiKey, "accountKey">) {
  return {
    ...key,
    expiresAt: momentOrNull(key.expiresAtMs),
    createdAt: formatDateTime(key.createdAtMs),
    usedAt: momentOrNull(key.usedAtMs),
  };
}

export function newKeyAnswer({ key, ...made }: CreatedApiKey) {
  return { ...keyAnswer(made), key };
}
