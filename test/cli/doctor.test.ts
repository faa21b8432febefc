/** `heliograph doctor`: finds what was broken on purpose, and says how to mend it. */
import assert from "node:assert/strict";
import { chmod, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import pg from "pg";
import { roomWords } from "../../src/doctor/disk.ts";
import type { Finding } from "../../src/doctor/finding.ts";
import { openData } from "../support/accounts.ts";
import { CERTIFICATE, OTHER_CERTIFICATE } from "../support/certificate.ts";
import { closedPort } from "../support/ports.ts";
import { postgresUrl } from "../support/postgres.ts";
import { startTestService, temporaryDirectory } from "../support/service.ts";
import { startSmsc } from "../support/smsc.ts";
import { withDeadLetters } from "./dead-letters.ts";
import { type Commands, commandsOn, newService } from "./in-process.ts";

// Any free port: whoever has the usual one on this machine is not looked at.
process.env.HELIOGRAPH_SERVER_PORT = "0";

/** What it finds, with its exit code. */
async function examined({ run }: Commands, ...args: string[]): Promise<{ code: number | string; findings: Finding[] }> {
  const { code, stdout, stderr } = await run(["doctor", "--json", ...args]);
  assert.equal(stderr, "");
  const { ok, findings } = JSON.parse(stdout);
  assert.equal(code, ok ? 0 : 1);
  return { code, findings };
}

function wrongOf(findings: readonly Finding[]): string[] {
  return findings.filter(({ state }) => state !== "ok").map(({ state, area, says }) => `${state} ${area}: ${says}`);
}

test("little room is told in megabytes", () => {
  assert.deepEqual([54 * 1024 ** 2 + 5, 1024 ** 3, 2.5 * 1024 ** 3].map(roomWords), ["54 MB", "1.0 GB", "2.5 GB"]);
});

/** A service with which all is well. */
async function soundService(t: TestContext): Promise<Commands & { data: string }> {
  const service = await newService(t);
  await service.done("account", "create", "--key", "DEMO0001", "--username", "demo", "--funds", "5");
  return service;
}

test("with a service that is well nothing is wrong", async (t) => {
  const service = await soundService(t);
  const { code, stdout } = await service.run(["doctor"]);
  assert.equal(code, 0, stdout);
  for (const area of ["settings", "store", "catalogue", "carriers", "callbacks"])
    assert.match(stdout, new RegExp(`^${area} +ok `, "m"));
  assert.match(stdout, /\nNothing is wrong\.\n$/);
});

test("what the store has refused is told of", async (t) => {
  const service = await soundService(t);
  const db = openData(service.data);
  db.exec(
    `INSERT INTO quarantine (at_ms, command, subject, reason, detail)
     VALUES (0, 'received', 'acme 1001', 'index row size 60008 exceeds maximum', '{}')`,
  );
  db.close();
  const { code, findings } = await examined(service);
  assert.equal(code, 0);
  const [told] = wrongOf(findings);
  assert.match(told!, /^warning store: the store has refused 1 thing .*received acme 1001: index row size/);
});

test("settings that cannot be read, and data that is not there, are told with what to do", async (t) => {
  const nowhere = join(await temporaryDirectory(t), "nowhere");
  const missing = await examined(commandsOn("--data", nowhere));
  assert.deepEqual(wrongOf(missing.findings), [`wrong store: there is no data in ${nowhere}, which does not exist`]);
  assert.match(
    missing.findings.at(-1)!.mend!,
    /^name the directory that has it with --data, .*; "heliograph init" sets/,
  );
  const { findings } = await examined(commandsOn("--config", "/no/such/file"));
  assert.deepEqual(wrongOf(findings), ["wrong settings: the file named with --config, /no/such/file, cannot be read"]);
});

test("what does not fit together in the catalogue is found, and money that does not add up", async (t) => {
  const service = await soundService(t);
  await service.done("account", "create", "--key", "LOST", "--username", "lost");
  await service.done("account", "create", "--key", "SWISS", "--username", "swiss");
  await service.done("number", "set", "999", "account=LOST");
  await service.done("carrier", "set", "idle", "kind=simulator", "answerAfterMs=1");
  const db = openData(service.data);
  db.exec(`UPDATE catalogue_item SET body = '{"prefix":"","carrier":"gone"}' WHERE kind = 'route'`);
  db.exec(`UPDATE catalogue_item SET body = '{"number":"999","account":"NOBODY"}' WHERE id = '999'`);
  db.exec("UPDATE account SET rate_plan_id = 'gold' WHERE key = 'LOST'");
  db.exec("UPDATE account SET currency = 'CHF' WHERE key = 'SWISS'");
  db.exec("UPDATE wallet SET currency = 'CHF' WHERE name = 'SWISS'");
  db.exec("UPDATE wallet SET balance_micros = 7 WHERE name = 'LOST'");
  db.close();
  await chmod(service.data, 0o755);
  await chmod(join(service.data, "heliograph.sqlite"), 0o644);
  const { code, findings } = await examined(service);
  assert.equal(code, 1);
  const found = wrongOf(findings).join("\n");
  for (const says of [
    "wrong catalogue: the route * leads to the carrier gone, which does not exist",
    "warning catalogue: no route leads to the carrier idle",
    "wrong catalogue: LOST cannot send: it has the rate plan gold, which does not exist",
    "wrong catalogue: SWISS cannot send: it has the rate plan standard, which is in EUR and not in CHF",
    "wrong catalogue: the number 999 is of the account NOBODY, which does not exist or is retired",
    `warning store: others on this machine can look into ${service.data} (0755); others on this machine can use ${service.data}/heliograph.sqlite (0644)`,
    "wrong store: 1 fault: wallet",
  ]) {
    assert.ok(found.includes(says), `${says}\n\nin\n${found}`);
  }
  assert.ok(findings.every(({ state, mend }) => (state === "ok") === (mend === null)));
});

test("a schema that is behind, or ahead, is told and left as it is", async (t) => {
  const service = await soundService(t);
  const version = (to?: number): unknown => {
    const db = openData(service.data);
    if (to !== undefined) db.pragma(`user_version = ${to}`);
    const now = db.pragma("user_version", { simple: true });
    db.close();
    return now;
  };
  version(1);
  const behind = await examined(service);
  assert.deepEqual([behind.code, behind.findings.at(-1)!.state, version()], [0, "warning", 1]);
  version(999);
  const ahead = await examined(service);
  assert.deepEqual([ahead.code, ahead.findings.at(-1)!.mend], [1, "use the newer Heliograph"]);
});

test("carriers are bound to for a moment: well, with a wrong password, and where nobody listens", async (t) => {
  const smsc = await startSmsc(t, { systemId: "helio", password: "right" });
  const service = await soundService(t);
  const carrier = async (id: string, port: number, password: string): Promise<void> => {
    const fields = ["kind=smpp", `hosts=127.0.0.1:${port}`, "systemId=helio", "--password-stdin"];
    assert.equal((await service.run(["carrier", "set", id, ...fields], { input: password })).code, 0);
    await service.done("route", "set", String(id.length), id);
  };
  await carrier("good", smsc.port, "right");
  await carrier("wrong", smsc.port, "left");
  await carrier("absent", await closedPort(), "right");
  const { code, findings } = await examined(service);
  assert.equal(code, 1);
  const told = findings.filter(({ area }) => area === "carriers");
  const saysOf = (id: string) => told.find(({ about }) => about.startsWith(`${id} `))?.says ?? "";
  assert.equal(saysOf("good"), "bound as helio");
  assert.match(saysOf("wrong"), /^the bind was refused: ESME_RINV(PASWD|SYSID)$/);
  assert.match(saysOf("absent"), /^no connection: .*ECONNREFUSED/);
  assert.equal((await examined(service, "--no-connect")).code, 0);
});

test("a service that runs is known on its port, and another program is told apart", async (t) => {
  const data = await temporaryDirectory(t);
  const { url } = await startTestService(t, { data });
  const port = new URL(url).port;
  process.env.HELIOGRAPH_SERVER_PORT = port;
  t.after(() => {
    process.env.HELIOGRAPH_SERVER_PORT = "0";
  });
  const running = await examined(commandsOn("--data", data));
  assert.ok(running.findings.some(({ says }) => says === `Heliograph answers on 127.0.0.1:${port}`));
  const other = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  t.after(() => other.close());
  await new Promise((resolve) => other.once("listening", resolve));
  process.env.HELIOGRAPH_SERVER_PORT = String((other.address() as { port: number }).port);
  const taken = await examined(commandsOn("--data", data));
  assert.match(wrongOf(taken.findings)[0]!, /^wrong settings: \S+ is taken by another program$/);
});

test("reports that nobody took are told by host, with whether it can be reached now", async (t) => {
  const receiver = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  t.after(() => receiver.close());
  await new Promise((resolve) => receiver.once("listening", resolve));
  const origin = `http://127.0.0.1:${(receiver.address() as { port: number }).port}`;
  const { data } = await withDeadLetters(t, [`${origin}/a`, `${origin}/b`, "http://127.0.0.1:1/c"]);
  const { findings } = await examined(commandsOn("--data", data));
  const of = (about: string) => findings.find((one) => one.about === about)!;
  assert.equal(of(origin).state, "warning");
  assert.equal(of(origin).says, "2 reports of ACME were not taken; the last: answered 500. It can be reached now");
  assert.equal(of(origin).mend, `"heliograph report replay --host ${origin}" sends them again`);
  assert.deepEqual([of("http://127.0.0.1:1").state], ["wrong"]);
  assert.match(of("http://127.0.0.1:1").says, /It cannot be reached from here: .*ECONNREFUSED/);
});

test("what a client has put into its URL is neither run by whoever pastes a remedy, nor shown", async (t) => {
  const { data } = await withDeadLetters(t, ["https://a$(id)b'c.invalid/reports?x=$(reboot)&token=hidden"]);
  const { findings } = await examined(commandsOn("--data", data));
  const { about, mend } = findings.find((one) => / (was|were) not taken/.test(one.says))!;
  assert.equal(about, "https://a$(id)b'c.invalid");
  assert.match(mend!, /"heliograph report replay --host 'https:\/\/a\$\(id\)b'\\''c\.invalid'" sends them again$/);
  assert.doesNotMatch(JSON.stringify(findings), /reboot|hidden/);
});

test("the API's certificate is looked at before a client finds it out", async (t) => {
  const directory = await temporaryDirectory(t);
  const [cert, key, other] = ["cert.pem", "key.pem", "other.pem"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  await writeFile(cert, CERTIFICATE.cert);
  await writeFile(key, CERTIFICATE.key);
  await writeFile(other, OTHER_CERTIFICATE.key);
  const told = async (certificate: string, keyFile: string) => {
    const config = join(directory, "settings.toml");
    await writeFile(config, `[server]\ntlsCertificate = "${certificate}"\ntlsKey = "${keyFile}"\n`);
    const { findings } = await examined(commandsOn("--config", config, "--data", directory));
    const { state, says } = findings.find(({ about }) => about === "certificate")!;
    return `${state}: ${says.replaceAll(directory, "")}`;
  };
  assert.match(await told(cert, key), /^ok: \/cert\.pem is good until .* 2120 GMT$/);
  assert.equal(await told(cert, other), "wrong: /other.pem is not the key of /cert.pem");
  assert.match(await told(key, key), /^wrong: \/key\.pem and \/key\.pem cannot be used/);
});

test("on PostgreSQL it looks at the server, its clock, its durability and the nodes", async (t) => {
  const url = await postgresUrl(t, { empty: true });
  const empty = await examined(commandsOn("--store", url));
  assert.equal(empty.findings.at(-1)!.about, "schema");
  const commands = commandsOn("--store", url);
  await commands.done("init");
  const { code, findings } = await examined(commands);
  assert.equal(code, 1);
  const of = (about: string) => findings.find((one) => one.about === about);
  assert.match(of("database")!.says, /PostgreSQL \d+/);
  assert.ok(!JSON.stringify(findings).includes(new URL(url).password || "no password"));
  assert.deepEqual(
    [of("fsync")?.state, of("fsync")?.mend],
    ["wrong", "set fsync = on"],
    "the tests' server is careless",
  );
  assert.equal(of("clock")?.state, "ok");
  assert.match(of("nodes")!.says, /^none is alive/);

  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`INSERT INTO node (epoch, slot, name, roles, alive_until) VALUES
    (1, 1, 'one', 'api,reports', now() + interval '1 hour'), (2, 2, 'two', 'dispatch', now() - interval '1 hour')`);
  await client.end();
  const nodes = (await examined(commands)).findings;
  assert.ok(nodes.some(({ says }) => says === "1 node alive: one (api,reports)"));
  assert.ok(nodes.some(({ state, says }) => state === "warning" && /^two has not been heard of/.test(says)));
  assert.ok(
    nodes.some(({ state, says }) => state === "wrong" && says === "no node that is alive has the role dispatch"),
  );

  const gone = await examined(commandsOn("--store", "postgres://user:very-secret@127.0.0.1:1/nothing"));
  assert.match(wrongOf(gone.findings).join(), /cannot be reached/);
  assert.ok(!JSON.stringify(gone.findings).includes("very-secret"));
});

test("clients who have too little money for a message are told, the first of them by name", async (t) => {
  const service = await soundService(t);
  const broke = async (): Promise<Finding | undefined> =>
    (await examined(service)).findings.find(({ about }) => about === "balances");
  assert.equal(await broke(), undefined);
  await service.done("account", "create", "--key", "ONE", "--username", "one");
  const one = await broke();
  assert.equal(one?.state, "warning");
  assert.equal(one.says, "1 client has too little money for a message, and what they send is rejected: ONE (0 EUR)");
  assert.match(one.mend!, /^"heliograph account top-up ONE AMOUNT" gives money/);
  for (let count = 1; count <= 6; count++)
    await service.done("account", "create", "--key", `TWO${count}`, "--username", `two${count}`, "--funds", "0.001");
  await service.done("account", "change", "ONE", "--credit-limit", "1");
  assert.match((await broke())!.says, /^6 clients have .*: TWO1 \(0\.001 EUR\), .*TWO5 \(0\.001 EUR\) and 1 more$/);
  for (let count = 1; count <= 6; count++) await service.done("account", "suspend", `TWO${count}`);
  assert.equal(await broke(), undefined, "who is suspended sends nothing for another reason");
});
