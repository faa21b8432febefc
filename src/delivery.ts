/**
 * The delivery side of the service: carriers, dispatch and the push of reports, fed with what the store commits for this node. A node
 * does as much of it as its roles say; maintenance is done by whichever node leads.
 */
import { hostname } from "node:os";
import { callbackUrls } from "./carriers/http/callbacks.ts";
import { HttpCarrier } from "./carriers/http/carrier.ts";
import type { SentLog } from "./carriers/pace/sent-log.ts";
import type { Carrier } from "./carriers/port.ts";
import { SmppCarrier } from "./carriers/smpp/carrier.ts";
import type { SmppCounts } from "./carriers/smpp/problems.ts";
import { type CarrierProfile, kindOf } from "./catalogue/carrier-kinds.ts";
import { Catalogue } from "./catalogue/catalogue.ts";
import type { Snapshot } from "./catalogue/snapshot.ts";
import { Binds, type KnownCarrier } from "./dispatch/binds.ts";
import { CarrierNotes } from "./dispatch/carrier-notes.ts";
import { Dispatcher } from "./dispatch/dispatcher.ts";
import { ParkedReceipts, type SpellingCarrier } from "./dispatch/parked-receipts.ts";
import type { LiveTap } from "./events/live.ts";
import { TraceRecorder } from "./events/trace.ts";
import type { MaintenanceSettings } from "./maintenance/chores.ts";
import { Maintenance } from "./maintenance/maintenance.ts";
import type { Lease } from "./node/lease.ts";
import type { WriteMark } from "./node/write-mark.ts";
import { Push } from "./reports/pushing/push.ts";
import { pushRules } from "./reports/pushing/push-settings.ts";
import type { Clock } from "./runtime/clock.ts";
import type { Log } from "./runtime/log.ts";
import { counter, gauge, type Metric } from "./runtime/metrics.ts";
import type { Random } from "./runtime/random.ts";
import { outsideOf, realOf } from "./runtime/travel-clock.ts";
import type { Settings } from "./settings/settings.ts";
import { rolesOf, traceLevelOf } from "./settings/words.ts";
import { SimulatedNetwork } from "./simulator/network.ts";
import { type PhoneMessage, SimulatedCarrier } from "./simulator/simulator.ts";
import { senderFilter } from "./sms/writing.ts";
import type { Feed, LaneName } from "./store/port/delivery.ts";
import type { Store } from "./store/port/store.ts";
import { TOLD_LINES } from "./store/told-lines.ts";

export interface DeliveryParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly settings: Settings;
  readonly lease: Lease;
  /** Whether the store may have something new; without it that is asked. Only a store that has no other nodes keeps one. */
  readonly mark?: WriteMark | null;
  /** In the sandbox reports may go to this very machine. */
  readonly sandbox: boolean;
  /** Hears of tries to push reports, while somebody watches. */
  readonly live?: LiveTap;
}

/** Of submits and receipts: where there are few, each transaction costs as much for one message as for several. */
const GATHER_MS = 30;
/** A stop must end within ten seconds altogether: the edge's time-out, and twice this. */
const REPORT_STOP_MS = 2_000;

export class Delivery {
  readonly #parts: DeliveryParts;
  readonly #catalogue: Catalogue;
  readonly #maintenance: Maintenance;
  readonly #trace: TraceRecorder;
  readonly #dispatching: {
    readonly dispatcher: Dispatcher;
    readonly binds: Binds;
    readonly notes: CarrierNotes;
    readonly parked: ParkedReceipts;
  } | null;
  readonly #push: Push | null;
  readonly #smppCounts: SmppCounts = { unusableIds: 0, problems: 0, mended: 0 };
  readonly #sentLogs = new Map<string, SentLog>();
  /** By the carrier's id, and the newest of each. */
  readonly #simulators = new Map<string, SimulatedCarrier>();
  /** In the sandbox: the phones and the switches of the simulated network. */
  readonly network: SimulatedNetwork | null;

  constructor(parts: DeliveryParts) {
    const { store, clock, log, settings } = parts;
    this.#parts = parts;
    this.network = parts.sandbox ? new SimulatedNetwork() : null;
    this.#catalogue = new Catalogue(store, log, parts.mark);
    const roles = rolesOf(settings);
    const level = traceLevelOf(settings);
    this.#trace = new TraceRecorder({ clock, log, level, write: (notes) => store.keepTrace({ notes }) });
    this.#maintenance = new Maintenance({ ...parts, settings: maintenanceSettings(settings) });
    this.#dispatching = roles.includes("dispatch") ? this.#makeDispatching() : null;
    this.#push = roles.includes("reports") ? this.#makePush() : null;
  }

  #makeDispatching() {
    const { store, clock, random, log, settings } = this.#parts;
    const dispatcher = new Dispatcher({
      ...this.#parts,
      route: ({ from, to }, usable) => {
        const { current } = this.#catalogue;
        const canWrite = senderFilter(from);
        const takes = canWrite === null ? usable : (id: string) => usable(id) && canWrite(current.writingOf(id));
        return current.carrierFor(to, random.next(), takes);
      },
      knows: (carrierId) => this.#catalogue.current.carriers.some(({ id }) => id === carrierId),
      lookAgain: () => this.#catalogue.look(),
      settings: { ...settings.dispatch, gatherMs: GATHER_MS, toldLines: settings.store.url === "" ? 1 : TOLD_LINES },
      trace: this.#trace,
    });
    const binds = new Binds({ store, clock, log, dispatcher, isAlone: this.#parts.mark != null });
    const node = `${hostname()} ${process.pid}`;
    const notes = new CarrierNotes({ store, clock: realOf(clock), log, dispatcher, node });
    return { dispatcher, binds, notes, parked: new ParkedReceipts({ store, clock, log }) };
  }

  #makePush(): Push {
    const { clock, settings, sandbox } = this.#parts;
    const rules = pushRules(settings.reports, sandbox);
    return new Push({
      ...this.#parts,
      realClock: realOf(clock),
      trace: this.#trace,
      policy: rules.policy,
      settings: { ...rules.settings, stopMs: REPORT_STOP_MS },
    });
  }

  async start(overflowed: readonly LaneName[]): Promise<void> {
    this.#maintenance.start();
    if (this.#dispatching !== null) {
      const { dispatcher, binds, notes, parked } = this.#dispatching;
      await notes.start();
      await this.#catalogue.start(this.#parts.clock);
      await binds.start(this.#carriers(this.#catalogue.current));
      this.#catalogue.onChange((snapshot) => {
        void binds.set(this.#carriers(snapshot));
        void notes.read();
        parked.set(spellingsOf(snapshot));
      });
      dispatcher.start(overflowed);
      parked.set(spellingsOf(this.#catalogue.current));
    }
    this.#push?.start();
  }

  take(feed: Feed): void {
    this.#push?.take(feed.reports);
    if (feed.reportsWait === true) this.#push?.fetch();
    this.dispatcher?.take(feed);
  }

  #carriers({ carriers }: Snapshot): KnownCarrier[] {
    return carriers.map((profile) => ({
      id: profile.id,
      // One node plays the simulated network: a phone has to be in one place.
      binds: kindOf(profile).binds(profile) ?? 1,
      // What it costs is no reason to connect anew.
      profile: JSON.stringify({ ...profile, ratePlan: undefined }),
      make: () => this.#carrier(profile),
    }));
  }

  #carrier(profile: CarrierProfile): Carrier {
    const { clock, random, settings } = this.#parts;
    const parts = { ...this.#parts, clock: outsideOf(clock) };
    if (profile.kind === "smpp")
      return new SmppCarrier(profile, { ...parts, counts: this.#smppCounts, sentLogs: this.#sentLogs });
    if (profile.kind === "http")
      return new HttpCarrier(profile, { ...parts, callbacks: callbackUrls(profile, settings.server.publicUrl) });
    // So that a carrier of a kind that is new here does not compile, and is not simulated by mistake.
    const simulated: Extract<CarrierProfile, { readonly kind: "simulator" }> = profile;
    const simulator = new SimulatedCarrier(simulated, clock, random, this.network);
    this.#simulators.set(profile.id, simulator);
    return simulator;
  }

  /** Lets a phone of the simulated network write to a number of ours. False when there is no such network: no simulator, or one that was deleted. */
  async write(message: PhoneMessage): Promise<boolean> {
    const simulator = [...this.#simulators.values()].find((each) => each.isUp());
    if (simulator === undefined) return false;
    const partCount = await simulator.write(message);
    const accountKey = this.#catalogue.current.ownerOf(message.to);
    this.network?.phones.wrote({ ...message, partCount, accountKey, atMs: this.#parts.clock.now() });
    return true;
  }

  /** Null where this node talks to no carriers. */
  get dispatcher(): Dispatcher | null {
    return this.#dispatching?.dispatcher ?? null;
  }

  metrics(): Metric[] {
    const { dispatcher } = this;
    const unmatched = this.#maintenance.counts.incomingUnmatched;
    return [
      ...(dispatcher?.metrics() ?? []),
      ...(dispatcher === null ? [] : [unmatchedMetric(dispatcher.counts.incomingUnmatched + unmatched)]),
      ...(dispatcher === null ? [] : smppMetrics(this.#smppCounts)),
      ...maintenanceMetrics(this.#maintenance),
      this.#trace.metric("delivery"),
      ...(this.#push?.metrics() ?? []),
    ];
  }

  /** Batches of reports. */
  get reportsInMemory(): number {
    return this.#push?.counters.batchesInMemoryNow ?? 0;
  }

  /** Gives how many messages are in doubt: a carrier may have them, and the store did not hear what became of them. */
  async stop(): Promise<number> {
    // Together: a store that is away keeps each of them waiting.
    const { binds, notes, parked } = this.#dispatching ?? {};
    parked?.stop();
    await Promise.all([this.#catalogue.stop(), this.#maintenance.stop(), binds?.stop(), notes?.stop()]);
    const [inDoubt = 0] = await Promise.all([this.dispatcher?.stop(), this.#push?.stop()]);
    await binds?.settled();
    await this.#trace.stop();
    return inDoubt;
  }
}

function spellingsOf({ carriers }: Snapshot): SpellingCarrier[] {
  return carriers.flatMap((profile) => {
    const receiptIds = kindOf(profile).receiptIds(profile);
    return receiptIds === null ? [] : [{ id: profile.id, receiptIds }];
  });
}

function maintenanceSettings({ dispatch, store, access, console: { timelineDays } }: Settings): MaintenanceSettings {
  const { receiptWaitMs, sweepEveryMs: everyMs, unmatchedDays, unmatchedRows } = dispatch;
  const { retentionDays } = store;
  const { loginAuditDays } = access;
  return { everyMs, receiptWaitMs, unmatchedDays, unmatchedRows, retentionDays, loginAuditDays, timelineDays };
}

function unmatchedMetric(count: number): Metric {
  return counter("heliograph_incoming_unmatched_total", "Messages from phones to a number that is nobody's", count);
}

function smppMetrics({ unusableIds, problems, mended }: SmppCounts): Metric[] {
  return [
    counter(
      "heliograph_smpp_unusable_ids_total",
      "Ids in a carrier's answers under which no part can be kept",
      unusableIds,
    ),
    counter("heliograph_smpp_problems_total", "What carriers sent that could not be read or dealt with", problems),
    counter(
      "heliograph_smpp_mended_total",
      "What carriers sent that was wrong by an octet, and was read all the same",
      mended,
    ),
  ];
}

function maintenanceMetrics({ counts }: Maintenance): Metric[] {
  return [
    counter(
      "heliograph_unmatched_dropped_total",
      "Receipts and messages from phones that matched nothing, dropped for their age or number",
      counts.unmatchedDropped,
    ),
    gauge("heliograph_quarantined_items", "What is kept aside, as the node that leads sees it", counts.quarantined),
  ];
}
