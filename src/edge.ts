/** The edge side of the service: the HTTP API with what it needs, over a store that may be on another thread. */
import type { AddressInfo } from "node:net";
import { Server as TlsServer } from "node:tls";
import { Certificate } from "./api/certificate.ts";
import { type CarriersPort, ServiceHealth } from "./api/console/health.ts";
import { CONSOLE_FOLDER } from "./api/console/static.ts";
import type { SandboxPort } from "./api/parts.ts";
import { RateLimits } from "./api/rate-limits.ts";
import { RequestTimes } from "./api/request-times.ts";
import { type ScrapeParts, scrape } from "./api/scrape.ts";
import { type ApiServer, buildServer } from "./api/server.ts";
import { ApiKeys } from "./auth/api-keys.ts";
import { LoginAttempts } from "./auth/attempts.ts";
import { Credentials } from "./auth/credentials.ts";
import { LoginLog } from "./auth/login-log.ts";
import { Sessions } from "./auth/sessions.ts";
import { Catalogue } from "./catalogue/catalogue.ts";
import { LiveHub } from "./events/live.ts";
import { TraceRecorder } from "./events/trace.ts";
import { Intake } from "./intake/intake.ts";
import type { WriteMark } from "./node/write-mark.ts";
import { TestCallbacks } from "./reports/pushing/test-callbacks.ts";
import { type Clock, Interval, within } from "./runtime/clock.ts";
import type { IdSource } from "./runtime/ids.ts";
import { type Log, LogLimiter } from "./runtime/log.ts";
import type { Metric } from "./runtime/metrics.ts";
import { Phases, processCpuMs } from "./runtime/phases.ts";
import { systemRandom } from "./runtime/random.ts";
import { boundedText } from "./runtime/text.ts";
import { realOf } from "./runtime/travel-clock.ts";
import { parseLinkDomains } from "./settings/lists.ts";
import type { Settings } from "./settings/settings.ts";
import { rolesOf, traceLevelOf } from "./settings/words.ts";
import type { Store } from "./store/port/store.ts";
import { processMetrics, ThreadMetrics } from "./threads/process-metrics.ts";

export interface EdgeParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
  /** Whether the store may have something new; without it that is asked. */
  readonly mark?: WriteMark | null;
  /** Whether the store takes what is written to it; without it the store is asked for something. */
  readonly isServing?: () => Promise<boolean>;
  /** Names messages and bulks. */
  readonly ids: IdSource;
  /** Null outside the sandbox. */
  readonly sandbox: SandboxPort | null;
  /** How it stands with the carriers of this node. */
  readonly carriers: CarriersPort;
  /** Where the console was built, if not in its usual place. */
  readonly consoleFolder?: string;
  /** What happens to messages, for whoever watches. */
  readonly live?: LiveHub;
  /** Batches of reports in the memory of the other side. */
  readonly reportsInMemory: () => Promise<number>;
  /** What the other threads count. */
  readonly metrics: ScrapeParts["threads"];
  /** The phases of the start, of which its own are the last. */
  readonly phases?: Phases;
}

const READY_WITHIN_MS = 1_000;
/** An attack comes from many addresses; whoever looks into it wants to see some of them. */
const LOGIN_LINES_A_MINUTE = 60;
const COUNT_NODES_EVERY_MS = 1_000;
/** Of the name that somebody tried to log in with, whatever that is. */
const MAX_USER_SHOWN = 64;
const shownUser = (username: string): string => boundedText(username, MAX_USER_SHOWN);
/** The routes that bring messages. */
const SENDING = /^\/sms\/\d\/text\//;

/** A question whose answer all get who ask while it is being asked. */
function shared<Result>(ask: () => Promise<Result>): () => Promise<Result> {
  let underWay: Promise<Result> | null = null;
  return () => {
    underWay ??= ask().finally(() => {
      underWay = null;
    });
    return underWay;
  };
}

export class Edge {
  readonly #parts: EdgeParts;
  readonly #catalogue: Catalogue;
  readonly #requestTimes = new RequestTimes();
  readonly #thread = new ThreadMetrics("edge", { collections: true });
  readonly #trace: TraceRecorder;
  /** Anybody may ask for these, so however many do, the question is asked once at a time. */
  readonly #readiness = shared(() => this.#ready());
  readonly #page = shared(() => this.#scrape());
  #server: ApiServer | null = null;
  #logins: LoginLog | null = null;
  #intake: Intake | null = null;
  #counting: Interval | null = null;
  #health: ServiceHealth | null = null;
  #certificate: Certificate | null = null;
  readonly #testCallbacks: TestCallbacks;
  #linkDomains: readonly string[];

  constructor(parts: EdgeParts) {
    const { store, clock, settings, sandbox } = parts;
    this.#parts = parts;
    this.#catalogue = new Catalogue(store, parts.log, parts.mark);
    this.#testCallbacks = new TestCallbacks({
      store,
      // Whoever is called lives by the real time.
      clock: realOf(clock),
      settings: settings.reports,
      sandbox: sandbox !== null,
    });
    this.#linkDomains = parseLinkDomains(settings.links.domains)!;
    const level = traceLevelOf(settings);
    this.#trace = new TraceRecorder({ clock, log: parts.log, level, write: (notes) => store.keepTrace({ notes }) });
  }

  /** Starts to listen and returns the URL. */
  async start(): Promise<string> {
    const { store, clock, log, settings, phases = new Phases(log) } = this.#parts;
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
    phases.done("catalogue read");
    const limiter = new LogLimiter(clock, LOGIN_LINES_A_MINUTE);
    const intake = new Intake({
      ...this.#parts,
      catalogue: this.#catalogue,
      random: systemRandom,
      limits: settings.limits,
      linkDomains: () => this.#linkDomains,
      trace: this.#trace,
    });
    this.#intake = intake;
    const health = new ServiceHealth({
      ...this.#parts,
      // Others are connected to by whoever asks for that on the command line.
      connect: false,
      accepted: () => intake.accepted,
    });
    this.#health = health;
    this.#server = await buildServer({
      store,
      clock,
      log,
      settings,
      certificate: this.#certificate,
      liveHub: this.#parts.live ?? new LiveHub(),
      takesRequests: rolesOf(settings).includes("api"),
      credentials,
      apiKeys,
      attempts: new LoginAttempts({
        settings: settings.limits,
        clock,
        onWrong: (username, address) =>
          limiter.write("wrong login", (more) =>
            log.info({ user: shownUser(username), address, ...more }, "a wrong login"),
          ),
        onWait: (kind, address, username) => {
          const who = username === null ? {} : { user: shownUser(username) };
          limiter.write("wrong logins", (more) =>
            log.warn({ kind, ...who, address, ...more }, "too many wrong logins; the next ones have to wait"),
          );
          logins.wrong({ action: "wait", username, address, facts: { counted: kind } });
        },
      }),
      logins,
      sessions: new Sessions(store, clock),
      catalogue: this.#catalogue,
      intake,
      health,
      rateLimits,
      carriers: this.#parts.carriers,
      testCallbacks: this.#testCallbacks,
      sandbox: this.#parts.sandbox,
      consoleFolder: this.#parts.consoleFolder ?? CONSOLE_FOLDER,
      ready: this.#readiness,
      metrics: this.#page,
      onAnswer: (route, status, durationMs) => {
        this.#requestTimes.observe(route, status, durationMs);
        if (status === 200 && SENDING.test(route)) health.answered(durationMs);
      },
    });
    phases.done("API built");
    health.start();
    const { api } = this.#server;
    await this.#server.listen();
    if (api.server instanceof TlsServer) this.#certificate?.watch(api.server, clock, log);
    const { address, port, family } = api.server.address() as AddressInfo;
    const url = `${this.#certificate === null ? "http" : "https"}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
    // A sandbox has no domain but its own address.
    if (this.#parts.sandbox !== null && this.#linkDomains.length === 0) this.#linkDomains = [url];
    phases.done("listening", { processCpuMs: processCpuMs() });
    void this.#warmUp(this.#server, phases);
    return url;
  }

  /** What the first messages need is made ready while nobody has come yet. Whoever comes sooner waits for what he needs, and for no more. */
  async #warmUp(server: ApiServer, phases: Phases): Promise<void> {
    try {
      phases.done("schemas of sending compiled", { schemas: await server.compileSchemas("sending") });
    } catch (error) {
      this.#parts.log.error({ err: error }, "an operation cannot work");
    }
  }

  /** The limits, with this node's share of them kept up to date. */
  async #rateLimits(): Promise<RateLimits> {
    const { store, clock, log, settings, mark } = this.#parts;
    const limits = new RateLimits(settings.limits, clock);
    const count = async (): Promise<void> => {
      try {
        limits.nodes = (await store.cluster()).nodes.api;
      } catch (error) {
        log.warn({ err: error }, "the nodes could not be counted; this one's share of the rate limits stays as it is");
      }
    };
    await count();
    // Only a store without other nodes keeps a mark.
    if (mark != null) return limits;
    // An account may be given a limit at any time; until one has, nobody is there to share anything.
    this.#counting = new Interval(clock, COUNT_NODES_EVERY_MS, async () => {
      if (limits.any) await count();
    });
    return limits;
  }

  #scrape(): Promise<string> {
    const { clock, metrics } = this.#parts;
    const health = this.#health!;
    return scrape({
      clock: realOf(clock),
      own: () => this.#ownMetrics(),
      threads: metrics,
      backlog: () => health.backlog(),
      storage: () => health.storage(),
      replication: () => health.replication(),
      now: () => clock.now(),
    });
  }

  #ownMetrics(): Metric[] {
    const { settings } = this.#parts;
    return [
      ...processMetrics(settings.store.url === "" ? "sqlite" : "postgres"),
      ...this.#thread.metrics(),
      this.#requestTimes.metric(),
      ...(this.#server?.metrics() ?? []),
      ...(rolesOf(settings).includes("api") ? (this.#intake?.metrics() ?? []) : []),
      ...(this.#logins?.metrics() ?? []),
      this.#trace.metric("edge"),
    ];
  }

  async #ready(): Promise<void> {
    const { store, clock, isServing = () => store.changeCounter().then(() => true) } = this.#parts;
    if (!(await within(realOf(clock), READY_WITHIN_MS, isServing(), false))) throw new Error("the store takes nothing");
  }

  /** No new requests; those in flight are answered, within a bound. */
  async stop(): Promise<void> {
    await this.#server?.stop();
    await this.#health?.stop();
    await this.#testCallbacks.close();
    await this.#counting?.stop();
    await this.#certificate?.stop();
    await this.#catalogue.stop();
    await this.#trace.stop();
    this.#thread.stop();
  }
}
