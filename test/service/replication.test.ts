/** What doctor, metrics and console say of the database's standbys: with a real standby that follows, confirms, is away, and cannot be seen. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { replicationMetrics } from "../../src/api/scrape.ts";
import { type Finding, Findings } from "../../src/doctor/finding.ts";
import { lookAtPostgres } from "../../src/doctor/postgres.ts";
import { readSettings } from "../../src/settings/settings.ts";
import {
  LAG_STEPS,
  replicationFacts,
  replicationInWords,
  type ServerFacts,
  type StandbyFacts,
} from "../../src/store/port/replication.ts";
import { metricOf } from "../support/exposition.ts";
import { good, OPERATOR } from "../support/operator.ts";
import { eventually, startTestService, type TestService } from "../support/service.ts";
import { Pair } from "../support/standby.ts";

/** What the doctor says of this, looking by itself. */
async function told(url: string, about = "replication"): Promise<Finding | undefined> {
  const found = new Findings("store");
  await lookAtPostgres(readSettings({ environment: {}, flags: { store: { url } } }), found);
  return found.all.find((finding) => finding.about === about);
}

const said = async (url: string, state: Finding["state"], says: RegExp): Promise<Finding> =>
  eventually(async () => {
    const finding = await told(url);
    return finding?.state === state && says.test(finding.says) && finding;
  });

async function until(
  service: TestService,
  name: string,
  labels: Record<string, string>,
  value: number,
): Promise<string> {
  return eventually(async () => {
    const { text } = await service.call("GET", "/metrics", { authorization: null });
    return metricOf(text, name, labels) === value && text;
  });
}

const pair = await Pair.start({ after }, { synchronous: false });
await pair.follow();

test("a user who may not see the standbys is told so, and what to grant; and a standby is not taken for the primary", {
  timeout: 120_000,
}, async () => {
  await pair.onPrimary("CREATE ROLE plain LOGIN PASSWORD 'plain'");
  const own = new URL(pair.direct("primary"));
  own.username = own.password = "plain";
  const hidden = await said(
    own.href,
    "warning",
    /^the database may be asynchronous: no commit waits for a standby; of 1 standby the user plain sees only/,
  );
  assert.equal(hidden.mend, "let this user see them: GRANT pg_monitor TO plain");
  await pair.onPrimary("GRANT pg_monitor TO plain");
  await said(own.href, "warning", /^the database is asynchronous: standby/);

  await said(pair.url("hosts"), "warning", /^the database is asynchronous: standby/);
  const url = pair.direct("standby");
  assert.equal(await told(url), undefined);
  assert.equal((await told(url, "writes"))?.says, "this database is a standby, which takes no writes");
});

test("a standby that follows, confirms or is away is told with what a failover would lose", {
  timeout: 240_000,
}, async (t) => {
  const url = pair.direct("primary");
  const service = await startTestService(t, { settings: { store: { url } } });
  const mode = (name: string) => until(service, "heliograph_store_replication", { mode: name }, 1);
  const setNames = (names: string) =>
    pair.onPrimary(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`, "SELECT pg_reload_conf()");

  const follows = await said(url, "warning", /^the database is asynchronous: standby \(behind: /);
  assert.match(follows.says, /A failover now would lose what the nearest lacks: \d+ (bytes|kB)/);
  assert.match(follows.mend!, /^name standbys in synchronous_standby_names/);
  const page = await mode("asynchronous");
  assert.equal(metricOf(page, "heliograph_store_standbys", { state: "following" }), 1);
  for (const step of LAG_STEPS) assert.ok(metricOf(page, "heliograph_store_standby_lag_bytes", { step }) >= 0, step);
  assert.ok(metricOf(page, "heliograph_store_failover_loss_bytes") >= 0);
  const { replication } = good(await service.call("GET", "/console/1/nodes", { authorization: OPERATOR }));
  assert.match(replication, /^the database is asynchronous: standby/);

  await setNames("*");
  const confirms = await said(
    url,
    "ok",
    /^the database is synchronous: a commit waits for 1 standby: standby \(behind: /,
  );
  assert.match(confirms.says, /loses nothing that was acknowledged$/);
  const safe = await mode("synchronous");
  assert.equal(metricOf(safe, "heliograph_store_standbys", { state: "confirming" }), 1);
  assert.equal(metricOf(safe, "heliograph_store_failover_loss_bytes"), 0);

  await pair.onPrimary("ALTER ROLE CURRENT_USER SET synchronous_commit = local");
  const unheeded = await said(url, "warning", /for "\*" no commit waits with synchronous_commit = local/);
  assert.equal(unheeded.mend, "set synchronous_commit = on");
  await pair.onPrimary("ALTER ROLE CURRENT_USER RESET synchronous_commit");

  pair.part();
  const waits = await said(
    url,
    "wrong",
    /^the database waits in vain: a commit waits for 1 standby of "\*", and too few stream: none is connected/,
  );
  assert.match(waits.mend!, /^start the standby/);

  await setNames("");
  const alone = await said(url, "ok", /^the database is alone: it sends its log to no standby/);
  assert.match(alone.says, /Unless what is beneath it keeps a copy/, "a provider's storage is not seen");
  const expected = await told(pair.url("hosts"));
  assert.deepEqual([expected?.state, expected?.says], ["warning", alone.says], "its URL says that there is another");
});

const server: ServerFacts = {
  isStandby: false,
  isReadOnly: false,
  names: "",
  commit: "on",
  user: "heliograph",
  standbys: [],
  hidden: 0,
};

function standby(name: string, octets: number | null, confirms = false, state = "streaming"): StandbyFacts {
  const lag = { octets, ms: octets };
  return { name, state, confirms, lag: { written: lag, flushed: lag, replayed: lag } };
}

test("as many standbys have to confirm as synchronous_standby_names says", () => {
  const two = [standby("a", 0, true), standby("b", 0, true)];
  for (const [names, needed] of [
    ["a", 1],
    ["a, b", 1],
    ["*", 1],
    ["2 (a, b)", 2],
    ["FIRST 2 (a, b)", 2],
    ["any 3 (a, b, c)", 3],
  ] as const) {
    const facts = replicationFacts({ ...server, names, standbys: two });
    assert.deepEqual([facts.needed, facts.mode], [needed, needed <= 2 ? "synchronous" : "waiting"], names);
  }
  for (const commit of ["off", "local"]) {
    const { mode, needed } = replicationFacts({ ...server, names: "a", commit, standbys: two });
    assert.deepEqual([mode, needed], ["asynchronous", 0], commit);
  }
  const catchingUp = replicationFacts({ ...server, names: "a", standbys: [standby("a", 5_000_000, false, "catchup")] });
  assert.equal(catchingUp.mode, "waiting");
  assert.match(replicationInWords(catchingUp), /too few stream: a \(catchup, behind: 5000 kB, 5000\.000 s\)/);
});

test("what a failover would lose is what the nearest lacks, and is not made up where nobody knows", () => {
  const near = replicationFacts({ ...server, standbys: [standby("a", 900), standby("b", 40), standby("c", null)] });
  assert.equal(near.loss.octets, 40);
  const silent = replicationFacts({ ...server, standbys: [standby("c", null)] });
  assert.match(replicationInWords(silent), /would lose what the nearest lacks: it is not known how far$/);
  for (const facts of [silent, replicationFacts({ ...server, hidden: 1 }), replicationFacts(server)])
    assert.ok(!replicationMetrics(facts).some(({ name }) => name === "heliograph_store_failover_loss_bytes"));
  const memory = replicationFacts({ ...server, names: "a", commit: "remote_write", standbys: [standby("a", 0, true)] });
  assert.match(replicationInWords(memory), /to have it in memory \(remote_write\)/);
  const unseen = replicationFacts({ ...server, names: "a", hidden: 1 });
  assert.match(
    replicationInWords(unseen),
    /^the database is synchronous: .* of 1 standby the user heliograph sees only the connection/,
  );
});
