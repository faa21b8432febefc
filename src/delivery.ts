/**
 * The delivery side of the service: carriers, dispatch and the push of reports, fed with what the store commits for this node. A node
 * does as much of it as its roles say; maintenance is done by whichever node leads.
 */
import type { Carrier } from "./carriers/port.ts";
import { SmppCarrier, type SmppCounts } from "./carriers/smpp/carrier.ts";
import type { SentLog } from "./carriers/smpp/sent-log.ts";
import type { CarrierProfile } from "./catalogue/carrier-kinds.ts";
import { Catalogue } from "./catalogue/catalogue.ts";
import type { Snapshot } from "./catalogue/snapshot.ts";
import { Binds, type KnownCarrier } from "./dispatch/binds.ts";
import { Dispatcher, type DispatchSettings } from "./dispatch/dispatcher.ts";
import type { MaintenanceSettings } from "./maintenance/chores.ts";
import { Maintenance } from "./maintenance/maintenance.ts";
import { Push } from "./reports/pushing/push.ts";
import { PUSH_DEFAULTS } from "./reports/pushing/push-settings.ts";
import type { Clock } from "./runtime/clock.ts";
import type { Lease } from "./runtime/lease.ts";
import type { Log } from "./runtime/log.ts";
import { counter, gauge, type Metric } from "./runtime/metrics.ts";
import type { Random } from "./runtime/random.ts";
import { rolesOf, type Settings } from "./runtime/settings.ts";
import { type PhoneMessage, SimulatedCarrier } from "./simulator/simulator.ts";
import { senderFilter } from "./sms/writing.ts";
import type { Feed, LaneName } from "./store/port/delivery.ts";
import { StoreUnavailable } from "./store/port/errors.ts";
import type { Store } from "./store/port/store.ts";

export interface DeliveryParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly settings: Settings;
  readonly lease: Lease;
  /** In the sandbox reports may go to this very machine. */
  readonly sandbox: boolean;
}

/** A stop must end within ten seconds altogether: the edge's time-out, and twice this. */
const REPORT_STOP_MS = 2_000;

export class Delivery {
  readonly #parts: DeliveryParts;
  readonly #catalogue: Catalogue;
  readonly #maintenance: Maintenance;
  readonly #dispatching: { readonly dispatcher: Dispatcher; readonly binds: Binds } | null;
  readonly #push: Push | null;
  readonly #smppCounts: SmppCounts = { unusableIds: 0, problems: 0, mended: 0 };
  readonly #sentLogs = new Map<string, SentLog>();
  #simulator: SimulatedCarrier | null = null;

  constructor(parts: DeliveryParts) {
    const { store, clock, log, settings } = parts;
    this.#parts = parts;
    this.#catalogue = new Catalogue(store, log);
    const roles = rolesOf(settings);
    this.#maintenance = new Maintenance({ store, clock, log, settings: maintenanceSettings(settings) });
    this.#dispatching = roles.includes("dispatch") ? this.#makeDispatching() : null;
    this.#push = roles.includes("reports") ? this.#makePush() : null;
  }

  #makeDispatching(): { dispatcher: Dispatcher; binds: Binds } {
    const { store, clock, random, log, settings, lease } = this.#parts;
    const dispatcher = new Dispatcher({
      store,
      clock,
      log,
      lease,
      route: ({ from, to }, usable) => {
        const { current } = this.#catalogue;
        const canWrite = senderFilter(from);
        const takes = canWrite === null ? usable : (id: string) => usable(id) && canWrite(current.writingOf(id));
        return current.carrierFor(to, random.next(), takes);
      },
      knows: (carrierId) => this.#catalogue.current.carriers.some(({ id }) => id === carrierId),
      lookAgain: () => this.#catalogue.look(),
      settings: dispatchSettings(settings),
    });
    const binds = new Binds({ store, clock, log, dispatcher });
    return { dispatcher, binds };
  }

  #makePush(): Push {
    const { store, clock, random, log, settings, sandbox, lease } = this.#parts;
    const {
      connectionsPerHost,
      timeoutMs,
      memoryReports,
      dangerousAllowPrivateCallbacks: allowPrivate,
    } = settings.reports;
    return new Push({
      store,
      clock,
      random,
      log,
      lease,
      isStoreAway: (error) => error instanceof StoreUnavailable,
      policy: { allowLoopback: sandbox || allowPrivate, allowPrivate },
      settings: {
        ...PUSH_DEFAULTS,
        connectionsPerHost,
        connectTimeoutMs: timeoutMs,
        headersTimeoutMs: timeoutMs,
        bodyTimeoutMs: timeoutMs,
        memoryItems: memoryReports,
        stopMs: REPORT_STOP_MS,
      },
    });
  }

  async start(overflowed: readonly LaneName[]): Promise<void> {
    this.#maintenance.start();
    if (this.#dispatching !== null) {
      const { dispatcher, binds } = this.#dispatching;
      await this.#catalogue.start(this.#parts.clock);
      await binds.start(this.#carriers(this.#catalogue.current));
      this.#catalogue.onChange((snapshot) => void binds.set(this.#carriers(snapshot)));
      dispatcher.start(overflowed);
    }
    this.#push?.start();
  }

  take(feed: Feed): void {
    this.#push?.take(feed.reports);
    if (feed.reportsWait === true) this.#push?.fetch();
    this.#dispatching?.dispatcher.take(feed);
  }

  #carriers({ carriers }: Snapshot): KnownCarrier[] {
    return carriers.map((profile) => ({
      id: profile.id,
      // One node plays the simulated network: a phone has to be in one place.
      binds: profile.kind === "smpp" ? (profile.binds ?? 1) : 1,
      profile: JSON.stringify(profile),
      make: () => this.#carrier(profile),
    }));
  }

  #carrier(profile: CarrierProfile): Carrier {
    const { clock, random, log, lease } = this.#parts;
    if (profile.kind === "smpp")
      return new SmppCarrier(profile, {
        clock,
        random,
        log,
        lease,
        counts: this.#smppCounts,
        sentLogs: this.#sentLogs,
      });
    // So that a carrier of a kind that is new here does not compile, and is not simulated by mistake.
    const simulated: Extract<CarrierProfile, { readonly kind: "simulator" }> = profile;
    this.#simulator = new SimulatedCarrier(simulated, clock, random);
    return this.#simulator;
  }

  /** Lets a phone of the simulated network write to a number of ours. False when there is no such network. */
  async write(message: PhoneMessage): Promise<boolean> {
    if (this.#simulator?.isUp() !== true) return false;
    await this.#simulator.write(message);
    return true;
  }

  metrics(): Metric[] {
    const { dispatcher } = this.#dispatching ?? {};
    return [
      ...(dispatcher === undefined ? [] : dispatchMetrics(dispatcher, this.#maintenance.counts.incomingUnmatched)),
      ...(dispatcher === undefined ? [] : smppMetrics(this.#smppCounts)),
      ...maintenanceMetrics(this.#maintenance),
      ...(this.#push === null ? [] : pushMetrics(this.#push)),
    ];
  }

  /** Gives how many messages are in doubt: a carrier may have them, and the store did not hear what became of them. */
  async stop(): Promise<number> {
    // Together: a store that is away keeps each of them waiting.
    await Promise.all([this.#catalogue.stop(), this.#maintenance.stop(), this.#dispatching?.binds.stop()]);
    const [inDoubt = 0] = await Promise.all([this.#dispatching?.dispatcher.stop(), this.#push?.stop()]);
    await this.#dispatching?.binds.settled();
    return inDoubt;
  }
}

function dispatchSettings({ dispatch }: Settings): DispatchSettings {
  const { claimMessages: claimCount, laneMessages, sweepEveryMs } = dispatch;
  return { claimCount, laneMessages, sweepEveryMs };
}

function maintenanceSettings({ dispatch, store, access }: Settings): MaintenanceSettings {
  const { receiptWaitMs, sweepEveryMs: everyMs, unmatchedDays, unmatchedRows } = dispatch;
  const { retentionDays } = store;
  const { loginAuditDays } = access;
  return { everyMs, receiptWaitMs, unmatchedDays, unmatchedRows, retentionDays, loginAuditDays };
}

function dispatchMetrics({ counts, inMemory, inDoubt }: Dispatcher, unmatched: number): Metric[] {
  return [
    counter("dispatch_submitted_total", "Messages that a carrier took", counts.submitted),
    counter(
      "dispatch_refused_total",
      "Messages that a carrier refused, or whose outcome stayed unknown",
      counts.refused,
    ),
    counter("dispatch_later_total", "Answers of a carrier that it is busy", counts.later),
    counter("dispatch_unknown_total", "Submits whose outcome is unknown", counts.unknown),
    counter("dispatch_expired_total", "Messages whose validity ended before a carrier took them", counts.expired),
    counter("dispatch_receipts_total", "Receipts from carriers", counts.receipts),
    counter(
      "dispatch_receipts_unmatched_total",
      "Receipts that matched no message when they came",
      counts.receiptsUnmatched,
    ),
    counter(
      "dispatch_receipts_foreign_total",
      "Of those, receipts about another phone than that of the message with their id",
      counts.receiptsForeign,
    ),
    counter(
      "dispatch_receipts_doubtful_total",
      "Of those, receipts that could be about several messages to which the carrier gave one id",
      counts.receiptsDoubtful,
    ),
    counter(
      "dispatch_receipts_later_total",
      "Receipts that say something else after the last word about their message",
      counts.receiptsLater,
    ),
    counter("dispatch_receipts_repeated_total", "Receipts that had come before", counts.receiptsRepeated),
    counter(
      "dispatch_quarantined_total",
      "What carriers said and the store refused: it is kept aside",
      counts.quarantined,
    ),
    counter("incoming_parts_total", "Messages from phones, and parts of such", counts.incomingParts),
    counter(
      "incoming_unmatched_total",
      "Messages from phones to a number that is nobody's",
      counts.incomingUnmatched + unmatched,
    ),
    gauge("dispatch_messages_in_memory", "Messages in memory, waiting or on the wire", inMemory),
    gauge(
      "dispatch_messages_in_doubt",
      "Messages handed to carriers of which the store does not know yet what became of them",
      inDoubt,
    ),
  ];
}

function smppMetrics({ unusableIds, problems, mended }: SmppCounts): Metric[] {
  return [
    counter("smpp_unusable_ids_total", "Ids in a carrier's answers under which no part can be kept", unusableIds),
    counter("smpp_problems_total", "What carriers sent that could not be read or dealt with", problems),
    counter("smpp_mended_total", "What carriers sent that was wrong by an octet, and was read all the same", mended),
  ];
}

function maintenanceMetrics({ counts }: Maintenance): Metric[] {
  return [
    counter(
      "unmatched_dropped_total",
      "Receipts and messages from phones that matched nothing, dropped for their age or number",
      counts.unmatchedDropped,
    ),
    gauge("quarantined_items", "What is kept aside, as the node that leads sees it", counts.quarantined),
  ];
}

function pushMetrics({ counters }: Push): Metric[] {
  return Object.entries(counters).map(([name, value]) => {
    const now = name.endsWith("Now");
    const words = name.replace(/Now$/, "").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const metric = now ? gauge : counter;
    return metric(`reports_${words}${now ? "" : "_total"}`, `Report push: ${words.replaceAll("_", " ")}`, value);
  });
}
