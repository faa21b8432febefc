/** Large requests: accounts take turns, few are in work at a time, and whoever would wait for long is told when to come again. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { ApiError } from "../../src/api/errors.ts";
import { LargeRequests } from "../../src/api/large-requests.ts";
import { startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lets requests in, and notes in which order they begin. */
function entrance() {
  const clock = new VirtualClock();
  const large = new LargeRequests(clock);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const enter = (accountId: number, octets = 100_000): Promise<void> =>
    large.enter(accountId, octets).then((leave) => {
      begun.push(accountId);
      ends.push(leave);
    });
  return { clock, enter, begun, ends };
}

test("accounts take turns, and none has more than two in work", async () => {
  const { enter, begun, ends } = entrance();
  for (let count = 0; count < 6; count++) void enter(1);
  await settled();
  assert.deepEqual(begun, [1, 1]);
  void enter(2);
  void enter(3);
  void enter(3);
  await settled();
  assert.deepEqual(begun, [1, 1, 2, 3], "and of all together four are");
  ends[0]!();
  ends[0]!();
  await settled();
  assert.deepEqual(begun, [1, 1, 2, 3, 1], "to end it twice is to end it once");
  ends[2]!();
  await settled();
  assert.deepEqual(begun, [1, 1, 2, 3, 1, 3]);
  for (let at = 0; at < ends.length; at++) {
    ends[at]!();
    await settled();
  }
  assert.equal(begun.length, 9, "all have had their turn");
});

test("whoever would wait for more than ten seconds, by what others took, is told when to come again", async () => {
  const { clock, enter, begun, ends } = entrance();
  void enter(1);
  await settled();
  await clock.advance(2_000);
  ends[0]!();
  const entered = Array.from({ length: 40 }, () =>
    enter(1).then(
      () => null,
      (error: unknown) => error,
    ),
  );
  void entered;
  await settled();
  const refused = await enter(1).then(
    () => null,
    (error: unknown) => error as ApiError,
  );
  assert.ok(refused instanceof ApiError);
  assert.equal(refused.kind.status, 429);
  assert.equal(refused.details.headers?.["retry-after"], "11", "eleven wait, of two seconds each, two at a time");
  await enter(2);
  assert.equal(begun.at(-1), 2, "another account is not refused for it");
});

test("a client that goes away while its large request waits or is in work takes no place for ever", async (t) => {
  const service = await startTestService(t);
  const destinations = Array.from({ length: 4_000 }, (_, index) => ({ to: String(41_790_000_000 + index) }));
  const body = JSON.stringify({ messages: [{ from: "Shop", destinations, text: "x" }] });
  assert.ok(body.length > 65_536);
  const headers = { authorization: "App demo-api-key", "content-type": "application/json" };
  for (let round = 0; round < 6; round++) {
    const gone = new AbortController();
    const sent = fetch(`${service.url}/sms/1/text/advanced`, { method: "POST", headers, body, signal: gone.signal });
    setImmediate(() => gone.abort());
    await sent.catch(() => undefined);
  }
  const { status } = await fetch(`${service.url}/sms/1/text/advanced`, { method: "POST", headers, body });
  assert.equal(status, 200);
});

test("an account that may bring nothing just now is told so before its large body is read", async (t) => {
  const service = await startTestService(t, { settings: { limits: { rejectedPerSecond: 1 } } });
  const destinations = Array.from({ length: 50 }, () => ({ to: "41790000001", messageId: "the same" }));
  const { status } = await service.call("POST", "/sms/1/text/advanced", {
    body: { messages: [{ from: "Shop", destinations, text: "x" }] },
  });
  assert.equal(status, 200);
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  // Nothing of the body ever comes.
  socket.write(
    `POST /sms/1/text/advanced HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: App demo-api-key\r\ncontent-type: application/json\r\ncontent-length: 500000\r\n\r\n`,
  );
  const [answer] = (await once(socket, "data")) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1\.1 429 [\s\S]*retry-after: /i);
});
