/** API keys of an account: made, listed and revoked. The key itself is shown once, to whoever made it. */
import { Type } from "typebox";
import { newApiKey, storedForm } from "../../accounts/api-keys.ts";
import type { Clock } from "../../runtime/clock.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import { SCOPES, type Scope, type Store } from "../../store/port.ts";
import { ApiError } from "../errors.ts";
import { type Api, operation } from "../operation.ts";
import { TextOrNull } from "../schemas.ts";
import { actorOf, livingAccount, MANAGER, managedAccount, named, realmOf } from "./managing.ts";

export interface ApiKeyParts {
  readonly store: Pick<Store, "account" | "apiKeys" | "createApiKey" | "revokeApiKey">;
  readonly clock: Clock;
}

/** So that the list stays one page. */
const MOST_KEYS = 1_000;

const Scopes = Type.Array(Type.Unsafe<Scope>({ type: "string", enum: SCOPES }));
const ApiKeyRequest = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: "What it is for." })),
    scopes: Type.Optional(
      Type.Array(Type.Unsafe<Scope>({ type: "string", enum: SCOPES }), {
        minItems: 1,
        maxItems: SCOPES.length,
        description: "What it is good for; all that the account may do unless given.",
      }),
    ),
  },
  { additionalProperties: false },
);
const shown = {
  id: Type.String(),
  name: TextOrNull("What it is for."),
  scopes: Type.Union([Scopes, Type.Null()], {
    description: "What it is good for; null for all that the account may do.",
  }),
  createdAt: Type.String(),
  usedAt: TextOrNull("When it was last used, to the minute."),
};
const ApiKeyAnswer = Type.Object(shown);
const NewApiKeyAnswer = Type.Object({
  ...shown,
  key: Type.String({ description: "For Authorization: App …; shown only now." }),
});

export function apiKeyOperations(api: Api, { store, clock }: ApiKeyParts): void {
  api.post(
    "/operator/1/accounts/:key/api-keys",
    operation({
      ...MANAGER,
      summary: "Make an API key for an account",
      schema: { body: ApiKeyRequest },
      answer: NewApiKeyAnswer,
    }),
    async (request) => {
      const { name = null } = request.body;
      const scopes = request.body.scopes === undefined ? null : [...new Set(request.body.scopes)];
      const { key: accountKey } = await livingAccount(store, request);
      if ((await store.apiKeys({ accountKey })).length >= MOST_KEYS)
        throw new ApiError("conflict", { description: `The account has ${MOST_KEYS} keys already.` });
      const key = newApiKey();
      const stored = storedForm(key);
      const atMs = clock.now();
      const made = await store.createApiKey({ ...stored, accountKey, name, scopes, by: actorOf(request), atMs });
      if (made !== "created") throw new Error(`an API key could not be made: ${made}`);
      return { id: stored.id, name, scopes, createdAt: formatDateTime(atMs), usedAt: null, key };
    },
  );

  api.get(
    "/operator/1/accounts/:key/api-keys",
    operation({
      ...MANAGER,
      summary: "List an account's API keys, with when each was last used",
      answer: Type.Object({ results: Type.Array(ApiKeyAnswer) }),
    }),
    async (request) => {
      const { key: accountKey } = await managedAccount(store, request);
      const keys = await store.apiKeys({ accountKey });
      return {
        results: keys.map(({ id, name, scopes, createdAtMs, usedAtMs }) => ({
          id,
          name,
          scopes: scopes === null ? null : [...scopes],
          createdAt: formatDateTime(createdAtMs),
          usedAt: usedAtMs === null ? null : formatDateTime(usedAtMs),
        })),
      };
    },
  );

  api.delete(
    "/operator/1/accounts/:key/api-keys/:id",
    operation({ ...MANAGER, summary: "Revoke an API key" }),
    async (request, reply) => {
      const { key: accountKey } = await managedAccount(store, request);
      const id = named(request, "id");
      const unknown = () => new ApiError("notFound", { description: "The account has no such API key." });
      if (!(await store.apiKeys({ accountKey })).some((key) => key.id === id)) throw unknown();
      const revoked = await store.revokeApiKey({ id, ...realmOf(request), by: actorOf(request), atMs: clock.now() });
      if (revoked === "unknown key") throw unknown();
      return reply.code(204).send();
    },
  );
}
