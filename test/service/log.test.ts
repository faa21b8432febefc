/** What the log says, through the real program: names and no row numbers, a line for everything at debug, and no stacks for what is nobody's bug. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startChild } from "../support/child.ts";
import { startPostgres } from "../support/postgres.ts";
import { type RealService, startRealService } from "../support/real-service.ts";
import { ReportReceiver, status } from "../support/report-receiver.ts";
import { basic, callService, eventually } from "../support/service.ts";

const TIMEOUT = { timeout: 600_000 };

// biome-ignore lint/suspicious/noExplicitAny: a line is looked into by the test that knows its shape
type Line = Record<string, any>;

/** The lines of the log so far. */
function linesOf({ child }: Pick<RealService, "child">): Line[] {
  const text = child.output();
  // The last one may be half of a line.
  const whole = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return whole.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
}

const lineSaying = (service: Pick<RealService, "child">, msg: string, fits: (line: Line) => boolean = () => true) =>
  eventually(async () => linesOf(service).find((line) => line.msg === msg && fits(line)));

/** No field of a line is the number of a row. */
function assertNamed(lines: readonly Line[]): void {
  for (const line of lines)
    for (const name of ["accountId", "carrierId", "resellerId", "userId", "rowId"])
      assert.ok(!(name in line), `${name} is in ${JSON.stringify(line)}`);
}

test(
  "at debug every request, submit and receipt has a line with account, host and carrier, and a request's id comes back",
  TIMEOUT,
  async (t) => {
    const service = await startRealService(t, null, { HELIOGRAPH_LOG_LEVEL: "debug" });
    const body = { from: "Acme", to: "41793026727", text: "Hello" };
    const sent = await service.call("POST", "/sms/1/text/single", { body, headers: { "x-request-id": "order-17" } });
    assert.deepEqual([sent.status, sent.headers.get("x-request-id")], [200, "order-17"]);
    const messageId: string = sent.json.messages[0].messageId;
    const request = await lineSaying(service, "a request was answered", (line) => line.request === "order-17");
    assert.deepEqual(
      [request.method, request.route, request.status, request.account, request.address, request.level],
      ["POST", "/sms/1/text/single", 200, "ACME", "127.0.0.1", 20],
    );
    const submit = await lineSaying(service, "a message was submitted");
    const host = `127.0.0.1:${service.carrierPort}`;
    assert.deepEqual(
      [submit.message, submit.account, submit.carrier, submit.host, submit.outcome, submit.ids.length],
      [messageId, "ACME", "carrier", host, "taken", 1],
    );
    const receipt = await lineSaying(service, "a receipt came", ({ outcome }) => outcome === "delivered");
    assert.deepEqual([receipt.carrier, receipt.host, receipt.id], ["carrier", host, submit.ids[0]]);

    // Whoever sends no id, or one that cannot be one, gets another.
    const without = await service.call("GET", "/account/1/balance");
    const id = without.headers.get("x-request-id")!;
    assert.match(id, /^[\w-]+$/);
    assert.equal((await lineSaying(service, "a request was answered", (line) => line.request === id)).status, 200);
    const odd = await service.call("GET", "/nothing/here?password=secret-in-a-query", {
      headers: { "x-request-id": "a b" },
    });
    assert.notEqual(odd.headers.get("x-request-id"), "a b");
    const refused = await lineSaying(service, "a request was answered", (line) => line.status === 404);
    assert.deepEqual([refused.path, refused.refusal], ["/nothing/here", "notFound"]);
    assertNamed(linesOf(service));
    assert.equal(await service.child.end("SIGTERM"), 0);
    for (const secret of ["secret-in-a-query", "Hello", service.client.slice("Basic ".length)])
      assert.ok(!service.child.output().includes(secret), `${secret} is in the log`);
  },
);

test("at the usual level there is no such line, and an id that was sent still comes back", TIMEOUT, async (t) => {
  const service = await startRealService(t, null);
  const { headers } = await service.call("GET", "/account/1/balance", { headers: { "x-request-id": "order-18" } });
  assert.equal(headers.get("x-request-id"), "order-18");
  assert.equal((await service.call("GET", "/account/1/balance")).headers.get("x-request-id"), null);
  const body = { from: "Acme", to: "41793026727", text: "Hello" };
  const { json } = await service.call("POST", "/sms/1/text/single", { body });
  await eventually(async () => {
    const { json: logs } = await service.call("GET", `/sms/1/logs?messageId=${json.messages[0].messageId}`);
    return logs.results[0]?.status.groupName === "DELIVERED";
  });
  assert.equal(await service.child.end("SIGTERM"), 0);
  assert.deepEqual(
    linesOf(service).filter(({ level }) => level < 30),
    [],
  );
});

test("a dead letter is told with the account's key and the host of its receiver", TIMEOUT, async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  receiver.answer(status(500));
  const service = await startRealService(t, null);
  const change = { body: { retryMinutes: [] }, headers: { "if-match": "*" }, authorization: service.operator };
  assert.equal((await service.call("PATCH", "/operator/1/accounts/ACME", change)).status, 200);
  const body = { from: "Acme", to: "41793026727", text: "Hello", notifyUrl: receiver.url };
  assert.equal((await service.call("POST", "/sms/1/text/single", { body })).status, 200);
  const dead = await lineSaying(service, "a report is now a dead letter");
  assert.deepEqual(
    [dead.account, dead.host, dead.attempts, dead.reason],
    ["ACME", new URL(receiver.url).origin, 1, "answered 500"],
  );
  assertNamed(linesOf(service));
});

test(
  "a wrong login names the user that was tried, cut and escaped, and a flood of them is counted and not written",
  TIMEOUT,
  async (t) => {
    const service = await startRealService(t, null);
    const wrong = (username: string) =>
      service.call("GET", "/account/1/balance", { authorization: basic(username, "not-the-password") });
    assert.equal((await wrong("acme")).status, 401);
    const line = await lineSaying(service, "a wrong login");
    assert.deepEqual([line.user, line.address], ["acme", "127.0.0.1"]);
    // Basic ends the name at the first colon.
    const nasty = `\u001b[2Jroot\n{"level"=50}${"x".repeat(300)}`;
    assert.equal((await wrong(nasty)).status, 401);
    const cut = await lineSaying(service, "a wrong login", ({ user }) => user !== "acme");
    assert.equal(cut.user, nasty.slice(0, 64));
    assert.ok(!service.child.output().includes("\u001b"), "nothing that a terminal obeys is written");
    const statuses = await Promise.all(Array.from({ length: 200 }, (_, index) => wrong(`guess${index}`)));
    for (const { status: code } of statuses) assert.ok(code === 401 || code === 429, String(code));
    assert.equal(await service.child.end("SIGTERM"), 0);
    const logins = linesOf(service).filter(({ msg }) => msg === "a wrong login");
    assert.ok(logins.length <= 60, `${logins.length} lines`);
    assert.ok(!service.child.output().includes("not-the-password"));
  },
);

test(
  "a request that is refused because the database is away has a line that says so, without a stack",
  TIMEOUT,
  async (t) => {
    const server = await startPostgres({ durable: false });
    t.after(() => server.remove());
    const service = await startRealService(t, server.url);
    const body = { from: "Acme", to: "41793026727", text: "Hello" };
    assert.equal((await service.call("POST", "/sms/1/text/single", { body })).status, 200);
    await server.stop();
    const { status: code, headers } = await service.call("POST", "/sms/1/text/single", { body });
    assert.equal(code, 503);
    assert.ok(headers.has("retry-after"));
    const line = await lineSaying(service, "the store did not answer; a request was refused");
    assert.equal(line.route, "/sms/1/text/single");
    assert.match(line.reason, /\S/);
    for (let count = 0; count < 30; count++) await service.call("POST", "/sms/1/text/single", { body });
    const lines = linesOf(service);
    const refused = lines.filter(({ msg }) => msg === line.msg);
    assert.ok(refused.length <= 10, `${refused.length} lines for 31 requests of a minute`);
    for (const each of lines) {
      assert.ok(!("stack" in each) && each.err?.stack === undefined, JSON.stringify(each));
      assert.doesNotMatch(JSON.stringify(each), /\bat \S+ \(|node:internal/);
    }
  },
);

test(
  "reports that a shorter schedule ends are told together, and whoever shortens it hears what waits",
  TIMEOUT,
  async (t) => {
    const receiver = await ReportReceiver.start();
    t.after(() => receiver.stop());
    receiver.answer(status(500));
    const service = await startRealService(t, null);
    const body = { from: "Acme", to: "41793026727", text: "Hello", notifyUrl: receiver.url };
    const sent = await service.call("POST", "/sms/1/text/single", { body });
    assert.equal(sent.status, 200);
    const { origin } = new URL(receiver.url);
    const retry = { body: { accountKey: "ACME", host: origin }, authorization: service.operator };
    const triesAre = (count: number) =>
      eventually(async () => {
        const [failing] = await service.json("message", "show", sent.json.messages[0].messageId);
        return failing.reports[0]?.tries === count;
      });
    await triesAre(1);
    assert.equal((await service.call("POST", "/operator/1/reports/retry", retry)).status, 200);
    await triesAre(2);
    assert.match(
      await service.done("account", "change", "ACME", "--retry-minutes", "1"),
      /^1 report that waits has been tried as often as that, or more: .* \("heliograph report dead --account ACME"\)\.$/m,
    );
    // A service remembers a schedule for a while: another one reads it anew.
    assert.equal(await service.child.end("SIGTERM"), 0);
    const settings = { HELIOGRAPH_REPORTS_DANGEROUS_ALLOW_PRIVATE_CALLBACKS: "true" };
    const child = await startChild(t, ["serve", "--port", "0", ...service.where], settings);
    assert.equal((await callService(child.url, "POST", "/operator/1/reports/retry", retry)).status, 200);
    const says =
      "reports are dead letters now, because their account has fewer retries than they have had (retryMinutes); they can be replayed";
    const line = await lineSaying({ child }, says);
    assert.deepEqual([line.account, line.reports], ["ACME", 1]);
  },
);
