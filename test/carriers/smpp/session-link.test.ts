/** How a connection is watched, and how it ends: the dead peer, the goodbye, and whoever does not keep to it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reply } from "../../../src/carriers/smpp/session/contract.ts";
import { until } from "../../support/patience.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";
import { bothEnds, esmeAgainstPeer, heardBy, makeSession, smscAgainstPeer, socketPair } from "./session-support.ts";

const IDLE = { idleMs: 30_000, probeTimeoutMs: 10_000 };

test("a peer that has nothing to say is asked whether it is there, and its answer is enough", async (t) => {
  const onStrayAnswer = () => assert.fail("it is the answer to what was asked");
  const { session, peer, clock } = await esmeAgainstPeer(t, { ...IDLE, onStrayAnswer });
  await clock.advance(29_999);
  assert.equal(peer.received.length, 0);
  for (let round = 1; round <= 3; round++) {
    await clock.advance(round === 1 ? 1 : 30_000);
    const { sequence } = await peer.take("enquire_link");
    const { octets } = heardBy(session);
    peer.send({ command: "enquire_link_resp", sequence });
    await until(() => heardBy(session).octets > octets);
    assert.equal(peer.received.length, 0);
  }
  assert.equal(session.state, "bound_trx");
});

test("a peer that no longer answers is taken for dead, and what is in flight is unknown", async (t) => {
  const { session, peer, clock } = await esmeAgainstPeer(t, { ...IDLE, requestTimeoutMs: 1e9 });
  const answer = session.request({ command: "submit_sm" });
  await peer.take("submit_sm");
  await clock.advance(30_000);
  await peer.take("enquire_link");
  await clock.advance(9_999);
  assert.equal(session.state, "bound_trx");
  await clock.advance(1);
  assert.equal((await answer).kind, "unknown");
  assert.deepEqual(await session.closed, { why: "silent" });
});

test("a window that is full does not keep the peer from being asked", async (t) => {
  const { session, peer, clock } = await esmeAgainstPeer(t, { ...IDLE, window: 1, requestTimeoutMs: 1e9 });
  void session.request({ command: "submit_sm" });
  await peer.take("submit_sm");
  await clock.advance(30_000);
  await peer.take("enquire_link");
});

test("any octet is a sign of life, even of a PDU that is not yet whole", async (t) => {
  const { session, peer, clock } = await esmeAgainstPeer(t, IDLE);
  for (let seconds = 0; seconds < 300; seconds += 20) {
    await clock.advance(20_000);
    const { octets } = heardBy(session);
    peer.socket.write(Buffer.alloc(1));
    await until(() => heardBy(session).octets > octets);
  }
  assert.equal(peer.received.length, 0);
});

test("the SMSC's end watches too, and both ends answer", async (t) => {
  const { esme, smsc, clock } = await bothEnds(t, { esme: IDLE, smsc: { ...IDLE, idleMs: 20_000 } });
  for (let minute = 0; minute < 10; minute++) {
    await clock.advance(20_000);
    await until(() => [esme, smsc].every((end) => heardBy(end).pdus === minute + 2));
  }
  assert.deepEqual([esme.state, smsc.state], ["bound_trx", "bound_trx"]);
  assert.equal(heardBy(smsc).pdus, 11, "the bind and ten answers: the other end has heard enough to ask nothing");
});

test("while we are behind and do not read, the peer's silence is not held against it", async (t) => {
  const done = Promise.withResolvers<Reply>();
  const { session, peer, clock } = await esmeAgainstPeer(t, { ...IDLE, maxHandling: 1, onRequest: () => done.promise });
  peer.send({ command: "deliver_sm", sequence: 1 });
  await until(() => heardBy(session).stops === 1);
  await clock.advance(600_000);
  assert.equal(session.state, "bound_trx");
  done.resolve({ command: "deliver_sm_resp" });
  await peer.take("deliver_sm_resp");
  await clock.advance(30_000);
  await peer.take("enquire_link");
  await clock.advance(10_000);
  assert.deepEqual(await session.closed, { why: "silent" });
});

test("unbind waits for the answers that are under way on both sides, takes nothing new, and closes both ends", async (t) => {
  const stored = Promise.withResolvers<Reply>();
  const { session, peer } = await esmeAgainstPeer(t, { onRequest: () => stored.promise });
  const submitted = session.request({ command: "submit_sm" });
  const { sequence } = await peer.take("submit_sm");
  peer.send({ command: "deliver_sm", sequence: 1 });
  await until(() => session.handling === 1);
  const closed = session.unbind();
  assert.equal(session.state, "unbinding");
  assert.equal(session.room, 0);
  assert.deepEqual(await session.request({ command: "submit_sm" }), { kind: "unsent", why: "state" });
  peer.send({ command: "submit_sm_resp", sequence, messageId: "a1" });
  assert.equal((await submitted).kind, "answered");
  stored.resolve({ command: "deliver_sm_resp" });
  await peer.take("deliver_sm_resp");
  const goodbye = await peer.take("unbind");
  // What crosses our goodbye is still answered.
  peer.send({ command: "deliver_sm", sequence: 2 }, { command: "unbind_resp", sequence: goodbye.sequence });
  assert.equal((await peer.take("deliver_sm_resp")).sequence, 2);
  assert.deepEqual(await closed, { why: "unbound" });
  await until(() => peer.ended);
});

test("our own two ends part in peace, whoever begins", async (t) => {
  const { esme, smsc } = await bothEnds(t);
  assert.deepEqual(await esme.unbind(), { why: "unbound" });
  assert.deepEqual(await smsc.closed, { why: "peer unbound" });
  const other = await bothEnds(t);
  assert.deepEqual(await other.smsc.unbind(), { why: "unbound" });
  assert.deepEqual(await other.esme.closed, { why: "peer unbound" });
});

test("two ends that say goodbye at once both get away", async (t) => {
  const { esme, smsc } = await bothEnds(t);
  const reasons = await Promise.all([esme.unbind(), smsc.unbind()]);
  for (const { why } of reasons) assert.ok(why === "unbound" || why === "peer unbound", why);
});

test("the peer's goodbye is answered after what it has asked; what we have asked is unknown", async (t) => {
  const stored = Promise.withResolvers<Reply>();
  const { session, peer } = await esmeAgainstPeer(t, { onRequest: () => stored.promise });
  const submitted = session.request({ command: "submit_sm" });
  await peer.take("submit_sm");
  peer.send({ command: "deliver_sm", sequence: 1 }, { command: "unbind", sequence: 2 });
  await until(() => session.state === "unbinding");
  stored.resolve({ command: "deliver_sm_resp" });
  await peer.take("deliver_sm_resp");
  assert.equal((await peer.take("unbind_resp")).sequence, 2);
  assert.equal((await submitted).kind, "unknown");
  assert.deepEqual(await session.closed, { why: "peer unbound" });
});

test("a goodbye that is not answered does not last for ever, nor do answers that do not come", async (t) => {
  const { session, peer, clock } = await esmeAgainstPeer(t, { unbindTimeoutMs: 5000 });
  const submitted = session.request({ command: "submit_sm" });
  await peer.take("submit_sm");
  const closed = session.unbind();
  await clock.advance(5000);
  assert.equal((await submitted).kind, "unknown");
  assert.deepEqual(await closed, { why: "unbind timeout" });
});

test("a handler that never comes to its end does not hold up the peer's goodbye for ever", async (t) => {
  const { session, peer, clock } = await esmeAgainstPeer(t, {
    unbindTimeoutMs: 5000,
    onRequest: () => new Promise(() => {}),
  });
  peer.send({ command: "deliver_sm", sequence: 1 }, { command: "unbind", sequence: 2 });
  await until(() => session.state === "unbinding");
  await clock.advance(5000);
  assert.deepEqual(await session.closed, { why: "unbind timeout" });
});

test("a peer that keeps its side open after the goodbye is cut off", async (t) => {
  const { session, peer, clock } = await smscAgainstPeer(t, { unbindTimeoutMs: 5000 });
  peer.socket.allowHalfOpen = true;
  peer.send({ command: "unbind", sequence: 2 });
  await peer.take("unbind_resp");
  await until(() => peer.ended);
  assert.equal(session.state, "closed");
  await clock.advance(5000);
  assert.deepEqual(await session.closed, { why: "peer unbound" });
});

test("unbind before the bind closes at once", async (t) => {
  const [client] = await socketPair(t);
  const session = makeSession(t, client, { role: "esme", clock: new VirtualClock() });
  assert.deepEqual(await session.unbind(), { why: "closed" });
});
