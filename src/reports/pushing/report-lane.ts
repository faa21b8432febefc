/**
 * A lane holds one account's batches for one host, first in first out.
 *
 * Its circuit is closed while things go well. After some failures in a row it is open: one request at a time, the probe, until one
 * succeeds. The failure of a probe speaks for others that wait: when there was not even a connection, for all of the lane; else for
 * those of the same URL. They share it as their own try, so a dead host's reports do not pile up behind time-outs, and reach their next
 * retry, and in the end the dead letters, on schedule. What goes wrong with one account's URLs says nothing of another's at that host.
 */
import type { Answer } from "../../http/transport.ts";
import type { ReportBatch } from "../../message/message.ts";
import { formRules } from "../../message/report-form.ts";
import type { AccountLoad } from "./account-load.ts";
import type { PushSettings } from "./push-settings.ts";

export type ReportLaneSettings = Pick<PushSettings, "connectionsPerHost" | "failuresToOpen" | "requestItems">;

function neverSent({ attempts, tried }: ReportBatch): boolean {
  return attempts === 0 && tried !== true;
}

function goTogether(first: ReportBatch, next: ReportBatch): boolean {
  return neverSent(first) && neverSent(next) && first.url === next.url && isAlike(first, next);
}

/** A click is told by itself. */
function isAlike(first: ReportBatch, next: ReportBatch): boolean {
  return first.kind !== "click" && first.kind === next.kind && first.form === next.form;
}

export class ReportLane {
  /** The host that it leads to: scheme, name and port. */
  readonly origin: string;
  readonly account: AccountLoad;
  readonly #settings: ReportLaneSettings;
  #waiting: ReportBatch[] = [];
  #head = 0;
  #requests = 0;
  #failuresInARow = 0;
  /** Whether it counts as one at work (ReportLanes). */
  isBusy = false;

  constructor(origin: string, account: AccountLoad, settings: ReportLaneSettings) {
    this.origin = origin;
    this.account = account;
    this.#settings = settings;
  }

  get waiting(): number {
    return this.#waiting.length - this.#head;
  }

  get requests(): number {
    return this.#requests;
  }

  get open(): boolean {
    return this.#failuresInARow >= this.#settings.failuresToOpen;
  }

  /** Whether its own circuit lets one more request go. */
  get isReady(): boolean {
    return this.#requests < (this.open ? 1 : this.#settings.connectionsPerHost);
  }

  add(batch: ReportBatch): void {
    this.#waiting.push(batch);
  }

  /**
   * The batches of the next request. Several only where they piled up and were never tried: what was tried once stays as it was,
   * under its id.
   */
  take(): readonly ReportBatch[] {
    const first = this.#waiting[this.#head]!;
    let count = 1;
    let items = first.items.length;
    const maxItems = Math.min(this.#settings.requestItems, formRules(first.form).maxItems);
    for (let next = this.#waiting[this.#head + 1]; next !== undefined; next = this.#waiting[this.#head + count]) {
      if (!goTogether(first, next) || items + next.items.length > maxItems) break;
      items += next.items.length;
      count++;
    }
    const batches = this.#waiting.slice(this.#head, this.#head + count);
    this.#head += count;
    if (this.#head === this.#waiting.length) this.#replaceWaiting([]);
    else if (this.#head >= 1000 && this.#head * 2 >= this.#waiting.length)
      this.#replaceWaiting(this.#waiting.slice(this.#head));
    this.#requests++;
    return batches;
  }

  /** What `take` gave was not sent after all, or its answer is here. */
  ended(): void {
    this.#requests--;
  }

  succeeded(): void {
    this.#failuresInARow = 0;
  }

  /** Returns the batches that share the failure as their own and no longer wait. */
  failed(batch: ReportBatch, answer: Answer): ReportBatch[] {
    this.#failuresInARow++;
    return this.open ? this.removeWaiting(({ url }) => answer.kind === "unreachable" || url === batch.url) : [];
  }

  removeWaiting(shares: (batch: ReportBatch) => boolean): ReportBatch[] {
    const { yes = [], no = [] } = Object.groupBy(this.#waiting.slice(this.#head), (batch) =>
      shares(batch) ? "yes" : "no",
    );
    this.#replaceWaiting(no);
    return yes;
  }

  #replaceWaiting(waiting: ReportBatch[]): void {
    this.#waiting = waiting;
    this.#head = 0;
  }
}
