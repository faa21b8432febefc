/** Passwords of an account's users, and the sessions that were opened with them. */
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { hashPassword, isTooLong } from "../../auth/passwords.ts";
import type { Clock } from "../../runtime/clock.ts";
import { secret } from "../../runtime/random.ts";
import type { ManagedAccount, Store } from "../../store/port.ts";
import { ApiError, badField } from "../errors.ts";
import { Mutex } from "../mutex.ts";
import { type Api, accountOf, operation } from "../operation.ts";
import { actorOf, livingAccount, MANAGER, managedAccount, named, tenantOf } from "./managing.ts";
import { checkMayResell, type ResellerSettings } from "./reselling.ts";

export interface PasswordParts {
  readonly store: Pick<Store, "account" | "setPassword" | "endSessions">;
  readonly clock: Clock;
  readonly passwords: NewPasswords;
  readonly settings: ResellerSettings;
}

const MADE_UP_BYTES = 18;
const SHORTEST = 8;
const LONGEST = 256;

export const Password = (description: string) => Type.String({ maxLength: LONGEST, description });

/** A hash takes tens of milliseconds and 32 MB on purpose, so one is made at a time. */
export class NewPasswords {
  readonly #mutex = new Mutex();

  hash(password: string): Promise<string> {
    return this.#mutex.take(() => hashPassword(password));
  }
}

/** The password that was given, or one that nobody can guess. */
export function readPassword(given: string | undefined): { readonly text: string; readonly madeUp: boolean } {
  if (given === undefined) return { text: secret(MADE_UP_BYTES), madeUp: true };
  // Before its characters are counted: it may be as long as a body.
  const length = isTooLong(given) ? Number.POSITIVE_INFINITY : [...given].length;
  if (length < SHORTEST || length > LONGEST)
    throw badField("password", `must be ${SHORTEST} to ${LONGEST} characters long`);
  return { text: given, madeUp: false };
}

const PasswordRequest = Type.Object(
  { password: Type.Optional(Password("Made up, and shown this once, unless given.")) },
  { additionalProperties: false },
);
export const PasswordAnswer = Type.Object({
  username: Type.String(),
  password: Type.Optional(Type.String({ description: "Shown only now, and only if it was made up." })),
});

export function passwordOperations(api: Api, { store, clock, passwords, settings }: PasswordParts): void {
  /** Whoever has a password may do all that the account may: more than an API key of the same account, and than any of an operator's. */
  function checkNotByKey(request: FastifyRequest, { id, kind }: ManagedAccount): void {
    const caller = accountOf(request);
    if (caller.apiKey === null || (caller.id !== id && kind !== "operator")) return;
    throw new ApiError("forbidden", {
      description: "An API key sets no password of its own account, and none of an operator.",
    });
  }

  api.put(
    "/operator/1/accounts/:key/users/:username/password",
    operation({
      ...MANAGER,
      summary: "Give a user another password; the account's sessions end",
      schema: { body: PasswordRequest },
      answer: PasswordAnswer,
    }),
    async (request) => {
      const username = named(request, "username");
      const password = readPassword(request.body.password);
      checkMayResell(request, settings, "clientPasswords");
      const account = await livingAccount(store, request);
      checkNotByKey(request, account);
      const unknown = () => new ApiError("notFound", { description: "The account has no such user." });
      if (!account.usernames.includes(username)) throw unknown();
      const done = await store.setPassword({
        ...tenantOf(request),
        username,
        passwordHash: await passwords.hash(password.text),
        by: actorOf(request),
        atMs: clock.now(),
      });
      if (done === "unknown user") throw unknown();
      return { username, ...(password.madeUp ? { password: password.text } : {}) };
    },
  );

  api.delete(
    "/operator/1/accounts/:key/sessions",
    operation({
      ...MANAGER,
      summary: "End all sessions of an account",
      answer: Type.Object({ ended: Type.Integer() }),
    }),
    async (request) => {
      const { key } = await managedAccount(store, request);
      const by = { by: actorOf(request), atMs: clock.now() };
      const ended = await store.endSessions({ ...tenantOf(request), accountKey: key, ...by });
      if (ended === "unknown account") throw new ApiError("accountNotFound");
      return ended;
    },
  );
}
