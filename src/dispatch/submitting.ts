/** One message on its way over the wire: its parts, which of them the carrier has, and what that makes of the whole. */
import { type Carrier, type PartToSubmit, type Submission, unknownId } from "../carriers/port.ts";
import type { QueuedMessage } from "../message/message.ts";
import { errorByName } from "../sms/errors.ts";
import type { SubmittedPart } from "../store/port.ts";

/** How often a message whose outcome is unknown is sent again before we give it up. */
const LARGEST_UNKNOWN_COUNT = 3;
const NOT_ACKNOWLEDGED = errorByName("EC_MESSAGE_SUBMITTED_NOT_ACKED").id;

export type Verdict =
  | { kind: "submitted"; parts: SubmittedPart[]; refusedErrorId: number | null }
  | { kind: "refused"; errorId: number }
  | { kind: "gave up"; errorId: number }
  | { kind: "again"; afterMs: number; unknown: boolean };

export class Submitting {
  readonly message: QueuedMessage;
  readonly #carrier: Carrier;
  readonly #parts: readonly PartToSubmit[];
  readonly #ids: (string | null)[];
  #refusedErrorId: number | null = null;
  #unknownCount: number;

  constructor(message: QueuedMessage, carrier: Carrier) {
    this.message = message;
    this.#carrier = carrier;
    // The reference only has to differ between messages to one phone at one time; the key's counter does.
    const reference = Number((BigInt(message.key) >> 10n) & 0xffn);
    this.#parts = carrier.partsOf({ ...message, reference });
    this.#ids = this.#parts.map(() => null);
    this.#unknownCount = message.unknownCount;
  }

  /** Whether the carrier has any of it, so that no other may get it. */
  get isBegun(): boolean {
    return this.#ids.some((id) => id !== null);
  }

  /** Hands over the parts that the carrier does not have yet, and judges by the answers. */
  async submit(): Promise<Verdict> {
    const missing = [...this.#ids.keys()].filter((index) => this.#ids[index] === null);
    const answers = await Promise.all(missing.map((index) => this.#handOver(this.#parts[index]!)));
    answers.forEach((answer, place) => {
      if (answer.kind === "accepted") this.#ids[missing[place]!] = answer.carrierMessageId;
    });
    return this.#judge(answers);
  }

  /** Where the policy is to wait for a receipt, an unknown outcome is as good as taken, under an id that stands for the phone. */
  async #handOver(part: PartToSubmit): Promise<Submission> {
    const answer = await this.#carrier.submit(part);
    if (answer.kind !== "unknown" || this.#carrier.unknownPolicy !== "hold") return answer;
    return { kind: "accepted", carrierMessageId: unknownId(this.message.to) };
  }

  /** The parts that the carrier has, with those marked whose receipts make the whole. */
  #taken(): SubmittedPart[] {
    const taken = this.#ids.flatMap((id, index) => (id === null ? [] : [{ id, index }]));
    const counting = { every: null, first: taken[0]?.index, last: taken.at(-1)?.index }[this.#carrier.partRule];
    return taken.map(({ id, index }) => ({ carrierMessageId: id, counts: counting === null || counting === index }));
  }

  #judge(answers: readonly Submission[]): Verdict {
    const taken = this.#taken();
    const refused = answers.find((answer) => answer.kind === "refused");
    if (refused !== undefined) this.#refusedErrorId = refused.errorId;
    // A part that will never be taken spoils the message: the others are not sent again.
    if (this.#refusedErrorId !== null && taken.length === 0) return { kind: "refused", errorId: this.#refusedErrorId };
    if (this.#refusedErrorId === null) {
      if (answers.some((answer) => answer.kind === "unknown")) {
        this.#unknownCount++;
        if (this.#unknownCount <= LARGEST_UNKNOWN_COUNT) return { kind: "again", afterMs: 0, unknown: true };
        if (taken.length === 0) return { kind: "gave up", errorId: NOT_ACKNOWLEDGED };
        this.#refusedErrorId = NOT_ACKNOWLEDGED;
      } else {
        const waits = answers.filter((answer) => answer.kind === "later").map((answer) => answer.retryAfterMs);
        if (waits.length > 0) return { kind: "again", afterMs: Math.max(...waits), unknown: false };
      }
    }
    return { kind: "submitted", parts: taken, refusedErrorId: this.#refusedErrorId };
  }
}
