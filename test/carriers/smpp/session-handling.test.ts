/** What becomes of the requests that the peer sends: answered when their handler is done, and never more at a time than can be handled. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMANDS } from "../../../src/carriers/smpp/codec/commands.ts";
import { encodePdu } from "../../../src/carriers/smpp/codec/encode.ts";
import type { PduDraft } from "../../../src/carriers/smpp/codec/pdu.ts";
import { statusCode } from "../../../src/carriers/smpp/codec/statuses.ts";
import type { Reply, SessionProblem } from "../../../src/carriers/smpp/session/contract.ts";
import { seededRandom } from "../../../src/runtime/random.ts";
import { until } from "../../support/patience.ts";
import { octets } from "./codec-octets.ts";
import { bothEnds, esmeAgainstPeer, heardBy, smscAgainstPeer } from "./session-support.ts";

function deliver(sequence: number): PduDraft {
  return { command: "deliver_sm", sequence, shortMessage: Buffer.from(`receipt ${sequence}`) };
}

function deliveries(count: number): PduDraft[] {
  return Array.from({ length: count }, (_, index) => deliver(index + 1));
}

test("a receipt is answered once its handler is done, not before, and not in the order in which it came", async (t) => {
  const stored: PromiseWithResolvers<Reply>[] = [];
  const { session, peer } = await esmeAgainstPeer(t, {
    onRequest: () => {
      const one = Promise.withResolvers<Reply>();
      stored.push(one);
      return one.promise;
    },
  });
  peer.send(deliver(1), deliver(2), { command: "enquire_link", sequence: 3 });
  assert.equal((await peer.take("enquire_link_resp")).sequence, 3);
  assert.equal(session.handling, 2);
  stored[1]!.resolve({ command: "deliver_sm_resp" });
  assert.equal((await peer.take("deliver_sm_resp")).sequence, 2);
  stored[0]!.resolve({ command: "deliver_sm_resp", status: statusCode("ESME_RX_T_APPN") });
  const { sequence, status } = await peer.take("deliver_sm_resp");
  assert.deepEqual([sequence, status], [1, statusCode("ESME_RX_T_APPN")]);
  assert.equal(session.handling, 0);
});

test("past the bound nothing more is read, and then everything is, each once", async (t) => {
  const handled: number[] = [];
  const waiting: (() => void)[] = [];
  const { session, peer } = await esmeAgainstPeer(t, {
    maxHandling: 3,
    onRequest: ({ sequence }) => {
      handled.push(sequence);
      return new Promise((resolve) => waiting.push(() => resolve({ command: "deliver_sm_resp" })));
    },
  });
  peer.send(...deliveries(10));
  await until(() => handled.length === 3);
  // What would show that the bound does not hold: the peer's next words get through.
  const { octets: octetsIn } = heardBy(session);
  peer.send({ command: "enquire_link", sequence: 99 });
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([handled.length, heardBy(session).octets, peer.received.length], [3, octetsIn, 0]);
  for (let done = 0; done < 10; done++) {
    await until(() => waiting.length > 0);
    assert.ok(session.handling <= 3);
    waiting.shift()!();
  }
  await until(() => peer.received.length === 11);
  assert.deepEqual(new Set(peer.received.map(({ sequence }) => sequence)), new Set([...handled, 99]));
  assert.deepEqual(handled, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assert.ok(heardBy(session).stops > 0);
});

test("answers that come in one turn go out in one write, also when no more could be handled", async (t) => {
  const stored = Promise.withResolvers<Reply>();
  const { session, peer } = await esmeAgainstPeer(t, { maxHandling: 100, onRequest: () => stored.promise });
  let chunks = 0;
  peer.socket.on("data", () => chunks++);
  peer.send(...deliveries(100));
  await until(() => session.handling === 100);
  stored.resolve({ command: "deliver_sm_resp" });
  await peer.takeMany(100, "deliver_sm_resp");
  assert.equal(chunks, 1);
});

test("requests that are answered at once are not held up by the bound", async (t) => {
  const { session, peer } = await esmeAgainstPeer(t, {
    maxHandling: 3,
    onRequest: () => ({ command: "deliver_sm_resp" }),
  });
  peer.send(...deliveries(1000));
  await peer.takeMany(1000, "deliver_sm_resp");
  assert.equal(heardBy(session).stops, 0);
});

test("a peer that asks and does not read the answers is not read from for ever", async (t) => {
  const { session, peer } = await smscAgainstPeer(t, { maxHandling: 10, idleMs: 1e9 });
  peer.socket.pause();
  const questions = Buffer.concat(Array(4096).fill(encodePdu({ command: "enquire_link", sequence: 1 })));
  let sent = 0;
  while (heardBy(session).stops === 0) {
    peer.socket.write(questions);
    sent += 4096;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { pdus } = heardBy(session);
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(heardBy(session).pdus, pdus);
  peer.socket.resume();
  await until(() => peer.received.length === sent);
});

test("two ends with full windows both ways, and neither quick to answer, do not stop each other for good", async (t) => {
  const slow = async () => {
    await new Promise((resolve) => setImmediate(resolve));
  };
  const { esme, smsc } = await bothEnds(t, {
    esme: {
      window: 50,
      maxHandling: 4,
      onRequest: async () => {
        await slow();
        return { command: "deliver_sm_resp" };
      },
    },
    smsc: {
      window: 50,
      maxHandling: 4,
      onRequest: async () => {
        await slow();
        return { command: "submit_sm_resp" };
      },
    },
  });
  const shortMessage = Buffer.alloc(254, 0x61);
  const run = async (send: () => Promise<{ kind: string }>) => {
    for (let count = 0; count < 40; count++) assert.equal((await send()).kind, "answered");
  };
  await Promise.all(
    Array.from({ length: 50 }, () => [
      run(() => esme.request({ command: "submit_sm", shortMessage })),
      run(() => smsc.request({ command: "deliver_sm", shortMessage })),
    ]).flat(),
  );
});

test("a handler that throws or rejects, or whose answer cannot be encoded, answers with a system error; the session goes on", async (t) => {
  const problems: SessionProblem[] = [];
  const replies: readonly (() => Reply | Promise<Reply>)[] = [
    () => {
      throw new Error("at once");
    },
    async () => {
      throw new Error("later");
    },
    () => ({ command: "deliver_sm_resp", messageId: "x".repeat(100) }),
    () => ({ command: "deliver_sm_resp" }),
  ];
  let next = 0;
  const { peer } = await esmeAgainstPeer(t, {
    onRequest: () => replies[next++]!(),
    onProblem: (problem) => problems.push(problem),
  });
  const statuses: number[] = [];
  for (let sequence = 1; sequence <= replies.length; sequence++) {
    peer.send(deliver(sequence));
    statuses.push((await peer.take("deliver_sm_resp")).status);
  }
  assert.deepEqual(statuses, [8, 8, 8, 0]);
  assert.deepEqual(
    problems.map(({ kind }) => kind),
    ["handler", "handler", "handler"],
  );
});

test("a handler may leave a request without an answer, as a simulated network does", async (t) => {
  const { session, peer } = await esmeAgainstPeer(t, {
    onRequest: ({ sequence }) => (sequence === 1 ? null : { command: "deliver_sm_resp" }),
  });
  peer.send(deliver(1), deliver(2));
  assert.equal((await peer.take("deliver_sm_resp")).sequence, 2);
  assert.equal(session.handling, 0);
});

test("without a handler a request is refused as a command that we do not know", async (t) => {
  const { peer } = await esmeAgainstPeer(t);
  peer.send(deliver(1));
  assert.equal((await peer.take("deliver_sm_resp")).status, statusCode("ESME_RINVCMDID"));
});

test("a handler that is done after the connection has ended disturbs nobody", async (t) => {
  const done = Promise.withResolvers<Reply>();
  const { session, peer } = await esmeAgainstPeer(t, { onRequest: () => done.promise });
  peer.send(deliver(1));
  await until(() => session.handling === 1);
  peer.socket.resetAndDestroy();
  await session.closed;
  done.resolve({ command: "deliver_sm_resp" });
  await until(() => session.handling === 0);
});

test("an alert is taken and not answered", async (t) => {
  const { peer } = await esmeAgainstPeer(t, { onRequest: () => assert.fail("it is no message") });
  peer.send(
    { command: "alert_notification", sequence: 1, sourceAddr: "4178" },
    { command: "enquire_link", sequence: 2 },
  );
  assert.equal((await peer.take("enquire_link_resp")).sequence, 2);
});

test("PDUs torn octet by octet and PDUs glued together are the same to it", async (t) => {
  const { peer } = await esmeAgainstPeer(t, { onRequest: () => ({ command: "deliver_sm_resp" }) });
  const stream = Buffer.concat(deliveries(5).map((draft) => encodePdu(draft)));
  for (const octet of stream) {
    peer.socket.write(Buffer.from([octet]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  peer.send(...deliveries(5));
  const sequences = (await peer.takeMany(10, "deliver_sm_resp")).map(({ sequence }) => sequence);
  assert.deepEqual(sequences, [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]);
});

test("a malformed request and an unknown command are answered and told, and the session goes on", async (t) => {
  const problems: SessionProblem[] = [];
  const { session, peer } = await esmeAgainstPeer(t, { onProblem: (problem) => problems.push(problem) });
  peer.socket.write(octets("00000012 00000005 00000000 00000007 0000"));
  const malformed = await peer.take("deliver_sm_resp");
  assert.deepEqual([malformed.sequence, malformed.status], [7, statusCode("ESME_RINVCMDLEN")]);
  peer.socket.write(octets("00000010 00000111 00000000 00000008 00000010 80000111 00000000 00000008"));
  const unknown = await peer.take("generic_nack");
  assert.deepEqual([unknown.sequence, unknown.status], [8, statusCode("ESME_RINVCMDID")]);
  await until(() => problems.length === 3);
  assert.deepEqual(
    problems.map(({ kind }) => kind),
    ["malformed", "malformed", "malformed"],
  );
  assert.equal(peer.received.length, 0, "an unknown response is not answered");
  assert.equal(session.state, "bound_trx");
});

test("noise from a peer ends its connection or is answered, and does nothing else", async (t) => {
  const random = seededRandom(20_260_105);
  const octet = () => Math.floor(random.next() * 256);
  for (let round = 0; round < 40; round++) {
    const { session, peer } = await smscAgainstPeer(t, {
      onRequest: ({ command }) => ({ command: `${command}_resp` }),
    });
    // Half of them pretend to be PDUs: a length that fits, a command that exists.
    const noise = Buffer.from(Array.from({ length: 16 + octet() }, octet));
    if (round % 2 === 0) {
      noise.writeUInt32BE(noise.length, 0);
      noise.writeUInt32BE(Object.values(COMMANDS)[round % Object.keys(COMMANDS).length]!.id, 4);
    }
    peer.socket.write(noise);
    peer.send({ command: "enquire_link", sequence: 1 });
    await until(() => session.state === "closed" || heardBy(session).pdus > 1 || peer.received.length > 0);
  }
});
