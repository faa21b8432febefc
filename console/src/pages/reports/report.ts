/** Reports that were not taken, as their pages have them; and how they are sent again, a step at a time. */
import { api, type Query, withQuery } from "../../api.ts";
import { count } from "../../parts/Amount.tsx";
import { me } from "../../session.ts";

export interface Attempt {
  readonly at: string;
  /** Null without an answer. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly reason: string;
  readonly excerpt: string;
}

export interface Host {
  readonly accountKey: string;
  readonly host: string;
  readonly waiting: number;
  readonly dead: number;
  readonly nextTryAt: string | null;
  readonly failingSince: string | null;
  readonly last: Attempt | null;
}

export interface HostList {
  readonly hosts: readonly Host[];
  readonly countedTo: number;
  readonly more: boolean;
}

export interface Report {
  readonly id: string;
  readonly accountKey: string;
  readonly url: string;
  readonly madeAt: string;
  readonly itemCount: number;
  readonly attempts: number;
  readonly reason: string;
  readonly nextTryAt: string | null;
  readonly deadAt: string | null;
}

export interface ReportList {
  readonly reports: readonly Report[];
  readonly next: string | null;
}

export interface ReportDetail extends Report {
  readonly host: string;
  readonly kind: "delivery" | "incoming" | "alert" | "click";
  readonly contentType: string;
  readonly body: string;
  readonly isCut: boolean;
  readonly messages: readonly { readonly messageId: string; readonly to: string }[];
  readonly history: readonly Attempt[];
}

/** "12", or "1,000 or more" where nobody counted on. */
export function counted(value: number, countedTo: number): string {
  return value >= countedTo ? `${count(countedTo)} or more` : count(value);
}

export const reportsWord = (value: number): string => (value === 1 ? "report" : "reports");

/** What came of a try, in words: "answered 503, “back soon”". */
export function answerWords({ reason, excerpt }: Pick<Attempt, "reason" | "excerpt">): string {
  const said = excerpt.trim();
  return said === "" ? reason : `${reason}, “${said.length > 120 ? `${said.slice(0, 120)}…` : said}”`;
}

export interface Which {
  readonly ids?: readonly string[];
  readonly host?: string;
  readonly since?: string;
  readonly all?: true;
  readonly accountKey?: string;
}

/** An operator does it for any account, everybody else for the own one. */
function pathOf(operation: "replay" | "retry"): string {
  return me.value?.kind === "operator" ? `/operator/1/reports/${operation}` : `/sms/1/reports/${operation}`;
}

interface Step {
  readonly replayed?: number;
  readonly retried?: number;
  readonly next?: string;
}

/** The service changes a page of them at a time, so that nothing else waits; this goes on to the end. Returns how many there were. */
async function inSteps(operation: "replay" | "retry", which: Which, told: (sum: number) => void): Promise<number> {
  const { accountKey, ...filter } = which;
  const whose = me.value?.kind === "operator" && accountKey !== undefined ? { accountKey } : {};
  let sum = 0;
  let after: string | null = null;
  do {
    const body: object = { ...filter, ...whose, ...(after === null ? {} : { after }) };
    const { replayed = 0, retried = 0, next }: Step = await api.post<Step>(pathOf(operation), body);
    sum += replayed + retried;
    after = next ?? null;
    told(sum);
  } while (after !== null);
  return sum;
}

export const replay = (which: Which, told: (sum: number) => void = () => {}) => inSteps("replay", which, told);
export const retry = (which: Which, told: (sum: number) => void = () => {}) => inSteps("retry", which, told);

/** The page with these filters. */
export function reportsAt(query: Query): string {
  return withQuery("/reports", query);
}
