/** What every engine of the store must do with second factors and with logins in the audit. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Actor } from "../../src/store/port/accounts.ts";
import type { FactorProof, LoginEvent } from "../../src/store/port/credentials.ts";
import { Bench, HOUR, type MakeDatabase, NOW } from "./harness.ts";

const BY: Actor = { name: "CLIENT", address: "192.0.2.1" };
const username = "client";
const ALL = { resellerId: null, kind: null, subject: null, actor: null, beforeId: null, limit: 100 };

export function secondFactorContract(engine: string, make: MakeDatabase): void {
  const begin = (bench: Bench, secret = "SECRET") =>
    bench.store.beginSecondFactor({ username, secret, by: BY, atMs: bench.clock.now() });
  const confirm = (bench: Bench, change: { step?: number; begunAtMs?: number; keepTokenHash?: string } = {}) =>
    bench.store.confirmSecondFactor({
      username,
      begunAtMs: NOW,
      step: 100,
      recoveryHashes: ["one", "two"],
      keepTokenHash: null,
      by: BY,
      atMs: bench.clock.now(),
      ...change,
    });
  const code = (step: number, begunAtMs = NOW): FactorProof => ({ kind: "code", begunAtMs, step });
  const recovery = (codeHash: string): FactorProof => ({ kind: "recovery code", codeHash });
  const use = (bench: Bench, proof: FactorProof) => bench.store.useSecondFactor({ username, proof });
  const inForce = async (bench: Bench) => (await bench.store.findLogin({ username }))?.account.user;
  const sessionUser = (bench: Bench, tokenHash: string) =>
    bench.store.findSession({ tokenHash, nowMs: bench.clock.now(), idleMs: HOUR, maxMs: HOUR });

  describe(`the store on ${engine}: second factors`, () => {
    test("it is in force when it is confirmed, and stays so when the process dies", async (t) => {
      const bench = await Bench.start(t, make);
      assert.equal(await bench.store.secondFactor({ username }), null);
      assert.deepEqual(await inForce(bench), { username, secondFactor: false });
      assert.equal(await begin(bench, "OLD"), "begun");
      assert.equal(await begin(bench), "begun", "whoever has not confirmed begins anew");
      assert.deepEqual(await inForce(bench), { username, secondFactor: false });
      assert.equal(await use(bench, code(1)), "refused", "not yet");
      assert.equal(await confirm(bench, { begunAtMs: NOW - 1 }), "outdated");
      assert.equal(await confirm(bench), "confirmed");
      assert.equal(await confirm(bench), "outdated");
      assert.equal(await begin(bench, "THIEF"), "in force");
      await bench.restart();
      assert.deepEqual(await inForce(bench), { username, secondFactor: true });
      const kept = { secret: "SECRET", begunAtMs: NOW, confirmedAtMs: NOW, lastStep: 100, recoveryCodes: 2 };
      assert.deepEqual(await bench.store.secondFactor({ username }), kept);
      const nobody = { username: "nobody", secret: "S", by: BY, atMs: NOW };
      assert.equal(await bench.store.beginSecondFactor(nobody), "unknown user");
    });

    test("of a code that comes many times at once, one is taken; then only later ones are", async (t) => {
      const bench = await Bench.start(t, make);
      await begin(bench);
      await confirm(bench);
      assert.equal(await use(bench, code(100)), "refused", "it was used to confirm");
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => use(bench, code(101))));
      assert.equal(outcomes.filter((outcome) => outcome === "taken").length, 1);
      assert.deepEqual([await use(bench, code(99)), await use(bench, code(102))], ["refused", "taken"]);
      assert.equal(await use(bench, code(103, NOW - 1)), "refused", "of another secret");
      await bench.restart();
      assert.equal(await use(bench, code(102)), "refused");
    });

    test("a recovery code is taken once", async (t) => {
      const bench = await Bench.start(t, make);
      await begin(bench);
      await confirm(bench);
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => use(bench, recovery("one"))));
      assert.equal(outcomes.filter((outcome) => outcome === "taken").length, 1);
      assert.equal(await use(bench, recovery("three")), "refused");
      assert.equal((await bench.store.secondFactor({ username }))?.recoveryCodes, 1);
    });

    test("it is taken away with a proof, or without one by whoever may", async (t) => {
      const bench = await Bench.start(t, make);
      const remove = (proof: FactorProof | null) =>
        bench.store.removeSecondFactor({ username, proof, by: BY, atMs: NOW });
      assert.equal(await remove(null), "none");
      await begin(bench);
      await confirm(bench);
      assert.equal(await remove(code(100)), "refused");
      assert.equal(await remove(recovery("three")), "refused");
      assert.equal(await remove(recovery("two")), "removed");
      assert.equal(await bench.store.secondFactor({ username }), null);
      await begin(bench);
      assert.equal(await confirm(bench), "confirmed");
      await bench.store.createSession({ ...bench.session("t"), withFactor: true });
      assert.notEqual(await sessionUser(bench, "t"), null);
      assert.equal(await remove(null), "removed");
      assert.equal(await sessionUser(bench, "t"), null, "whoever has the phone has no session any more");
    });

    test("sessions that were opened with a password alone end when it is put in force", async (t) => {
      const bench = await Bench.start(t, make);
      for (const token of ["mine", "other"]) await bench.store.createSession(bench.session(token));
      await begin(bench);
      assert.deepEqual((await sessionUser(bench, "other"))?.user, { username, secondFactor: false });
      await confirm(bench, { keepTokenHash: "mine" });
      // Its password was checked before, and its row is written after.
      await bench.store.createSession(bench.session("late"));
      assert.deepEqual((await sessionUser(bench, "mine"))?.user, { username, secondFactor: true });
      assert.deepEqual([await sessionUser(bench, "other"), await sessionUser(bench, "late")], [null, null]);
    });

    test("what changes who may log in is noticed by a service, and all of it is in the audit without secrets", async (t) => {
      const bench = await Bench.start(t, make);
      const counts = [await bench.store.changeCounter()];
      await begin(bench);
      counts.push(await bench.store.changeCounter());
      await confirm(bench);
      counts.push(await bench.store.changeCounter());
      await use(bench, code(101));
      counts.push(await bench.store.changeCounter());
      await bench.store.removeSecondFactor({ username, proof: code(102), by: BY, atMs: NOW });
      counts.push(await bench.store.changeCounter());
      const [first = 0] = counts;
      assert.deepEqual(counts, [first, first, first + 1, first + 1, first + 2]);
      const entries = await bench.store.audit({ ...ALL, resellerId: bench.resellerId, kind: "secondFactor" });
      assert.deepEqual(
        entries.map(({ action, subject, actor, address }) => [action, subject, actor, address]),
        ["delete", "change", "create"].map((action) => [action, username, BY.name, BY.address]),
      );
      assert.ok(!JSON.stringify(entries).includes("SECRET"));
    });
  });

  describe(`the store on ${engine}: logins in the audit`, () => {
    const event = (change: Partial<LoginEvent> = {}): LoginEvent => ({
      action: "wait",
      username,
      address: "192.0.2.7",
      facts: { counted: "pair" },
      ...change,
    });
    const logins = (bench: Bench, filter = {}) => bench.store.audit({ ...ALL, kind: "login", ...filter });

    test("they are told for their kind alone, to whoever may know of the account", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.store.createSession({ ...bench.session("t"), event: event({ action: "open" }) });
      await bench.store.createSession(bench.session("left out"));
      await bench.store.noteLogin({ ...event({ action: "wrongCode", username: "reseller" }), atMs: NOW + 1 });
      await bench.store.noteLogin({ ...event({ username: "nobody" }), atMs: NOW + 2 });
      await bench.store.noteLogin({ ...event({ username: null, address: "2001:db8::/64" }), atMs: NOW + 3 });
      const all = await logins(bench);
      assert.deepEqual(
        all.map(({ action, kind, actor, subject, atMs }) => [action, kind, actor, subject, atMs - NOW]),
        [
          ["wait", "login", "a stranger", "2001:db8::/64", 3],
          ["wait", "login", "a stranger", "nobody", 2],
          ["wrongCode", "login", "RESELLER", "reseller", 1],
          ["open", "login", "CLIENT", "client", 0],
        ],
      );
      const { id, ...opened } = all[3]!;
      const facts = { before: null, after: '{"counted":"pair"}' };
      const who = { actor: "CLIENT", address: "192.0.2.7", action: "open", kind: "login", subject: "client" };
      assert.deepEqual(opened, { atMs: NOW, ...who, ...facts });
      const subjects = async (filter: object) => (await logins(bench, filter)).map(({ subject }) => subject);
      assert.deepEqual(await subjects({ resellerId: bench.resellerId }), ["client"]);
      assert.deepEqual(await subjects({ subject: "nobody" }), ["nobody"]);
      assert.deepEqual(await subjects({ actor: "RESELLER" }), ["reseller"]);
      assert.deepEqual(await subjects({ limit: 1, beforeId: all[0]!.id }), ["nobody"]);
      assert.deepEqual(await subjects({ beforeId: id }), []);
      assert.deepEqual(
        (await bench.store.audit(ALL)).filter(({ kind }) => kind === "login"),
        [],
      );
    });

    test("a name that a stranger made up is clipped, and has nothing in it that a terminal obeys", async (t) => {
      const bench = await Bench.start(t, make);
      const names = ["\u001b[2Jgone\n\u202e\u0000", "💣".repeat(200), `x${"\ud83d"}`];
      for (const name of names) await bench.store.noteLogin({ ...event({ username: name }), atMs: NOW });
      const subjects = (await logins(bench)).map(({ subject }) => subject);
      assert.deepEqual(subjects.reverse(), ["�[2Jgone���", "💣".repeat(64), "x�"]);
    });

    test("they leave after their time, a page at a time", async (t) => {
      const bench = await Bench.start(t, make);
      for (let index = 0; index < 5; index++) await bench.store.noteLogin({ ...event(), atMs: NOW + index });
      const purge = () => bench.store.purgeLoginEvents({ beforeMs: NOW + 3, limit: 2 });
      assert.deepEqual([await purge(), await purge()], [{ more: true }, { more: false }]);
      assert.deepEqual(
        (await logins(bench)).map(({ atMs }) => atMs - NOW),
        [4, 3],
      );
    });
  });
}
