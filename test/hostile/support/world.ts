/**
 * Who calls, and what there is to name in a request. Callers are never changed by what is generated: accounts to be suspended, emptied or
 * retired, sessions to be ended and keys to be revoked are there for that alone, or are made in the course of the run.
 */
import assert from "node:assert/strict";
import { OPERATOR, RESELLER } from "../../support/operator.ts";
import { basic, callService, DEMO } from "../../support/service.ts";
import type { Chance } from "./chance.ts";

const VICTIMS = 8;
const BULKS = 8;
const TOKENS = 30;
const SCOPES = ["send", "track", "balance"];
const DAY_MS = 86_400_000;

/** `password` is any of them with Basic; the others show a key or a token, since every change of an account has all passwords checked anew. */
export type Role =
  | "nobody"
  | "client"
  | "clientToken"
  | "reseller"
  | "resellerToken"
  | "operator"
  | "scoped"
  | "password";

/** The name of a message that the demo account has. */
export const KNOWN_MESSAGE = "known-message";

export class World {
  /** The Authorization headers of each. */
  readonly #headers: Record<Role, string[]>;
  /** Clients of the reseller that stay; their users have the same names in lower case. */
  readonly victims: readonly string[] = Array.from({ length: VICTIMS }, (_, index) => `VICTIM${index}`);
  readonly bulks: readonly string[] = Array.from({ length: BULKS }, (_, index) => `scheduled-${index}`);
  /** Names of what was made in the course of the run, by collection; to be taken away again. */
  readonly #made = new Map<string, string[]>();
  readonly apiKeys: { readonly account: string; readonly id: string }[] = [];
  /** An application of PINs with a template, a PIN to be verified, and one to be sent again. */
  readonly pins = { appId: "", msgId: "", pinId: "", resentId: "" };
  /** Of sessions that may be ended. */
  readonly tokens: string[] = [];
  #count = 0;

  private constructor(headers: Record<Role, string[]>) {
    this.#headers = headers;
  }

  static async prepare(url: string): Promise<World> {
    const call = async (method: string, path: string, body: unknown, authorization: string) => {
      const answer = await callService(url, method, path, { body, authorization });
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.json;
    };
    const keyOf = async (account: string, scopes?: readonly string[]): Promise<string> =>
      `App ${(await call("POST", `/operator/1/accounts/${account}/api-keys`, { scopes }, OPERATOR)).key}`;
    const tokenOf = async (authorization: string): Promise<string> =>
      `IBSSO ${(await call("POST", "/auth/1/session", undefined, authorization)).token}`;
    const resellerToken = await tokenOf(RESELLER);
    const every = ["manage", "credentials", ...SCOPES, "pins"];
    const scoped = [await keyOf("RESELLER1", ["manage"])];
    for (const scope of SCOPES) scoped.push(await keyOf("DEMO0001", [scope]));
    const world = new World({
      nobody: [],
      client: ["App demo-api-key"],
      clientToken: [await tokenOf(DEMO)],
      reseller: [await keyOf("RESELLER1", every)],
      resellerToken: [resellerToken],
      operator: [await keyOf("OPERATOR1", every)],
      scoped,
      password: [DEMO, RESELLER, OPERATOR],
    });
    for (const key of world.victims) {
      const account = {
        key,
        parent: "RESELLER1",
        ratePlan: "standard",
        username: key.toLowerCase(),
        openingBalance: 10,
      };
      await call("POST", "/operator/1/accounts", account, OPERATOR);
    }
    const funds = { accountKey: "DEMO0001", ammount: 1_000_000, description: "for all that is sent" };
    await call("POST", "/1/customerProfile/payments/funds", funds, resellerToken);
    for (const bulkId of world.bulks) {
      const message = { bulkId, from: "Sender", to: ["41790000001", "41790000002"], text: "later", sendAt: later(30) };
      await call("POST", "/sms/1/text/single", message, DEMO);
    }
    const named = { messages: [{ text: "once", destinations: [{ to: "41790000003", messageId: KNOWN_MESSAGE }] }] };
    await call("POST", "/sms/1/text/advanced", named, DEMO);
    const configuration = { sendPinPerPhoneNumberLimit: "1000000/1d", verifyPinLimit: "1000000/1s" };
    const application = await call("POST", "/2fa/2/applications", { name: "made", configuration }, DEMO);
    const { applicationId } = application;
    const text = { messageText: "{{pin}}", pinType: "NUMERIC", senderId: "Sender" };
    const { messageId } = await call("POST", `/2fa/2/applications/${applicationId}/messages`, text, DEMO);
    const pin = async (): Promise<string> =>
      (await call("POST", "/2fa/2/pin", { applicationId, messageId, to: "41790000004" }, DEMO)).pinId;
    Object.assign(world.pins, { appId: applicationId, msgId: messageId, pinId: await pin(), resentId: await pin() });
    for (let count = 0; count < TOKENS; count++) world.tokens.push(await tokenOf(DEMO));
    return world;
  }

  authorization(role: Role, chance: Chance): string | null {
    const headers = this.#headers[role];
    return headers.length === 0 ? null : chance.pick(headers);
  }

  /** Whether this header is a caller's session, which must not end. */
  isKept(authorization: string | null): boolean {
    return [...this.#headers.clientToken, ...this.#headers.resellerToken].includes(authorization ?? "");
  }

  /** A number that no other request has. */
  next(): number {
    return ++this.#count;
  }

  /** One that was made in this collection and may be taken away now. */
  take(collection: string): string | undefined {
    return this.#made.get(collection)?.shift();
  }

  /** The newest one there. */
  last(collection: string): string | undefined {
    return this.#made.get(collection)?.at(-1);
  }

  #remember(collection: string, name: string): void {
    const names = this.#made.get(collection) ?? [];
    if (!names.includes(name)) names.push(name);
    this.#made.set(collection, names);
  }

  /** Takes from a good answer what later requests can name. */
  learn(operation: string, params: Readonly<Record<string, string>>, json: Record<string, unknown> | undefined): void {
    if (operation === "POST /operator/1/accounts") this.#remember("/operator/1/accounts", String(json?.key));
    const [, collection, name] = /^PUT (\/operator\/1\/[a-z-]+)\/\{(\w+)\}$/.exec(operation) ?? [];
    if (collection !== undefined) this.#remember(collection, params[name!]!);
    if (operation === "POST /operator/1/accounts/{key}/api-keys")
      this.apiKeys.push({ account: params.key!, id: String(json?.id) });
    if (operation === "POST /auth/1/session") this.tokens.push(`IBSSO ${json?.token}`);
    if (operation === "POST /1/customerProfile/login")
      this.tokens.push(`IBSSO ${(json?.login as { ibAuthCookie?: string })?.ibAuthCookie}`);
  }
}

/** A time so many days ahead, or ago. */
export function later(days: number): string {
  return new Date(Date.now() + days * DAY_MS).toISOString().replace("Z", "+0000");
}

export const WRONG_BASIC = basic("nobody", "wrong");
