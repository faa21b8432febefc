/** docs/carriers-http.md, block by block, as pasted into terminals: from an empty directory to a message through a simulated provider. Only directories and ports are others. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PRESETS } from "../../src/carriers/http/profile.ts";
import { CARRIER_VALUES, MESSAGE_VALUES } from "../../src/carriers/http/values.ts";
import { readCatalogueFile } from "../../src/catalogue/file.ts";
import { commandsOn } from "../cli/in-process.ts";
import { closedPort } from "../support/ports.ts";
import { eventually, temporaryDirectory } from "../support/service.ts";
import { Terminal } from "../support/terminal.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/carriers-http.md"), "utf8");
const blocksOf = (language: string): string[] =>
  [...PAGE.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(([, block]) => block!);
const BLOCKS = blocksOf("sh");

/** Commands that go on until they are stopped, and so have a terminal of their own. */
const GOES_ON = /^\.\/heliograph (serve|provider) /;

test("the page works as pasted, from an empty directory to a delivered message", { timeout: 180_000 }, async (t) => {
  const directory = join(await temporaryDirectory(t), "try-http");
  const ports = new Map<string, number>();
  for (const port of ["8080", "9100"]) ports.set(port, await closedPort());
  const asPasted = (block: string): string => {
    let text = block
      .replaceAll("./heliograph", join(ROOT, "heliograph"))
      .replaceAll("try-http", directory)
      .replaceAll("curl ", "curl -sS --fail-with-body ");
    for (const [port, free] of ports) text = text.replaceAll(new RegExp(`\\b${port}\\b`, "g"), String(free));
    return text;
  };
  const here = new Terminal(t);
  const others = new Map<string, Terminal>();
  const said = new Map<string, string>();
  const { json } = commandsOn("--data", join(directory, "data"));
  for (const block of BLOCKS) {
    const goesOn = GOES_ON.exec(block)?.[1];
    if (goesOn === undefined) {
      said.set(block, await here.paste(asPasted(block)));
      // The message is on its way; what comes next is about a delivered one.
      if (block.startsWith("curl http://127.0.0.1:8080"))
        await eventually(async () =>
          JSON.stringify(await json("message", "list", "--account", "ACME")).includes("DELIVERED_TO_HANDSET"),
        );
      continue;
    }
    const terminal = new Terminal(t);
    terminal.type(asPasted(block));
    others.set(goesOn, terminal);
    await eventually(async () => /on http:\/\/127\.0\.0\.1:\d+/.test(terminal.output));
  }
  const saidBy = (words: string): string =>
    said.get(BLOCKS.find((block) => block.includes(words)) ?? assert.fail(`the page has no "${words}"`))!;

  assert.match(saidBy("heliograph apply"), /^\+ carrier upstream: [\s\S]*^In force: carriers 1, routes 1, /m);
  const tried = saidBy("--to 41793026727");
  assert.match(tried, /^POST http:\/\/\S+\/2010-04-01\/Accounts\/ACdemo\/Messages\.json$/m);
  assert.match(tried, /^accepted, its id is (SM\w{32}), [\s\S]*^receipt of \1: delivered$/m);
  assert.ok(!tried.includes("demo-secret"));
  assert.equal(JSON.parse(saidBy("Hello over HTTP")).messages[0].status.name, "PENDING_ENROUTE");
  assert.match(saidBy("message list"), /41793026728 +1 +0\.01 +DELIVERED_TO_HANDSET/);
  assert.match(saidBy("message list"), /"to":"41793026728","text":"Hello over HTTP"[^}]*"outcome":"delivered"/);
  assert.match(others.get("provider")!.output, /from Acme to 41793026728: Hello over HTTP/);
  const faulty = saidBy("_provider/faults");
  assert.match(
    faulty,
    /^later \(it says 20429\): a service would wait 0 ms with all messages, after [\s\S]*^It has to wait\.$/m,
  );
  assert.match(faulty, /^password +\(hidden\)$|^password: \(hidden\)$/m);
  assert.match(faulty, /^It cannot call us: \[server\] publicUrl is not set\./m);
});

test("the description of a provider of one's own is one that can be applied", () => {
  const own = blocksOf("toml").find((block) => block.includes("[carrier.send]"))!;
  const rest =
    '\n[[route]]\nprefix = ""\ncarrier = "mine"\n[[ratePlan]]\nid = "standard"\ncurrency = "EUR"\nrate = [{ prefix = "", price = "1" }]\n';
  const [item] = readCatalogueFile(own + rest);
  const profile = JSON.parse(item!.body);
  assert.deepEqual([profile.id, profile.auth.kind, profile.check.kind], ["mine", "bearer", "hmac"]);
});

test("presets, values of templates and sources are all named", () => {
  const rowsOf = (head: string): string[] => {
    const table = PAGE.slice(PAGE.indexOf(head)).split("\n\n")[0]!;
    return [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, names]) =>
      [...names!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
    );
  };
  assert.deepEqual(rowsOf("| `preset` |").slice(1), [...PRESETS]);
  assert.deepEqual(rowsOf("| value |").sort(), [...CARRIER_VALUES, ...MESSAGE_VALUES].sort());
  const taken = rowsOf("| preset | ");
  for (const preset of PRESETS.filter((each) => each !== "webhook")) assert.ok(taken.includes(preset), preset);
});
