/** Attacks by whoever can reach the port and has no credentials: none of them stops the service, and nobody else notices. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { isLong, sized } from "../support/chance.ts";
import { RawClient, rawCall, rawRequestText } from "../support/raw-http.ts";
import { callService } from "../support/service.ts";
import { Crowd, KEY, type Rig, startRig } from "./support/rig.ts";

const LOGIN = "/1/customerProfile/login";
const SESSION = "/auth/1/session";
const ADVANCED = "/sms/1/text/advanced";
const JSON_TYPE = { "content-type": "application/json" };
const FORM_TYPE = { "content-type": "application/x-www-form-urlencoded" };

const EIGHT_MEGABYTES = 8 * 1024 * 1024;

/** Time-outs that a test can wait for. */
const IMPATIENT = {
  HELIOGRAPH_SERVER_HEADERS_TIMEOUT_MS: "2000",
  HELIOGRAPH_SERVER_REQUEST_TIMEOUT_MS: "4000",
  HELIOGRAPH_SERVER_ANSWER_TIMEOUT_MS: "2000",
};

/** Posts what nobody would, reads while it writes, and gives the status; 0 where the connection was closed on it. */
/** Octets behind an answer that are read of a stranger's request (unwanted-bodies.ts). */
const READ_OF_A_STRANGER = 2_097_152;

async function post(rig: Rig, path: string, headers: Record<string, string>, body: string): Promise<number> {
  const client = await RawClient.connect(rig.url);
  try {
    void client.write(rawRequestText("POST", path, headers, body)).catch(() => undefined);
    return (await client.answer()).status;
  } catch {
    return 0;
  } finally {
    client.destroy();
  }
}

test("whoever has no credentials", async (t) => {
  const rig = await startRig(t);

  await t.test("texts that are dear to read", async () => {
    const marks = "a\u0316\u0301\u0302".repeat(50_000);
    const small = "a\u0316\u0301\u0302".repeat(400);
    const bodies: readonly (readonly [name: string, type: Record<string, string>, body: string])[] = [
      ["a password of combining marks", JSON_TYPE, JSON.stringify({ username: "demo", password: marks })],
      ["8 MB of them", JSON_TYPE, JSON.stringify({ username: "demo", password: marks.repeat(16) })],
      ["as many as a login takes", JSON_TYPE, JSON.stringify({ username: "demo", password: small })],
      ["a username of them", JSON_TYPE, JSON.stringify({ username: small, password: "x" })],
      ["a form of very many fields", FORM_TYPE, "a&".repeat(600_000)],
      ["of fields with names of their own", FORM_TYPE, Array.from({ length: 1_000 }, (_, i) => `${i}&`).join("")],
      ["brackets", JSON_TYPE, "[".repeat(8_000_000)],
      ["brackets in pairs", JSON_TYPE, "[".repeat(4_000_000) + "]".repeat(4_000_000)],
      ["a field with a name of 8 MB", JSON_TYPE, JSON.stringify({ ["x".repeat(8_000_000)]: 1 })],
    ];
    await rig.withstands("dear texts", 300, async () => {
      for (const [name, type, body] of bodies) {
        // Whoever writes on and on behind an answer may be cut off before he reads it.
        const cutOff = body.length > READ_OF_A_STRANGER ? [0] : [];
        for (const path of [LOGIN, SESSION]) {
          const status = await post(rig, path, type, body);
          assert.ok([400, 401, 413, 429, ...cutOff].includes(status), `${name}: ${status}`);
        }
        assert.ok([401, ...cutOff].includes(await post(rig, ADVANCED, type, body)), name);
      }
    });
    await rig.withstands("dear headers", 300, async () => {
      const password = encodeURIComponent(small.slice(0, 300));
      for (const path of [`/sms/1/text/query?username=demo&password=${password}&to=41793026727&text=x`, "/nothing"]) {
        const basic = `Basic ${Buffer.from(`demo:${small.repeat(2)}`).toString("base64")}`;
        for (const authorization of [basic, `App ${"a".repeat(9_000)}`, `IBSSO ${" ".repeat(9_000)}x`]) {
          const answer = await rawCall(
            rig.url,
            rawRequestText("GET", path, { authorization, accept: ",".repeat(1_000) }),
          );
          assert.ok([401, 404, 406, 429].includes(answer.status), `${path}: ${answer.status}`);
        }
      }
    });
  });

  await t.test("the description of the API is written once: whoever has it is told so, and gets it small", async () => {
    const first = await callService(rig.url, "GET", "/openapi.json", { authorization: null });
    const etag = first.headers.get("etag")!;
    assert.match(etag, /^"[\w-]{22}"$/);
    assert.match(first.headers.get("cache-control")!, /max-age=\d+/);
    assert.equal(first.headers.get("content-encoding"), "gzip", "fetch says that it takes it");
    const again = await callService(rig.url, "GET", "/openapi.json", {
      authorization: null,
      headers: { "if-none-match": etag },
    });
    assert.deepEqual([again.status, again.text], [304, ""]);
    const plain = await rawCall(rig.url, rawRequestText("GET", "/openapi.json", {}));
    assert.deepEqual(JSON.parse(plain.body), first.json);
    const zipped = await fetch(`${rig.url}/openapi.json`, { headers: { "accept-encoding": "gzip" } });
    assert.ok(Number(zipped.headers.get("content-length")) <= 2 * gzipSync(plain.body).length);
    await rig.withstands("2,000 readers of it", 200, async () => {
      const statuses = new Set<number>();
      for (let round = 0; round < sized(100); round++) {
        const asked = Array.from({ length: 20 }, () => rawCall(rig.url, rawRequestText("GET", "/openapi.json", {})));
        for (const { status } of await Promise.all(asked)) statuses.add(status);
      }
      assert.ok(statuses.delete(200), "some get it");
      for (const status of statuses) assert.ok(status === 429 || status === 503, `others come again: ${status}`);
    });
  });
});

test("whoever has no credentials, and time", async (t) => {
  const rig = await startRig(t, IMPATIENT);

  await t.test("connections that say nothing", async (t) => {
    const crowd = new Crowd(t, rig);
    await rig.withstands("11,500 silent connections from one address", 200, async () => {
      await crowd.joinMany(sized(11_500));
      const kept = await rig.gauge("http_connections");
      assert.ok(kept <= 2_000, `one address keeps no more than its bound: ${kept}`);
      await crowd.isShownOut();
    });
    if (isLong)
      await rig.withstands("11,500 silent connections from eight addresses", 300, async () => {
        await crowd.joinMany(sized(11_500), "", { from: (index) => `127.0.0.${2 + (index % 8)}` });
        const kept = await rig.gauge("http_connections");
        assert.ok(kept <= 10_000, `all together keep no more than their bound: ${kept}`);
        await crowd.isShownOut();
      });
    await rig.withstands("half a head each", 200, async () => {
      await crowd.joinMany(sized(3_000), `GET /account/1/balance HTTP/1.1\r\nHost: localhost\r\nx-slow: `);
      await crowd.isShownOut();
    });
  });

  await t.test("whoever is told that it was too slow is closed on, whether or not it closes too", async () => {
    const stubborn = await RawClient.connect(rig.url, { stubborn: true });
    await stubborn.write("GET /healthz HTTP/1.1\r\n");
    assert.equal((await stubborn.answer()).status, 408);
    // It goes on writing, which fails once the connection is destroyed.
    await assert.rejects(async () => {
      for (;;) {
        await stubborn.write("x");
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }, /EPIPE|ECONNRESET/);
  });

  await t.test("bodies that do not come", async (t) => {
    const crowd = new Crowd(t, rig);
    const half = (path: string, headers: Record<string, string>, length: number) =>
      `${rawRequestText("POST", path, { ...JSON_TYPE, ...headers, "content-length": String(length) })}{"user`;
    await rig.withstands("2,100 slow bodies without credentials", 200, async () => {
      await crowd.joinMany(sized(2_100), half(ADVANCED, {}, 1_000));
      await crowd.isShownOut();
    });
    await rig.withstands("2,100 slow logins", 200, async () => {
      await crowd.joinMany(sized(2_100), half(LOGIN, {}, 4_000));
      const login = { username: "demo", password: "demo-password" };
      const { status } = await callService(rig.url, "POST", SESSION, { authorization: null, body: login });
      assert.equal(status, 200, "a good login is taken meanwhile");
      await crowd.isShownOut();
    });
    await rig.withstands("300 logins of 8 MB without their last octet", 200, async () => {
      await crowd.joinMany(sized(300), half(LOGIN, {}, 8 * 1024 * 1024));
      await crowd.isShownOut();
    });
    // At least a few times as many as are read at a time.
    const many = Math.max(30, sized(300));
    const whole = Buffer.concat([
      Buffer.from(rawRequestText("POST", LOGIN, { ...JSON_TYPE, "content-length": String(EIGHT_MEGABYTES) })),
      Buffer.alloc(EIGHT_MEGABYTES, " "),
    ]);
    const garbage = Buffer.alloc(EIGHT_MEGABYTES, 0xff);
    for (const [name, says] of [
      ["logins", whole],
      ["pieces of garbage", garbage],
    ] as const) {
      const { healthMs, sendMs } = await rig.withstands(`${many} ${name} of 8 MB, whole`, 200, async () => {
        await crowd.joinMany(many, says);
        await crowd.isShownOut();
      });
      if (isLong) assert.ok(healthMs <= 1_000 && sendMs <= 1_000, `${name}: ${healthMs} ms, a message ${sendMs} ms`);
    }
    await rig.withstands("bodies of one octet a chunk", 150, async () => {
      const head = rawRequestText("POST", LOGIN, { ...JSON_TYPE, "transfer-encoding": "chunked" });
      const chunks = `${head}${"1\r\n \r\n".repeat(sized(500_000))}`;
      for (let round = 0; round < sized(3); round++) await crowd.join(chunks);
      await crowd.isShownOut();
    });
  });

  await t.test("requests that follow each other without end, and answers that nobody reads", async (t) => {
    const crowd = new Crowd(t, rig);
    for (const path of ["/openapi.json", "/docs/json", "/docs/yaml", "/docs/static/swagger-ui-bundle.js", "/nothing"]) {
      await rig.withstands(`${path}, 40 times on each of 200 connections, unread`, 300, async () => {
        const request = rawRequestText("GET", path, {});
        await crowd.joinMany(sized(200), request.repeat(40), { reads: false });
        await crowd.isShownOut();
      });
    }
    await rig.withstands("100,000 requests on one connection", 200, async () => {
      const request = rawRequestText("GET", "/healthz", {});
      await crowd.join(request.repeat(sized(100_000)));
      const wrong = rawRequestText("GET", "/account/1/balance", { authorization: "App wrong" });
      await crowd.join(wrong.repeat(sized(10_000)));
      await crowd.isShownOut();
    });
  });

  await t.test("what the router cannot read, and chunks that nobody reads, are bounded too", async (t) => {
    const crowd = new Crowd(t, rig);
    for (const path of ["/%zz", "/nowhere", "/healthz"]) {
      await rig.withstands(`${path} without end on 8 connections, again and again`, 200, async () => {
        const requests = rawRequestText("GET", path, {}).repeat(sized(20_000));
        for (let round = 0; round < sized(5); round++) await crowd.joinMany(sized(8), requests);
        await crowd.isShownOut();
      });
    }
    const answer = await rawCall(rig.url, rawRequestText("GET", "/%zz", {}));
    assert.deepEqual([answer.status, answer.headers.get("x-content-type-options")], [404, "nosniff"]);
    await rig.withstands("a chunked body of single octets behind a GET", 150, async () => {
      const head = rawRequestText("GET", "/healthz", { "transfer-encoding": "chunked" });
      for (let round = 0; round < sized(4); round++) await crowd.join(`${head}${"1\r\n \r\n".repeat(sized(500_000))}`);
      await crowd.isShownOut();
    });
  });
});

test("requests that are refused take nobody's place, and nobody at work is cut off for strangers", async (t) => {
  const rig = await startRig(t, { ...IMPATIENT, HELIOGRAPH_SERVER_REQUEST_TIMEOUT_MS: "60000" });
  const crowd = new Crowd(t, rig);
  const head = rawRequestText("POST", ADVANCED, { connection: "close", "content-length": "10" });
  const body = JSON.stringify({ messages: [{ from: "Slow", destinations: [{ to: "41793026727" }], text: "x" }] });
  const upload = rawRequestText("POST", ADVANCED, { authorization: KEY, ...JSON_TYPE }, body);
  await rig.withstands(
    "1,900 refused bodies that do not come, from another address and from this one",
    250,
    async () => {
      const slow = await RawClient.connect(rig.url);
      await slow.write(upload.slice(0, -10));
      await crowd.joinMany(sized(1_900), head, { from: () => "127.0.0.2" });
      await crowd.joinMany(sized(1_900), head);
      await crowd.isShownOut();
      await slow.write(upload.slice(-10));
      assert.equal((await slow.answer()).status, 200, "a slow upload of a known caller outlasts them all");
      slow.destroy();
    },
  );
  await rig.withstands("480 slow logins from four addresses", 200, async () => {
    const login = rawRequestText("POST", LOGIN, { ...JSON_TYPE, "content-length": "100" });
    await crowd.joinMany(sized(480), `${login}{`, { from: (index) => `127.0.0.${2 + (index % 4)}` });
    const whole = JSON.stringify({ username: "nobody", password: "a password that has to be checked" });
    for (let time = 0; time < 3; time++) {
      const answers = Array.from({ length: 4 }, () => post(rig, LOGIN, JSON_TYPE, whole));
      for (const status of await Promise.all(answers))
        assert.ok([401, 429].includes(status), `a login that has come whole is answered: ${status}`);
    }
    await crowd.isShownOut();
  });
});

test("a stranger that asks too often is told to wait, and whoever shows who it is is not", async (t) => {
  const rig = await startRig(t, { HELIOGRAPH_LIMITS_STRANGER_REQUESTS_PER_SECOND: "10" });
  const statuses = new Set<number>();
  for (let count = 0; count < 60; count++) {
    const answer = await callService(rig.url, "GET", "/nothing", { authorization: null });
    statuses.add(answer.status);
    if (answer.status === 429) assert.match(answer.headers.get("retry-after")!, /^\d+$/);
    assert.equal((await callService(rig.url, "GET", "/account/1/balance", { authorization: KEY })).status, 200);
  }
  assert.deepEqual([...statuses].sort(), [404, 429]);
});
