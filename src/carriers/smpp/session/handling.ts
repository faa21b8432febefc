/**
 * The peer's requests on their way to an answer. Each goes to its handler, and what that gives, at once or in its own time, to the
 * outbox. A request is done with when its answer is with the socket and the socket would take more: a peer that asks
 * and does not read the answers is behind just as a handler that does not come to its end.
 */
import { responseTo } from "../codec/commands.ts";
import type { PduDraft } from "../codec/pdu.ts";
import { statusCode } from "../codec/statuses.ts";
import type { AnsweredRequest, Reply, SessionProblem } from "./contract.ts";
import type { Outbox } from "./outbox.ts";

export interface HandlingOptions {
  /** So many requests may be on their way at a time. */
  readonly bound: number;
  readonly outbox: Outbox;
  readonly onProblem: (problem: SessionProblem) => void;
  /** A handler that took its time has come to its end. */
  readonly onDone: () => void;
}

export class Handling {
  readonly #options: HandlingOptions;
  #withHandlers = 0;
  #answersHeld = 0;
  #closed = false;

  constructor(options: HandlingOptions) {
    this.#options = options;
  }

  /** Requests whose handlers have not come to their end. */
  get withHandlers(): number {
    return this.#withHandlers;
  }

  /** Answers that are with the outbox and not yet with the socket. */
  get answersHeld(): number {
    return this.#answersHeld;
  }

  /** As many as may be: no more should be read. Answers that only wait for the end of the turn are sent first. */
  isBehind(): boolean {
    if (!this.#isFull) return false;
    if (this.#answersHeld > 0) this.#options.outbox.flush();
    return this.#isFull;
  }

  get #isFull(): boolean {
    return this.#withHandlers + this.#answersHeld >= this.#options.bound;
  }

  /** What the handler gives is the answer. */
  answer<Request extends AnsweredRequest>(
    request: Request,
    handler: (request: Request) => Reply | Promise<Reply>,
  ): void {
    this.run(request, handler, this.#reply);
  }

  /** One for all requests. */
  readonly #reply = (reply: Reply, head: AnsweredRequest): void => {
    this.reply(head, reply);
  };

  /** The handler's result goes to `finish`; if it fails, the peer learns of a system error. */
  run<Request extends AnsweredRequest, Result>(
    request: Request,
    handler: (request: Request) => Result | Promise<Result>,
    finish: (result: Result, head: AnsweredRequest) => void,
  ): void {
    let result: Result | Promise<Result>;
    try {
      result = handler(request);
    } catch (error) {
      this.#failed(request, error);
      return;
    }
    if (!(result instanceof Promise)) {
      finish(result, request);
      return;
    }
    this.#withHandlers++;
    // The rest of it need not be kept for the answer: under load a thousand receipts wait for the store.
    const head: AnsweredRequest = { command: request.command, sequence: request.sequence };
    result.then(
      (value) => {
        this.#withHandlers--;
        if (this.#closed) return;
        finish(value, head);
        this.#options.onDone();
      },
      (error) => {
        this.#withHandlers--;
        this.#failed(head, error);
        this.#options.onDone();
      },
    );
  }

  /** Answers a request with what its handler gave. False when that cannot be encoded: the peer learns of a system error. */
  reply(request: AnsweredRequest, reply: Reply): boolean {
    if (reply === null) return true;
    try {
      this.send(reply, request.sequence);
      return true;
    } catch (error) {
      this.#failed(request, error);
      return false;
    }
  }

  /** An answer that was made here, and so can be encoded. */
  send(answer: PduDraft, sequence: number): void {
    if (this.#closed) return;
    this.#options.outbox.add(answer, sequence);
    this.#answersHeld++;
  }

  /** The outbox is empty, and the socket would take more. */
  flushed(): void {
    this.#answersHeld = 0;
  }

  /** The connection has ended: handlers may still come to their end, and nobody waits for them. */
  close(): void {
    this.#closed = true;
  }

  #failed(request: AnsweredRequest, error: unknown): void {
    this.#options.onProblem({ kind: "handler", request, error });
    this.send({ command: responseTo(request.command), status: statusCode("ESME_RSYSERR") }, request.sequence);
  }
}
