/**
 * What an operator is told of a service that is not there, on both stores and through the real program: that it does not run and what waits, that nobody
 * tries a carrier, why a message has not gone, and that a carrier which is away is one trouble.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Examination, examination } from "../support/doctor.ts";
import { closedPort } from "../support/ports.ts";
import { postgresUrl } from "../support/postgres.ts";
import { type RealService, startRealService } from "../support/real-service.ts";
import { eventually } from "../support/service.ts";

const STORES: readonly (readonly [name: string, url: (t: TestContext) => Promise<string | null>])[] = [
  ["the embedded store", async () => null],
  ["PostgreSQL", (t) => postgresUrl(t)],
];

const looked = ({ where }: RealService, port: number): Promise<Examination> =>
  examination(where, { settings: { HELIOGRAPH_SERVER_PORT: String(port) } });

for (const [name, databaseOf] of STORES)
  test(`a carrier that is away, and then a service that was killed, with a message that waits, on ${name}`, async (t) => {
    const service = await startRealService(t, await databaseOf(t));
    const { run, done, json, call, child } = service;
    const isEmbedded = service.where[0] === "--data";
    const closed = await closedPort();
    await done("carrier", "set", "carrier", `hosts=127.0.0.1:${closed}`);
    const shownState = () => json("carrier", "show", "carrier").then(({ states }) => states[0]?.state);
    await eventually(async () => (await shownState()) === "waiting");
    const body = { from: "Acme", to: "41793026727", text: "Hello" };
    const sent = await call("POST", "/sms/1/text/single", { body });
    assert.equal(sent.status, 200, sent.text);
    const id: string = sent.json.messages[0].messageId;

    // It is one carrier that is away, whoever tells it, and the message says that it waits for it.
    const ownPort = Number(new URL(child.url).port);
    const running = await eventually(async () => {
      const found = await looked(service, ownPort);
      const { says: answers } = found.about("service");
      return (
        // On a machine that is too busy for a moment its store is as good as away.
        answers === "it runs, and its store answers" &&
        found.findings.some(({ about, says }) => about === "carrier" && / waits? for it/.test(says)) &&
        found
      );
    });
    const away = running.findings.filter(({ area, state }) => area === "carriers" && state === "wrong");
    assert.equal(away.length, 1, JSON.stringify(away));
    assert.match(
      away[0]!.says,
      new RegExp(
        `^the carrier carrier is down: 127\\.0\\.0\\.1:${closed}: .*; 1 message waits for it\\. From here: 127\\.0\\.0\\.1:${closed}: no connection`,
      ),
    );
    const [waiting] = await json("message", "show", id);
    const { since, reason, ...awaited } = waiting.waitsFor;
    assert.deepEqual([awaited.carrier, ["waiting", "connecting"].includes(awaited.state)], ["carrier", true]);
    assert.match(since, /^\d{4}-/);
    assert.match(reason, /nobody listens there/);
    assert.match(
      await done("message", "show", id),
      /^Waits for +carrier carrier, which is down \((waiting|connecting)\) since \S+: .*nobody listens there/m,
    );
    const api = await call("GET", `/operator/1/accounts/ACME/messages/${id}`, { authorization: service.operator });
    assert.equal(api.json.results[0].waitsFor.carrier, "carrier");

    // Whoever names the data alone is told that a service runs on it, and that it was not asked.
    if (isEmbedded) {
      const { state, says, mend } = (await looked(service, closed)).about("service");
      assert.equal(state, "warning");
      assert.match(says, new RegExp(`^it runs on this data.*, and does not answer on 127\\.0\\.0\\.1:${closed}: `));
      if (process.platform === "linux") assert.match(says, new RegExp(` ${child.process.pid}\\)`));
      assert.match(mend!, /--config/);
      assert.equal((await looked(service, 0)).about("service").state, "ok");
    }

    await child.end("SIGKILL");
    // A node is alive to others until its lease is over.
    const dead = await eventually(async () => {
      const found = await looked(service, closed);
      return found.findings.some(({ says }) => says.startsWith("the service does not run")) && found;
    });
    const { state, says, mend } = dead.about("service");
    assert.equal(state, "warning");
    assert.match(says, /^the service does not run; 1 message waits, the oldest since \d{4}-\S+$/);
    assert.match(mend!, /^start it as you always do/);

    const { code, stdout, stderr } = await run("carrier", "reconnect", "carrier");
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^heliograph: no service runs on \S+, so nobody tries the carrier carrier: start it/);
    assert.match((await run("carrier", "reconnect", "nobody")).stderr, /there is no carrier nobody/);
    assert.match(await done("carrier", "list"), /^carrier .* not served +- +no running service serves it$/m);
    const [left] = await json("message", "show", id);
    assert.equal(left.waitsFor.state, "not served");
    assert.match(await done("message", "show", id), /^Waits for +carrier carrier, which no running service serves/m);
  });

test("a service that does not run and has nothing to do is no trouble", async (t) => {
  const service = await startRealService(t, null);
  assert.equal(await service.child.end("SIGTERM"), 0);
  const { about } = await looked(service, 0);
  assert.deepEqual(
    [about("service").state, about("service").says],
    ["ok", "it does not run, and nothing waits for it"],
  );
});
