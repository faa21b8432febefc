/** A reporter for node's runner: the files in which something failed, a line each, as often as something did. */
import type { TestEvent } from "node:test/reporters";

export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events)
    if (type === "test:fail" && data.file !== undefined) yield `${data.file}\n`;
}
