/** The description is written beside the thread that answers everybody, once for each form, and both forms say the same. */
import assert from "node:assert/strict";
import { syncBuiltinESMExports } from "node:module";
import { test } from "node:test";
import threads from "node:worker_threads";
import { parse } from "yaml";
import { startTestService } from "../support/service.ts";

test("the description is written by threads of its own, one for each form, and YAML says what JSON says", async (t) => {
  const started: string[] = [];
  const { Worker } = threads;
  const mock = t.mock.property(
    threads,
    "Worker",
    class extends Worker {
      constructor(file: URL, options: { name: string; workerData: { as: string } }) {
        super(file, options);
        started.push(`${options.name} ${options.workerData.as}`);
      }
    } as never,
  );
  syncBuiltinESMExports();
  t.after(() => {
    mock.mock.restore();
    syncBuiltinESMExports();
  });
  const { url } = await startTestService(t);
  const textOf = async (path: string): Promise<string> => (await fetch(`${url}${path}`)).text();
  const [json, again, page, yaml] = await Promise.all(
    ["/openapi.json", "/openapi.json", "/docs/json", "/docs/yaml"].map(textOf),
  );
  assert.deepEqual([again, page], [json, json]);
  assert.deepEqual(parse(yaml!), JSON.parse(json!));
  assert.deepEqual(started.toSorted(), ["description json", "description yaml"]);
});
