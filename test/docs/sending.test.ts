/** docs/sending.md, block by block, as pasted into one shell. Only the service's address is another. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startTestService } from "../support/service.ts";
import { Terminal } from "../support/terminal.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/sending.md"), "utf8");
/** What stands before a block decides what its answers must say. */
const SECTIONS = PAGE.split(/^## /m).map((section) => ({
  heading: section.slice(0, section.indexOf("\n")),
  blocks: [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!),
}));

/** The names of all statuses in what was printed. */
const statusesIn = (printed: string): string[] => [...printed.matchAll(/"name":"([A-Z_]+)"/g)].map(([, name]) => name!);

const ENROUTE = "PENDING_ENROUTE";
const ACCEPTED = "PENDING_ACCEPTED";
/** By heading. A window may be open or shut when the test runs. */
const EXPECTED: Readonly<Record<string, (printed: string) => void>> = {
  "One text to one number": (printed) => assert.deepEqual(statusesIn(printed), [ENROUTE]),
  "Several numbers, several texts": (printed) => assert.deepEqual(statusesIn(printed), [ENROUTE, ENROUTE, ENROUTE]),
  Flash: (printed) => assert.deepEqual(statusesIn(printed), [ENROUTE]),
  Later: (printed) => {
    assert.deepEqual(statusesIn(printed), [ACCEPTED]);
    assert.match(printed, /"status":"CANCELED"/);
  },
  "Only by day": (printed) => assert.match(statusesIn(printed).join(), /^PENDING_(ENROUTE|ACCEPTED)$/),
  "Not too fast, and not too late": (printed) => assert.deepEqual(statusesIn(printed), [ACCEPTED, ACCEPTED]),
  "Languages and letters": (printed) => {
    assert.deepEqual(statusesIn(printed), [ENROUTE, ENROUTE]);
    assert.match(printed, /ΩΣ MEΓAPIKO ΨHΦIΣMA/);
  },
  "A report when it has arrived": (printed) => assert.deepEqual(statusesIn(printed), [ENROUTE]),
  "Once, whatever happens": (printed) => assert.deepEqual(statusesIn(printed), [ENROUTE]),
  Octets: (printed) => assert.deepEqual(statusesIn(printed), [ENROUTE]),
  "Version 3, and a plain URL": (printed) => assert.deepEqual(statusesIn(printed), [ACCEPTED, ENROUTE]),
};

test("every example is taken, and says what the page says", { timeout: 600_000 }, async (t) => {
  const service = await startTestService(t);
  const terminal = new Terminal(t);
  const seen: string[] = [];
  for (const { heading, blocks } of SECTIONS) {
    let printed = "";
    for (const block of blocks) printed += await terminal.paste(block.replaceAll("http://127.0.0.1:8080", service.url));
    const expected = EXPECTED[heading];
    if (expected === undefined) continue;
    expected(printed);
    seen.push(heading);
  }
  assert.deepEqual(seen, Object.keys(EXPECTED));
});
