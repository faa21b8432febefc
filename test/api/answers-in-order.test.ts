/** Behind a good send on the same connection comes what cannot be answered, or nothing more: the send, which was accepted and charged, is answered first. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { connect } from "node:tls";
import { newApiKey, storedForm } from "../../src/auth/api-keys.ts";
import { CERTIFICATE } from "../support/certificate.ts";
import { RawClient, rawCall, rawRequestText } from "../support/raw-http.ts";
import { DEMO, eventually, startTestService, type TestService, temporaryDirectory } from "../support/service.ts";

const SINGLE = "/sms/1/text/single";
const JSON_TYPE = { "content-type": "application/json" };

/** Acceptances wait for it. */
let hold = Promise.resolve();
let accepting = 0;

function start(settings = {}): Promise<TestService> {
  return startTestService(
    { after },
    {
      settings: { server: { headersTimeoutMs: 1_000, requestTimeoutMs: 2_000, ...settings } },
      edgeStore: (store) => ({
        ...store,
        accept: async (input) => {
          accepting++;
          await hold;
          return store.accept(input);
        },
      }),
    },
  );
}

const direct = await start();
const proxied = await start({ trustedProxies: "127.0.0.1" });

const key = newApiKey();
for (const { store } of [direct, proxied])
  await store.createApiKey({ ...storedForm(key), accountKey: "DEMO0001", name: null, atMs: 0 });
const loggedIn = async ({ call }: TestService): Promise<string> =>
  `IBSSO ${(await call("POST", "/auth/1/session")).json.token}`;

interface Way {
  readonly service: TestService;
  readonly authorization: string;
  /** Whether the connection knows its caller already. */
  readonly isKnown: boolean;
}

const WAYS: Readonly<Record<string, Way>> = {
  "the short way": { service: direct, authorization: `App ${key}`, isKnown: true },
  "a first request": { service: direct, authorization: `App ${key}`, isKnown: false },
  Basic: { service: direct, authorization: DEMO, isKnown: false },
  "a token": { service: direct, authorization: await loggedIn(direct), isKnown: true },
  "behind a proxy": { service: proxied, authorization: `App ${key}`, isKnown: true },
};

const post = (headers: Record<string, string>, body: string | null = null): string =>
  rawRequestText("POST", SINGLE, { ...JSON_TYPE, ...headers }, body);

/** What comes behind, by the statuses that it may be told with. */
const BEHIND: Readonly<Record<string, readonly [tail: (authorization: string) => string, statuses: number[]]>> = {
  "a broken chunk": [(authorization) => `${post({ authorization, "transfer-encoding": "chunked" })}xyz\r\n`, [400]],
  "a broken chunk of nobody": [() => `${post({ "transfer-encoding": "chunked" })}xyz\r\n`, [400, 401]],
  "chunks of which the second is broken": [
    (authorization) => `${post({ authorization, "transfer-encoding": "chunked" })}1\r\n{\r\nxyz\r\n`,
    [400],
  ],
  "an identity": [(authorization) => `${post({ authorization, "transfer-encoding": "identity" })}{}`, [400, 501]],
  xchunked: [(authorization) => `${post({ authorization, "transfer-encoding": "xchunked" })}0\r\n\r\n`, [400, 501]],
  "two lengths": [(authorization) => post({ authorization, "content-length": "1\r\ncontent-length: 2" }), [400]],
  CONNECT: [() => "CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example:443\r\n\r\nmore", [400]],
  "the preface of HTTP/2": [() => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400]],
  garbage: [() => "GARBAGE\r\n\r\n", [400]],
};

/** Bodies that do not come. */
const LATE: Readonly<Record<string, (authorization: string) => string>> = {
  "a body": (authorization) => `${post({ authorization, "content-length": "9" })}{`,
  "a login": () => rawRequestText("POST", "/auth/1/session", { ...JSON_TYPE, "content-length": "9" }),
};

/** A connection with a good send on it that the store has; `tail` follows it at once. */
async function sending({ service, authorization, isKnown }: Way, tail: string) {
  const client = await RawClient.connect(service.url, { stubborn: true });
  if (isKnown) {
    await client.write(rawRequestText("GET", "/account/1/balance", { authorization }));
    assert.equal((await client.answer()).status, 200);
  }
  const before = accepting;
  let letGo = (): void => undefined;
  hold = new Promise((resolve) => {
    letGo = resolve;
  });
  await client.write(post({ authorization }, '{"to":"41793026727","text":"x"}') + tail);
  await eventually(async () => accepting > before);
  return { client, letGo };
}

/** What came before is with the service when somebody else's requests have been answered. */
async function isRead({ service: { url } }: Way): Promise<void> {
  for (let count = 0; count < 3; count++)
    await rawCall(url, rawRequestText("GET", "/healthz", { connection: "close" }));
}

/** The send's answer, and then the last one. */
async function assertAnswers(client: RawClient, statuses: readonly number[]): Promise<void> {
  assert.equal((await client.answer()).status, 200);
  const last = await client.answer();
  assert.ok(statuses.includes(last.status), `${last.status} ${last.body}`);
  // Nobody knew of a refusal of the head that the body would be broken.
  if (last.status !== 401) assert.equal(last.headers.get("connection"), "close");
  assert.equal(await client.closed(), "");
  client.destroy();
}

for (const [name, way] of Object.entries(WAYS)) {
  test(`${name}: a good send is answered 200, whatever comes behind it:`, async (t) => {
    for (const [says, [tail, statuses]] of Object.entries(BEHIND))
      await t.test(says, async () => {
        const { client, letGo } = await sending(way, tail(way.authorization));
        await isRead(way);
        letGo();
        await assertAnswers(client, statuses);
      });
    await t.test("and nothing but a goodbye", async () => {
      const { client, letGo } = await sending(way, "");
      client.end();
      await isRead(way);
      letGo();
      assert.equal((await client.answer()).status, 200);
      assert.equal(await client.closed(), "");
      client.destroy();
    });
    await t.test("and another good one with a goodbye", async () => {
      const { authorization } = way;
      const { client, letGo } = await sending(way, post({ authorization }, '{"to":"41793026727","text":"y"}'));
      client.end();
      await isRead(way);
      letGo();
      assert.equal((await client.answer()).status, 200);
      assert.equal((await client.answer()).status, 200);
      assert.equal(await client.closed(), "");
      client.destroy();
    });
  });
}

test("a good send that takes long is answered 200, and then whoever leaves its next body out is told that it is late", async (t) => {
  for (const name of ["Basic", "a token", "behind a proxy"])
    for (const [says, tail] of Object.entries(LATE))
      await t.test(`${says}: ${name}`, async () => {
        const way = WAYS[name]!;
        const { client, letGo } = await sending(way, tail(way.authorization));
        // Another one is late as well, and is told so.
        const other = await RawClient.connect(way.service.url);
        await other.write(tail(way.authorization));
        assert.equal((await other.answer()).status, 408);
        other.destroy();
        letGo();
        await assertAnswers(client, [408]);
      });
});

test("over TLS too a goodbye behind a good send does not take its answer away", async (t) => {
  const directory = await temporaryDirectory(t);
  const [tlsCertificate, tlsKey] = [join(directory, "server.crt"), join(directory, "server.key")];
  await writeFile(tlsCertificate, CERTIFICATE.cert);
  await writeFile(tlsKey, CERTIFICATE.key);
  const { url } = await start({ tlsCertificate, tlsKey });
  const socket = connect({ port: Number(new URL(url).port), rejectUnauthorized: false });
  socket.end(post({ authorization: DEMO }, '{"to":"41793026727","text":"x"}'));
  assert.match(await text(socket), /^HTTP\/1.1 200 OK\r\n/);
});
