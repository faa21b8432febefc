/** How two ends come to be bound, and how they do not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { statusCode } from "../../../src/carriers/smpp/codec/statuses.ts";
import { readTlv } from "../../../src/carriers/smpp/codec/tlvs.ts";
import type { SessionProblem } from "../../../src/carriers/smpp/session/contract.ts";
import type { BindKind, SessionState } from "../../../src/carriers/smpp/session/states.ts";
import { until } from "../../support/patience.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";
import {
  ACCEPT,
  bothEnds,
  esmeAgainstPeer,
  makeSession,
  Peer,
  smscAgainstPeer,
  socketPair,
} from "./session-support.ts";

const STATES: readonly [BindKind, SessionState][] = [
  ["transmitter", "bound_tx"],
  ["receiver", "bound_rx"],
  ["transceiver", "bound_trx"],
];

for (const [kind, state] of STATES) {
  test(`a ${kind} is bound at both ends`, async (t) => {
    let bound = 0;
    const count = () => {
      bound++;
    };
    const { esme, smsc } = await bothEnds(t, { kind, esme: { onBound: count }, smsc: { onBound: count } });
    assert.deepEqual([esme.state, smsc.state, bound], [state, state, 2]);
  });
}

test("the bind carries what it was given, and says that we speak 3.4", async (t) => {
  const seen: unknown[] = [];
  await bothEnds(t, {
    smsc: {
      onBind: ({ command, systemId, password, interfaceVersion }) => {
        seen.push([command, systemId, password, interfaceVersion]);
        return ACCEPT();
      },
    },
  });
  assert.deepEqual(seen, [["bind_transceiver", "us", "secret", 0x34]]);
});

test("a bind may be decided in its own time, and refused: the status arrives, and the connection ends behind it", async (t) => {
  const clock = new VirtualClock();
  const [client, server] = await socketPair(t);
  const smsc = makeSession(t, server, {
    role: "smsc",
    clock,
    onBind: async () => ({ kind: "refuse", status: statusCode("ESME_RINVPASWD") }),
  });
  const esme = makeSession(t, client, { role: "esme", clock });
  const answer = await esme.bind("transmitter", { systemId: "us" });
  assert.ok(answer.kind === "answered");
  assert.deepEqual([answer.pdu.command, answer.pdu.status], ["bind_transmitter_resp", 0x0e]);
  assert.deepEqual(await smsc.closed, { why: "bind refused" });
  assert.deepEqual(await esme.closed, { why: "peer closed" });
});

test("where nobody decides about binds, nobody may bind", async (t) => {
  const [client, server] = await socketPair(t);
  const session = makeSession(t, server, { role: "smsc", clock: new VirtualClock() });
  const peer = new Peer(client);
  peer.send({ command: "bind_receiver", sequence: 1 });
  assert.equal((await peer.take("bind_receiver_resp")).status, statusCode("ESME_RBINDFAIL"));
  assert.deepEqual(await session.closed, { why: "bind refused" });
});

test("a decision that fails refuses the bind with a system error, and is told", async (t) => {
  const problems: SessionProblem[] = [];
  const [client, server] = await socketPair(t);
  makeSession(t, server, {
    role: "smsc",
    clock: new VirtualClock(),
    onBind: () => {
      throw new Error("the list of customers is gone");
    },
    onProblem: (problem) => problems.push(problem),
  });
  const peer = new Peer(client);
  peer.send({ command: "bind_receiver", sequence: 1 });
  assert.equal((await peer.take("bind_receiver_resp")).status, statusCode("ESME_RSYSERR"));
  assert.deepEqual(
    problems.map(({ kind }) => kind),
    ["handler"],
  );
});

test("a second bind is refused, while the first is decided and after it", async (t) => {
  const decision = Promise.withResolvers<void>();
  const [client, server] = await socketPair(t);
  const session = makeSession(t, server, {
    role: "smsc",
    clock: new VirtualClock(),
    onBind: async () => {
      await decision.promise;
      return ACCEPT();
    },
  });
  const peer = new Peer(client);
  peer.send({ command: "bind_transceiver", sequence: 1 }, { command: "bind_receiver", sequence: 2 });
  const early = await peer.take("bind_receiver_resp");
  assert.deepEqual([early.sequence, early.status], [2, statusCode("ESME_RALYBND")]);
  decision.resolve();
  assert.equal((await peer.take("bind_transceiver_resp")).status, 0);
  peer.send({ command: "bind_receiver", sequence: 3 });
  assert.equal((await peer.take("bind_receiver_resp")).status, statusCode("ESME_RALYBND"));
  assert.equal(session.state, "bound_trx");
});

test("a peer that says nothing is not waited for longer than the bind may take", async (t) => {
  const clock = new VirtualClock();
  const [, server] = await socketPair(t);
  const session = makeSession(t, server, { role: "smsc", clock, onBind: ACCEPT, bindTimeoutMs: 10_000 });
  await clock.advance(9_999);
  assert.equal(session.state, "open");
  await clock.advance(1);
  assert.deepEqual(await session.closed, { why: "bind timeout" });
});

test("a bind that is never answered ends as unknown", async (t) => {
  const clock = new VirtualClock();
  const [client, server] = await socketPair(t);
  const session = makeSession(t, client, { role: "esme", clock, bindTimeoutMs: 10_000 });
  const peer = new Peer(server);
  const binding = session.bind("transceiver", {});
  await peer.take("bind_transceiver");
  await clock.advance(10_000);
  assert.deepEqual(await binding, { kind: "unknown", sequence: 1 });
  assert.deepEqual(await session.closed, { why: "bind timeout" });
});

test("before the bind we send no request, and answer none", async (t) => {
  const [client, server] = await socketPair(t);
  const session = makeSession(t, client, { role: "esme", clock: new VirtualClock() });
  assert.deepEqual(await session.request({ command: "submit_sm" }), { kind: "unsent", why: "state" });
  assert.equal(session.room, 0);
  const peer = new Peer(server);
  peer.send({ command: "deliver_sm", sequence: 5 });
  const { sequence, status } = await peer.take("deliver_sm_resp");
  assert.deepEqual([sequence, status], [5, statusCode("ESME_RINVBNDSTS")]);
});

test("each end keeps to its role and to the kind of the bind", async (t) => {
  const { esme, smsc } = await bothEnds(t, { kind: "receiver" });
  assert.deepEqual(await esme.request({ command: "submit_sm" }), { kind: "unsent", why: "state" });
  assert.deepEqual(await esme.request({ command: "deliver_sm" }), { kind: "unsent", why: "state" });
  assert.deepEqual(await smsc.request({ command: "submit_sm" }), { kind: "unsent", why: "state" });
  const { peer } = await smscAgainstPeer(t, {}, "receiver");
  peer.send({ command: "submit_sm", sequence: 2 });
  assert.equal((await peer.take("submit_sm_resp")).status, statusCode("ESME_RINVBNDSTS"));
});

test("a receipt to a transmitter is taken, though the standard would not have it", async (t) => {
  const { peer } = await esmeAgainstPeer(t, { onRequest: () => ({ command: "deliver_sm_resp" }) }, "transmitter");
  peer.send({ command: "deliver_sm", sequence: 1 });
  assert.equal((await peer.take("deliver_sm_resp")).status, 0);
});

test("what is glued to the answer of the bind is taken as from a bound peer", async (t) => {
  const [client, server] = await socketPair(t);
  const session = makeSession(t, client, {
    role: "esme",
    clock: new VirtualClock(),
    onRequest: () => ({ command: "deliver_sm_resp" }),
  });
  const peer = new Peer(server);
  const binding = session.bind("receiver", {});
  const { sequence } = await peer.take("bind_receiver");
  peer.send({ command: "bind_receiver_resp", sequence }, { command: "deliver_sm", sequence: 1 });
  assert.equal((await peer.take("deliver_sm_resp")).status, 0);
  assert.equal((await binding).kind, "answered");
});

test("a peer of 3.4 learns our version; an older one gets no optional parameters", async (t) => {
  for (const [interfaceVersion, expected] of [
    [0x34, 0x34],
    [0x50, 0x34],
    [0x33, undefined],
  ] as const) {
    const [client, server] = await socketPair(t);
    makeSession(t, server, { role: "smsc", clock: new VirtualClock(), onBind: ACCEPT });
    const peer = new Peer(client);
    peer.send({ command: "bind_transceiver", sequence: 1, interfaceVersion });
    const { tlvs } = await peer.take("bind_transceiver_resp");
    assert.equal(readTlv(tlvs, "sc_interface_version"), expected);
  }
});

test("an outbind that nobody asked for closes the connection", async (t) => {
  const [client, server] = await socketPair(t);
  const session = makeSession(t, server, { role: "esme", clock: new VirtualClock() });
  const peer = new Peer(client);
  peer.send({ command: "outbind", sequence: 1, systemId: "smsc" });
  assert.deepEqual(await session.closed, { why: "outbind refused" });
});

test("a session on a socket that is closed already says so", async (t) => {
  const clock = new VirtualClock();
  const [client] = await socketPair(t);
  client.destroy();
  await until(() => client.closed);
  const session = makeSession(t, client, { role: "esme", clock });
  assert.deepEqual(await session.closed, { why: "peer closed" });
  assert.deepEqual(await session.bind("transceiver", {}), { kind: "unsent", why: "state" });
});
