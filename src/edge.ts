/** The edge side of the service: the HTTP API with what it needs, over a store that may be on another thread. */
import type { AddressInfo } from "node:net";
import { Server as TlsServer } from "node:tls";
import { Certificate } from "./api/certificate.ts";
import { RateLimits } from "./api/rate-limits.ts";
import type { SandboxParts } from "./api/sandbox.ts";
import { type ApiServer, buildServer } from "./api/server.ts";
import { ApiKeys } from "./auth/api-keys.ts";
import { LoginAttempts } from "./auth/attempts.ts";
import { Credentials } from "./auth/credentials.ts";
import { LoginLog } from "./auth/login-log.ts";
import { Sessions } from "./auth/sessions.ts";
import { Catalogue } from "./catalogue/catalogue.ts";
import { Intake } from "./intake/intake.ts";
import { type Clock, Interval } from "./runtime/clock.ts";
import type { IdSource } from "./runtime/ids.ts";
import { type Log, LogLimiter } from "./runtime/log.ts";
import { type Metric, Metrics } from "./runtime/metrics.ts";
import { systemRandom } from "./runtime/random.ts";
import { rolesOf, type Settings } from "./runtime/settings.ts";
import type { Store } from "./store/port/store.ts";

export interface EdgeParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
  /** Names messages and bulks. */
  readonly ids: IdSource;
  /** In the sandbox: lets a simulated phone write to a number of ours. */
  readonly write: SandboxParts["write"] | null;
  /** The metrics of the other side. */
  readonly metrics: () => Promise<readonly Metric[]>;
}

const READY_WITHIN_MS = 1_000;
/** An attack comes from many addresses; whoever looks into it wants to see some of them. */
const LOGIN_LINES_A_MINUTE = 60;
const COUNT_NODES_EVERY_MS = 1_000;

/** A question whose answer all get who ask while it is being asked. */
class SharedQuestion<Result> {
  readonly #ask: () => Promise<Result>;
  #underWay: Promise<Result> | null = null;

  constructor(ask: () => Promise<Result>) {
    this.#ask = ask;
  }

  ask(): Promise<Result> {
    this.#underWay ??= this.#ask().finally(() => {
      this.#underWay = null;
    });
    return this.#underWay;
  }
}

export class Edge {
  readonly #parts: EdgeParts;
  readonly #catalogue: Catalogue;
  readonly #metrics = new Metrics();
  /** Anybody may ask for these, so however many do, the question is asked once at a time. */
  readonly #readiness = new SharedQuestion(() => this.#ready());
  readonly #page = new SharedQuestion(async () =>
    this.#metrics.page([
      ...(await this.#parts.metrics()),
      ...(this.#server?.metrics() ?? []),
      ...(this.#logins?.metrics() ?? []),
    ]),
  );
  #server: ApiServer | null = null;
  #logins: LoginLog | null = null;
  #counting: Interval | null = null;
  #certificate: Certificate | null = null;

  constructor(parts: EdgeParts) {
    this.#parts = parts;
    this.#catalogue = new Catalogue(parts.store, parts.log);
  }

  /** Starts to listen and returns the URL. */
  async start(): Promise<string> {
    const { store, clock, log, settings, ids } = this.#parts;
    this.#certificate = await Certificate.read(settings);
    const credentials = new Credentials(store, clock);
    const apiKeys = new ApiKeys(store, clock);
    const logins = new LoginLog({ store, clock, log });
    this.#logins = logins;
    await this.#catalogue.start(clock);
    this.#catalogue.onChange(() => {
      credentials.forgetAll();
      apiKeys.forgetAll();
    });
    const rateLimits = await this.#rateLimits();
    const limiter = new LogLimiter(clock, LOGIN_LINES_A_MINUTE);
    this.#server = await buildServer({
      store,
      clock,
      log,
      settings,
      certificate: this.#certificate,
      takesRequests: rolesOf(settings).includes("api"),
      credentials,
      apiKeys,
      attempts: new LoginAttempts({
        settings: settings.limits,
        clock,
        onWait: (kind, address, username) => {
          limiter.write("wrong logins", (more) =>
            log.warn({ kind, address, ...more }, "too many wrong logins; the next ones have to wait"),
          );
          logins.wrong({ action: "wait", username, address, facts: { counted: kind } });
        },
      }),
      logins,
      sessions: new Sessions(store, clock),
      catalogue: this.#catalogue,
      intake: new Intake({
        store,
        catalogue: this.#catalogue,
        clock,
        ids,
        random: systemRandom,
        limits: settings.limits,
      }),
      rateLimits,
      write: this.#parts.write,
      ready: () => this.#readiness.ask(),
      metrics: () => this.#page.ask(),
      onAnswer: (route, status, durationMs) => this.#metrics.observeRequest(route, status, durationMs),
    });
    const { api } = this.#server;
    await api.listen({ host: settings.server.host, port: settings.server.port });
    if (api.server instanceof TlsServer) this.#certificate?.watch(api.server, clock, log);
    const { address, port, family } = api.server.address() as AddressInfo;
    return `${this.#certificate === null ? "http" : "https"}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  }

  /** The limits, with this node's share of them kept up to date. */
  async #rateLimits(): Promise<RateLimits> {
    const { store, clock, log, settings } = this.#parts;
    const limits = new RateLimits(settings.limits, clock);
    const count = async (): Promise<void> => {
      try {
        limits.nodes = (await store.cluster()).nodes.api;
      } catch (error) {
        log.warn({ err: error }, "the nodes could not be counted; this one's share of the rate limits stays as it is");
      }
    };
    await count();
    // An account may be given a limit at any time; until one has, nobody is there to share anything.
    this.#counting = new Interval(clock, COUNT_NODES_EVERY_MS, async () => {
      if (limits.any) await count();
    });
    return limits;
  }

  async #ready(): Promise<void> {
    const { store, clock } = this.#parts;
    let late: { cancel(): void } | undefined;
    await Promise.race([
      store.changeCounter(),
      new Promise((_, reject) => {
        late = clock.after(READY_WITHIN_MS, () => reject(new Error("the store does not answer")));
      }),
    ]).finally(() => late?.cancel());
  }

  /** No new requests; those in flight are answered, within a bound. */
  async stop(): Promise<void> {
    const { clock, settings } = this.#parts;
    const api = this.#server?.api;
    this.#server?.drain();
    const impatient = clock.after(settings.server.stopTimeoutMs, () => api?.server.closeAllConnections());
    await api?.close();
    impatient.cancel();
    await this.#server?.stop();
    await this.#counting?.stop();
    await this.#certificate?.stop();
    await this.#catalogue.stop();
    this.#metrics.stop();
  }
}
