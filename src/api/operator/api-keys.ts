/** API keys of an account: made, listed and revoked. The key itself is shown once, to whoever made it. */
import { Type } from "typebox";
import type { Clock } from "../../runtime/clock.ts";
import type { Store } from "../../store/port.ts";
import { ApiError } from "../errors.ts";
import { ApiKeyAnswer, ApiKeyRequest, keyAnswer, makeKey, NewApiKeyAnswer } from "../key-rights.ts";
import { type Api, accountOf, operation } from "../operation.ts";
import { actorOf, livingAccount, MANAGER, managedAccount, named, tenantOf } from "./managing.ts";
import { checkMayResell, messagesAreNotFor, type ResellerSettings } from "./reselling.ts";

export interface ApiKeyParts {
  readonly store: Pick<Store, "account" | "apiKeys" | "createApiKey" | "revokeApiKey">;
  readonly clock: Clock;
  readonly settings: ResellerSettings;
}

export function apiKeyOperations(api: Api, { store, clock, settings }: ApiKeyParts): void {
  api.post(
    "/operator/1/accounts/:key/api-keys",
    operation({
      ...MANAGER,
      summary: "Make an API key for an account",
      schema: { body: ApiKeyRequest },
      answer: NewApiKeyAnswer,
    }),
    async (request) => {
      checkMayResell(request, settings, "clientKeys");
      const { key: accountKey } = await livingAccount(store, request);
      return makeKey(store, {
        accountKey,
        body: request.body,
        maker: accountOf(request),
        withoutMessages: messagesAreNotFor(request, settings),
        by: actorOf(request),
        atMs: clock.now(),
      });
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
      return { results: (await store.apiKeys({ accountKey })).map(keyAnswer) };
    },
  );

  api.delete(
    "/operator/1/accounts/:key/api-keys/:id",
    operation({ ...MANAGER, summary: "Revoke an API key" }),
    async (request, reply) => {
      checkMayResell(request, settings, "clientKeys");
      const { key: accountKey } = await managedAccount(store, request);
      const id = named(request, "id");
      const unknown = () => new ApiError("notFound", { description: "The account has no such API key." });
      if (!(await store.apiKeys({ accountKey })).some((key) => key.id === id)) throw unknown();
      const revoked = await store.revokeApiKey({ id, ...tenantOf(request), by: actorOf(request), atMs: clock.now() });
      if (revoked === "unknown key") throw unknown();
      return reply.code(204).send();
    },
  );
}
