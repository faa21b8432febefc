/** Balance and profile of the caller, by the OneAPI. Of the people behind an account the service knows what they have said of themselves. */
import type { FastifyRequest } from "fastify";
import { tenantOf } from "../../admin/manager.ts";
import { PROFILE_NUMBERS, PROFILE_TEXTS, type Profile } from "../../message/profile.ts";
import { microsToNumber } from "../../money/amounts.ts";
import { currencyNumber, currencySymbol } from "../../money/currencies.ts";
import { isUsername, isUsernameOf } from "../../store/names.ts";
import type { Account, ManagedAccount } from "../../store/port/accounts.ts";
import { mayLookBeyond } from "../beyond.ts";
import { ApiError, badField } from "../errors.ts";
import { type Api, accountOf, operation } from "../operation.ts";
import { named, pageOf } from "../operator/managing.ts";
import { bodyFields, type Fields, queryFields } from "../parameters.ts";
import type { ApiParts } from "../parts.ts";
import { fieldsOf, MAX_LIMIT, readLimit, readText } from "../query.ts";
import { readField } from "./fields.ts";
import * as schemas from "./schemas.ts";

const MAX_TEXT = 255;
const MAX_NUMBER = 2_147_483_647;

/** For any caller that is known: clients ask for the profile to find out whether their credentials are good. */
const ANY_KEY = { tag: "OneAPI", auth: "account", scope: null } as const;

type Known = Pick<Account, "id" | "key" | "suspended">;

/** Texts that nobody has given are empty, and numbers 0: clients cannot read a null there. */
function profileOf({ id, key, suspended }: Known, username: string, profile: Profile) {
  return {
    id,
    username,
    ...Object.fromEntries(PROFILE_TEXTS.map((name) => [name, profile[name] ?? ""])),
    ...Object.fromEntries(PROFILE_NUMBERS.map((name) => [name, profile[name] ?? 0])),
    enabled: !suspended,
    key,
    accountKey: key,
    url: "",
    accountId: String(id),
    canSendTraffic: !suspended,
    locked: suspended,
  };
}

/** A whole number, or its digits. */
function readNumber(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  if (value === undefined || value === "") return undefined;
  const number = typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (!Number.isInteger(number) || (number as number) < 0 || (number as number) > MAX_NUMBER)
    throw badField(name, `must be a whole number from 0 to ${MAX_NUMBER}`);
  return number as number;
}

/** An empty text takes away what was there. */
function readProfile(fields: Fields): Profile {
  const change: Record<string, string | number> = {};
  for (const name of PROFILE_TEXTS) {
    const value = fields[name] === "" ? "" : readField(fields, name, MAX_TEXT);
    if (value !== undefined) change[name] = value;
  }
  for (const name of PROFILE_NUMBERS) {
    const value = readNumber(fields, name);
    if (value !== undefined) change[name] = value;
  }
  return change as Profile;
}

export function profileOperations(api: Api, { store }: ApiParts): void {
  /** The users of the caller's account, whoever of them calls first. */
  const usersOf = async (caller: Account): Promise<string[]> => {
    const { usernames = [] } = (await store.account({ key: caller.key, resellerId: null })) ?? {};
    const own = caller.user?.username;
    return own === undefined ? [...usernames] : [own, ...usernames.filter((name) => name !== own)];
  };
  const ownProfiles = async (request: FastifyRequest) => {
    const caller = accountOf(request);
    const users = await usersOf(caller);
    const { profile } = (await store.profile({ accountId: caller.id, resellerId: null }))!;
    return (users.length === 0 ? [""] : users).map((username) => profileOf(caller, username, profile));
  };

  api.get(
    "/1/customerProfile/balance",
    operation({
      id: "oneApiBalance",
      ...ANY_KEY,
      summary: "Ask for the balance",
      scope: "balance",
      answer: schemas.Balance,
    }),
    async (request) => {
      const { balanceMicros, currency } = await store.balance({ accountId: accountOf(request).id });
      const symbol = currencySymbol(currency);
      return {
        balance: microsToNumber(balanceMicros),
        currency: { id: currencyNumber(currency), currencyName: currency, symbol },
      };
    },
  );

  api.get(
    "/1/customerProfile",
    operation({ id: "oneApiProfile", summary: "Look at your profile", ...ANY_KEY, answer: schemas.Profile }),
    async (request) => (await ownProfiles(request))[0],
  );
  api.put(
    "/1/customerProfile",
    operation({
      id: "oneApiChangeProfile",
      ...ANY_KEY,
      summary: "Say who you are",
      scope: "manage",
      form: true,
      takes: schemas.ProfileChange,
      makes: true,
      answer: schemas.Profile,
    }),
    async (request) => {
      const change = readProfile(bodyFields(request));
      await store.changeProfile({ accountId: accountOf(request).id, change });
      return (await ownProfiles(request))[0];
    },
  );
  api.get(
    "/1/customerProfile/list",
    operation({
      id: "oneApiProfileList",
      summary: "List the users of your account",
      ...ANY_KEY,
      answer: schemas.ProfileList,
    }),
    async (request) => ownProfiles(request),
  );
  api.get(
    "/1/customerProfile/all",
    operation({
      id: "oneApiProfileUsers",
      summary: "List the users of your account, in an object",
      ...ANY_KEY,
      answer: schemas.ProfileUsers,
    }),
    async (request) => ({ users: await ownProfiles(request) }),
  );
  api.get(
    // The words are operations of their own, under another method.
    "/1/customerProfile/:id(^(?!login$|logout$|signup$|verify$).+$)",
    operation({
      id: "oneApiProfileById",
      summary: "Look at a profile: yours, or one of a client of yours",
      ...ANY_KEY,
      answer: schemas.Profile,
    }),
    async (request) => {
      const caller = accountOf(request);
      const id = named(request, "id");
      if (id === String(caller.id)) return (await ownProfiles(request))[0];
      const accountId = /^\d{1,15}$/.test(id) && mayLookBeyond(caller) ? Number(id) : null;
      const tenant = tenantOf({ account: caller });
      const found = accountId === null ? null : await store.profile({ ...tenant, accountId });
      const account = found === null ? null : await store.account({ ...tenant, key: found.key });
      if (found === null || account === null) throw new ApiError("accountNotFound");
      return profileOf(account, account.usernames[0] ?? "", found.profile);
    },
  );

  api.get(
    "/1/customerProfile/account/clients",
    operation({
      id: "oneApiClients",
      tag: "OneAPI",
      summary: "List your clients, with the accountKey that funds are added under",
      auth: "manager",
      scope: "manage",
      query: schemas.ClientsQuery,
      answer: schemas.ProfileClients,
    }),
    async (request) => {
      const fields = fieldsOf(request.query);
      const limit = fields.limit === undefined ? MAX_LIMIT : readLimit(request.query);
      const found = await store.accounts({
        ...tenantOf({ account: accountOf(request) }),
        kind: "client",
        suspended: null,
        afterKey: readText(fields, "after"),
        limit: limit + 1,
      });
      const show = (account: ManagedAccount) => profileOf(account, account.usernames[0] ?? "", {});
      const { results: clients, next } = pageOf(found, limit, ({ key }) => key, show);
      return { clients, next };
    },
  );

  api.get(
    "/1/customerProfile/username/check",
    operation({
      id: "oneApiUsernameCheck",
      ...ANY_KEY,
      summary: "Ask whether you could make a user of this name",
      scope: "manage",
      query: schemas.UsernameQuery,
      answer: schemas.UsernameCheck,
    }),
    async (request) => {
      const { username } = queryFields(request);
      if (typeof username !== "string" || username === "") throw badField("username", "is required, once");
      return {
        usernameCheck: isChoosable(accountOf(request), username) && (await store.findLogin({ username })) === null,
      };
    },
  );

  // Accounts are made by whoever runs the service, and by resellers.
  for (const step of ["signup", "verify"])
    api.post(
      `/1/customerProfile/${step}`,
      { schema: { hide: true }, config: { auth: "none", form: true, json: true, bodyOctets: 4_096 } },
      async () => {
        throw new ApiError("forbidden", "Nobody can sign up here: ask whoever runs this service for an account.");
      },
    );
}

/** Whether the caller makes users, and of such names: whoever does not learns nothing of anybody's. */
function isChoosable({ kind, key }: Account, username: string): boolean {
  if (!isUsername(username) || kind === "client") return false;
  return kind === "operator" || isUsernameOf(key, username);
}
