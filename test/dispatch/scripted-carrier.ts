/** A carrier whose answers a test writes: it keeps what it was handed, in order, and answers as it is told. */
import {
  type Carrier,
  type CarrierListener,
  NOBODY,
  type OutgoingMessage,
  type PartRule,
  type PartToSubmit,
  type Submission,
  type UnknownPolicy,
} from "../../src/carriers/port.ts";
import type { IncomingPart } from "../../src/message/incoming.ts";
import type { Receipt } from "../../src/message/receipt.ts";

import { encodeBody } from "../../src/sms/body.ts";

export class ScriptedCarrier implements Carrier {
  readonly id: string;
  partRule: PartRule = "every";
  unknownPolicy: UnknownPolicy = "resend";
  isRepeatable = false;
  #up = true;
  readonly submitted: PartToSubmit[] = [];
  /** How many parts it takes at once. */
  window = 10;
  /** What it says to a part; takes it unless told otherwise. */
  answer: (part: PartToSubmit, count: number) => Submission | Promise<Submission> = (_, count) => ({
    kind: "accepted",
    carrierMessageId: `c${count}`,
  });
  #inFlight = 0;
  #largestInFlight = 0;
  #listener = NOBODY;

  constructor(id = "carrier") {
    this.id = id;
  }

  isUp(): boolean {
    return this.#up;
  }

  set up(up: boolean) {
    this.#up = up;
    this.#listener.onChange();
  }

  partsOf(message: OutgoingMessage): PartToSubmit[] {
    const { flash = false, reference } = message;
    const parts = encodeBody(message, { flash, reference: reference ?? 0 });
    return parts.map((userData) => ({ message, userData, place: null }));
  }

  /** A phone sends something. Resolves when it is safe, and the network may forget it. */
  incoming(part: IncomingPart): Promise<void> {
    return this.#listener.onIncoming(part);
  }

  get largestInFlight(): number {
    return this.#largestInFlight;
  }

  room(): number {
    return this.window - this.#inFlight;
  }

  async submit(part: PartToSubmit): Promise<Submission> {
    const count = this.submitted.push(part);
    this.#inFlight++;
    this.#largestInFlight = Math.max(this.#largestInFlight, this.#inFlight);
    // An answer never comes in the same turn: there is a wire between.
    await new Promise((resolve) => setImmediate(resolve));
    const answer = await this.answer(part, count);
    this.#inFlight--;
    // Whoever waits for the answer hears it before anyone hears that there is room.
    setImmediate(() => this.#listener.onChange());
    return answer;
  }

  listen(listener: Partial<CarrierListener>): void {
    this.#listener = { ...this.#listener, ...listener };
  }

  receipt(receipt: Receipt): Promise<void> {
    return this.#listener.onReceipt(receipt);
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {}
}
