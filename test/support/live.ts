/** A page that watches: it reads server-sent events one by one. */
import assert from "node:assert/strict";
import { CONSOLE_HEADERS } from "./console.ts";
import { PATIENT_MS } from "./patience.ts";
import type { Cleanup, TestService } from "./service.ts";

export interface LiveEvent {
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: an event is looked into by the test that knows its shape
  readonly data: any;
}

export class Watcher {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly #abort: AbortController;
  #rest = "";

  private constructor(response: Response, abort: AbortController) {
    this.response = response;
    this.#abort = abort;
    this.#reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  }

  static async open(
    t: Cleanup,
    { url }: TestService,
    credentials: { cookie: string } | { authorization: string } | object,
    ...views: readonly string[]
  ): Promise<Watcher> {
    const abort = new AbortController();
    const query = views.map((view) => `view=${encodeURIComponent(view)}`).join("&");
    const headers = { ...CONSOLE_HEADERS, accept: "text/event-stream", ...credentials };
    const response = await fetch(`${url}/console/1/live?${query}`, { headers, signal: abort.signal });
    const watcher = new Watcher(response, abort);
    t.after(async () => watcher.close());
    return watcher;
  }

  get status(): number {
    return this.response.status;
  }

  /** The next event of this name; null at the end of the stream. Others before it are left out. */
  async next(name?: string): Promise<LiveEvent | null> {
    for (;;) {
      const block = await this.#block();
      if (block === null) return null;
      const fields = new Map(block.split("\n").map((line) => line.split(/:(.*)/s, 2) as [string, string]));
      const event = fields.get("event")?.trim();
      if (event !== undefined && (name === undefined || name === event))
        return { event, data: JSON.parse(fields.get("data")!) };
    }
  }

  /** The next answer of a view, of all of them unless an index is given, that a test waits for. */
  // biome-ignore lint/suspicious/noExplicitAny: an answer is looked into by the test that knows its shape
  async answer(index = 0, wanted: (answer: any) => boolean = () => true): Promise<any> {
    for (;;) {
      const event = await this.next();
      assert.ok(event !== null, "the stream has ended");
      assert.equal(event.event, "view", JSON.stringify(event.data));
      if (event.data.view === index && wanted(event.data.answer)) return event.data.answer;
    }
  }

  async #block(): Promise<string | null> {
    for (;;) {
      const end = this.#rest.indexOf("\n\n");
      if (end >= 0) {
        const block = this.#rest.slice(0, end);
        this.#rest = this.#rest.slice(end + 2);
        return block;
      }
      const late = AbortSignal.timeout(PATIENT_MS);
      const { done, value } = await Promise.race([
        this.#reader.read(),
        new Promise<never>((_, reject) => late.addEventListener("abort", () => reject(new Error("no event came")))),
      ]);
      if (done) return null;
      this.#rest += value;
    }
  }

  close(): void {
    this.#reader.cancel().catch(() => undefined);
    this.#abort.abort();
  }
}
