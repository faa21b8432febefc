/** docs/reselling.md, block by block, as pasted: the operator's commands and the reseller's requests, against a service that runs. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { newService } from "../cli/in-process.ts";
import { startChild } from "../support/child.ts";
import { callService, eventually } from "../support/service.ts";
import { Terminal } from "../support/terminal.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/reselling.md"), "utf8");
const BLOCKS = [...PAGE.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!);

test("the page works as pasted: a reseller, its clients, their money, a statement, a suspension", {
  timeout: 90_000,
}, async (t) => {
  const { data, json, done } = await newService(t);
  await done("exchange", "set", "USD", "EUR", "0.92");
  const service = await startChild(t, ["serve", "--port", "0", "--data", data], { HELIOGRAPH_LOG_LEVEL: "silent" });
  const terminal = new Terminal(t);
  await terminal.paste(`export HELIOGRAPH_STORE_DATA=${data}`);

  let password = "";
  const said = new Map<string, string>();
  for (const block of BLOCKS) {
    const script = block
      .replaceAll(/^heliograph /gm, `node ${join(ROOT, "bin/heliograph.js")} `)
      .replaceAll("https://sms.example.com", service.url)
      .replaceAll("PASSWORD", password)
      // The network from which this test comes.
      .replaceAll("192.0.2.0/24", "127.0.0.0/8")
      .replaceAll("curl ", "curl -sS --fail-with-body ");
    const answer = await terminal.paste(script);
    said.set(block, answer);
    password ||= /Log in as shop with this password[^\n]*\n(\S+)/.exec(answer)?.[1] ?? "";
    // A running service follows the command line within a second.
    if (block.includes("--parent SHOP"))
      await eventually(async () => {
        const authorization = `Basic ${btoa(`shop:${password}`)}`;
        return (await callService(service.url, "GET", "/account/1/balance", { authorization })).status === 200;
      });
  }
  const saidBy = (words: string): string =>
    said.get(BLOCKS.find((block) => block.includes(words)) ?? assert.fail(`the page has no "${words}"`))!;

  const made = JSON.parse(saidBy('"key": "SHOPTWO"'));
  assert.deepEqual([made.parent, made.balance, made.alert.below], ["SHOP", 0, 5]);
  assert.match(saidBy("/api-keys"), /"SHOPONE"[\s\S]*"SHOPTWO"[\s\S]*"scopes":\["send"\]/);
  assert.match(saidBy("payments/funds"), /"transactionId"/);
  assert.equal(JSON.parse(saidBy("creditLimit")).creditLimit, 50);
  assert.match(saidBy("rate quote"), /0\.01 EUR a part/);
  assert.match(saidBy("format=csv"), /,closing,/);
  assert.equal(JSON.parse(saidBy("suspended")).suspended, true);
  const account = await json("account", "show", "SHOPTWO");
  assert.equal(Number(account.balance), 25);
});
