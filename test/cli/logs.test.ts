/** The logs, at their most talkative: lines that a machine can read, and never a text, a password or a token. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { runProgram, startChild } from "../support/child.ts";
import { closedPort } from "../support/ports.ts";
import { RawClient } from "../support/raw-http.ts";
import { basic, callService, eventually, temporaryDirectory } from "../support/service.ts";

const CATALOGUE = join(import.meta.dirname, "../../sandbox.catalogue.toml");

test("a day in the life of a service leaves no secret in its output", async (t) => {
  const data = await temporaryDirectory(t);
  const passwordOf = async (...args: string[]): Promise<string> => {
    const { stdout } = await runProgram([...args, "--data", data]);
    return /shown only now:\n(\S+)$/m.exec(stdout)![1]!;
  };
  const operator = await passwordOf("init");
  await runProgram(["apply", CATALOGUE, "--data", data]);
  const create = ["account", "create", "--key"];
  const reseller = await passwordOf(...create, "SHOP", "--username", "shop", "--kind", "reseller");
  const client = await passwordOf(...create, "CUSTOMER", "--username", "customer", "--parent", "SHOP", "--funds", "5");
  const child = await startChild(t, ["serve", "--port", "0", "--data", data], {
    HELIOGRAPH_LOG_LEVEL: "debug",
    HELIOGRAPH_REPORTS_DANGEROUS_ALLOW_PRIVATE_CALLBACKS: "true",
  });
  const call = (method: string, path: string, authorization: string | null, body?: unknown) =>
    callService(child.url, method, path, { authorization, body });

  const authorization = basic("customer", client);
  const secrets = {
    text: "the-text-of-a-message",
    callbackData: "the-data-of-a-client",
    url: "the-password-in-a-url",
    wrong: "a-password-that-was-wrong",
    description: "the-description-of-a-payment",
    broken: "the-text-of-a-broken-request",
  };
  const notifyUrl = `http://user:${secrets.url}@127.0.0.1:${await closedPort()}/reports`;
  const message = {
    from: "InfoSMS",
    to: "41793026727",
    text: secrets.text,
    callbackData: secrets.callbackData,
    notifyUrl,
  };
  assert.equal((await call("POST", "/sms/1/text/single", authorization, message)).status, 200);
  assert.equal((await call("POST", "/sms/1/text/single", authorization, { ...message, to: "1" })).status, 200);
  assert.equal(
    (await call("POST", "/sms/1/text/single", authorization, { ...message, text: `${secrets.text}\0` })).status,
    400,
  );
  assert.equal((await call("POST", "/sms/1/text/single", authorization, `{"text": "${secrets.broken}`)).status, 400);
  assert.equal((await call("POST", "/sms/1/preview", authorization, { text: secrets.text })).status, 200);
  assert.equal((await call("GET", "/account/1/balance", basic("customer", secrets.wrong))).status, 401);
  assert.equal((await call("GET", `/nothing?password=${client}`, authorization)).status, 404);
  const query = `?username=customer&password=${secrets.wrong}`;
  assert.equal((await call("POST", `/1/customerProfile/login${query}`, null)).status, 401);
  const login = await call("POST", "/1/customerProfile/login", basic("shop", reseller));
  const token: string = login.json.login.ibAuthCookie;
  const payment = { accountKey: "CUSTOMER", ammount: 1, description: secrets.description };
  assert.equal((await call("POST", "/1/customerProfile/payments/funds", `IBSSO ${token}`, payment)).status, 200);
  assert.equal((await call("POST", "/1/customerProfile/logout", `IBSSO ${token}`)).status, 204);
  const rude = await RawClient.connect(child.url);
  await rude.write(`GARBAGE ${secrets.broken} ${client}\r\n\r\n`);
  assert.equal((await rude.answer()).status, 400);
  rude.destroy();

  // The report cannot be delivered, which is told at this level: so we know that the log is on and that all is through.
  await eventually(async () => child.output().includes('"msg":"a report was not taken"'));
  assert.equal(await child.end("SIGTERM"), 0);
  const output = child.output();
  const pairs = [authorization, basic("shop", reseller), basic("customer", secrets.wrong)];
  const encoded = pairs.map((pair) => pair.replace("Basic ", ""));
  for (const secret of [...Object.values(secrets), ...encoded, operator, reseller, client, token]) {
    assert.ok(secret.length > 10);
    assert.ok(!output.includes(secret), `${secret} is in the output`);
  }
  const lines = output.split("\n").filter((line) => line !== "" && !line.startsWith("Heliograph "));
  assert.ok(lines.length >= 2, output);
  for (const line of lines) {
    const { level, time, part, msg } = JSON.parse(line);
    assert.deepEqual([typeof level, typeof part, typeof msg], ["number", "string", "string"], line);
    assert.ok(Math.abs(Date.now() - Date.parse(time)) < 600_000, line);
  }
});
