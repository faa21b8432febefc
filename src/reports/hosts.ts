/** The hosts that reports go to at present: a bounded number, of which those with nothing to do make room for others. */
import type { Clock } from "../runtime/clock.ts";
import { Host } from "./host.ts";
import type { PushSettings } from "./settings.ts";

export interface HostsOptions {
  readonly clock: Clock;
  readonly settings: PushSettings;
  /** Called for a host that is known no longer. */
  readonly forgotten: (origin: string) => void;
}

export class Hosts {
  readonly #options: HostsOptions;
  readonly #known = new Map<string, Host>();
  /** Since when a host has had nothing to do, the longest first. */
  readonly #idleSinceMs = new Map<Host, number>();

  constructor(options: HostsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#known.size;
  }

  all(): Iterable<Host> {
    return this.#known.values();
  }

  get openCircuits(): number {
    return [...this.#known.values()].filter((host) => host.open).length;
  }

  /** Null when there are as many as may be and all are busy. */
  of(origin: string): Host | null {
    const known = this.#known.get(origin);
    if (known !== undefined) return known;
    const { settings } = this.#options;
    if (this.#known.size >= settings.maxHosts && !this.#forgetIdlest()) return null;
    const host = new Host(origin, settings);
    this.#known.set(origin, host);
    this.note(host);
    return host;
  }

  /** To be told whenever a host may have come to work or to rest. */
  note(host: Host): void {
    if (!host.idle) this.#idleSinceMs.delete(host);
    else if (!this.#idleSinceMs.has(host)) this.#idleSinceMs.set(host, this.#options.clock.monotonic());
  }

  forgetIdle(): void {
    const idleBeforeMs = this.#options.clock.monotonic() - this.#options.settings.idleHostMs;
    for (const [host, sinceMs] of this.#idleSinceMs) {
      if (sinceMs > idleBeforeMs) return;
      this.#forget(host);
    }
  }

  #forgetIdlest(): boolean {
    const idlest = this.#idleSinceMs.keys().next();
    if (idlest.done) return false;
    this.#forget(idlest.value);
    return true;
  }

  #forget(host: Host): void {
    this.#known.delete(host.origin);
    this.#idleSinceMs.delete(host);
    this.#options.forgotten(host.origin);
  }
}
