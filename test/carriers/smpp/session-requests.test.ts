/** What becomes of the requests that we send: every one of them becomes something, whatever the peer and the network do. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pdu } from "../../../src/carriers/smpp/codec/pdu.ts";
import { makeTlv } from "../../../src/carriers/smpp/codec/tlvs.ts";
import type { SessionAnswer, SessionProblem } from "../../../src/carriers/smpp/session/contract.ts";
import type { SmppSession } from "../../../src/carriers/smpp/session/session.ts";
import { until } from "../../support/patience.ts";
import { bothEnds, esmeAgainstPeer } from "./session-support.ts";

function submit(session: SmppSession, destinationAddr = "41791234567"): Promise<SessionAnswer<"submit_sm">> {
  return session.request({ command: "submit_sm", destinationAddr });
}

function submitMany(session: SmppSession, count: number): Promise<SessionAnswer<"submit_sm">>[] {
  return Array.from({ length: count }, (_, index) => submit(session, String(index)));
}

test("each answer finds its request, in whatever order they come", async (t) => {
  const { session, peer } = await esmeAgainstPeer(t);
  const answers = submitMany(session, 10);
  const requests = await peer.takeMany(10, "submit_sm");
  peer.send(
    ...requests
      .reverse()
      .map(
        ({ sequence, destinationAddr }) =>
          ({ command: "submit_sm_resp", sequence, messageId: destinationAddr }) as const,
      ),
  );
  for (const [index, answer] of (await Promise.all(answers)).entries()) {
    assert.ok(answer.kind === "answered" && answer.pdu.command === "submit_sm_resp");
    assert.equal(answer.pdu.messageId, String(index));
  }
  assert.equal(session.inFlight, 0);
});

test("requests of one turn go out together, in the order in which they were made", async (t) => {
  const { session, peer } = await esmeAgainstPeer(t, { window: 100 });
  let chunks = 0;
  peer.socket.on("data", () => chunks++);
  void submitMany(session, 100);
  const requests = await peer.takeMany(100, "submit_sm");
  assert.deepEqual(
    requests.map(({ destinationAddr }) => Number(destinationAddr)),
    [...requests.keys()],
  );
  assert.ok(chunks < 10, `${chunks} chunks for 100 requests`);
});

test("an answer with an error, and a generic_nack, are answers", async (t) => {
  const { session, peer } = await esmeAgainstPeer(t);
  const answers = submitMany(session, 2);
  const [first, second] = await peer.takeMany(2, "submit_sm");
  peer.send(
    { command: "submit_sm_resp", sequence: first!.sequence, status: 0x58 },
    { command: "generic_nack", sequence: second!.sequence, status: 0x03 },
  );
  const got = (await Promise.all(answers)).map((answer) => {
    assert.ok(answer.kind === "answered");
    return [answer.pdu.command, answer.pdu.status];
  });
  assert.deepEqual(got, [
    ["submit_sm_resp", 0x58],
    ["generic_nack", 0x03],
  ]);
});

test("a request past the window is refused and never sent; room is announced once it is there again", async (t) => {
  let announced = 0;
  const { session, peer } = await esmeAgainstPeer(t, { window: 3, onRoom: () => announced++ });
  assert.deepEqual([session.room, announced], [3, 1]);
  const answers = submitMany(session, 3);
  assert.equal(session.room, 0);
  assert.deepEqual(await submit(session), { kind: "unsent", why: "full" });
  const requests = await peer.takeMany(3, "submit_sm");
  assert.equal(peer.received.length, 0);
  assert.equal(announced, 1);
  peer.send(...requests.map(({ sequence }) => ({ command: "submit_sm_resp", sequence }) as const));
  await Promise.all(answers);
  assert.deepEqual([session.room, announced], [3, 2]);
});

test("whoever refills the window as room is announced sends everything, and never more than the window at a time", async (t) => {
  let unanswered = 0;
  let most = 0;
  let refill = () => {};
  const { esme } = await bothEnds(t, {
    esme: { window: 5, onRoom: () => refill() },
    smsc: {
      maxHandling: 50,
      onRequest: async () => {
        most = Math.max(most, ++unanswered);
        await new Promise((resolve) => setImmediate(resolve));
        unanswered--;
        return { command: "submit_sm_resp" };
      },
    },
  });
  let sent = 0;
  let answered = 0;
  refill = () => {
    while (sent < 1000 && esme.room > 0) {
      sent++;
      void submit(esme).then(({ kind }) => {
        assert.equal(kind, "answered");
        answered++;
      });
    }
  };
  refill();
  await until(() => answered === 1000);
  assert.equal(most, 5);
});

test("a request without an answer in time ends as unknown, those after it at their own time", async (t) => {
  const { session, peer, clock } = await esmeAgainstPeer(t, { requestTimeoutMs: 30_000, idleMs: 1e9 });
  const first = submit(session);
  await clock.advance(10_000);
  const second = submit(session);
  const [, { sequence }] = (await peer.takeMany(2, "submit_sm")) as [Pdu<"submit_sm">, Pdu<"submit_sm">];
  await clock.advance(19_999);
  assert.equal(session.inFlight, 2);
  await clock.advance(1);
  assert.equal((await first).kind, "unknown");
  assert.equal(session.inFlight, 1);
  await clock.advance(9_999);
  peer.send({ command: "submit_sm_resp", sequence, messageId: "in time" });
  const answer = await second;
  assert.ok(answer.kind === "answered" && answer.pdu.command === "submit_sm_resp");
  assert.equal(session.state, "bound_trx", "the connection goes on");
});

test("an answer after its time, a second answer and one to nothing are told, and change nothing", async (t) => {
  const strays: unknown[] = [];
  const { session, peer, clock } = await esmeAgainstPeer(t, {
    requestTimeoutMs: 1000,
    onStrayAnswer: ({ sequence, command }) => strays.push([command, sequence]),
  });
  const late = submit(session);
  const { sequence: lateSequence } = await peer.take("submit_sm");
  await clock.advance(1000);
  assert.deepEqual(await late, { kind: "unknown", sequence: lateSequence });
  const once = submit(session);
  const { sequence } = await peer.take("submit_sm");
  peer.send(
    { command: "submit_sm_resp", sequence: lateSequence },
    { command: "submit_sm_resp", sequence },
    { command: "submit_sm_resp", sequence },
    { command: "generic_nack", sequence: 0, status: 2 },
  );
  assert.equal((await once).kind, "answered");
  await until(() => strays.length === 3);
  assert.deepEqual(strays, [
    ["submit_sm_resp", lateSequence],
    ["submit_sm_resp", sequence],
    ["generic_nack", 0],
  ]);
});

test("a request that is long without an answer keeps its place while many others pass it", async (t) => {
  const { session, peer } = await esmeAgainstPeer(t, { window: 2 });
  const long = submit(session, "long");
  const { sequence: longSequence } = await peer.take("submit_sm");
  const sequences = new Set([longSequence]);
  for (let count = 0; count < 100; count++) {
    const short = submit(session, "short");
    const { sequence } = await peer.take("submit_sm");
    sequences.add(sequence);
    peer.send({ command: "submit_sm_resp", sequence, messageId: "short" });
    const answer = await short;
    assert.ok(answer.kind === "answered" && answer.pdu.sequence === sequence);
  }
  assert.equal(sequences.size, 101, "no two have one sequence number");
  peer.send({ command: "submit_sm_resp", sequence: longSequence, messageId: "long" });
  const answer = await long;
  assert.ok(answer.kind === "answered" && answer.pdu.command === "submit_sm_resp" && answer.pdu.messageId === "long");
});

test("a response to another command is no answer, even with the right sequence number", async (t) => {
  const { session, peer } = await esmeAgainstPeer(t);
  const answer = submit(session);
  const { sequence } = await peer.take("submit_sm");
  peer.send({ command: "query_sm_resp", sequence }, { command: "submit_sm_resp", sequence, messageId: "a1" });
  const got = await answer;
  assert.ok(got.kind === "answered" && got.pdu.command === "submit_sm_resp");
});

const DISCONNECTS: Readonly<Record<string, (peer: { socket: import("node:net").Socket }) => void>> = {
  "by a reset": ({ socket }) => socket.resetAndDestroy(),
  "by its end": ({ socket }) => socket.end(),
};

for (const [how, disconnect] of Object.entries(DISCONNECTS)) {
  test(`when the connection dies in mid-window ${how}, every request without an answer is unknown, the others are answered`, async (t) => {
    const { session, peer } = await esmeAgainstPeer(t, { window: 100 });
    const answers = submitMany(session, 100);
    const requests = await peer.takeMany(100, "submit_sm");
    peer.send(...requests.slice(0, 40).map(({ sequence }) => ({ command: "submit_sm_resp", sequence }) as const));
    await until(() => session.inFlight === 60);
    disconnect(peer);
    const kinds = (await Promise.all(answers)).map(({ kind }) => kind);
    assert.deepEqual(kinds, [...Array(40).fill("answered"), ...Array(60).fill("unknown")]);
    const { why } = await session.closed;
    assert.ok(why === "connection failed" || why === "peer closed", why);
    assert.deepEqual(await submit(session), { kind: "unsent", why: "state" });
    assert.equal(session.send({ command: "enquire_link" }), false);
  });
}

test("a close of our own leaves no request in silence either, and can be repeated", async (t) => {
  let closed = 0;
  const { session, peer } = await esmeAgainstPeer(t, { onClose: () => closed++ });
  const answers = submitMany(session, 5);
  await peer.takeMany(5, "submit_sm");
  assert.deepEqual(await session.close(), { why: "closed" });
  for (const { kind } of await Promise.all(answers)) assert.equal(kind, "unknown");
  assert.deepEqual(await session.close(), { why: "closed" });
  assert.deepEqual(await session.unbind(), { why: "closed" });
  assert.equal(closed, 1);
});

test("what cannot be encoded is not sent, is told, and takes no place in the window", async (t) => {
  const problems: SessionProblem[] = [];
  const { session, peer } = await esmeAgainstPeer(t, { window: 1, onProblem: (problem) => problems.push(problem) });
  assert.deepEqual(await submit(session, "4".repeat(50)), { kind: "unsent", why: "unencodable" });
  assert.deepEqual(
    problems.map(({ kind }) => kind),
    ["unencodable"],
  );
  assert.equal(session.room, 1);
  void submit(session, "41");
  assert.equal((await peer.take("submit_sm")).destinationAddr, "41");
});

test("a peer that does not read makes room vanish, and reading brings it back; nothing is lost", async (t) => {
  let announced = 0;
  const count = 400;
  const { session, peer } = await esmeAgainstPeer(t, { window: count, onRoom: () => announced++, idleMs: 1e9 });
  peer.socket.pause();
  const payload = makeTlv("message_payload", Buffer.alloc(60_000, 0x61));
  const answers: Promise<SessionAnswer<"data_sm">>[] = [];
  while (session.room > 0) {
    answers.push(session.request({ command: "data_sm", tlvs: [payload] }));
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(answers.length < count, "the socket is full before the window is");
  const before = announced;
  peer.socket.resume();
  const requests = await peer.takeMany(answers.length, "data_sm");
  await until(() => session.room > 0);
  assert.equal(announced, before + 1);
  peer.send(...requests.map(({ sequence }) => ({ command: "data_sm_resp", sequence }) as const));
  for (const { kind } of await Promise.all(answers)) assert.equal(kind, "answered");
});

test("every request that is answered has its own command's answer", async (t) => {
  const { esme } = await bothEnds(t, {
    smsc: { onRequest: ({ command }) => ({ command: `${command}_resp` }) },
  });
  const drafts = [
    "submit_sm",
    "submit_multi",
    "data_sm",
    "query_sm",
    "cancel_sm",
    "replace_sm",
    "enquire_link",
  ] as const;
  for (const command of drafts) {
    const answer = await esme.request({ command });
    assert.ok(answer.kind === "answered");
    assert.equal(answer.pdu.command, `${command}_resp`);
  }
});
