/** Loaded by every process that runs test files. It writes down what happens as a line of JSON each, at once: nothing is lost when the process is ended. */
import { appendFileSync, readSync } from "node:fs";
import { resolve } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { EVENTS_FILE, type TestLine } from "./events.ts";

// The runner says that the keeper knows of this process. A runner that was killed before that says nothing, and nobody would end what runs here.
if (readSync(0, Buffer.alloc(1)) === 0) process.exit(1);

const path = process.env[EVENTS_FILE]!;
const write = (line: TestLine): void => appendFileSync(path, `${JSON.stringify(line)}\n`);

/** Why, and where. */
function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}

export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const names: string[] = [];
  for await (const event of source) {
    if (event.type === "test:dequeue") write({ kind: "running", file: event.data.file ?? "", name: event.data.name });
    if (event.type === "test:start") {
      names.length = event.data.nesting;
      names.push(event.data.name);
    }
    if (event.type !== "test:pass" && event.type !== "test:fail") continue;
    const { data } = event;
    names.length = data.nesting;
    const test = [...names, data.name];
    const file = data.file ?? "";
    // A file without a test passes as one, under its own path.
    const isNoTest = data.details.type === "suite" || resolve(data.name) === file;
    if (event.type === "test:fail") {
      const { error } = event.data.details;
      // The tests inside it are told of themselves.
      const isAnEcho = "failureType" in error && error.failureType === "subtestsFailed";
      if (!isAnEcho && data.todo === undefined) write({ kind: "failed", file, test, reason: reason(error) });
    } else if (!isNoTest) {
      write({
        kind: data.skip === undefined ? "passed" : "skipped",
        file,
        name: data.name,
        durationMs: data.details.duration_ms,
      });
    }
  }
  write({ kind: "done" });
  yield "";
}
