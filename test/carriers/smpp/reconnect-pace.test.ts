/** How often a carrier that is not bound is asked: one that is slow, one that refuses, and one of whose hosts only some answer. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { SmppCarrier } from "../../../src/carriers/smpp/carrier.ts";
import { type CommandStatus, statusCode } from "../../../src/carriers/smpp/codec/statuses.ts";
import type { SmppProfile } from "../../../src/carriers/smpp/profile.ts";
import { LASTING_MS } from "../../../src/carriers/smpp/retry-wait.ts";
import { carrierState } from "../../../src/carriers/state.ts";
import { Lease } from "../../../src/node/lease.ts";
import { silentLog } from "../../../src/runtime/log.ts";
import { seededRandom } from "../../../src/runtime/random.ts";
import { closedPort } from "../../support/ports.ts";
import { CERTIFICATE } from "./session-certificate.ts";
import { TimedHosts } from "./timed-hosts.ts";

const MINUTE_MS = 60_000;
/** After a wrong login chance leaves at least half of a minute's wait. */
const WRONG_LOGINS_IN_TEN_MINUTES = 21;
/** Waits of 1, 2, 4, 8, 16 and 32 seconds, then a minute each, of which chance leaves at least half. */
const REFUSALS_IN_TEN_MINUTES = 27;
const refusing = (status: CommandStatus) => ({ answerAfterMs: 0, status: () => statusCode(status) });

async function startCarrier(
  t: TestContext,
  { clock }: TimedHosts,
  ports: readonly number[],
  change: Partial<SmppProfile> = {},
) {
  const hosts = ports.map((port) => `127.0.0.1:${port}`);
  const profile: SmppProfile = { id: "acme", kind: "smpp", hosts, systemId: "me", password: "secret", ...change };
  const carrier = new SmppCarrier(profile, { clock, random: seededRandom(1), log: silentLog, lease: Lease.endless() });
  await carrier.start();
  t.after(async () => {
    // Whoever is bound says goodbye, and nobody here answers.
    const stopped = carrier.stop();
    await clock.advance(MINUTE_MS);
    await stopped;
  });
  return carrier;
}

test("a carrier that takes five seconds for the connection and nearly ten for the bind is bound by its first try", async (t) => {
  const hosts = new TimedHosts(t);
  const slow = await hosts.add({ tlsAfterMs: 5_000, answerAfterMs: 9_500 });
  const carrier = await startCarrier(t, hosts, [slow.port], { tls: true, tlsCaPem: CERTIFICATE });
  await hosts.clock.advance(14_400);
  assert.equal(carrier.isUp(), false);
  await hosts.clock.advance(200);
  assert.equal(carrier.isUp(), true);
  assert.equal(hosts.open, 1, "the other tries are given up");
  assert.ok(hosts.mostOpen <= 4, `${hosts.mostOpen} tries at a time`);
});

test("a carrier whose binds are answered after 25 seconds is bound if its profile has the time, whatever answerSeconds says", async (t) => {
  const hosts = new TimedHosts(t);
  const slow = await hosts.add({ answerAfterMs: 25_000 });
  const carrier = await startCarrier(t, hosts, [slow.port], { bindSeconds: 30, answerSeconds: 5 });
  const hasty = await startCarrier(t, hosts, [slow.port], { answerSeconds: 600 });
  await hosts.clock.advance(24_900);
  assert.equal(carrier.isUp(), false);
  await hosts.clock.advance(200);
  assert.equal(carrier.isUp(), true);
  await hosts.clock.advance(MINUTE_MS);
  assert.equal(hasty.isUp(), false, "ten seconds are for a bind unless the profile says more");
});

test("enquire_link has its own time to be answered, by the profile", async (t) => {
  const hosts = new TimedHosts(t);
  // It answers the bind, and nothing else.
  const deaf = await hosts.add({ answerAfterMs: 0 });
  const carrier = await startCarrier(t, hosts, [deaf.port], { enquireLinkSeconds: 30, enquireLinkAnswerSeconds: 40 });
  await hosts.clock.advance(1_000);
  assert.equal(carrier.isUp(), true);
  await hosts.clock.advance(68_000);
  assert.equal(deaf.bindsMs.length, 1, "39 seconds after the enquire_link it is still waited for");
  await hosts.clock.advance(MINUTE_MS);
  assert.ok(deaf.bindsMs.length > 1, "then the connection is made anew");
});

test("a carrier that never answers has four tries at a time and no more, still gets a new one every few seconds, and a stop leaves none", async (t) => {
  const hosts = new TimedHosts(t);
  const silent = await hosts.add();
  const carrier = await startCarrier(t, hosts, [silent.port]);
  await hosts.clock.advance(5 * MINUTE_MS);
  assert.ok(hosts.mostOpen > 1 && hosts.mostOpen <= 4, `${hosts.mostOpen} tries at a time`);
  const gaps = silent.bindsMs.slice(1).map((atMs, index) => atMs - silent.bindsMs[index]!);
  assert.ok(Math.max(...gaps) <= 5_000, `${Math.max(...gaps)} ms without a new try`);
  await carrier.stop();
  assert.equal(hosts.open, 0);
});

test("with sixteen hosts that never answer there are sixteen tries at a time", async (t) => {
  const hosts = new TimedHosts(t);
  const ports = [];
  for (let count = 0; count < 16; count++) ports.push((await hosts.add()).port);
  await startCarrier(t, hosts, ports);
  await hosts.clock.advance(MINUTE_MS);
  assert.equal(hosts.mostOpen, 16);
});

for (const [name, answerAfterMs] of [
  ["at once", 0],
  ["late", 1_500],
  ["after nine seconds", 9_000],
] as const) {
  test(`a wrong password that one host tells ${name} slows the connection, whatever the other host does`, async (t) => {
    const hosts = new TimedHosts(t);
    const wrong = await hosts.add({ answerAfterMs, status: () => statusCode("ESME_RINVPASWD") });
    const carrier = await startCarrier(t, hosts, [wrong.port, await closedPort()]);
    await hosts.clock.advance(10 * MINUTE_MS);
    const { length } = wrong.bindsMs;
    // Those that were begun before the first answer came.
    const early = wrong.bindsMs.filter((atMs) => atMs < wrong.bindsMs[0]! + answerAfterMs).length;
    assert.ok(length - early <= WRONG_LOGINS_IN_TEN_MINUTES, `${length} wrong logins, ${early} before an answer`);
    assert.ok(early <= 4 && length >= 9, `${length} wrong logins, ${early} before an answer`);
    const connections = carrier.connections();
    const { reason } = carrierState({ id: carrier.id, isUp: carrier.isUp(), sinceMs: 0, connections });
    assert.equal(reason, `127.0.0.1:${wrong.port}: the bind was refused: ESME_RINVPASWD`);
  });
}

test("a host that does not know the login is left alone while the other one comes and goes, which is bound again at once", async (t) => {
  const hosts = new TimedHosts(t);
  const wrong = await hosts.add(refusing("ESME_RINVPASWD"));
  const good = await hosts.add({ answerAfterMs: 1_500 });
  const carrier = await startCarrier(t, hosts, [wrong.port, good.port]);
  for (let times = 0; times < 20; times++) {
    for (let steps = 0; !carrier.isUp() && steps < 700; steps++) await hosts.clock.advance(100);
    assert.equal(carrier.isUp(), true);
    // Long enough to be a good one: whoever drops each bind at once is asked less.
    await hosts.clock.advance(LASTING_MS);
    hosts.cut();
    await hosts.clock.advance(1);
    assert.equal(carrier.isUp(), false);
  }
  const tookMs = good.bindsMs.at(-1)! - good.bindsMs[0]!;
  assert.ok(tookMs <= 20 * (LASTING_MS + 5_000), `${tookMs} ms for twenty times`);
  assert.ok(wrong.bindsMs.length <= 2 + tookMs / 24_000, `${wrong.bindsMs.length} wrong logins in ${tookMs} ms`);
});

for (const status of ["ESME_RBINDFAIL", "ESME_RTHROTTLED", "ESME_RSYSERR"] as const) {
  test(`a carrier that answers ${status} is asked less and less, by all its hosts together`, async (t) => {
    const hosts = new TimedHosts(t);
    const one = await hosts.add(refusing(status));
    const other = await hosts.add(refusing(status));
    await startCarrier(t, hosts, [one.port, other.port]);
    await hosts.clock.advance(10 * MINUTE_MS);
    const count = one.bindsMs.length + other.bindsMs.length;
    assert.ok(count <= REFUSALS_IN_TEN_MINUTES && count >= 12, `${count} binds in ten minutes`);
    assert.ok(Math.abs(one.bindsMs.length - other.bindsMs.length) <= 1, "in turn");
  });
}

test("a carrier whose refusals come late is asked less and less too", async (t) => {
  const hosts = new TimedHosts(t);
  const slow = await hosts.add({ answerAfterMs: 5_000, status: () => statusCode("ESME_RBINDFAIL") });
  await startCarrier(t, hosts, [slow.port, await closedPort()]);
  await hosts.clock.advance(10 * MINUTE_MS);
  const { length } = slow.bindsMs;
  assert.ok(length <= REFUSALS_IN_TEN_MINUTES && length >= 10, `${length} binds in ten minutes`);
});

test("a carrier that refuses and then takes the bind has its next refusals counted from the first", async (t) => {
  const hosts = new TimedHosts(t);
  let isOpen = false;
  const carrying = await hosts.add({
    answerAfterMs: 0,
    status: () => (isOpen ? 0 : statusCode("ESME_RBINDFAIL")),
  });
  const carrier = await startCarrier(t, hosts, [carrying.port]);
  await hosts.clock.advance(10 * MINUTE_MS);
  isOpen = true;
  await hosts.clock.advance(MINUTE_MS);
  assert.equal(carrier.isUp(), true);
  isOpen = false;
  hosts.cut();
  await hosts.clock.advance(4_000);
  assert.equal(carrier.isUp(), false);
  isOpen = true;
  await hosts.clock.advance(4_000);
  assert.equal(carrier.isUp(), true);
});

test("an old connection of ours that the carrier still has is waited out in short steps for a minute, and in longer ones then", async (t) => {
  const hosts = new TimedHosts(t);
  const startMs = hosts.clock.now();
  const full = await hosts.add(refusing("ESME_RALYBND"));
  await startCarrier(t, hosts, [full.port]);
  await hosts.clock.advance(10 * MINUTE_MS);
  const early = full.bindsMs.filter((atMs) => atMs < startMs + MINUTE_MS);
  const gaps = early.slice(1).map((atMs, index) => atMs - early[index]!);
  assert.ok(Math.max(...gaps) <= 2_000, `${Math.max(...gaps)} ms between two binds`);
  const later = full.bindsMs.length - early.length;
  assert.ok(later <= REFUSALS_IN_TEN_MINUTES && later >= 9, `${later} binds after the first minute`);
});
