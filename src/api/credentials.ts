/**
 * What a client does about its own credentials: API keys, its password, and the secret that signs its reports. A password or a session may do
 * all of it. An API key may replace itself: make another of no more rights, and then revoke itself.
 */
import type { FastifyRequest } from "fastify";
import { makeApiKey } from "../admin/api-keys.ts";
import { dropOldCallbackSecret, rotateCallbackSecret } from "../admin/callback-secrets.ts";
import {
  changeOwnPassword,
  type Owner,
  type OwnPasswordParts,
  ownApiKeys,
  revokeOwnApiKey,
} from "../admin/own-credentials.ts";
import { Type } from "../runtime/type.ts";
import { ApiKeyAnswer, ApiKeyRequest, keyAnswer, NewApiKeyAnswer, newKeyAnswer } from "./api-key-schemas.ts";
import { checkOwnPassword, isWithoutMessages, passwordOfReseller } from "./auth.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import { managerOf, named } from "./operator/managing.ts";
import { hashInTurn, PasswordAnswer, PasswordText } from "./operator/passwords.ts";
import type { ApiParts } from "./parts.ts";
import { Text } from "./shapes.ts";

const TAG = "Account";
/** For passwords, sessions, and API keys of any scope. */
const ANY_KEY = { tag: TAG, auth: "account", scope: null } as const;
/** For passwords and sessions. */
const NO_KEY = { tag: TAG, auth: "login" } as const;

const PasswordChange = Type.Object(
  {
    username: Type.Optional(
      Type.String({ maxLength: 64, description: "Whose password it is, if the account has several users." }),
    ),
    currentPassword: PasswordText("The one that is good until now."),
    password: Type.Optional(PasswordText("The new one. Made up, and shown this once, unless given.")),
  },
  { additionalProperties: false },
);
const CallbackSecretAnswer = Type.Object({
  callbackSecret: Text("With which reports are signed, beside the one before. Shown only now."),
});

export function credentialOperations(api: Api, parts: ApiParts): void {
  const { store, clock, settings } = parts;
  const ownerOf = (request: FastifyRequest): Owner => ({ ...managerOf(request, clock), account: accountOf(request) });

  api.post(
    "/account/1/api-keys",
    operation({
      ...ANY_KEY,
      id: "makeOwnApiKey",
      summary: "Make an API key for your account; with an API key, one of no more rights than it has",
      schema: { body: ApiKeyRequest },
      answer: NewApiKeyAnswer,
    }),
    async (request) => {
      const maker = accountOf(request);
      const withoutMessages = isWithoutMessages(maker, settings.resellers) ? passwordOfReseller() : null;
      return newKeyAnswer(await makeApiKey(store, managerOf(request, clock), maker.key, request.body, withoutMessages));
    },
  );

  api.get(
    "/account/1/api-keys",
    operation({
      ...ANY_KEY,
      id: "listOwnApiKeys",
      summary: "List your account's API keys, with when each was last used; with an API key, that one",
      answer: Type.Object({ results: Type.Array(ApiKeyAnswer) }),
    }),
    async (request) => ({ results: (await ownApiKeys(store, ownerOf(request))).map(keyAnswer) }),
  );

  api.delete(
    "/account/1/api-keys/:id",
    operation({
      ...ANY_KEY,
      id: "revokeOwnApiKey",
      summary: "Revoke an API key of your account; with an API key, that one",
    }),
    (request) => revokeOwnApiKey(store, ownerOf(request), named(request, "id")),
  );

  api.put(
    "/account/1/password",
    operation({
      ...NO_KEY,
      id: "changeOwnPassword",
      summary: "Change your password; the account's sessions end",
      schema: { body: PasswordChange },
      answer: PasswordAnswer,
    }),
    async (request) => {
      const rules: OwnPasswordParts = {
        store,
        hashPassword: hashInTurn,
        accountWith: (username, password) => checkOwnPassword(parts, { username, password }, request.ip),
      };
      const { username, text, madeUp } = await changeOwnPassword(rules, ownerOf(request), request.body);
      return { username, ...(madeUp ? { password: text } : {}) };
    },
  );

  api.post(
    "/account/1/callback-secret",
    operation({
      ...NO_KEY,
      id: "rotateCallbackSecret",
      summary: "Get a new secret for the signatures of reports; the one before stays good until it is dropped",
      answer: CallbackSecretAnswer,
    }),
    async (request) => {
      const { key } = accountOf(request);
      return { callbackSecret: await rotateCallbackSecret(store, managerOf(request, clock), key) };
    },
  );

  api.delete(
    "/account/1/callback-secret/old",
    operation({
      ...NO_KEY,
      id: "dropOldCallbackSecret",
      summary: "Drop the secret before the newest: reports are signed with that one alone",
    }),
    (request) => dropOldCallbackSecret(store, managerOf(request, clock), accountOf(request).key),
  );
}
