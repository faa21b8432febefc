/**
 * A view is what a page of the console looks at: a question with an answer that changes. It is answered once at its path, as any operation of the
 * API, and again and again to a page that watches it (live.ts).
 */
import type { TSchema } from "../../runtime/type.ts";
import type { Account, Scope } from "../../store/port/accounts.ts";
import { type Api, accountOf, operation } from "../operation.ts";
import { type Fields, fieldsOf } from "../query.ts";

export interface View {
  /** Its path below /console/1/. */
  readonly name: string;
  readonly summary: string;
  /** "account" is anybody, "manager" a reseller or an operator; "user" is anybody but an API key, also without the second factor that is required. */
  readonly auth: "account" | "user" | "manager" | "operator";
  /** What an API key must be good for. */
  readonly scope: Scope;
  /** The parameters of its query, for the page at /docs; `read` checks them with the functions of query.ts. */
  readonly query?: TSchema;
  readonly answer: TSchema;
  /** The same question has the same answer as long as nothing has changed. It reads a bounded number of rows, and changes nothing. */
  readonly read: (caller: Account, fields: Fields) => Promise<unknown>;
}

/** Whom most of them are for: those who look after messages or money, and operators. */
export const TRACKING = { tag: "Console", auth: "account", scope: "track" } as const;
export const MONEY = { tag: "Console", auth: "account", scope: "balance" } as const;
export const OPERATING = { tag: "Console", auth: "operator", scope: "manage" } as const;

export const VIEW_ROOT = "/console/1/";

/** "message-counts" → "consoleMessageCounts". */
function idOf(name: string): string {
  return ["console", ...name.split("-").map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)].join("");
}

export async function ask({ query, read }: View, caller: Account, given: unknown): Promise<unknown> {
  return read(caller, query === undefined ? (given as Fields) : fieldsOf(given));
}

export function viewOperations(api: Api, views: readonly View[]): void {
  for (const view of views)
    api.get(`${VIEW_ROOT}${view.name}`, operation({ ...view, id: idOf(view.name), tag: "Console" }), (request) =>
      ask(view, accountOf(request), request.query),
    );
}
