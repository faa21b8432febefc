/** API keys of an account: made, listed and revoked. The key itself is shown once, to whoever made it. */
import { apiKeysOf, createApiKey, revokeApiKey } from "../../admin/api-keys.ts";
import { Type } from "../../runtime/type.ts";
import { ApiKeyAnswer, ApiKeyRequest, keyAnswer, NewApiKeyAnswer, newKeyAnswer } from "../api-key-schemas.ts";
import { type Api, operation } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { MANAGER, managerOf, named } from "./managing.ts";

export function apiKeyOperations(api: Api, parts: ApiParts): void {
  const { store, clock } = parts;

  api.post(
    "/operator/1/accounts/:key/api-keys",
    operation({
      ...MANAGER,
      id: "makeAccountApiKey",
      summary: "Make an API key for an account",
      schema: { body: ApiKeyRequest },
      answer: NewApiKeyAnswer,
    }),
    async (request) =>
      newKeyAnswer(await createApiKey(parts, managerOf(request, clock), named(request, "key"), request.body)),
  );

  api.get(
    "/operator/1/accounts/:key/api-keys",
    operation({
      ...MANAGER,
      id: "listAccountApiKeys",
      summary: "List an account's API keys, with when each was last used",
      answer: Type.Object({ results: Type.Array(ApiKeyAnswer) }),
    }),
    async (request) => ({
      results: (await apiKeysOf(store, managerOf(request, clock), named(request, "key"))).map(keyAnswer),
    }),
  );

  api.delete(
    "/operator/1/accounts/:key/api-keys/:id",
    operation({ ...MANAGER, id: "revokeAccountApiKey", summary: "Revoke an API key" }),
    (request) => {
      const key = { id: named(request, "id"), accountKey: named(request, "key") };
      return revokeApiKey(parts, managerOf(request, clock), key);
    },
  );
}
