/** A real service beside a sandbox on the same machine: neither the doctor nor other commands take the one for the other in silence. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { startChild } from "../support/child.ts";
import { examination } from "../support/doctor.ts";
import { temporaryDirectory } from "../support/service.ts";
import { commandsOn } from "./in-process.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/heliograph.js");

test("the doctor does not take the sandbox's answer for the service's, and commands on the sandbox's data say whose it is", async (t) => {
  const directory = await temporaryDirectory(t);
  const [sandboxes, own] = [join(directory, "data"), join(directory, "own")];
  const sandbox = await startChild(t, ["sandbox", "--port", "0", "--data", sandboxes]);
  await commandsOn("--data", own).done("init");
  const { port } = new URL(sandbox.url);
  const settings = { HELIOGRAPH_SERVER_PORT: port };

  const [ofOther, ofSandbox] = await Promise.all([
    examination(["--data", own, "--no-connect"], { settings }),
    examination(["--data", sandboxes, "--no-connect"], { settings }),
  ]);
  const told = ofOther.about("port");
  assert.equal(told.state, "wrong");
  assert.equal(
    told.says,
    `another Heliograph answers on 127.0.0.1:${port}, on other data than ${own}: the sandbox, perhaps`,
  );
  assert.match(told.mend!, /HELIOGRAPH_SERVER_PORT/);
  assert.equal(ofOther.about("service").says, "it does not run, and nothing waits for it");
  assert.equal(ofSandbox.about("port").says, `Heliograph answers on 127.0.0.1:${port}`, "asked for itself");

  // In the directory above, as whoever pastes commands is, and with no word of where the data is.
  const list = ["account", "list", "--json"];
  const run = (...args: string[]) => promisify(execFile)(process.execPath, [PROGRAM, ...args], { cwd: directory });
  const [unnamed, named] = await Promise.all([run(...list), run(...list, "--data", "./data")]);
  assert.equal(
    unnamed.stderr,
    "heliograph: this is the sandbox in ./data; --data or HELIOGRAPH_STORE_DATA names another service\n",
  );
  assert.deepEqual([unnamed.stdout, named.stderr], [named.stdout, ""]);
});
