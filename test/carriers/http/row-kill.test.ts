/**
 * Two services in a row, of which the second is killed while messages go through it, and started again: nothing is lost, nothing is sent twice, and each
 * message is charged once on each. Behind the second stands a provider that knows a repeat by its key, so that a copy which reaches it would be seen.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Provider } from "../../../src/provider/provider.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { seededRandom } from "../../../src/runtime/random.ts";
import { commandsOn } from "../../cli/in-process.ts";
import { type Child, startChild } from "../../support/child.ts";
import { closedPort } from "../../support/ports.ts";
import { ReportReceiver } from "../../support/report-receiver.ts";
import { basic, callService, eventually, startTestService, temporaryDirectory } from "../../support/service.ts";
import { startFront } from "./rig.ts";

const MESSAGES = 600;
const A_REQUEST = 100;
/** The second is killed when the provider behind it has so many. */
const KILLED_AT = [30, 200, 400];

const catalogueOf = (carrier: string, price: string): string => `
[[carrier]]
kind = "http"
${carrier}
[[route]]
prefix = ""
carrier = "upstream"
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "${price}" }]
`;

test(`the second of two is killed ${KILLED_AT.length} times: nothing is lost, nothing is sent or charged twice`, {
  timeout: 240_000,
}, async (t) => {
  const copies = new Map<string, number>();
  const provider = new Provider(
    {
      preset: "webhook",
      host: "127.0.0.1",
      port: 0,
      username: "",
      password: "provider-secret",
      secret: "provider-secret",
      answerAfterMs: 50,
      faults: {},
      record: 10_000,
      onMessage: ({ to }) => copies.set(to, (copies.get(to) ?? 0) + 1),
    },
    systemClock,
    seededRandom(1),
  );
  const providerPort = await provider.start();
  t.after(() => provider.stop());

  // The second is always found at the same place.
  const directory = await temporaryDirectory(t);
  const where = ["--data", join(directory, "data")];
  const { done } = commandsOn(...where);
  const file = join(directory, "catalogue.toml");
  const behind = `
id = "upstream"
preset = "webhook"
url = "http://127.0.0.1:${providerPort}"
apiKey = "provider-secret"
partsPerSecond = 200`;
  await writeFile(file, catalogueOf(behind, "0.01"));
  await done("init");
  await done("apply", file);
  const made = await done(
    "account",
    "create",
    "--key",
    "FIRST",
    "--username",
    "first",
    "--sender",
    "First",
    "--funds",
    "100",
  );
  const login = basic("first", /shown only now:\n(\S+)$/m.exec(made)![1]!);
  const apiKey = /shown only now:\n(\S+)$/m.exec(await done("api-key", "create", "--account", "FIRST"))![1]!;
  const port = String(await closedPort());
  const url = `http://127.0.0.1:${port}`;
  const start = (): Promise<Child> =>
    startChild(t, ["serve", "--port", port, ...where], {
      HELIOGRAPH_SERVER_PUBLIC_URL: url,
      HELIOGRAPH_REPORTS_DANGEROUS_ALLOW_PRIVATE_CALLBACKS: "true",
    });
  let second = await start();

  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const front = await startFront(t);
  const first = await startTestService(t, {
    catalogue: catalogueOf(`id = "upstream"\npreset = "heliograph"\nurl = "${url}"\napiKey = "${apiKey}"`, "0.05"),
    settings: { server: { publicUrl: front.url } },
  });
  front.lead(first.url);
  const balance = async (of: string, authorization?: string): Promise<number> =>
    (await callService(of, "GET", "/account/1/balance", authorization === undefined ? {} : { authorization })).json
      .balance;
  const before = await balance(first.url);

  const numbers = Array.from({ length: MESSAGES }, (_, index) => String(41_790_000_000 + index));
  for (let from = 0; from < MESSAGES; from += A_REQUEST) {
    const destinations = numbers.slice(from, from + A_REQUEST).map((to) => ({ to, messageId: `m${to}` }));
    const body = {
      messages: [{ from: "First", destinations, text: "Through both", notifyUrl: `${receiver.url}/reports` }],
    };
    const answer = await first.call("POST", "/sms/1/text/advanced", { body });
    assert.equal(answer.status, 200, answer.text);
  }
  for (const most of KILLED_AT) {
    await eventually(async () => copies.size >= most);
    assert.equal(await second.end("SIGKILL"), "SIGKILL");
    assert.ok(copies.size < MESSAGES, `${copies.size} were through before the kill`);
    second = await start();
  }

  const statuses = await eventually(async () => {
    const found = new Map(
      receiver.items.map((item) => {
        const { messageId, status } = item as { messageId: string; status: { name: string } };
        return [messageId, status.name];
      }),
    );
    return found.size === MESSAGES && found;
  });
  assert.deepEqual([...new Set(statuses.values())], ["DELIVERED_TO_HANDSET"]);
  assert.deepEqual([...copies.keys()].sort(), numbers, "every message came to the provider");
  assert.deepEqual(
    [...copies].filter(([, count]) => count !== 1),
    [],
    "and none of them twice",
  );
  assert.equal((before - (await balance(first.url))).toFixed(2), (0.05 * MESSAGES).toFixed(2));
  assert.equal((100 - (await balance(url, login))).toFixed(2), (0.01 * MESSAGES).toFixed(2));
  assert.equal(await second.end("SIGTERM"), 0, second.output());
  assert.match(await done("ledger", "verify"), /^The books agree\.$/m);
});
