/** docs/operating.md, block by block, as pasted into terminals: on the embedded store and on PostgreSQL. Only directories and ports are others. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { closedPort } from "../support/ports.ts";
import { command, startPostgres } from "../support/postgres-server.ts";
import { eventually, temporaryDirectory } from "../support/service.ts";
import { Terminal } from "../support/terminal.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/operating.md"), "utf8");
const BLOCKS = [...PAGE.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!);

/** Commands that go on until they are stopped, and so have a terminal of their own. */
const GOES_ON = /^\.\/heliograph (serve|smsc|receive) /;

async function follow(t: TestContext, database: string | null): Promise<void> {
  const directory = await temporaryDirectory(t);
  const ports = new Map<string, number>();
  for (const port of ["8080", "2775", "9000"]) ports.set(port, await closedPort());
  const asPasted = (block: string): string => {
    let text = block
      .replaceAll("./heliograph", join(ROOT, "heliograph"))
      .replaceAll(/\/(etc|var\/lib|var\/backups)\/heliograph/g, `${directory}/$1`)
      .replaceAll("curl ", "curl -sS --fail-with-body ");
    for (const [port, free] of ports) text = text.replaceAll(new RegExp(`\\b${port}\\b`, "g"), String(free));
    return database === null
      ? text
      : text
          .replace(/HELIOGRAPH_STORE_DATA=.*/, `HELIOGRAPH_STORE_URL=${database}`)
          .replace(/^data = .*\n/m, `url = "${database}"\n`);
  };

  const here = new Terminal(t);
  const others = new Map<string, Terminal>();
  const said = new Map<string, string>();
  for (const block of BLOCKS) {
    const goesOn = GOES_ON.exec(block)?.[1];
    if (goesOn === undefined) {
      said.set(block, await here.paste(asPasted(block)));
      // The message is on its way; what comes next is about a delivered one.
      const isDelivered = async () => others.get("receive")?.output.includes("DELIVERED");
      if (block.startsWith("curl ")) await eventually(isDelivered);
      continue;
    }
    const terminal = new Terminal(t);
    terminal.type(asPasted(block));
    others.set(goesOn, terminal);
    await eventually(async () => /on (http:\/\/)?127\.0\.0\.1:\d+/.test(terminal.output));
  }
  const saidBy = (words: string): string => {
    const block = BLOCKS.find((block) => block.includes(words)) ?? assert.fail(`the page has no "${words}"`);
    return said.get(block)!;
  };

  assert.match(saidBy("heliograph init"), /Log in as operator with this password, which is shown only now:\n\S{20,}\n/);
  assert.match(
    saidBy("heliograph apply"),
    /^\+ carrier first: [\s\S]*^3 items to make\.$[\s\S]*^In force: carriers 1, routes 1, /m,
  );
  assert.match(saidBy("heliograph account create"), /Log in as acme with this password/);
  assert.match(saidBy("heliograph doctor"), /^Nothing is wrong; \d+ warnings?\.$/m);
  assert.equal(JSON.parse(saidBy("curl ")).messages[0].status.name, "PENDING_ENROUTE");
  assert.match(others.get("smsc")!.output, /Acme.*41793026727.*Hello over SMPP/);
  assert.match(others.get("receive")!.output, /"name": "DELIVERED_TO_HANDSET"/);
  const looked = saidBy("heliograph message list");
  assert.match(looked, /41793026727 +1 +0\.05 +DELIVERED_TO_HANDSET/);
  assert.match(looked, /^Charged +-0\.05 +1 posting, 1 part$/m);
  assert.match(looked, /^The books agree\.$/m);
  assert.match(saidBy("heliograph rate quote"), /0\.045 EUR a part \(prefix 41\)/);
  assert.match(saidBy("heliograph report dead"), /There are no dead letters\.[\s\S]*0 reports go out again\./);
  assert.match(saidBy("heliograph backup"), /^Its books agree\.$/m);
  assert.equal(readdirSync(join(directory, "var/backups")).length, 1);
}

describe("the page works as pasted, from nothing to a delivered message and its report, and day by day", {
  concurrency: true,
  timeout: 240_000,
}, () => {
  test("on the embedded store", (t) => follow(t, null));

  test("on PostgreSQL", async (t) => {
    // One that flushes, unlike that of other tests: the doctor looks.
    const server = await startPostgres({ durable: true });
    t.after(() => server.remove());
    await command(server.url, "CREATE DATABASE empty TEMPLATE template0");
    await follow(t, server.url.replace(/[^/]+$/, "empty"));
  });
});

test("the metrics that the page tells to watch are there", () => {
  // Which are those that the service has: test/service/metrics.test.ts holds that page to it.
  const described = readFileSync(join(ROOT, "docs/metrics.md"), "utf8");
  const metrics = [...PAGE.matchAll(/`((?:heliograph|nodejs|process)_\w+)`/g)];
  assert.ok(metrics.length > 15);
  for (const [, name] of metrics) assert.ok(described.includes(`\n| \`${name}\` |`), `${name} is a metric`);
});
