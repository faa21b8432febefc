/** Secrets in the store, on both engines: sealed with a key that is not in it, opened by those who have the key. */
import assert from "node:assert/strict";
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { settingsOf, withStore } from "../../src/cli/support.ts";
import { base32Secret, FACTOR_LETTERS } from "../../src/runtime/random.ts";
import { sealedBy } from "../../src/runtime/secrets.ts";
import { sealAllSecrets } from "../../src/store/open.ts";
import type { Store } from "../../src/store/port/store.ts";
import { type Commands, commandsOn, runInProcess } from "../cli/in-process.ts";
import { everythingIn, onRows } from "../support/accounts.ts";
import { runProgram, startChild } from "../support/child.ts";
import { postgresUrl } from "../support/postgres.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { basic, callService, databases, eventually, temporaryDirectory } from "../support/service.ts";
import { startSmsc } from "../support/smsc.ts";

const CARRIER_PASSWORD = "car-pass";

interface Sealed extends Commands {
  /** Also the name under which the store's rows are looked at. */
  readonly data: string;
  readonly keyFile: string;
  readonly config: string;
  /** The same store, without a key or with another one. */
  with(keyFile: string | null): Commands & { readonly config: string };
}

/** A service's settings, with a key that was made by the command. */
async function newStore(t: TestContext, engine: string): Promise<Sealed> {
  const place = await temporaryDirectory(t);
  const data = join(place, "data");
  const keyFile = join(place, "secret-key");
  const url = engine === "PostgreSQL" ? await postgresUrl(t, { empty: true }) : "";
  if (url !== "") databases.set(data, url);
  let files = 0;
  const configure = (key: string | null): string => {
    const config = join(place, `${++files}.toml`);
    const where = url === "" ? `data = "${data}"` : `url = "${url}"`;
    writeFileSync(config, `[store]\n${where}\n${key === null ? "" : `secretKeyFile = "${key}"\n`}`);
    return config;
  };
  await runInProcess(["secrets", "make-key", keyFile]);
  const config = configure(keyFile);
  const other = (key: string | null) => {
    const config = configure(key);
    return { config, ...commandsOn("--config", config) };
  };
  return { data, keyFile, config, with: other, ...commandsOn("--config", config) };
}

/** An operator, an account ACME and a carrier with a password; returns ACME's secret. */
async function fill({ done, run }: Commands, hosts = "127.0.0.1:9"): Promise<string> {
  await done("init");
  await done("rate", "set", "standard", "*", "0.01", "--currency", "EUR");
  const set = ["carrier", "set", "acme", "kind=smpp", `hosts=${hosts}`, "systemId=heliograph", "--password-stdin"];
  const { code, stderr } = await run(set, { input: CARRIER_PASSWORD });
  assert.equal(code, 0, stderr);
  await done("route", "set", "*", "acme");
  await done("account", "create", "--key", "ACME", "--username", "acme", "--funds", "10");
  return rotated(await done("account", "rotate-secret", "ACME"));
}

function rotated(stdout: string): string {
  return /^whsec_\S+$/m.exec(stdout)?.[0] ?? assert.fail(stdout);
}

function onStore<Result>(config: string, work: (store: Store) => Promise<Result>): Promise<Result> {
  return withStore(settingsOf({ config }), work);
}

/** All that stands on disk of the store. */
async function octetsOf(data: string): Promise<string> {
  const rows = await everythingIn(data);
  if (databases.has(data)) return rows;
  const files = readdirSync(data).map((name) => readFileSync(join(data, name), "latin1"));
  return [rows, ...files].join("\n");
}

/** Of every secret in the store, the key that it is sealed with. */
async function keysIn(data: string): Promise<(string | null)[]> {
  const accounts = await onRows(data, "SELECT callback_secret, old_callback_secret FROM account");
  const carriers = await onRows(data, "SELECT body FROM catalogue_item WHERE kind = 'carrier'");
  const texts = [
    ...accounts.flatMap((row) => [row.callback_secret, row.old_callback_secret]).filter((text) => text !== null),
    ...carriers.map(({ body }) => JSON.parse(String(body)).password),
  ];
  return texts.map((text) => sealedBy(String(text)));
}

const secretsOf = (config: string): Promise<readonly string[]> =>
  onStore(config, async (store) => {
    const { id } = (await store.account({ resellerId: null, key: "ACME" }))!;
    return (await store.callbackPolicy({ accountId: id })).secrets;
  });

const MISSING = /secrets in the store are sealed with the key [0-9a-f]{12}, .*secretKeyFile/;

for (const engine of ["SQLite", "PostgreSQL"]) {
  describe(`sealed secrets on ${engine}`, () => {
    test("no secret stands in the database, its log or a backup, and those with the key see them as they are", async (t) => {
      const sealed = await newStore(t, engine);
      const secret = await fill(sealed);
      const [newest, old] = await secretsOf(sealed.config);
      assert.equal(newest, secret);
      const backup = join(await temporaryDirectory(t), "backup");
      await sealed.done("backup", backup);
      for (const octets of [await octetsOf(sealed.data), await octetsOf(backup)])
        for (const text of [secret, old!, CARRIER_PASSWORD]) assert.ok(!octets.includes(text));
      assert.match(await sealed.done("export", "--with-secrets"), new RegExp(`password = "${CARRIER_PASSWORD}"`));
      assert.deepEqual(new Set(await keysIn(backup)), new Set(await keysIn(sealed.data)));
    });

    test("the secret of a second factor is sealed like the others, and renewed when its key is lost", async (t) => {
      const sealed = await newStore(t, engine);
      await fill(sealed);
      const secret = base32Secret(FACTOR_LETTERS);
      const by = { by: { name: "ACME", address: null }, atMs: 1 };
      const found = (config: string) => onStore(config, (store) => store.secondFactor({ username: "acme" }));
      await onStore(sealed.config, (store) => store.beginSecondFactor({ username: "acme", secret, ...by }));
      assert.equal((await found(sealed.config))?.secret, secret);
      assert.ok(!(await octetsOf(sealed.data)).includes(secret));

      const otherKey = join(await temporaryDirectory(t), "other-key");
      await runInProcess(["secrets", "make-key", otherKey]);
      const other = sealed.with(otherKey);
      await other.done("secrets", "seal", "--renew-lost");
      const renewed = (await found(other.config))!.secret;
      assert.match(renewed, /^[A-Z2-7]{32}$/);
      assert.notEqual(renewed, secret);
    });

    test("reports are signed with the secret, and carriers bound to with the password", async (t) => {
      const smsc = await startSmsc(t, { systemId: "heliograph", password: CARRIER_PASSWORD });
      const receiver = await ReportReceiver.start();
      t.after(() => receiver.stop());
      const sealed = await newStore(t, engine);
      const secret = await fill(sealed, `127.0.0.1:${smsc.port}`);
      const password = /([\w-]{24})$/m.exec(await sealed.done("account", "password", "ACME"))![1]!;
      const service = await startChild(t, ["serve", "--port", "0", "--config", sealed.config], {
        HELIOGRAPH_REPORTS_DANGEROUS_ALLOW_PRIVATE_CALLBACKS: "true",
      });
      const body = { from: "Acme", to: "41793026727", text: "Hello", notifyUrl: receiver.url };
      const { status, text } = await callService(service.url, "POST", "/sms/1/text/advanced", {
        body: { messages: [{ ...body, destinations: [{ to: body.to }] }] },
        authorization: basic("acme", password),
      });
      assert.equal(status, 200, text);
      const [report] = await eventually(async () => receiver.requests.length > 0 && receiver.requests);
      new Webhook(secret).verify(report!.body, report!.headers as Record<string, string>);
      await service.end("SIGTERM");
    });

    test("without the key, or with another one, no service starts and no secret is written; what needs none still works", async (t) => {
      const sealed = await newStore(t, engine);
      await fill(sealed);
      const before = await keysIn(sealed.data);
      const otherKey = join(sealed.data, "..", "other-key");
      await runInProcess(["secrets", "make-key", otherKey]);
      for (const keyFile of [null, otherKey]) {
        const { config, done, refused } = sealed.with(keyFile);
        const { code, stderr } = await runProgram(["serve", "--port", "0", "--config", config]);
        assert.deepEqual([code, MISSING.test(stderr)], [1, true], stderr);
        for (const args of [
          ["account", "create", "--key", "NEW", "--username", "new"],
          ["account", "rotate-secret", "ACME"],
          ["export"],
        ])
          assert.match((await refused(...args))[1], MISSING);
        assert.match(await done("account", "list"), /ACME/);
        await done("ledger", "verify");
        await done("backup", join(await temporaryDirectory(t), "backup"));
        const { stdout } = await sealed.with(keyFile).run(["doctor", "--no-connect"]);
        assert.match(stdout, /wrong +secrets: secrets in the store are sealed with the key/);
      }
      assert.deepEqual(await keysIn(sealed.data), before);
      assert.ok(before.every((id) => id !== null));
    });

    test("an account's secret alone keeps a service without the key from starting", async (t) => {
      const sealed = await newStore(t, engine);
      await sealed.done("init");
      const { code, stderr } = await runProgram(["serve", "--port", "0", "--config", sealed.with(null).config]);
      assert.deepEqual([code, MISSING.test(stderr)], [1, true], stderr);
    });

    test("what was stored before there was a key is used as it is, and sealed by the command", async (t) => {
      const sealed = await newStore(t, engine);
      const plain = sealed.with(null);
      const secret = await fill(plain);
      assert.match((await plain.run(["doctor", "--no-connect"])).stdout, /4 secrets are kept as they are/);
      assert.ok((await octetsOf(sealed.data)).includes(secret));
      assert.deepEqual((await plain.refused("secrets", "seal"))[0], 1);
      assert.equal((await secretsOf(sealed.config))[0], secret);

      assert.match(await sealed.done("secrets", "seal"), /^4 secrets are sealed now that were not, 4 altogether/);
      assert.match(await sealed.done("secrets", "seal"), /^0 secrets are sealed now that were not, 4 altogether/);
      assert.equal((await secretsOf(sealed.config))[0], secret);
      assert.ok((await keysIn(sealed.data)).every((id) => id !== null));
      const octets = await octetsOf(sealed.data);
      for (const text of [secret, CARRIER_PASSWORD]) assert.ok(!octets.includes(text), text);
    });

    test("nothing is sealed by the way where services may run without the key: only the command begins with it", async (t) => {
      const sealed = await newStore(t, engine);
      const plain = sealed.with(null);
      await fill(plain);
      const fresh = rotated(await sealed.done("account", "rotate-secret", "ACME"));
      await sealed.done("account", "create", "--key", "NEW", "--username", "new");
      const set = ["carrier", "set", "acme", "kind=smpp", "hosts=127.0.0.1:9", "systemId=other", "--password-stdin"];
      assert.equal((await sealed.run(set, { input: CARRIER_PASSWORD })).code, 0);
      assert.ok((await keysIn(sealed.data)).every((id) => id === null));
      assert.equal((await secretsOf(plain.config))[0], fresh, "a service without the key can use it");

      await sealed.done("secrets", "seal");
      await sealed.done("account", "create", "--key", "NEXT", "--username", "next");
      assert.ok((await keysIn(sealed.data)).every((id) => id !== null));
    });

    test("a key is changed while both are known: the new one seals everything, then the old one can go", async (t) => {
      const sealed = await newStore(t, engine);
      const secret = await fill(sealed);
      const [oldId] = await keysIn(sealed.data);
      const said = await runInProcess(["secrets", "make-key", sealed.keyFile, "--add"]);
      const newId = /The key ([0-9a-f]{12}) /.exec(said.stdout)?.[1];
      assert.equal((await secretsOf(sealed.config))[0], secret, "the old key still opens");
      const fresh = rotated(await sealed.done("account", "rotate-secret", "ACME"));
      assert.deepEqual(await secretsOf(sealed.config), [fresh, secret], "one under each key");
      assert.match(
        (await sealed.run(["doctor", "--no-connect"])).stdout,
        /warning +secrets: 3 of 4 are not sealed with the newest key/,
      );
      assert.match(await sealed.done("secrets", "seal"), /^3 secrets are sealed now/);
      assert.deepEqual([...new Set(await keysIn(sealed.data))], [newId]);
      assert.notEqual(newId, oldId);

      const [newest] = readFileSync(sealed.keyFile, "utf8").split("\n");
      assert.equal(statSync(sealed.keyFile).mode & 0o777, 0o600);
      writeFileSync(sealed.keyFile, `${newest}\n`);
      assert.deepEqual(await secretsOf(sealed.config), [fresh, secret]);
    });

    test("sealing that was interrupted, or met somebody who changed a secret, is finished by the next run", async (t) => {
      const sealed = await newStore(t, engine);
      const plain = sealed.with(null);
      const secret = await fill(plain);
      await onStore(sealed.config, async (store) => {
        const page = await store.sealSecrets({ after: null, limit: 1, renewLost: false });
        assert.deepEqual(page, { sealed: 1, lost: [], next: { kind: 0, key: "ACME" } });
      });
      assert.equal((await keysIn(sealed.data)).filter((id) => id !== null).length, 1);
      assert.equal((await secretsOf(sealed.config))[0], secret);
      assert.deepEqual(await onStore(sealed.config, (store) => sealAllSecrets(store, false)), { sealed: 3, lost: [] });
      assert.equal((await secretsOf(sealed.config))[0], secret);
    });

    test("after its key is lost a store can be served again, with other secrets", async (t) => {
      const sealed = await newStore(t, engine);
      const secret = await fill(sealed);
      const otherKey = join(sealed.data, "..", "other-key");
      await runInProcess(["secrets", "make-key", otherKey]);
      const other = sealed.with(otherKey);
      assert.match((await other.refused("secrets", "seal"))[1], MISSING);
      const said = await other.done("secrets", "seal", "--renew-lost");
      assert.match(said, /^account\/ACME\/callback_secret could not be opened and is new$/m);
      assert.match(said, /^carrier\/acme\/password could not be opened and is new$/m);
      const fresh = rotated(await other.done("account", "rotate-secret", "ACME"));
      const [newest] = await secretsOf(other.config);
      assert.deepEqual([newest, newest !== secret], [fresh, true]);
      assert.equal(new Set(await keysIn(sealed.data)).size, 1);
    });

    test("a secret that somebody moved to another account in the database is refused", async (t) => {
      const sealed = await newStore(t, engine);
      await fill(sealed);
      await onRows(
        sealed.data,
        `UPDATE account SET callback_secret = (SELECT callback_secret FROM account WHERE key = 'OPERATOR1') WHERE key = 'ACME' RETURNING 1`,
      );
      await assert.rejects(
        secretsOf(sealed.config),
        /the secret at account\/ACME\/callback_secret was changed or moved/,
      );
    });
  });
}

test("a copy to PostgreSQL carries secrets sealed as they are, and is served with the same key", async (t) => {
  const sealed = await newStore(t, "SQLite");
  const secret = await fill(sealed);
  const other = await newStore(t, "PostgreSQL");
  const url = databases.get(other.data)!;
  const { code, stderr } = await runProgram(["copy", "--from", sealed.data, "--to", url]);
  assert.equal(code, 0, stderr);
  assert.deepEqual((await keysIn(other.data)).sort(), (await keysIn(sealed.data)).sort());
  assert.ok(!(await octetsOf(other.data)).includes(secret));
  assert.equal((await secretsOf(other.with(sealed.keyFile).config))[0], secret);
});

test("files with secrets that others can read are told by doctor, and at start", async (t) => {
  const sealed = await newStore(t, "SQLite");
  await fill(sealed);
  chmodSync(sealed.keyFile, 0o644);
  const says = `others on this machine can use ${sealed.keyFile} (0644)`;
  assert.ok((await sealed.run(["doctor", "--no-connect"])).stdout.includes(says));
  const service = await startChild(t, ["serve", "--port", "0", "--config", sealed.config]);
  assert.ok(service.output().includes(says), service.output());
  await service.end("SIGTERM");
  chmodSync(sealed.keyFile, 0o600);
  const told = async ({ run }: Commands) =>
    (await run(["doctor", "--no-connect"])).stdout.includes("others on this machine");
  assert.equal(await told(sealed), false);
  const inline = `${sealed.config}.inline`;
  const key = readFileSync(sealed.keyFile, "utf8").trim();
  writeFileSync(inline, `[store]\ndata = "${sealed.data}"\nsecretKey = "${key}"\n`, { mode: 0o644 });
  assert.equal(await told(commandsOn("--config", inline)), true);
});

test("a key's file is made for its owner alone, never over another one, and its key is not told", async (t) => {
  const file = join(await temporaryDirectory(t), "key");
  const made = await runInProcess(["secrets", "make-key", file]);
  const key = readFileSync(file, "utf8").trim();
  assert.match(key, /^[\w+/]{43}=$/);
  assert.ok(!made.stdout.includes(key));
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const again = await runInProcess(["secrets", "make-key", file]);
  assert.deepEqual([again.code, /is there already/.test(again.stderr)], [1, true]);
  assert.equal(readFileSync(file, "utf8").trim(), key);
  writeFileSync(file, "something else");
  assert.match((await runInProcess(["secrets", "make-key", file, "--add"])).stderr, /holds something else than keys/);
});
