/** Requests to a provider over real sockets: how they prove who we are, which way they go, and how little an answer can do to us. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { test } from "node:test";
import pino from "pino";
import type { HttpProfile } from "../../../src/carriers/http/profile.ts";
import type { Log } from "../../../src/runtime/log.ts";
import { CERTIFICATE as RECEIVER } from "../../support/certificate.ts";
import { until } from "../../support/patience.ts";
import { closedPort } from "../../support/ports.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";
import { CERTIFICATE, KEY } from "../smpp/session-certificate.ts";
import { carrierFor, json, listening, PLAIN, startServer, taking } from "./provider-server.ts";

const TAKEN = { kind: "accepted", carrierMessageId: "taken" };
const HOUR_SECONDS = 3_600;
type SendRules = NonNullable<HttpProfile["send"]>["rules"];

const OAUTH: Partial<HttpProfile> = {
  username: "client",
  password: "client-secret",
  auth: { kind: "oauth2", secret: "{password}", tokenUrl: "/token", scope: "sms" },
};

test("a token is had once for all, anew before it ends, and anew when the provider no longer takes it", async (t) => {
  const clock = new VirtualClock();
  let tokens = 0;
  let isRevoked = false;
  const server = await startServer(t, ({ path, headers, body }, response) => {
    if (path === "/token") {
      const form = Object.fromEntries(new URLSearchParams(body));
      assert.deepEqual(form, {
        grant_type: "client_credentials",
        client_id: "client",
        client_secret: "client-secret",
        scope: "sms",
      });
      json(response, 200, { access_token: `token-${++tokens}`, token_type: "Bearer", expires_in: HOUR_SECONDS });
    } else if (isRevoked || headers.authorization !== `Bearer token-${tokens}`) {
      isRevoked = false;
      json(response, 401, {});
    } else json(response, 200, { id: "taken" });
  });
  const { submit } = carrierFor(t, { ...OAUTH, url: `http://127.0.0.1:${server.port}` }, { clock });
  assert.deepEqual(await Promise.all([submit(), submit(), submit()]), [TAKEN, TAKEN, TAKEN]);
  assert.equal(tokens, 1);
  await clock.advance((HOUR_SECONDS - 31) * 1_000);
  assert.deepEqual([await submit(), tokens], [TAKEN, 1]);
  await clock.advance(2_000);
  assert.deepEqual(await Promise.all([submit(), submit(), submit()]), [TAKEN, TAKEN, TAKEN]);
  assert.equal(tokens, 2, "one for all, half a minute before its end");
  isRevoked = true;
  assert.deepEqual([await submit(), tokens], [TAKEN, 3]);
});

test("without a token no message is written, and none is refused", async (t) => {
  let status = 500;
  const server = await startServer(t, ({ path }, response) => {
    if (path !== "/token") json(response, 200, { id: "taken" });
    else json(response, status, { access_token: "late" });
  });
  const clock = new VirtualClock();
  const { carrier, submit } = carrierFor(t, { ...OAUTH, url: `http://127.0.0.1:${server.port}` }, { clock });
  assert.equal((await submit()).kind, "later");
  assert.equal(carrier.isUp(), false);
  assert.match(carrier.connections().links[0]!.problem!, /^no token: HTTP 500$/);
  assert.deepEqual(
    server.asked.map(({ path }) => path),
    ["/token"],
  );
  status = 401;
  await clock.advance(1_000);
  assert.equal((await submit()).kind, "later");
  assert.match(carrier.connections().links[0]!.problem!, /^the login was refused: HTTP 401$/);
  status = 200;
  await clock.advance(2_000);
  assert.equal(carrier.isUp(), true);
  assert.deepEqual(await submit(), TAKEN);
});

const MANY = { most: 2, at: "messages", item: { to: "{to}", key: "{key}" }, answers: "messages" };
for (const [takes, many] of [
  ["one message in a request", undefined],
  ["many messages in a request", MANY],
] as const) {
  test(`a provider that takes ${takes} is tried the more rarely the longer it is away, and a login that it refused stays refused meanwhile`, async (t) => {
    const clock = new VirtualClock();
    const send = { ...PLAIN.send!, ...(many === undefined ? {} : { many }) };
    const away = carrierFor(t, { send, url: `http://127.0.0.1:${await closedPort()}` }, { clock });
    const waits: unknown[] = [];
    for (let tries = 0; tries < 8; tries++) {
      const answers = await Promise.all([away.submit(), away.submit()]);
      waits.push(...answers.map((answer) => "retryAfterMs" in answer && answer.retryAfterMs));
      await clock.advance(60_000);
    }
    const doubled = [1, 2, 4, 8, 16, 32, 60, 60];
    assert.deepEqual(
      waits,
      doubled.flatMap((seconds) => [seconds * 1_000, seconds * 1_000]),
    );

    const server = createServer((request, response) => {
      request.resume();
      json(response, 401, {});
    });
    await listening(t, server);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const refusing = carrierFor(t, { send, url }, { clock });
    const seen: boolean[] = [];
    refusing.carrier.listen({ onChange: () => seen.push(refusing.carrier.isUp()) });
    await refusing.submit();
    assert.equal(seen.at(-1), false, "who hears of changes knows that it is down");
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await clock.advance(60_000);
    await refusing.submit();
    const [link] = refusing.carrier.connections().links;
    assert.doesNotMatch(link!.problem!, /login/, "the last that is known is that nobody is there");
    assert.equal(link!.isRefused, true);
  });
}

test("a request is signed by HMAC over what the description says", async (t) => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 5, 12));
  const server = await startServer(t, taking);
  const { submit } = carrierFor(
    t,
    {
      url: `http://127.0.0.1:${server.port}/api`,
      apiKey: "signing-key",
      auth: {
        kind: "hmac",
        secret: "{apiKey}",
        name: "X-Sign",
        timestampName: "X-Time",
        over: "{method}\n{path}\n{timestamp}\n{body}",
        algorithm: "sha512",
        encoding: "base64",
      },
    },
    { clock },
  );
  assert.deepEqual(await submit("Grüße"), TAKEN);
  const [{ headers, body }] = server.asked as [(typeof server.asked)[number]];
  const time = String(Date.UTC(2026, 0, 5, 12) / 1_000);
  assert.equal(headers["x-time"], time);
  const signature = createHmac("sha512", "signing-key").update(`POST\n/api/send\n${time}\n${body}`).digest("base64");
  assert.equal(headers["x-sign"], signature);
  assert.deepEqual(JSON.parse(body), { to: "41793026727", text: "Grüße" });
});

test("basic, bearer, header and query say who we are in their own places", async (t) => {
  const server = await startServer(t, taking);
  const own = { url: `http://127.0.0.1:${server.port}`, username: "user:1", password: "pä ss&=", apiKey: "key&=" };
  for (const auth of [
    { kind: "basic", secret: "{password}", username: "{username}" },
    { kind: "bearer", secret: "{apiKey}" },
    { kind: "header", name: "X-Key", secret: "Key {apiKey}" },
    { kind: "query", name: "k", secret: "{apiKey}" },
  ] as const)
    assert.deepEqual(await carrierFor(t, { ...own, auth }).submit(), TAKEN);
  const [basic, bearer, header, query] = server.asked;
  assert.equal(basic!.headers.authorization, `Basic ${Buffer.from("user:1:pä ss&=").toString("base64")}`);
  assert.equal(bearer!.headers.authorization, "Bearer key&=");
  assert.equal(header!.headers["x-key"], "Key key&=");
  assert.equal(query!.path, "/send?k=key%26%3D");
});

test("a proxy is asked for every connection and looks names up itself; without it nothing goes", async (t) => {
  const server = await startServer(t, taking);
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer();
  proxy.on("connect", ({ url }, near: Socket) => {
    targets.push(url!);
    const far = connect(server.port, "127.0.0.1", () => {
      near.write("HTTP/1.1 200 OK\r\n\r\n");
      near.pipe(far).pipe(near);
    });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
    }
  });
  await listening(t, proxy);
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  // A name that nobody here can look up.
  const url = "http://api.provider.invalid:8088";
  const { submit } = carrierFor(t, { url, proxy: proxyUrl });
  assert.deepEqual([await submit(), await submit()], [TAKEN, TAKEN]);
  assert.deepEqual([...new Set(targets)], ["api.provider.invalid:8088"]);
  assert.equal(server.asked[0]!.headers.host, "api.provider.invalid:8088");

  const gone = carrierFor(t, {
    url: `http://127.0.0.1:${server.port}`,
    proxy: `http://127.0.0.1:${await closedPort()}`,
  });
  assert.equal((await gone.submit()).kind, "later", "not unknown: nothing was written");
  assert.equal(server.asked.length, 2);
});

test("a certificate is checked, for who signed it and for its name", async (t) => {
  const server = await startServer(t, taking, { key: KEY, cert: CERTIFICATE });
  const other = await startServer(t, taking, { key: RECEIVER.key, cert: RECEIVER.cert });
  const submitTo = async (profile: Partial<HttpProfile>) => {
    const { carrier, submit } = carrierFor(t, profile);
    return [await submit(), carrier.connections().links[0]!.problem] as const;
  };
  const [trusted] = await submitTo({ url: `https://127.0.0.1:${server.port}`, tlsCaPem: CERTIFICATE });
  assert.deepEqual(trusted, TAKEN);
  const [unknown, why] = await submitTo({ url: `https://127.0.0.1:${server.port}` });
  assert.deepEqual([unknown.kind, why], ["later", "certificate not trusted"]);
  const [misnamed, whyNot] = await submitTo({ url: `https://127.0.0.1:${other.port}`, tlsCaPem: RECEIVER.cert });
  assert.deepEqual([misnamed.kind, whyNot], ["later", "certificate of another name"]);
  assert.deepEqual([server.asked.length, other.asked.length], [1, 0]);
});

test("no redirect is followed, wherever it leads", async (t) => {
  const other = await startServer(t, taking);
  for (const status of [301, 302, 303, 307, 308]) {
    const server = await startServer(t, (_, response) =>
      json(response, status, {}, { location: `http://127.0.0.1:${other.port}/send` }),
    );
    const { submit } = carrierFor(t, { url: `http://127.0.0.1:${server.port}`, apiKey: "secret" });
    assert.equal((await submit()).kind, "refused", String(status));
  }
  assert.deepEqual(other.asked, []);
});

test("a page of receipts leads to no other host", async (t) => {
  const other = await startServer(t, taking);
  const server = await startServer(t, (_, response) =>
    json(response, 200, { results: [], next: `http://127.0.0.1:${other.port}/next` }),
  );
  const clock = new VirtualClock();
  const receipts: HttpProfile["receipts"] = {
    id: "id",
    status: "s",
    outcomes: {},
    at: "results",
    poll: { path: "/r", next: "next" },
  };
  const { carrier } = carrierFor(t, { url: `http://127.0.0.1:${server.port}`, receipts }, { clock });
  await carrier.start();
  await clock.advance(10_000);
  await until(() => server.asked.length > 0);
  const stopped = carrier.stop();
  await clock.passWhile(stopped);
  assert.deepEqual(other.asked, []);
});

test("an answer that has no end costs no more than its bound, and leaves the outcome unknown", async (t) => {
  let written = 0;
  const server = await startServer(t, (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const piece = Buffer.alloc(65_536, "x");
    const pour = (): void => {
      while (!response.destroyed && response.write(piece)) written += piece.length;
    };
    response.on("drain", () => {
      written += piece.length;
      pour();
    });
    pour();
  });
  const { submit } = carrierFor(t, { url: `http://127.0.0.1:${server.port}` });
  assert.deepEqual(await submit(), { kind: "unknown" });
  assert.ok(written < 32 * 1_048_576, `${written} octets were poured`);
});

test("an answer that does not come, or comes a drop at a time, is given up after its time", async (t) => {
  for (const isBegun of [false, true]) {
    const clock = new VirtualClock();
    const server = await startServer(t, (_, response) => {
      if (isBegun) response.writeHead(200, { "content-type": "application/json" }).write('{"id": "ta');
    });
    const { submit } = carrierFor(t, { url: `http://127.0.0.1:${server.port}`, answerSeconds: 7 }, { clock });
    let said: unknown = null;
    const submitted = submit().then((submission) => {
      said = submission;
    });
    await until(() => server.asked.length === 1 && clock.timersPending > 0);
    if (!isBegun) {
      await clock.advance(6_999);
      assert.equal(said, null);
    }
    await clock.passWhile(submitted);
    assert.deepEqual(said, { kind: "unknown" });
  }
});

test("a provider that says when to come again is heeded, in seconds or as a date, up to an hour", async (t) => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 5, 12));
  let after = "7";
  const server = await startServer(t, (_, response) => json(response, 429, {}, { "retry-after": after }));
  const { submit } = carrierFor(t, { url: `http://127.0.0.1:${server.port}` }, { clock });
  for (const [written, waitMs] of [
    ["7", 7_000],
    ["Mon, 05 Jan 2026 12:00:30 GMT", 30_000],
    ["999999999", 3_600_000],
    ["soon", 1_000],
  ] as const) {
    after = written;
    assert.deepEqual(await submit(), { kind: "later", retryAfterMs: waitMs, status: "HTTP 429" });
  }
});

test("whatever goes wrong, no line of the log has a secret in it", async (t) => {
  const lines: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) }) as Log;
  const secrets = { password: "pass-word-1", apiKey: "api-key-1", callbackSecret: "callback-1" };
  const server = await startServer(t, ({ path, headers }, response, request) => {
    if (path.startsWith("/cut")) request.socket.destroy();
    else json(response, 500, { said: headers.authorization, path });
  });
  const auths = [
    { kind: "basic", secret: "{password}" },
    { kind: "bearer", secret: "{apiKey}" },
    { kind: "query", secret: "{apiKey}" },
    { kind: "header", name: "x", secret: "{callbackSecret}" },
    { kind: "oauth2", secret: "{password}" },
  ] as const;
  const away = `http://127.0.0.1:${await closedPort()}`;
  const poll = { path: "/cut", query: { key: "{apiKey}" }, everySeconds: 1 };
  const receipts: HttpProfile["receipts"] = { id: "id", status: "s", outcomes: {}, poll };
  for (const auth of auths)
    for (const url of [`http://127.0.0.1:${server.port}`, `http://127.0.0.1:${server.port}/cut`, away]) {
      const clock = new VirtualClock();
      const { carrier, submit } = carrierFor(
        t,
        { ...PLAIN, ...secrets, receipts, url, username: "user", auth },
        { clock, log },
      );
      await carrier.start();
      await submit();
      await clock.advance(1_000);
      await clock.passWhile(carrier.stop());
      lines.push(JSON.stringify(carrier.connections()));
    }
  assert.ok(
    lines.some((line) => line.includes("cannot be reached")) && lines.some((line) => line.includes("a poll failed")),
  );
  const basic = Buffer.from("user:pass-word-1").toString("base64");
  for (const line of lines)
    for (const secret of [...Object.values(secrets), basic]) assert.ok(!line.includes(secret), line);
});

test("a carrier's stop waits for what is under way", async (t) => {
  const server = await startServer(t, taking);
  const { carrier, submit } = carrierFor(t, { url: `http://127.0.0.1:${server.port}` });
  const submitted = submit();
  await carrier.stop();
  assert.deepEqual(await submitted, TAKEN);
  assert.ok((await submit()).kind === "later");
});

test("a provider that takes a GET and answers in XML, or in a text, is a description and no more", async (t) => {
  let answer = '<reply><sms id="x-1"><state>0</state></sms></reply>';
  const server = await startServer(t, (_, response) => response.end(answer));
  const rules: SendRules = [{ where: { "reply.sms.state": "0" }, is: "accepted" }, { is: "refused" }];
  const request = { method: "GET", path: "/http.php", query: { to: "{to}", msg: "{text}" } } as const;
  const url = `http://127.0.0.1:${server.port}`;
  const inXml = carrierFor(t, { url, send: { ...request, id: "reply.sms.@id", rules } });
  assert.deepEqual(await inXml.submit("Grüße & more"), { kind: "accepted", carrierMessageId: "x-1" });
  assert.deepEqual([server.asked[0]!.method, server.asked[0]!.body], ["GET", ""]);
  const { searchParams } = new URL(server.asked[0]!.path, url);
  assert.deepEqual(
    [...searchParams],
    [
      ["to", "41793026727"],
      ["msg", "Grüße & more"],
    ],
  );
  answer = "<reply><sms><state>7</state></sms></reply>";
  assert.equal((await inXml.submit()).kind, "refused");
  answer = "<reply><sms><state>0</state>";
  assert.deepEqual(await inXml.submit(), { kind: "unknown" });
  const inText = carrierFor(t, {
    url,
    send: {
      ...request,
      id: "id",
      patterns: ["OK|{id}", "ERR|{code}"],
      code: "code",
      rules: [{ where: { code: "9" }, is: "refused" }],
    },
  });
  answer = "OK|4711\n";
  assert.deepEqual(await inText.submit(), { kind: "accepted", carrierMessageId: "4711" });
  answer = "ERR|9";
  assert.equal((await inText.submit()).kind, "refused");
  answer = "something else";
  assert.deepEqual(await inText.submit(), { kind: "unknown" });
});
