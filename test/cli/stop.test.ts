/** How the service stops: in order at the first signal, at once at the second. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { openData } from "../support/accounts.ts";
import { type Child, startChild } from "../support/child.ts";
import { RawClient, rawRequestText } from "../support/raw-http.ts";
import { DEMO, eventually, temporaryDirectory } from "../support/service.ts";

const BODY = '{"from": "InfoSMS", "to": "41793026727", "text": "sent while the service stops"}';

/** A request of which the service has the head and waits for the body. */
async function beginRequest(child: Child): Promise<RawClient> {
  const client = await RawClient.connect(child.url);
  await client.write(
    rawRequestText("POST", "/sms/1/text/single", {
      authorization: DEMO,
      "content-length": String(BODY.length),
      expect: "100-continue",
    }),
  );
  assert.equal((await client.answer()).status, 100);
  return client;
}

async function sandbox(t: TestContext, settings: Record<string, string> = {}) {
  const data = await temporaryDirectory(t);
  const child = await startChild(t, ["sandbox", "--port", "0", "--data", data], settings);
  return { data, child };
}

/** Sends the signal and waits until the service has taken note of it. */
async function signal(child: Child, name: NodeJS.Signals): Promise<void> {
  child.process.kill(name);
  const note = "Heliograph stops; the same signal again ends it at once.";
  await eventually(async () => child.output().includes(note));
}

/** Long enough that a stop which waits for its time-out would be seen to hang. */
const PATIENT = { HELIOGRAPH_SERVER_STOP_TIMEOUT_MS: "60000", HELIOGRAPH_SERVER_REQUEST_TIMEOUT_MS: "60000" };

for (const name of ["SIGTERM", "SIGINT"] as const) {
  test(`${name}: no new requests, those in flight are answered and kept, and it ends with 0 within ten seconds`, async (t) => {
    const { data, child } = await sandbox(t, PATIENT);
    // Open, and never used: as browsers do.
    const silent = await RawClient.connect(child.url);
    const used = await RawClient.connect(child.url);
    await used.write(rawRequestText("GET", "/healthz", {}));
    assert.equal((await used.answer()).status, 200);
    const working = await beginRequest(child);

    await signal(child, name);
    await Promise.all([silent.closed(), used.closed()]);
    // One that comes in the same moment may still get through, to be closed at once.
    await eventually(async () =>
      /ECONNREFUSED/.test(String(await RawClient.connect(child.url).catch((error) => error))),
    );
    await working.write(BODY);
    const { status, headers, body } = await working.answer();
    assert.equal(status, 200);
    assert.equal(JSON.parse(body).messages[0].status.name, "PENDING_ENROUTE");
    assert.equal(headers.get("connection"), "close");
    const answeredMs = performance.now();
    await eventually(async () => child.process.exitCode !== null);
    assert.equal(child.process.exitCode, 0);
    assert.ok(performance.now() - answeredMs < 10_000);

    const db = openData(data);
    t.after(() => db.close());
    assert.deepEqual(db.prepare("SELECT body, owner FROM message").all(), [
      { body: "sent while the service stops", owner: null },
    ]);
  });
}

test("a request that never comes whole holds a stop no longer than the setting says", async (t) => {
  const { child } = await sandbox(t, { HELIOGRAPH_SERVER_STOP_TIMEOUT_MS: "200" });
  const client = await beginRequest(child);
  assert.equal(await child.end("SIGTERM"), 0);
  await client.closed();
});

test("the second signal ends it at once, even with a request in flight", async (t) => {
  const { child } = await sandbox(t, PATIENT);
  const client = await beginRequest(child);
  await signal(child, "SIGTERM");
  assert.equal(child.process.exitCode, null, "it waits for the request");
  // One that comes within half a second is taken for the first, passed on: so it comes until it is heard.
  await eventually(async () => {
    child.process.kill("SIGTERM");
    return child.process.exitCode !== null;
  });
  assert.equal(child.process.exitCode, 1);
  await client.closed();
});

test("it stops in order when nobody reads its output any more", async (t) => {
  const { child } = await sandbox(t);
  await eventually(async () => child.output().includes("Stop with Ctrl-C."));
  child.process.stdout!.destroy();
  await once(child.process.stdout!, "close");
  assert.equal(await child.end("SIGTERM"), 0);
});
