/** The page on security names a test for each threat, and each bound before authentication is the one that is in force. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { MAX_PIPELINED } from "../../src/api/client-connection.ts";
import { readSettings } from "../../src/settings/settings.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/security.md"), "utf8");

function section(title: string): string {
  return PAGE.split(`## ${title}\n`)[1]?.split(/^## /m)[0] ?? assert.fail(`there is no section ${title}`);
}

test("each threat has a test, which is there", () => {
  const rows = section("Each threat and its test")
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .slice(2);
  assert.ok(rows.length > 20);
  for (const row of rows) {
    const files = [...row.matchAll(/`(test\/[^`]+)`/g)].map(([, file]) => file!);
    assert.ok(files.length > 0, row);
    for (const file of files) assert.ok(existsSync(join(ROOT, file)), file);
  }
});

test("the bounds before authentication are those of the settings", () => {
  const { server, limits } = readSettings({ environment: {}, flags: {} });
  const text = section("Before authentication").replaceAll(",", "");
  const says = [
    `${server.connectionsPerAddress} for an address ${server.maxConnections} for all`,
    `half a head | ${server.headersTimeoutMs / 1_000} s`,
    `TLS | ${server.headersTimeoutMs / 1_000} s`,
    `64 KiB in ${server.answerTimeoutMs / 1_000} s`,
    `${MAX_PIPELINED} on a connection`,
    `${server.requestsPerAddress / 4} without credentials ${server.requestsPerAddress} in all for an address`,
    `${limits.strangerRequestsPerSecond} a second from an address`,
  ];
  for (const words of says) assert.ok(text.includes(words), words);
});
