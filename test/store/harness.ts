/** What an engine must bring so that the store's contract can be tried on it, and the makings of the cases. */

import type { TestContext } from "node:test";
import { carriedOf, usedOf } from "../../src/message/fields.ts";
import type {
  AlertBatch,
  ClickBatch,
  Content,
  DeliveryBatch,
  IncomingBatch,
  QueuedMessage,
} from "../../src/message/message.ts";
import { IdSource } from "../../src/runtime/ids.ts";
import type { LaneBounds } from "../../src/store/lanes.ts";
import type { Feed, LaneName } from "../../src/store/port/delivery.ts";
import type { Acceptance, NewMessage } from "../../src/store/port/messages.ts";
import type { Store } from "../../src/store/port/store.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

export interface OpenedStore {
  readonly store: Store;
  /** What the service would name its messages with, if that is of importance. */
  readonly ids?: IdSource;
  readonly overflowed: readonly LaneName[];
  /** Ends it as if the process had died. */
  close(): Promise<void>;
}

/** A database of its own for one case; it can be closed and opened again. */
export interface TestDatabase {
  open(clock: VirtualClock, lanes: LaneBounds, onFeed: (feed: Feed) => void): Promise<OpenedStore>;
  /** A statement on its rows, beside the store: one that returns some. */
  rows?(sql: string): Promise<readonly Record<string, unknown>[]>;
}

export type MakeDatabase = (t: TestContext) => Promise<TestDatabase>;

export const NOW = Date.UTC(2026, 1, 12, 10, 0, 0);
export const HOUR = 3_600_000;
export const CARRIER = "carrier";

export class Bench {
  readonly clock = new VirtualClock(NOW);
  readonly #database: TestDatabase;
  readonly #lanes: LaneBounds;
  readonly #ids = new IdSource(this.clock, 0);
  #opened: OpenedStore | null = null;
  /** What the feed has brought since it was last looked at. */
  messages: QueuedMessage[] = [];
  reports: DeliveryBatch[] = [];
  incoming: IncomingBatch[] = [];
  alerts: AlertBatch[] = [];
  clicks: ClickBatch[] = [];
  overflowed: LaneName[] = [];
  accountId = 0;
  resellerId = 0;

  private constructor(database: TestDatabase, lanes: LaneBounds) {
    this.#database = database;
    this.#lanes = lanes;
  }

  /** A store with a reseller RESELLER and its client CLIENT, who has this much money. */
  static async start(
    t: TestContext,
    make: MakeDatabase,
    options: { balanceMicros?: bigint; lanes?: LaneBounds; creditLimitMicros?: bigint } = {},
  ): Promise<Bench> {
    const bench = new Bench(await make(t), options.lanes ?? { lane: 100, total: 1_000 });
    t.after(() => bench.close());
    await bench.open();
    const base = {
      currency: "EUR",
      ratePlanId: "standard",
      defaultSender: null,
      callbackSecret: "whsec_AA==",
      passwordHash: "x",
      atMs: NOW,
    };
    const none = { creditLimitMicros: 0n, openingBalanceMicros: 0n };
    const reseller = await bench.store.createAccount({
      ...base,
      ...none,
      key: "RESELLER",
      kind: "reseller",
      parentKey: null,
      username: "reseller",
    });
    const client = await bench.store.createAccount({
      ...base,
      key: "CLIENT",
      kind: "client",
      parentKey: "RESELLER",
      username: "client",
      creditLimitMicros: options.creditLimitMicros ?? 0n,
      openingBalanceMicros: options.balanceMicros ?? 1_000_000_000n,
    });
    if (reseller.kind !== "created" || client.kind !== "created") throw new Error("the accounts were not made");
    bench.resellerId = reseller.account.id;
    bench.accountId = client.account.id;
    return bench;
  }

  get store(): Store {
    return this.#opened!.store;
  }

  get ids(): IdSource {
    return this.#opened?.ids ?? this.#ids;
  }

  async open(): Promise<void> {
    const onFeed = (feed: Feed): void => {
      this.messages.push(...feed.messages);
      this.reports.push(...feed.reports.filter((batch) => batch.kind === "delivery"));
      this.incoming.push(...feed.reports.filter((batch) => batch.kind === "incoming"));
      this.clicks.push(...feed.reports.filter((batch) => batch.kind === "click"));
      this.alerts.push(...feed.reports.filter((batch) => batch.kind === "alert"));
      this.overflowed.push(...feed.overflowed);
    };
    this.#opened = await this.#database.open(this.clock, this.#lanes, onFeed);
    this.overflowed.push(...this.#opened.overflowed);
  }

  rows(sql: string): Promise<readonly Record<string, unknown>[]> {
    return this.#database.rows!(sql);
  }

  async close(): Promise<void> {
    await this.#opened?.close();
    this.#opened = null;
  }

  /** The process dies and another one starts on the same data. */
  async restart(): Promise<void> {
    await this.close();
    this.messages = [];
    this.reports = [];
    this.incoming = [];
    this.overflowed = [];
    await this.open();
  }

  takeMessages(): QueuedMessage[] {
    return this.messages.splice(0);
  }

  takeReports(): DeliveryBatch[] {
    return this.reports.splice(0);
  }

  takeIncoming(): IncomingBatch[] {
    return this.incoming.splice(0);
  }

  /** A session of the client's user. */
  session(tokenHash: string): Parameters<Store["createSession"]>[0] {
    const user = { accountId: this.accountId, username: "client", withFactor: false };
    return { tokenHash, ...user, nowMs: this.clock.now(), event: null };
  }

  content(change: Partial<Content> = {}): Content {
    return {
      from: "Sender",
      text: "Hello",
      encoding: "gsm7",
      partCount: 1,
      ...usedOf({}),
      notifyUrl: null,
      reportForm: "application/json",
      regional: null,
      ...carriedOf({}),
      intermediateReport: false,
      sendAtMs: null,
      dueAtMs: null,
      window: null,
      expiresAtMs: this.clock.now() + 48 * HOUR,
      ...change,
    };
  }

  message(change: Partial<NewMessage> = {}): NewMessage {
    return {
      content: 0,
      to: "41790000001",
      clientMessageId: null,
      carrierId: CARRIER,
      pricePerPartMicros: 10_000n,
      rejectedStatusId: null,
      ...change,
    };
  }

  acceptance(messages: NewMessage[], content: Partial<Content> = {}, change: Partial<Acceptance> = {}): Acceptance {
    return {
      accountId: this.accountId,
      bulkId: "bulk",
      replay: null,
      receivedAtMs: this.clock.now(),
      firstKey: this.ids.take(messages.length),
      links: null,
      conversion: null,
      contents: [this.content(content)],
      messages,
      speedLimit: null,
      ...change,
    };
  }

  /** Accepts messages and returns their statuses. */
  async accept(
    messages: NewMessage[],
    content: Partial<Content> = {},
    change: Partial<Acceptance> = {},
  ): Promise<number[]> {
    const outcome = await this.store.accept(this.acceptance(messages, content, change));
    if (outcome.kind !== "accepted") throw new Error(outcome.kind);
    return outcome.statusIds;
  }

  /** A carrier takes these messages, and calls their parts "<key>.1", "<key>.2" and so on. */
  async submit(messages: readonly QueuedMessage[], refusedErrorId: number | null = null): Promise<void> {
    await this.store.submitted({
      messages: messages.map(({ key, partCount }) => ({
        key,
        carrierId: CARRIER,
        parts: Array.from({ length: partCount }, (_, index) => ({
          carrierMessageId: `${key}.${index + 1}`,
          counts: true,
        })),
        refusedErrorId,
        atMs: this.clock.now(),
      })),
    });
  }

  receipt(carrierMessageId: string, outcome: "held" | "delivered" | "undeliverable" = "delivered", errorId = 0) {
    return { carrierMessageId, outcome, errorId, atMs: this.clock.now(), mccMnc: null, to: null };
  }

  async receive(...receipts: ReturnType<Bench["receipt"]>[]): Promise<number> {
    return (await this.store.received({ carrierId: CARRIER, receipts })).unmatched;
  }

  /** Fetches messages from phones as a client would, without confirming that they arrived. */
  fetchIncoming(limit: number, accountId = this.accountId): ReturnType<Store["fetchIncoming"]> {
    const nowMs = this.clock.now();
    return this.store.fetchIncoming({ accountId, limit, nowMs, againAtMs: nowMs + 60_000 });
  }

  async balance(): Promise<bigint> {
    return (await this.store.balance({ accountId: this.accountId })).balanceMicros;
  }
}
