/** How much of logins goes into the audit, under a virtual clock. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LoginLog } from "../../src/auth/login-log.ts";
import { silentLog } from "../../src/runtime/log.ts";
import type { LoginEvent } from "../../src/store/port/credentials.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

function start() {
  const clock = new VirtualClock();
  const written: LoginEvent[] = [];
  const store = { noteLogin: async (event: LoginEvent) => void written.push(event) };
  const log = new LoginLog({ store, clock, log: silentLog });
  const leftOut = () => log.metrics()[0]!.series[0]!.value;
  const wait = (index: number) =>
    log.wrong({ action: "wait", username: `user ${index}`, address: `192.0.2.${index % 256}`, facts: {} });
  return { clock, log, written, leftOut, wait };
}

test("strangers do not fill the audit: of a thousand waits in a minute sixty are written, and the others counted", async () => {
  const { clock, written, leftOut, wait } = start();
  for (let index = 0; index < 1_000; index++) wait(index);
  assert.deepEqual([written.length, leftOut()], [60, 940]);
  await clock.advance(60_000);
  wait(0);
  assert.deepEqual([written.length, leftOut()], [61, 940]);
});

test("a program that logs in for every request is written ten times a minute, and keeps nobody else out", async () => {
  const { clock, log, leftOut, wait, written } = start();
  const open = (username: string) => log.opened(username, "192.0.2.1", null) !== null;
  const outcomes = Array.from({ length: 100 }, () => open("program"));
  assert.equal(outcomes.filter(Boolean).length, 10);
  assert.deepEqual([open("somebody"), leftOut()], [true, 90]);
  wait(1);
  assert.equal(written.length, 1);
  await clock.advance(60_000);
  assert.ok(open("program"));
  const event = log.opened("somebody", "192.0.2.1", "recovery code");
  assert.deepEqual(event?.facts, { with: "password and recovery code" });
});

test("a store that does not answer keeps nobody waiting", async () => {
  const clock = new VirtualClock();
  const noteLogin = () => Promise.reject(new Error("no store"));
  const log = new LoginLog({ store: { noteLogin }, clock, log: silentLog });
  log.wrong({ action: "wait", username: null, address: "192.0.2.1", facts: {} });
  await clock.advance(1);
});
