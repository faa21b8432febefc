/** One message on its way over the wire: its parts, which of them the carrier has, and what that makes of the whole. */
import type { Carrier, Submission } from "../carriers/port.ts";
import type { QueuedMessage } from "../message/message.ts";
import { errorByName } from "../sms/errors.ts";
import { encodeParts, type UserData } from "../sms/text.ts";

/** How often a message whose outcome is unknown is sent again before we give it up. */
const LARGEST_UNKNOWN_COUNT = 3;
const NOT_ACKNOWLEDGED = errorByName("EC_MESSAGE_SUBMITTED_NOT_ACKED").id;

export type Verdict =
  | { kind: "submitted"; carrierMessageIds: string[]; refusedErrorId: number | null }
  | { kind: "refused"; errorId: number }
  | { kind: "gave up"; errorId: number }
  | { kind: "again"; afterMs: number; unknown: boolean };

export class Submitting {
  readonly message: QueuedMessage;
  readonly #parts: readonly UserData[];
  readonly #ids: (string | null)[];
  #refusedErrorId: number | null = null;
  #unknownCount: number;

  constructor(message: QueuedMessage) {
    this.message = message;
    // The reference only has to differ between messages to one phone at one time; the key's counter does.
    const reference = Number((BigInt(message.key) >> 10n) & 0xffn);
    this.#parts = encodeParts(message, { reference, flash: message.flash });
    this.#ids = this.#parts.map(() => null);
    this.#unknownCount = message.unknownCount;
  }

  /** Hands over the parts that the carrier does not have yet, and judges by the answers. */
  async submitTo(carrier: Carrier): Promise<Verdict> {
    const { from, to, expiresAtMs, flash } = this.message;
    const missing = [...this.#ids.keys()].filter((index) => this.#ids[index] === null);
    const answers = await Promise.all(
      missing.map((index) => carrier.submit({ from, to, userData: this.#parts[index]!, expiresAtMs, flash })),
    );
    answers.forEach((answer, place) => {
      if (answer.kind === "accepted") this.#ids[missing[place]!] = answer.carrierMessageId;
    });
    return this.#judge(answers);
  }

  #judge(answers: readonly Submission[]): Verdict {
    const taken = this.#ids.filter((id) => id !== null);
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
    return { kind: "submitted", carrierMessageIds: taken, refusedErrorId: this.#refusedErrorId };
  }
}
