/**
 * What the hosts of one connection have answered to its binds, as long as it is "no": how much slower they are to be asked because of it.
 *
 *   wrong name or password  ──▶ the whole connection waits for the profile's bound, and that host is not asked before
 *   any other refusal       ──▶ the whole connection waits longer each time
 *   already bound           ──▶ the same after a minute: until then it may be the old connection, whose end the carrier has not noticed
 *
 * A host that cannot be reached has answered nothing, and changes nothing here.
 */
import { statusCode } from "./codec/statuses.ts";

/** Asking again soon only locks the account. */
const WRONG_LOGIN = new Set([statusCode("ESME_RINVPASWD"), statusCode("ESME_RINVSYSID")]);
const ALREADY_BOUND = statusCode("ESME_RALYBND");
const OLD_BIND_MS = 60_000;
/** Of the bound: somewhat less than what chance leaves of the wait, so that the wait decides where there is one host. */
const REST_OF_HOST = 0.4;

/** What went wrong, as a sentence, and when by the machine's time. */
export interface LinkProblem {
  readonly says: string;
  readonly atMs: number;
}

export interface BindRefusal {
  readonly host: string;
  readonly status: number;
  readonly problem: LinkProblem;
  /** On the monotonic clock. */
  readonly heardMs: number;
  /** Since the connection was lost. */
  readonly awayMs: number;
}

export class BindRefusals {
  readonly #wrongLoginMs = new Map<string, number>();
  #isRefused = false;
  #wrongLogin: LinkProblem | null = null;
  #inRow = 0;
  #counted = 0;

  /** Some bind was refused since the last that was not. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** A host said so since the last bind. */
  get wrongLogin(): LinkProblem | null {
    return this.#wrongLogin;
  }

  /** Since the last bind. */
  get inRow(): number {
    return this.#inRow;
  }

  /** Of those that slow the connection, since the start: whoever waits sees by it that another one has come. */
  get counted(): number {
    return this.#counted;
  }

  note({ host, status, problem, heardMs, awayMs }: BindRefusal): void {
    this.#isRefused = true;
    if (status === ALREADY_BOUND && awayMs < OLD_BIND_MS) return;
    this.#inRow++;
    this.#counted++;
    if (!WRONG_LOGIN.has(status)) return;
    this.#wrongLogin = problem;
    this.#wrongLoginMs.set(host, heardMs);
  }

  /** Whether the host may be asked now: one that does not know our login is left alone, also while another one comes and goes. */
  mayAsk(host: string, nowMs: number, maxMs: number): boolean {
    const heardMs = this.#wrongLoginMs.get(host);
    return heardMs === undefined || nowMs - heardMs >= maxMs * REST_OF_HOST;
  }

  /** The login is right there, and the connection is as quick as ever. */
  bound(host: string): void {
    this.#wrongLoginMs.delete(host);
    this.#begin();
  }

  /** Somebody wants all hosts to be asked at once. */
  forget(): void {
    this.#wrongLoginMs.clear();
    this.#begin();
  }

  #begin(): void {
    this.#isRefused = false;
    this.#wrongLogin = null;
    this.#inRow = 0;
  }
}
