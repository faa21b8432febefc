/** Passwords of an account's users, and the sessions that were opened with them. */
import { endSessions, MAX_PASSWORD, setPassword } from "../../admin/passwords.ts";
import { hashPassword } from "../../auth/passwords.ts";
import { Type } from "../../runtime/type.ts";
import { Mutex } from "../mutex.ts";
import { type Api, operation } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { OptionalText } from "../shapes.ts";
import { GIVER, MANAGER, managerOf, named } from "./managing.ts";

export const PasswordText = (description: string) => Type.String({ maxLength: MAX_PASSWORD, description });

const hashing = new Mutex();

/** A hash takes tens of milliseconds and 32 MB on purpose, so one is made at a time. */
export function hashInTurn(password: string): Promise<string> {
  return hashing.take(() => hashPassword(password));
}

const PasswordRequest = Type.Object(
  { password: Type.Optional(PasswordText("Made up, and shown this once, unless given.")) },
  { additionalProperties: false },
);
export const PasswordAnswer = Type.Object({
  username: Type.String(),
  password: OptionalText("Shown only now, and only if it was made up."),
});

export function passwordOperations(api: Api, { store, clock, settings }: ApiParts): void {
  const rules = { store, settings, hashPassword: hashInTurn };

  api.put(
    "/operator/1/accounts/:key/users/:username/password",
    operation({
      ...GIVER,
      id: "setUserPassword",
      summary: "Give a user another password; the account's sessions end",
      schema: { body: PasswordRequest },
      answer: PasswordAnswer,
    }),
    async (request) => {
      const user = { accountKey: named(request, "key"), username: named(request, "username") };
      const { text, madeUp } = await setPassword(rules, managerOf(request, clock), { ...user, ...request.body });
      return { username: user.username, ...(madeUp ? { password: text } : {}) };
    },
  );

  api.delete(
    "/operator/1/accounts/:key/sessions",
    operation({
      ...MANAGER,
      id: "endAccountSessions",
      summary: "End all sessions of an account",
      answer: Type.Object({ ended: Type.Integer() }),
    }),
    (request) => endSessions(store, managerOf(request, clock), named(request, "key")),
  );
}
