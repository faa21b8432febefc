/** Intake: a client's request becomes accepted messages. Everything that does not need the store is decided here, and then it is one command. */
import { hash } from "node:crypto";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Snapshot, Writing } from "../catalogue/snapshot.ts";
import { SUBJECT, type Trace } from "../events/trace.ts";
import type { KeptConversion } from "../message/conversion.ts";
import type { Content } from "../message/message.ts";
import type { Clock } from "../runtime/clock.ts";
import { type IdSource, nthId } from "../runtime/ids.ts";
import { counter, type Metric } from "../runtime/metrics.ts";
import type { Random } from "../runtime/random.ts";
import { Slices } from "../runtime/slices.ts";
import { isDestination, plainPhone } from "../sms/addresses.ts";
import { STATUS, statusById } from "../sms/statuses.ts";
import { type SenderFilter, senderFilter, takesGsm } from "../sms/writing.ts";
import type { Account } from "../store/port/accounts.ts";
import type { NewMessage } from "../store/port/messages.ts";
import type { Store } from "../store/port/store.ts";
import { type KnownBodies, rewrittenBody } from "./body.ts";
import { type ContentRules, clipAddress, prepareContent } from "./content.ts";
import { LinkDraft } from "./links.ts";
import type { ConversionWish, Destination, Problem, RequestedMessage, SendAnswer, SendRequest } from "./request.ts";

export interface IntakeParts {
  readonly store: Pick<Store, "accept">;
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly random: Random;
  readonly limits: { readonly destinationsPerRequest: number; readonly sendAtDays: number };
  /** The domains of short links, each with its scheme, the usual one first; none where there are no such links. */
  readonly linkDomains: () => readonly string[];
  /** Where it is noted for people how messages came. */
  readonly trace?: Trace;
}

const REJECTIONS = Object.values(STATUS).filter(({ groupName }) => groupName === "REJECTED");
const DUPLICATE = STATUS.REJECTED_DUPLICATE_MESSAGE_ID.id;
/** Problems told of in one answer, at most. */
const TOLD_PROBLEMS = 10;
const DAY_MS = 86_400_000;

/**
 * What is done of one request before the event loop has its turn: in characters to be transliterated, at a microsecond or less each (the
 * characters of other texts, and destinations, in proportion). A request with less than that is done at once.
 */
const SLICE_WORK = 10_000;
const WORK_OF_DESTINATION = 5;
const SLICE_DESTINATIONS = 1_000;
const CHARACTERS_COUNTED_IN_A_UNIT = 100;

function workOf({ fields, destinations }: RequestedMessage): number {
  const characters = fields.binary === undefined ? fields.text.length : fields.binary.hex.length;
  const work = fields.transliteration === undefined ? characters / CHARACTERS_COUNTED_IN_A_UNIT : characters;
  return work + destinations.length * WORK_OF_DESTINATION;
}

/** What a request has become so far. */
interface Draft {
  readonly account: Account;
  readonly rules: ContentRules;
  readonly problems: Problem[];
  /** Why messages are rejected for their senders, a sentence each. */
  readonly warnings: Set<string>;
  readonly contents: Content[];
  readonly messages: NewMessage[];
  /** Ids of the client's that this request has used already. */
  readonly names: Set<string>;
  readonly known: KnownBodies;
  /** Null where links stay as they are. */
  readonly links: LinkDraft | null;
}

/** A content of the draft, and the status that says why nobody gets it so. */
interface Form {
  readonly content: number;
  readonly rejectedStatusId: number | null;
}

/** What the destinations of one message object share. */
interface Shared {
  readonly asItIs: Form;
  /** Whether a carrier can write its sender; null where all can. */
  readonly canWrite: SenderFilter | null;
  /** What it is for carriers that take less than GSM; made for those that get it. */
  rewritten: Map<Writing, Form> | null;
}

function usableBy(snapshot: Snapshot, { canWrite }: Shared): ((carrierId: string) => boolean) | undefined {
  return canWrite === null ? undefined : (carrierId) => canWrite(snapshot.writingOf(carrierId));
}

function formFor({ contents, links }: Draft, shared: Shared, writing: Writing): Form {
  shared.rewritten ??= new Map();
  const known = shared.rewritten.get(writing);
  if (known !== undefined) return known;
  const content = contents[shared.asItIs.content]!;
  const body = rewrittenBody(content, writing);
  let form = shared.asItIs;
  if (body !== null) {
    const { rejectedStatusId, ...rewritten } = body;
    form = { content: contents.push({ ...content, ...rewritten }) - 1, rejectedStatusId };
    links?.copy(shared.asItIs.content, form.content);
  }
  shared.rewritten.set(writing, form);
  return form;
}

export class Intake {
  readonly #parts: IntakeParts;
  readonly #slices = new Slices();
  /** Messages that were written, those that were rejected for themselves included. */
  accepted = 0;
  /** The same by the id of their first status; what was answered before is not counted again. */
  readonly #byStatus = new Map(REJECTIONS.map(({ id }) => [id, 0]));

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  send(account: Account, request: SendRequest): Promise<SendAnswer> {
    const { clock, limits, linkDomains } = this.#parts;
    let count = 0;
    let work = 0;
    for (const message of request.messages) {
      count += message.destinations.length;
      work += workOf(message);
    }
    const most = Math.min(limits.destinationsPerRequest, account.limits.destinationsPerRequest ?? Number.MAX_VALUE);
    if (count > most) {
      // `single` has its numbers in `to`; the others have messages.
      const field = request.messages[0]?.path === "" ? "to" : "messages";
      return wrong([{ field, says: `must name at most ${most} destinations, not ${count}` }]);
    }

    const links = request.links === null ? null : LinkDraft.of(request.links, linkDomains());
    if (links !== null && !(links instanceof LinkDraft)) return wrong([links]);
    const { speedLimit } = request;
    if (speedLimit !== null && (count / speedLimit.amount) * speedLimit.unitMs > limits.sendAtDays * DAY_MS) {
      const says = `lets ${count} messages take longer than ${limits.sendAtDays} days: allow more at a time, or send fewer`;
      return wrong([{ field: "sendingSpeedLimit", says }]);
    }
    const { defaultSender, allowedSenders, subscriptions } = account;
    const nowMs = clock.now();
    const draft: Draft = {
      account,
      rules: { nowMs, defaultSender, allowedSenders, subscriptions, sendAtDays: limits.sendAtDays },
      problems: [],
      warnings: new Set(),
      contents: [],
      messages: [],
      names: new Set(),
      known: new Map(),
      links,
    };
    if (work > SLICE_WORK) return this.#sendInSlices(draft, request);
    for (const message of request.messages) {
      const shared = this.#prepare(draft, message);
      if (shared === "enough") break;
      if (shared !== "wrong") this.#add(draft, shared, message.destinations);
    }
    return this.#finish(draft, request);
  }

  /** A request that would hold up everything else on the event loop. */
  async #sendInSlices(draft: Draft, request: SendRequest): Promise<SendAnswer> {
    const { account } = draft;
    let left = 0;
    for (const message of request.messages) {
      if (left <= 0) {
        await this.#slices.turn(account.id);
        left = SLICE_WORK;
      }
      const { destinations } = message;
      left -= workOf(message) - destinations.length * WORK_OF_DESTINATION;
      const shared = this.#prepare(draft, message);
      if (shared === "enough") break;
      if (shared === "wrong") continue;
      for (let from = 0; from < destinations.length; from += SLICE_DESTINATIONS) {
        if (left <= 0) {
          await this.#slices.turn(account.id);
          left = SLICE_WORK;
        }
        const some = destinations.slice(from, from + SLICE_DESTINATIONS);
        this.#add(draft, shared, some);
        left -= some.length * WORK_OF_DESTINATION;
      }
    }
    return this.#finish(afterWait(draft, this.#parts.clock.now()), request);
  }

  /** What the destinations of a message share, or that something is wrong with it; "enough" where it is not worth while to go on. */
  #prepare(draft: Draft, wanted: RequestedMessage): Shared | "wrong" | "enough" {
    const { problems } = draft;
    const isEnough = (): "wrong" | "enough" => (problems.length < TOLD_PROBLEMS ? "wrong" : "enough");
    const shortened = draft.links === null ? null : draft.links.shorten(wanted);
    if (shortened !== null && "says" in shortened) {
      problems.push(shortened);
      return isEnough();
    }
    const message = shortened?.message ?? wanted;
    const { fields, destinations, shownText } = message;
    const isWanted = fields.transliteration === undefined || destinations.some((each) => this.#mayGo(draft, each));
    const prepared = prepareContent(message, draft.rules, isWanted, draft.known);
    if (Array.isArray(prepared)) {
      problems.push(...prepared);
      return isEnough();
    }
    if (prepared.senderSays !== null) warn(draft, prepared.senderSays);
    const content = shownText === undefined ? prepared.content : { ...prepared.content, shownText };
    const rejectedStatusId = prepared.rejectedStatusId ?? draft.links?.rejectedStatusId ?? null;
    if (shortened !== null) draft.links?.keep(draft.contents.length, shortened.links);
    return {
      asItIs: { content: draft.contents.push(content) - 1, rejectedStatusId },
      canWrite: rejectedStatusId === null ? senderFilter(content.from) : null,
      rewritten: null,
    };
  }

  #add(draft: Draft, shared: Shared, destinations: readonly Destination[]): void {
    const { messages, names } = draft;
    for (const destination of destinations) {
      const made = this.#message(draft, shared, destination);
      const name = made.clientMessageId;
      messages.push(name !== null && names.has(name) ? { ...made, rejectedStatusId: DUPLICATE } : made);
      if (name !== null) names.add(name);
    }
  }

  #finish(draft: Draft, request: SendRequest): Promise<SendAnswer> {
    const { problems } = draft;
    return problems.length > 0 ? wrong(problems.slice(0, TOLD_PROBLEMS)) : this.#accept(draft, request);
  }

  /** Whether nothing speaks against a destination as yet. */
  #mayGo({ account, names }: Draft, { to: written, messageId }: Destination): boolean {
    const to = plainPhone(written);
    if (!isDestination(to) || (messageId !== undefined && names.has(messageId))) return false;
    const snapshot = this.#parts.catalogue.current;
    return snapshot.priceFor(account.ratePlanId, account.currency, to) !== null && snapshot.carrierFor(to, 0) !== null;
  }

  /** Where the message to a destination goes and what it costs, or the status that says why it does not. */
  #message(draft: Draft, shared: Shared, { to: written, messageId }: Destination): NewMessage {
    const { account } = draft;
    const to = plainPhone(written);
    const { content, rejectedStatusId } = shared.asItIs;
    const clientMessageId = messageId === undefined || messageId === "" ? null : messageId;
    if (!isDestination(to)) return rejected(content, clientMessageId, to, STATUS.REJECTED_DESTINATION.id);
    if (rejectedStatusId !== null) return rejected(content, clientMessageId, to, rejectedStatusId);
    const snapshot = this.#parts.catalogue.current;
    const carrierId = snapshot.carrierFor(to, this.#parts.random.next(), usableBy(snapshot, shared));
    const pricePerPartMicros = snapshot.priceFor(account.ratePlanId, account.currency, to);
    if (carrierId === null && pricePerPartMicros !== null && snapshot.carrierFor(to, 0) !== null) {
      warn(draft, "no carrier of the route can write the letters of the sender");
      return rejected(content, clientMessageId, to, STATUS.REJECTED_SOURCE.id);
    }
    if (carrierId === null || pricePerPartMicros === null)
      return rejected(content, clientMessageId, to, STATUS.REJECTED_ROUTE_NOT_AVAILABLE.id);
    const writing = snapshot.writingOf(carrierId);
    const form = writing === undefined || takesGsm(writing) ? shared.asItIs : formFor(draft, shared, writing);
    if (form.rejectedStatusId !== null) return rejected(form.content, clientMessageId, to, form.rejectedStatusId);
    return { content: form.content, clientMessageId, to, carrierId, pricePerPartMicros, rejectedStatusId: null };
  }

  async #accept(
    { account, contents, messages, rules, links, warnings }: Draft,
    request: SendRequest,
  ): Promise<SendAnswer> {
    const { store, ids } = this.#parts;
    const ownBulkId = request.bulkId;
    // A bulkId of our own making comes just before its messages' ids.
    const first = ids.take(messages.length + (ownBulkId === null ? 1 : 0));
    const guarded = ownBulkId !== null || request.idempotencyKey !== null;
    const firstKey = ownBulkId === null ? nthId(first, 1) : first;
    const outcome = await store.accept({
      accountId: account.id,
      bulkId: ownBulkId ?? first,
      replay: guarded ? { key: request.idempotencyKey, bulk: ownBulkId !== null, bodyHash: request.bodyHash() } : null,
      receivedAtMs: rules.nowMs,
      firstKey,
      contents,
      messages,
      links: links?.links ?? null,
      conversion: request.conversion === null ? null : keptConversion(request.conversion, firstKey),
      speedLimit: request.speedLimit,
    });
    if (outcome.kind === "conflict") return outcome;
    this.accepted += messages.length;
    if (!outcome.replayed) this.#count(outcome.statusIds);
    if (this.#parts.trace?.all === true && !outcome.replayed)
      this.#noteRequest(account, request, outcome, messages.length);
    return {
      kind: "accepted",
      bulkId: outcome.bulkId,
      trackingProcessKey: trackingKey(outcome.firstKey),
      ...(warnings.size === 0 ? {} : { warnings: [...warnings] }),
      results: messages.map((message, index) => {
        const statusId = outcome.statusIds[index]!;
        const named = message.clientMessageId;
        return {
          to: message.to,
          statusId,
          smsCount: outcome.partCounts?.[index] ?? contents[message.content]!.partCount,
          messageId: named ?? nthId(outcome.firstKey, index),
          isChosen: named !== null,
          pricePerPartMicros: outcome.replayed ? (outcome.pricesMicros?.[index] ?? null) : message.pricePerPartMicros,
        };
      }),
    };
  }

  /** Most messages of a request have the status of the one before. */
  #count(statusIds: readonly number[]): void {
    let from = 0;
    for (let at = 1; at <= statusIds.length; at++) {
      const id = statusIds[from]!;
      if (at < statusIds.length && statusIds[at] === id) continue;
      this.#byStatus.set(id, (this.#byStatus.get(id) ?? 0) + at - from);
      from = at;
    }
  }

  metrics(): Metric[] {
    const counts = [...this.#byStatus].map(([id, value]) => ({ status: statusById(id), value }));
    const accepted = counts.reduce((sum, { status, value }) => (status.final ? sum : sum + value), 0);
    const rejected = counts.filter(({ status }) => status.final);
    return [
      counter("heliograph_messages_accepted_total", "Messages that were accepted", accepted),
      counter(
        "heliograph_messages_rejected_total",
        "Messages that were rejected when they came, by the status that says why",
        rejected.map(({ status, value }) => ({ labels: { reason: status.name }, value })),
      ),
    ];
  }

  /** Once for all messages of the request, under the name of their bulk. */
  #noteRequest(
    { id, apiKey, user }: Account,
    { door }: SendRequest,
    { bulkId, firstKey }: { readonly bulkId: string; readonly firstKey: string },
    messages: number,
  ): void {
    this.#parts.trace?.note(SUBJECT.bulk(id, bulkId), "request", {
      door: door?.() ?? "",
      apiKey: apiKey?.id ?? null,
      user: user?.username ?? null,
      firstKey,
      messages,
    });
  }
}

function warn({ warnings }: Draft, says: string): void {
  if (warnings.size < TOLD_PROBLEMS) warnings.add(says);
}

/** Received when the work is done, not before it waited: a statement of a time that is over does not change. Validity counts from then, too. */
function afterWait(draft: Draft, nowMs: number): Draft {
  const waitedMs = nowMs - draft.rules.nowMs;
  const contents = draft.contents.map((content) =>
    content.dueAtMs === null ? { ...content, expiresAtMs: content.expiresAtMs + waitedMs } : content,
  );
  return { ...draft, contents, rules: { ...draft.rules, nowMs } };
}

function rejected(content: number, clientMessageId: string | null, to: string, rejectedStatusId: number): NewMessage {
  return { content, clientMessageId, to: clipAddress(to), carrierId: null, pricePerPartMicros: 0n, rejectedStatusId };
}

async function wrong(problems: Problem[]): Promise<SendAnswer> {
  return { kind: "wrong", problems };
}

/** As the messages of a request have it until the client tells of it. */
function keptConversion({ name, processKey }: ConversionWish, firstKey: string): string {
  const kept: KeptConversion = { name, processKey: processKey ?? trackingKey(firstKey), endedAtMs: null };
  return JSON.stringify(kept);
}

/** Derived from the request's first message, so that a replayed answer has it too without its being stored. */
function trackingKey(firstKey: string): string {
  return hash("sha256", `tracking ${firstKey}`, "hex").slice(0, 32);
}
