/** docs/pins.md, block by block, as pasted, against a sandbox that runs; and what it says of defaults. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { DEFAULT_CONFIGURATION } from "../../src/pins/defaults.ts";
import { startChild } from "../support/child.ts";
import { temporaryDirectory } from "../support/service.ts";
import { Terminal } from "../support/terminal.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/pins.md"), "utf8");
const BLOCKS = [...PAGE.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!);

test("the session works as pasted: a PIN is sent, read on the phone and verified", { timeout: 600_000 }, async (t) => {
  const data = await temporaryDirectory(t);
  const service = await startChild(t, ["sandbox", "--port", "0", "--data", data], { HELIOGRAPH_LOG_LEVEL: "silent" });
  const terminal = new Terminal(t);
  await terminal.paste(`cd ${await temporaryDirectory(t)}`);
  const said: string[] = [];
  for (const block of BLOCKS)
    said.push(
      await terminal.paste(
        block.replaceAll("http://127.0.0.1:8080", service.url).replaceAll("curl ", "curl -sS --fail-with-body "),
      ),
    );
  assert.equal(BLOCKS.length, 4);
  assert.match(said[1]!, /"smsStatus":"MESSAGE_SENT"/);
  assert.match(said[2]!, /"verified":true/);
  assert.match(said[3]!, /"verifications":\[\{"msisdn":"41793026727","verified":true/);
});

for (const [name, value] of Object.entries(DEFAULT_CONFIGURATION))
  test(`the page names the default of ${name}`, () => {
    const [, shown] = new RegExp(`^\\| \`${name}\` \\| ([^|]+) \\|`, "m").exec(PAGE) ?? assert.fail("no row");
    assert.equal(shown!.trim().replaceAll("`", ""), String(value));
  });
