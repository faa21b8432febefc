/** A carrier that was lost and comes back: how soon it is bound again, whatever its other hosts do meanwhile. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { SmppCarrier } from "../../../src/carriers/smpp/carrier.ts";
import type { SmppProfile } from "../../../src/carriers/smpp/profile.ts";
import { carrierState } from "../../../src/carriers/state.ts";
import { Lease } from "../../../src/node/lease.ts";
import { type Clock, systemClock } from "../../../src/runtime/clock.ts";
import { silentLog } from "../../../src/runtime/log.ts";
import { seededRandom } from "../../../src/runtime/random.ts";
import type { Smsc } from "../../../src/smsc/smsc.ts";
import { eventually } from "../../support/service.ts";
import { startSmsc } from "../../support/smsc.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";
import { listen, Peer } from "./session-support.ts";

const MINUTE_MS = 60_000;

async function startCarrier(
  t: TestContext,
  clock: Clock,
  ports: readonly number[],
  change: Partial<SmppProfile> = {},
  log = silentLog,
) {
  const hosts = ports.map((port) => `127.0.0.1:${port}`);
  const profile: SmppProfile = { id: "acme", kind: "smpp", hosts, systemId: "me", password: "secret", ...change };
  const carrier = new SmppCarrier(profile, { clock, random: seededRandom(1), log, lease: Lease.endless() });
  await carrier.start();
  t.after(() => carrier.stop());
  return carrier;
}

const linkOf = (carrier: SmppCarrier) => carrier.connections().links[0]!;
const stateOf = (carrier: SmppCarrier) =>
  carrierState({ id: carrier.id, isUp: carrier.isUp(), sinceMs: 0, connections: carrier.connections() });

/** Lets virtual time pass, up to so much, until the carrier is bound. A try on the wire takes none of it. Gives how long that was. */
async function passUntilUp(carrier: SmppCarrier, clock: VirtualClock, limitMs: number): Promise<number> {
  const startedMs = clock.now();
  while (!carrier.isUp() && clock.now() - startedMs < limitMs) {
    const wait = await eventually(async () => (carrier.isUp() ? { nextTryMs: clock.now() } : waiting(carrier)));
    const leftMs = Math.min(wait.nextTryMs, startedMs + limitMs) - clock.now();
    await clock.advance(Math.max(1, Math.ceil(leftMs)));
  }
  return clock.now() - startedMs;
}

function waiting(carrier: SmppCarrier): { nextTryMs: number } | null {
  const { nextTryMs } = linkOf(carrier);
  return nextTryMs === null ? null : { nextTryMs };
}

async function goDown(smsc: Smsc, carrier: SmppCarrier): Promise<void> {
  smsc.disconnect();
  await smsc.stop();
  await eventually(async () => !carrier.isUp());
}

test("a carrier that comes back within ten minutes is bound within five seconds, whenever that is", async (t) => {
  const clock = new VirtualClock();
  let smsc = await startSmsc(t);
  const { port } = smsc;
  const carrier = await startCarrier(t, clock, [port]);
  await eventually(async () => carrier.isUp());
  for (const awayMs of [0, 3_000, 45_000, 5 * MINUTE_MS, 9.9 * MINUTE_MS]) {
    await goDown(smsc, carrier);
    await passUntilUp(carrier, clock, awayMs);
    assert.equal(carrier.isUp(), false);
    smsc = await startSmsc(t, { port });
    const tookMs = await passUntilUp(carrier, clock, MINUTE_MS);
    assert.ok(tookMs <= 5_000, `${tookMs} ms after ${awayMs} ms`);
  }
});

test("one that is away for longer is tried less and less, but never less often than its profile says", async (t) => {
  const clock = new VirtualClock();
  const smsc = await startSmsc(t);
  const { port } = smsc;
  const carrier = await startCarrier(t, clock, [port], { reconnectSeconds: 30 });
  await eventually(async () => carrier.isUp());
  await goDown(smsc, carrier);
  await passUntilUp(carrier, clock, 30 * MINUTE_MS);
  for (let tries = 0; tries < 3; tries++) {
    const { nextTryMs } = await eventually(async () => waiting(carrier));
    const waitMs = nextTryMs - clock.now();
    assert.ok(waitMs <= 30_000, `${waitMs} ms`);
    await passUntilUp(carrier, clock, waitMs);
  }
  const state = stateOf(carrier);
  assert.match(state.reason ?? "", new RegExp(`^127.0.0.1:${port}: nobody listens there`));
  await startSmsc(t, { port });
  // Whoever asks for it does not wait, and begins anew.
  carrier.connectNow();
  await eventually(async () => carrier.isUp());
});

test("a host that takes the connection and never answers the bind keeps no other host waiting, nor itself", async (t) => {
  const peers: Peer[] = [];
  const silent = await listen(t, (socket) => void peers.push(new Peer(socket)));
  const smsc = await startSmsc(t);
  // An answer would be waited for much longer than this test does.
  const both = await startCarrier(t, systemClock, [silent, smsc.port], { answerSeconds: 600 });
  await eventually(async () => both.isUp());
  assert.equal(linkOf(both).host, `127.0.0.1:${smsc.port}`);
  await both.stop();
  for (const { socket } of peers.splice(0)) socket.destroy();

  const alone = await startCarrier(t, systemClock, [silent], { answerSeconds: 600, reconnectSeconds: 1 });
  await eventually(async () => peers.length >= 2);
  assert.match(linkOf(alone).problem ?? "", /: no answer so far$/);
  const last = peers.at(-1)!;
  const { sequence } = await last.take("bind_transceiver");
  last.send({ command: "bind_transceiver_resp", sequence, systemId: "network" });
  await eventually(async () => alone.isUp());
  assert.deepEqual(stateOf(alone).state, "bound");
  await alone.stop();
  for (const { socket } of peers) socket.destroy();
});

test("a bind that is answered late still counts, and the tries beside it are given up", async (t) => {
  const peers: Peer[] = [];
  const slow = await listen(t, (socket) => void peers.push(new Peer(socket)));
  const carrier = await startCarrier(t, systemClock, [slow], { answerSeconds: 600, reconnectSeconds: 1 });
  await eventually(async () => peers.length >= 2);
  const [first] = peers as [Peer];
  const { sequence } = await first.take("bind_transceiver");
  first.send({ command: "bind_transceiver_resp", sequence, systemId: "network" });
  await eventually(async () => carrier.isUp());
  await eventually(async () => peers.slice(1).every(({ ended }) => ended));
  assert.equal(first.socket.destroyed, false);
  for (const { socket } of peers) socket.destroy();
});

test("a carrier that refuses name or password is told so, and is not asked again and again", async (t) => {
  const clock = new VirtualClock();
  const smsc = await startSmsc(t, { systemId: "me", password: "another" });
  const carrier = await startCarrier(t, clock, [smsc.port]);
  const { nextTryMs } = await eventually(async () => waiting(carrier));
  assert.ok(nextTryMs - clock.now() >= 30_000, "not before half a minute");
  const { state, reason } = stateOf(carrier);
  assert.equal(state, "refused");
  assert.equal(reason, `127.0.0.1:${smsc.port}: the bind was refused: ESME_RINVPASWD`);
});

test("a carrier that takes every bind and drops it at once is asked less and less, until a connection lasts", async (t) => {
  const clock = new VirtualClock();
  const smsc = await startSmsc(t);
  const carrier = await startCarrier(t, clock, [smsc.port]);
  await eventually(async () => carrier.isUp());
  const waits: number[] = [];
  for (let drops = 1; drops <= 9; drops++) {
    smsc.disconnect();
    const { nextTryMs } = await eventually(async () => waiting(carrier));
    waits.push(nextTryMs - clock.now());
    assert.match(linkOf(carrier).problem ?? "", drops === 1 ? /^\S+: / : new RegExp(`, ${drops} times in a row$`));
    await passUntilUp(carrier, clock, 2 * MINUTE_MS);
  }
  // Chance takes up to half of each wait off.
  for (const waitMs of waits.slice(0, 2)) assert.ok(waitMs <= 1_000, `${waitMs} ms`);
  assert.ok(waits[5]! >= 8_000, `${waits[5]} ms`);
  assert.ok(waits[8]! >= 30_000 && waits[8]! <= 60_000, `${waits[8]} ms`);

  await clock.advance(10_000);
  smsc.disconnect();
  const { nextTryMs } = await eventually(async () => waiting(carrier));
  assert.ok(nextTryMs - clock.now() <= 1_000, "a connection that has lasted is a good one");
});

test("why a carrier cannot be reached is said again when the reason is a new one, however many lines there were", async (t) => {
  const clock = new VirtualClock();
  const smsc = await startSmsc(t);
  const { port } = smsc;
  const lines: { readonly why?: string }[] = [];
  const log = { ...silentLog, warn: (facts: object) => void lines.push(facts) } as typeof silentLog;
  const carrier = await startCarrier(t, clock, [port], { reconnectSeconds: 1 }, log);
  await eventually(async () => carrier.isUp());
  await goDown(smsc, carrier);
  const whys = () => lines.flatMap(({ why }) => why ?? []).filter((why) => why !== "lost");
  await passUntilUp(carrier, clock, 50_000);
  const before = whys().filter((why) => why.includes("ECONNREFUSED")).length;
  assert.equal(before, 10, "of one reason ten lines a minute are enough");
  await startSmsc(t, { port, systemId: "me", password: "another" });
  await passUntilUp(carrier, clock, 5_000);
  assert.deepEqual(
    [...new Set(whys().filter((why) => why.startsWith("bind refused")))],
    ["bind refused: ESME_RINVPASWD"],
  );
});
