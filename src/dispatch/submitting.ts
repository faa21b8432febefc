/** One message on its way over the wire: its parts, which of them the carrier has, and what that makes of the whole. */
import { createHash } from "node:crypto";
import type { Carrier, PartToSubmit, Submission } from "../carriers/port.ts";
import type { MessageKey, PartsTaken, QueuedMessage } from "../message/message.ts";
import { unknownId } from "../message/receipt.ts";
import { type Backoff, backoffMs } from "../runtime/backoff.ts";
import { errorByName } from "../sms/errors.ts";
import type { SubmittedPart } from "../store/port/delivery.ts";
import type { References } from "../store/references.ts";
import type { CarrierHealth } from "./carrier-health.ts";
import type { PutOffs } from "./put-off.ts";

/** How often a message whose outcome is unknown is sent again before we give it up, to a carrier that may take it for another one. */
const MAX_UNKNOWN_COUNT = 3;
/** How long it waits: who did not answer just now does not in the next millisecond either. */
const UNKNOWN_WAIT: Backoff = { firstMs: 1_000, maxMs: 60_000, jitter: 0 };
/** As many as nobody finds twice by chance. */
const CUT_CHARACTERS = 16;
const SYSTEM_FAILURE = errorByName("EC_SYSTEM_FAILURE").id;
const NOT_ACKNOWLEDGED = errorByName("EC_MESSAGE_SUBMITTED_NOT_ACKED").id;

/** `"room"`: all went well, and there was no room for the rest of it. `isUnknown`: a part was not answered, whatever the cause. */
export type Verdict =
  | ({ kind: "submitted"; parts: SubmittedPart[]; refusedErrorId: number | null } & Said)
  | ({ kind: "refused"; errorId: number } & Said)
  | ({ kind: "gave up"; errorId: number } & Said)
  | ({ kind: "again"; afterMs: number; cause: "later" | "unknown" | "not now" | "room"; isUnknown: boolean } & Said);

/** What the carrier itself called it that it did not take a part, for people. */
interface Said {
  readonly status?: string;
}

/** How a message ends that a carrier may have, although it was never answered: it stays charged, unless a receipt for our key has come already. */
export function endInDoubt(carrierId: string, key: MessageKey, errorId = NOT_ACKNOWLEDGED) {
  return { key, event: "gave up", errorId, provenBy: { carrierId, carrierMessageId: key } } as const;
}

type Health = Pick<CarrierHealth, "answered">;

const NONE: readonly string[] = [];

export class Submitting {
  readonly message: QueuedMessage;
  #carrier: Carrier;
  readonly #reference: number;
  readonly #parts: readonly PartToSubmit[];
  readonly #ids: (string | null)[];
  /** The ids of further parts, where the carrier cut the message itself. */
  #others: readonly string[] = NONE;
  /** How many parts the carrier has. */
  #takenCount: number;
  /** The error of a part that will never be taken. */
  #spoiledBy: number | null = null;
  #unknownCount: number;
  /** A part was not answered when it was last handed over. */
  #isUnknown = false;
  readonly #putOffs: PutOffs;
  /** It does not wait any more: a receipt has proved that the carrier has it. */
  isGone = false;
  /** How many parts the carrier had when that was last told, and when it was last recorded. */
  #toldCount: number;
  #recordedCount: number;

  constructor(message: QueuedMessage, carrier: Carrier, references: References, putOffs: PutOffs) {
    const { taken } = message;
    this.message = message;
    this.#carrier = carrier;
    this.#putOffs = putOffs;
    // One that was accepted as one part has no reference yet, and is not copied for one.
    const alone = message.partCount === 1 ? carrier.partsOf(message) : null;
    // In a carrier's alphabet, what was counted as one part may be several.
    this.#reference = alone?.length === 1 ? 0 : references.of(message);
    this.#parts = alone?.length === 1 ? alone : carrier.partsOf({ ...message, reference: this.#reference });
    // With another profile it may be cut otherwise: then it cannot be gone on with, and goes whole.
    const goesOn = taken?.ids.length === this.#parts.length && taken.cut === this.#cut;
    this.#ids = goesOn ? [...taken.ids] : Array(this.#parts.length).fill(null);
    this.#takenCount = goesOn ? countOf(taken) : 0;
    this.#toldCount = this.#takenCount;
    this.#recordedCount = this.#takenCount;
    this.#unknownCount = message.unknownCount;
  }

  /** The carrier as it is set up now: what is left of it goes over its connections. */
  moveTo(carrier: Carrier): void {
    this.#carrier = carrier;
  }

  /** Whether the carrier has any of it as it is cut now, so that no other may get it. */
  get isBegun(): boolean {
    return this.#takenCount > 0;
  }

  get isUnknown(): boolean {
    return this.#isUnknown;
  }

  /** The id under which a receipt would prove that the carrier has a message that it never answered; null where there is none. */
  get provenBy(): string | null {
    return this.#isUnknown && this.#ids.length === 1 && this.#carrier.isRepeatable === true ? this.message.key : null;
  }

  /** The message with what happened to it here, for whoever hands it over next. */
  get asItIs(): QueuedMessage {
    return { ...this.message, unknownCount: this.#unknownCount, taken: this.taken ?? this.message.taken };
  }

  /** Whether it was made for this carrier, or has to go on as it is whichever is there now. */
  suits(carrier: Carrier): boolean {
    return this.#carrier === carrier || this.isBegun;
  }

  /** How many parts the carrier does not have yet. */
  get missing(): number {
    return this.#ids.length - this.#takenCount;
  }

  get #cut(): string {
    const hash = createHash("sha256");
    for (const { userData } of this.#parts) hash.update(`${userData.octets.length} `).update(userData.octets);
    return hash.digest("base64").slice(0, CUT_CHARACTERS);
  }

  /** What the carrier has of it, as it is to be remembered; null when it has nothing. */
  get taken(): PartsTaken | null {
    return this.isBegun ? { reference: this.#reference, cut: this.#cut, ids: [...this.#ids] } : null;
  }

  /** The same if it has more than when this was last asked for; else null. */
  takeNews(): PartsTaken | null {
    const count = this.#takenCount;
    if (count === this.#toldCount) return null;
    this.#toldCount = count;
    return this.taken;
  }

  /** The same if it has more than is recorded; else null. */
  get unrecorded(): PartsTaken | null {
    return this.#takenCount === this.#recordedCount ? null : this.taken;
  }

  /** This much of it is in the store. */
  recorded(taken: PartsTaken): void {
    this.#recordedCount = Math.max(this.#recordedCount, countOf(taken));
  }

  /** Hands over the parts that the carrier does not have yet, so many at most, and judges by the answers. So does `health`, of the carrier. */
  submit(most: number, health: Health | undefined, judged: (verdict: Verdict) => void): void {
    // Nearly all messages have one part: no promises and lists beyond what that takes.
    if (this.#ids.length === 1) {
      void this.#carrier.submit(this.#parts[0]!).then((answer) => {
        const known = this.#heard(0, answer, health);
        judged(this.#wholeVerdict ?? this.#judge([known]));
      });
      return;
    }
    const missing = [...this.#ids.keys()].filter((index) => this.#ids[index] === null).slice(0, most);
    const handOver = async (index: number) =>
      this.#heard(index, await this.#carrier.submit(this.#parts[index]!), health);
    void Promise.all(missing.map(handOver)).then((answers) => judged(this.#wholeVerdict ?? this.#judge(answers)));
  }

  /** The rest of it may go no more. What the carrier has already cannot be taken back, however it would be cut by now. */
  giveUp(errorId: number): Extract<Verdict, { kind: "submitted" }> {
    const ids = this.isBegun ? this.#ids : (this.message.taken?.ids ?? []);
    return { kind: "submitted", parts: this.#taken(ids), refusedErrorId: errorId };
  }

  /** Where the policy is to wait for a receipt, an unknown outcome is as good as taken, under an id that stands for the phone. */
  #heard(index: number, answer: Submission, health: Health | undefined): Submission {
    health?.answered(this.message.to, answer);
    const isHeld = answer.kind === "unknown" && this.#carrier.unknownPolicy === "hold";
    const known: Submission = isHeld ? { kind: "accepted", carrierMessageId: unknownId(this.message.to) } : answer;
    if (known.kind === "accepted") {
      this.#ids[index] = known.carrierMessageId;
      if (known.others !== undefined) this.#others = [...this.#others, ...known.others];
      this.#takenCount++;
    }
    return known;
  }

  /** The parts that the carrier has, with those marked whose receipts make the whole. */
  #taken(ids: readonly (string | null)[] = this.#ids): SubmittedPart[] {
    const [first] = ids;
    if (ids.length === 1 && this.#others.length === 0)
      return first == null ? [] : [{ carrierMessageId: first, counts: true }];
    const taken = [...ids.filter((id) => id !== null), ...this.#others];
    const counting = { every: null, first: 0, last: taken.length - 1 }[this.#carrier.partRule];
    return taken.map((id, index) => ({ carrierMessageId: id, counts: counting === null || counting === index }));
  }

  /** Null unless the carrier has all of it. */
  get #wholeVerdict(): Verdict | null {
    const isWhole = this.#spoiledBy === null && this.#takenCount === this.#ids.length;
    return isWhole ? { kind: "submitted", parts: this.#taken(), refusedErrorId: null } : null;
  }

  /** By the answers, of which one at least is not that the carrier has it. */
  #judge(answers: readonly Submission[]): Verdict {
    const taken = this.#taken();
    const kinds = new Set(answers.map((answer) => answer.kind));
    this.#isUnknown = kinds.has("unknown");
    const refused = answers.find((answer) => answer.kind === "refused");
    if (refused !== undefined) this.#spoiledBy = refused.errorId;
    const said = saidIn(refused === undefined ? answers : [refused]);
    if (this.#isUnknown && ++this.#unknownCount > MAX_UNKNOWN_COUNT && this.#carrier.isRepeatable !== true)
      this.#spoiledBy ??= NOT_ACKNOWLEDGED;
    if (kinds.has("not now") && !this.#putOffs.add(this.message.key)) this.#spoiledBy ??= SYSTEM_FAILURE;
    if (this.#spoiledBy === null) {
      const cause = (["not now", "later", "unknown"] as const).find((kind) => kinds.has(kind)) ?? "room";
      const waits = answers.flatMap((answer) =>
        answer.kind === cause && "retryAfterMs" in answer ? [answer.retryAfterMs] : [],
      );
      const waitMs = cause === "unknown" ? backoffMs(UNKNOWN_WAIT, this.#unknownCount) : Math.max(0, ...waits);
      const afterMs = cause === "not now" ? this.#putOffs.waitMs(this.message.key, waitMs) : waitMs;
      return { kind: "again", afterMs, cause, isUnknown: this.#isUnknown, ...said };
    }
    // A part that will never be taken spoils the message: the others are not sent again.
    if (taken.length === 0 && this.message.taken !== null) return { ...this.giveUp(this.#spoiledBy), ...said };
    if (taken.length === 0) {
      // A carrier may have what it once did not answer, whatever is said of it later.
      return { kind: this.#unknownCount === 0 ? "refused" : "gave up", errorId: this.#spoiledBy, ...said };
    }
    return { kind: "submitted", parts: taken, refusedErrorId: this.#spoiledBy, ...said };
  }
}

function saidIn(answers: readonly Submission[]): Said {
  const said = answers.find((answer) => "status" in answer && answer.status !== undefined) as Said | undefined;
  return said === undefined ? {} : { status: said.status! };
}

function countOf({ ids }: PartsTaken): number {
  return ids.filter((id) => id !== null).length;
}
