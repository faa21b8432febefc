/** Carriers over HTTP from the command line: their secrets, where they call us, and one message through one of them. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Provider } from "../../src/provider/provider.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { json, startServer } from "../carriers/http/provider-server.ts";
import { temporaryDirectory } from "../support/service.ts";
import { newService } from "./in-process.ts";

const SECRETS = ["pass-word-1", "api-key-1", "callback-1"] as const;
const ALL = ["--password-stdin", "--api-key-stdin", "--callback-secret-stdin"];

async function withCarrier(t: TestContext, ...fields: string[]) {
  const service = await newService(t);
  const made = await service.run(["carrier", "set", "up", "kind=http", ...fields, ...ALL], {
    input: `${SECRETS.join("\n")}\n`,
  });
  assert.equal(made.code, 0, made.stderr);
  return { ...service, made };
}

test("each secret is a line of standard input, and is shown nowhere", async (t) => {
  const { made, run, done, json, refused } = await withCarrier(t, "preset=webhook", "url=https://example.com/sms");
  const kept = await done("export", "--with-secrets");
  for (const secret of SECRETS) assert.ok(kept.includes(`"${secret}"`), `${secret} is in force`);

  const changed = await run(["carrier", "set", "up", "--api-key-stdin"], { input: "api-key-2" });
  assert.equal(changed.stdout, "The carrier up is changed:\n  apiKey: another one\n");
  assert.equal(
    await done("carrier", "set", "up", "callbackSecret="),
    "The carrier up is changed:\n  callbackSecret: none\n",
  );
  const file = join(await temporaryDirectory(t), "catalogue.toml");
  await writeFile(file, kept);
  const planned = [await done("apply", file, "--dry-run"), await done("apply", file, "--dry-run", "--json")];
  assert.match(planned[0]!, /apiKey: another one/);
  const shown = [
    made.stdout,
    changed.stdout,
    ...planned,
    await done("carrier", "show", "up"),
    JSON.stringify(await json("carrier", "show", "up")),
    await done("carrier", "list"),
    await done("export"),
    await done("audit", "--json"),
  ].join("\n");
  for (const secret of [...SECRETS, "api-key-2"]) assert.ok(!shown.includes(secret), secret);
  assert.match(shown, /apiKey: \(hidden\)|apiKey +\(hidden\)/);

  for (const [pair, flag] of [
    ["password=x", "--password-stdin"],
    ["apiKey=x", "--api-key-stdin"],
    ["callbackSecret=x", "--callback-secret-stdin"],
  ] as const)
    assert.match(
      (await refused("carrier", "set", "up", pair))[1],
      new RegExp(`^others can see the command line: say ${flag}`),
    );
  const short = await run(["carrier", "set", "up", ...ALL], { input: "one\ntwo\n" });
  assert.deepEqual([short.code, short.stderr], [2, "heliograph: standard input has no line for the callback secret\n"]);
  const smpp = await run(
    ["carrier", "set", "acme", "kind=smpp", "hosts=a.example:1", "systemId=a", "--api-key-stdin"],
    { input: "x\n" },
  );
  assert.deepEqual([smpp.code, smpp.stderr], [2, "heliograph: a carrier of the kind smpp has no API key\n"]);
  assert.match(
    (await refused("carrier", "set", "up", "url=https://user:secret@example.com"))[1],
    /^carrier "up": url must be a URL such as https:\/\/api\.example\.com\/v1, without a name, a password or a query/,
  );
});

test("where the provider calls us is shown, once there is a public address and a secret", async (t) => {
  const { done, json, run } = await withCarrier(t, "preset=twilio", "username=AC1");
  assert.match(await done("carrier", "show", "up"), /^It cannot call us: \[server\] publicUrl is not set\./m);
  assert.deepEqual((await json("carrier", "show", "up")).callbacks, {});
  const config = join(await temporaryDirectory(t), "heliograph.toml");
  await writeFile(config, '[server]\npublicUrl = "https://sms.example.com/"\n');
  const { receiptsUrl, incomingUrl, eventsUrl } = (await json("carrier", "show", "up", "--config", config)).callbacks;
  const [, base] = /^(https:\/\/sms\.example\.com\/carriers\/up\/[\w-]{32}\/)receipts$/.exec(receiptsUrl)!;
  assert.deepEqual([incomingUrl, eventsUrl], [`${base}incoming`, `${base}events`]);
  const shown = await done("carrier", "show", "up", "--config", config);
  for (const url of [receiptsUrl, incomingUrl, eventsUrl]) assert.ok(shown.includes(` ${url}\n`), shown);
  const bare = await run(["carrier", "set", "bare", "kind=http", "preset=webhook", "url=https://example.com"]);
  assert.equal(bare.code, 0, bare.stderr);
  assert.match(await done("carrier", "show", "bare", "--config", config), /^It cannot call us: it has no secret/m);
});

test("one message through a carrier is shown with request, answer and receipt, and without secrets", async (t) => {
  const provider = new Provider(
    {
      preset: "twilio",
      host: "127.0.0.1",
      port: 0,
      username: "AC1",
      password: SECRETS[0],
      secret: SECRETS[0],
      answerAfterMs: 1,
      faults: {},
      record: 10,
    },
    systemClock,
    seededRandom(1),
  );
  const url = `http://127.0.0.1:${await provider.start()}`;
  t.after(() => provider.stop());
  const { done, run } = await withCarrier(t, "preset=twilio", "username=AC1", `url=${url}`, "pollSeconds=1");
  const said = await done("carrier", "try", "up", "--to", "+41793026727", "--from", "Acme", "--text", "Hi & bye");
  assert.match(said, /^POST http:\/\/127\.0\.0\.1:\d+\/2010-04-01\/Accounts\/AC1\/Messages\.json$/m);
  assert.match(said, /^ {2}authorization: \*\*\*$/m);
  assert.match(said, /^ {2}To=%2B41793026727&From=Acme&Body=Hi\+%26\+bye&ValidityPeriod=3(600|5\d\d)$/m);
  assert.match(said, /^→ HTTP 201$/m);
  assert.match(said, /^accepted, its id is (SM[0-9a-f]{32}), after \d+ ms$[\s\S]*^receipt of \1: delivered$/m);
  for (const secret of [...SECRETS, Buffer.from(`AC1:${SECRETS[0]}`).toString("base64")])
    assert.ok(!said.includes(secret));
  assert.equal(provider.messages.length, 1);

  provider.faults = { refused: { code: "21610" } };
  const refused = await run(["carrier", "try", "up", "--to", "41793026727"]);
  assert.match(refused.stdout, /^refused \(it says 21610\): EC_SMS_REJECTED_BY_MOBILE_OPERATOR, after/m);
  assert.deepEqual([refused.code, refused.stderr], [1, "heliograph: the carrier did not take the message\n"]);
});

test("a secret is not shown in any spelling, nor is the token of our addresses; and a provider that does not call is asked", async (t) => {
  const secrets = { password: `my "pa(ss)" ~w'rd!`, apiKey: "k\\e y/*", callbackSecret: "call(back) 1" };
  const row = { messageId: "taken", status: { groupName: "DELIVERED" }, error: { name: "NO_ERROR" } };
  const server = await startServer(t, ({ method, headers }, response) => {
    const warning = { "x-heliograph-warnings": "nothing is pushed to https://sms.example.com" };
    if (method === "GET") json(response, 200, { results: [row] });
    else json(response, 200, { id: "taken", echo: [headers.authorization, secrets] }, warning);
  });
  const { done } = await newService(t);
  const directory = await temporaryDirectory(t);
  const [file, config] = [join(directory, "catalogue.toml"), join(directory, "heliograph.toml")];
  await writeFile(config, '[server]\npublicUrl = "https://sms.example.com/"\n');
  const values = ["password", "apiKey", "callbackSecret"].map((name) => `${name} = "{${name}}"`).join(", ");
  const carriers = ["json", "form"].map(
    (body) => `[[carrier]]
id = "${body}"
kind = "http"
url = "http://127.0.0.1:${server.port}"
username = "client"
${Object.entries(secrets)
  .map(([name, secret]) => `${name} = ${JSON.stringify(secret)}\n`)
  .join("")}
auth = { kind = "basic", secret = "{password}" }
[carrier.send]
path = "/{password}/{apiKey}/{callbackSecret}"
query = { ${values} }
${body} = { ${values}, url = "{receiptsUrl}" }
id = "id"
uncalled = { header = "X-Heliograph-Warnings", says = "nothing is pushed to" }
[carrier.receipts]
callback = true
at = "results"
id = "messageId"
status = "status.groupName"
outcomes = { DELIVERED = "delivered" }
poll = { path = "/logs", each = true, everySeconds = 1 }
`,
  );
  const others = ['[[route]]\nprefix = ""\ncarrier = "json"', '[[ratePlan]]\nid = "standard"\ncurrency = "EUR"'];
  await writeFile(file, [...carriers, ...others, 'rate = [{ prefix = "", price = "0.01" }]'].join("\n"));
  await done("apply", file, "--yes");
  for (const id of ["json", "form"]) {
    const said = await done("carrier", "try", id, "--to", "41793026727", "--config", config);
    assert.match(said, /^receipt of taken: delivered$/m);
    assert.match(said, new RegExp(`/carriers/${id}/\\*\\*\\*/receipts|%2Fcarriers%2F${id}%2F\\*\\*\\*%2Freceipts`));
    assert.ok(!/pa(\(|%28)ss|e( |\+|%20)y|call(\(|%28)back/.test(said), said);
    assert.ok(!said.includes(Buffer.from(`client:${secrets.password}`).toString("base64")), said);
  }
});

test("a token that a try gets is not shown", async (t) => {
  const server = await startServer(t, ({ path }, response) =>
    path === "/token" ? json(response, 200, { access_token: "tok-en-1" }) : json(response, 200, { id: "taken" }),
  );
  const { done } = await newService(t);
  const file = join(await temporaryDirectory(t), "catalogue.toml");
  await writeFile(
    file,
    `[[carrier]]
id = "up"
kind = "http"
url = "http://127.0.0.1:${server.port}"
username = "client"
password = "pass-word-1"
auth = { kind = "oauth2", secret = "{password}", tokenUrl = "/token" }
send = { path = "/send", json = { to = "{to}" }, id = "id" }
[[route]]
prefix = ""
carrier = "up"
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "0.01" }]
`,
  );
  await done("apply", file, "--yes");
  const said = await done("carrier", "try", "up", "--to", "41793026727", "--wait", "0");
  assert.match(said, /client_secret=\*\*\*/);
  assert.match(said, /^accepted, its id is taken, /m);
  for (const secret of ["tok-en-1", "pass-word-1"]) assert.ok(!said.includes(secret), said);
});
