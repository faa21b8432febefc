/**
 * The lanes that reports go through at present: a bounded number, of which those with nothing to do make room for others. Of those at
 * work one account may have no more than what is still free for all the others, and so may one host: however many hosts of one
 * account are dead, and however many accounts wait for one dead host, there is a lane for the next.
 */
import type { Clock } from "../../runtime/clock.ts";
import type { AccountLoad } from "./account-load.ts";
import { Host } from "./host.ts";
import { ReportLane, type ReportLaneSettings } from "./report-lane.ts";

export interface ReportLanesParts {
  readonly clock: Clock;
  readonly settings: ReportLaneSettings & { readonly maxLanes: number; readonly idleLaneMs: number };
  /** Called for a host that is known no longer. */
  readonly forgotten: (origin: string) => void;
}

export class ReportLanes {
  readonly #parts: ReportLanesParts;
  readonly #hosts = new Map<string, Host>();
  readonly #known = new Map<string, ReportLane>();
  /** Since when a lane has had nothing to do, the longest first. */
  readonly #idleSinceMs = new Map<ReportLane, number>();

  constructor(parts: ReportLanesParts) {
    this.#parts = parts;
  }

  get hostCount(): number {
    return this.#hosts.size;
  }

  hostOf(lane: ReportLane): Host {
    return this.#hosts.get(lane.origin)!;
  }

  hosts(): Iterable<Host> {
    return this.#hosts.values();
  }

  get openCircuits(): number {
    return [...this.#known.values()].filter(({ open }) => open).length;
  }

  /** Hosts that keep failing for an account at least. */
  get openHosts(): number {
    const open = new Set<string>();
    for (const lane of this.#known.values()) if (lane.open) open.add(lane.origin);
    for (const host of this.#hosts.values()) if (host.isUnreachable) open.add(host.origin);
    return open.size;
  }

  /** Null when the account or the host has as many at work as it may have. */
  of(account: AccountLoad, origin: string): ReportLane | null {
    const name = nameOf(account, origin);
    const known = this.#known.get(name);
    if (known?.isBusy === true) return known;
    const { settings } = this.#parts;
    const free = settings.maxLanes - (this.#known.size - this.#idleSinceMs.size);
    const atWork = Math.max(account.busyLanes, this.#hosts.get(origin)?.busyLanes ?? 0);
    if (atWork >= free) return null;
    if (known !== undefined) return known;
    if (this.#known.size >= settings.maxLanes) this.#forget(this.#idleSinceMs.keys().next().value!);
    return this.#make(name, account, origin);
  }

  /** To be told whenever a lane may have come to work or to rest. */
  note(lane: ReportLane): void {
    const isBusy = lane.requests > 0 || lane.waiting > 0;
    if (isBusy === lane.isBusy) return;
    lane.isBusy = isBusy;
    const change = isBusy ? 1 : -1;
    lane.account.busyLanes += change;
    this.hostOf(lane).busyLanes += change;
    if (isBusy) this.#idleSinceMs.delete(lane);
    else this.#idleSinceMs.set(lane, this.#parts.clock.monotonic());
  }

  forgetIdle(): void {
    const idleBeforeMs = this.#parts.clock.monotonic() - this.#parts.settings.idleLaneMs;
    for (const [lane, sinceMs] of this.#idleSinceMs) {
      if (sinceMs > idleBeforeMs) return;
      this.#forget(lane);
    }
  }

  #make(name: string, account: AccountLoad, origin: string): ReportLane {
    const { settings, clock } = this.#parts;
    const host = this.#hosts.get(origin) ?? new Host(origin, settings);
    this.#hosts.set(origin, host);
    const lane = new ReportLane(origin, account, settings);
    host.lanes++;
    account.lanes++;
    this.#known.set(name, lane);
    this.#idleSinceMs.set(lane, clock.monotonic());
    return lane;
  }

  #forget(lane: ReportLane): void {
    const { account, origin } = lane;
    const host = this.hostOf(lane);
    this.#known.delete(nameOf(account, origin));
    this.#idleSinceMs.delete(lane);
    account.lanes--;
    host.lanes--;
    if (host.lanes > 0) return;
    this.#hosts.delete(origin);
    this.#parts.forgotten(origin);
  }
}

function nameOf({ accountId }: AccountLoad, origin: string): string {
  return `${accountId} ${origin}`;
}
