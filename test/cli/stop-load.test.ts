/** A stop under load: whoever is connected gets whole answers and a clean end, never a reset; and what was accepted is stored. */
import assert from "node:assert/strict";
import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { type TestContext, test } from "node:test";
import { openData } from "../support/accounts.ts";
import { type Child, startChild } from "../support/child.ts";
import { RawClient, rawRequestText } from "../support/raw-http.ts";
import { callService, DEMO, eventually, temporaryDirectory } from "../support/service.ts";

const SINGLE = "/sms/1/text/single";
/** Long enough for any machine; whoever is answered does not wait for it. */
const PATIENT = { HELIOGRAPH_SERVER_STOP_GRACE_MS: "30000", HELIOGRAPH_SERVER_STOP_TIMEOUT_MS: "60000" };

async function sandbox(t: TestContext, settings: Record<string, string> = PATIENT) {
  const data = await temporaryDirectory(t);
  return { data, child: await startChild(t, ["sandbox", "--port", "0", "--data", data], settings) };
}

function bodyOf(text: string): string {
  return JSON.stringify({ from: "InfoSMS", to: "41793026727", text });
}

/** What the clients of a test have seen. */
class Seen {
  /** The texts of messages that were answered with 200. */
  readonly accepted = new Set<string>();
  /** Anything but whole answers and, in the end, a service that does not listen. */
  readonly wrong: string[] = [];
  #count = 0;

  next(who: string): string {
    return `${who} ${++this.#count}`;
  }

  answered(text: string, status: number, body: string): void {
    try {
      const [message] = JSON.parse(body).messages;
      if (status === 200 && message.status.groupName === "PENDING") this.accepted.add(text);
      else this.wrong.push(`${text}: ${status} ${body}`);
    } catch {
      this.wrong.push(`${text}: ${status} ${body}`);
    }
  }

  /** True where the service does not listen any more. */
  failed(text: string, error: NodeJS.ErrnoException): true {
    if (error.code !== "ECONNREFUSED") this.wrong.push(`${text}: ${error.code} ${error.message}`);
    return true;
  }
}

/** Sends over one connection that is kept, one message after the other, until nobody listens. */
async function sendKept({ url }: Child, seen: Seen): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const post = (body: string) =>
    new Promise<{ status: number; body: string; headers: IncomingHttpHeaders }>((resolve, reject) => {
      const headers = { authorization: DEMO, "content-type": "application/json" };
      const asked = request(`${url}${SINGLE}`, { method: "POST", agent, headers }, (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (piece: string) => {
          text += piece;
        });
        answer.on("error", reject);
        answer.on("end", () => resolve({ status: answer.statusCode!, body: text, headers: answer.headers }));
      });
      asked.on("error", reject);
      asked.end(body);
    });
  for (let over = false; !over; ) {
    const text = seen.next("kept");
    over = await post(bodyOf(text)).then(
      ({ status, body }) => {
        seen.answered(text, status, body);
        return false;
      },
      (error) => seen.failed(text, error),
    );
  }
  agent.destroy();
}

/** The same with fetch, which has connections of its own. */
async function fetchAll({ url }: Child, seen: Seen): Promise<void> {
  for (let over = false; !over; ) {
    const text = seen.next("fetched");
    over = await callService(url, "POST", SINGLE, { body: JSON.parse(bodyOf(text)) }).then(
      ({ status, text: body }) => {
        seen.answered(text, status, body);
        return false;
      },
      (error) => seen.failed(text, error.cause ?? error),
    );
  }
}

/** Several requests at a time, without waiting for answers in between, until the last answer says that the connection ends. */
async function sendPipelined({ url }: Child, seen: Seen): Promise<void> {
  const client = await RawClient.connect(url);
  const headers = { authorization: DEMO, "content-type": "application/json" };
  for (let closes = false; !closes; ) {
    const texts = Array.from({ length: 5 }, () => seen.next("pipelined"));
    await client.write(texts.map((text) => rawRequestText("POST", SINGLE, headers, bodyOf(text))).join(""));
    for (const text of texts) {
      const answer = await client.answer();
      seen.answered(text, answer.status, answer.body);
      closes = answer.headers.get("connection") === "close";
    }
  }
  assert.equal(await client.closed(), "");
  if (client.failure !== null) seen.wrong.push(`pipelined: ${client.failure}`);
}

test("SIGTERM under keep-alive load resets no connection, and what was accepted is what is stored", async (t) => {
  const { data, child } = await sandbox(t);
  const seen = new Seen();
  const clients = [
    ...Array.from({ length: 6 }, () => sendKept(child, seen)),
    ...Array.from({ length: 2 }, () => fetchAll(child, seen)),
    ...Array.from({ length: 2 }, () => sendPipelined(child, seen)),
  ];
  const all = Promise.all(clients);
  await eventually(async () => seen.accepted.size > 300 || seen.wrong.length > 0);
  const ended = child.end("SIGTERM");
  await all;
  assert.deepEqual(seen.wrong, []);
  assert.equal(await ended, 0);
  const db = openData(data);
  t.after(() => db.close());
  const stored = db.prepare("SELECT body FROM message").all() as { body: string }[];
  assert.deepEqual(stored.map(({ body }) => body).sort(), [...seen.accepted].sort());
});

test("a connection without a request is kept for one that is on its way, and what follows its answer resets nobody", async (t) => {
  const { child } = await sandbox(t);
  const [used, unused] = [await RawClient.connect(child.url), await RawClient.connect(child.url)];
  const health = rawRequestText("GET", "/healthz", {});
  await used.write(health);
  assert.equal((await used.answer()).headers.get("connection"), "keep-alive");
  const ended = child.end("SIGTERM");
  await eventually(async () => /ECONNREFUSED/.test(String(await RawClient.connect(child.url).catch((error) => error))));
  for (const client of [used, unused]) {
    await client.write(health);
    const { status, headers } = await client.answer();
    assert.deepEqual([status, headers.get("connection")], [200, "close"]);
    // It has not read yet that nobody listens.
    await client.write(health).catch(() => undefined);
    assert.equal(await client.closed(), "");
    assert.equal(client.failure, null);
  }
  assert.equal(await ended, 0);
});

test("a connection that stays without a request is closed, not reset, and the service ends", async (t) => {
  const { child } = await sandbox(t, {
    HELIOGRAPH_SERVER_STOP_GRACE_MS: "100",
    HELIOGRAPH_SERVER_STOP_TIMEOUT_MS: "60000",
  });
  const [used, unused] = [await RawClient.connect(child.url), await RawClient.connect(child.url)];
  await used.write(rawRequestText("GET", "/healthz", {}));
  await used.answer();
  assert.equal(await child.end("SIGTERM"), 0);
  for (const client of [used, unused]) {
    assert.equal(await client.closed(), "");
    assert.equal(client.failure, null);
  }
});

test("a stop says 503 at /readyz first, and serves all else until its delay is over", async (t) => {
  const { child } = await sandbox(t, { HELIOGRAPH_SERVER_STOP_DELAY_MS: "600000" });
  assert.equal((await callService(child.url, "GET", "/readyz")).status, 200);
  child.process.kill("SIGTERM");
  const { json } = await eventually(async () => {
    const answer = await callService(child.url, "GET", "/readyz");
    return answer.status === 503 && answer;
  });
  assert.equal(json.requestError.serviceException.text, "Service unavailable");
  const { status, headers } = await callService(child.url, "POST", SINGLE, {
    body: JSON.parse(bodyOf("still served")),
  });
  assert.deepEqual([status, headers.get("connection")], [200, "keep-alive"]);
  assert.equal((await callService(child.url, "GET", "/healthz")).status, 200);
  // One that comes within half a second is taken for the first, passed on: so it comes until it is heard.
  await eventually(async () => {
    child.process.kill("SIGTERM");
    return child.process.exitCode !== null;
  });
  assert.equal(child.process.exitCode, 1, "the second signal ends it at once");
});
