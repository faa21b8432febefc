/**
 * A mutex for reads of the store that take long: one runs at a time, or so many as its maker says, and accounts are let in by turns. Of one
 * account whoever came first goes first. Whoever wants more goes to the end of his own account's line. So a client who asks for a thousand
 * things at once waits for himself, and another one's question is next but one.
 *
 * What takes many turns, such as a search through the logs a page at a time, is counted as one from its beginning to its end, and an
 * account may have so many of them: each holds a connection, and one of the requests that the service has in progress.
 */
import { FairQueue } from "../runtime/fair-queue.ts";
import { tooMany } from "./errors.ts";

/** Searches of one account under way or waiting, of one kind on one node. */
export const MAX_SEARCHES_PER_ACCOUNT = 20;
/** Fetches of reports, or of messages from phones, that the store has at a time: they share its commits, so one alone would be slow. */
export const FETCHES_AT_A_TIME = 8;
/** Where it does not matter whose it is. */
const ANYBODY = 0;

/** Has one look made in its turn. */
export type Take = <Page>(look: () => Promise<Page>) => Promise<Page>;

export class Mutex {
  readonly #atATime: number;
  #running = 0;
  readonly #waiting = new FairQueue<() => Promise<void>>();
  readonly #searches = new Map<number, number>();

  constructor(atATime = 1) {
    this.#atATime = atATime;
  }

  take<Result>(work: () => Promise<Result>, accountId: number = ANYBODY): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push(accountId, async () => work().then(resolve, reject));
      this.#next();
    });
  }

  /** Counts a search of the account, or throws the answer to one too many. What it returns is to be called once, when the search is over. */
  enter(accountId: number): () => void {
    const searches = this.#searches.get(accountId) ?? 0;
    if (searches >= MAX_SEARCHES_PER_ACCOUNT) {
      throw tooMany(`The account has ${MAX_SEARCHES_PER_ACCOUNT} requests of this kind in progress already.`);
    }
    this.#searches.set(accountId, searches + 1);
    return () => {
      const left = this.#searches.get(accountId)! - 1;
      if (left === 0) this.#searches.delete(accountId);
      else this.#searches.set(accountId, left);
    };
  }

  /** A search from its beginning to its end. */
  async search<Result>(accountId: number, work: (take: Take) => Promise<Result>): Promise<Result> {
    const leave = this.enter(accountId);
    try {
      return await work((look) => this.take(look, accountId));
    } finally {
      leave();
    }
  }

  #next(): void {
    const run = this.#running < this.#atATime ? this.#waiting.shift() : undefined;
    if (run === undefined) return;
    this.#running++;
    // What was read is written as an answer first. Between two that take long, others of the same thread have their turn.
    void run().finally(() =>
      setImmediate(() => {
        this.#running--;
        this.#next();
      }),
    );
  }
}
