/** An address that reports are never pushed to is told of: with the answer to the message, in `message show`, `report dead` and by the doctor. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { WARNINGS_HEADER } from "../../src/api/near-misses.ts";
import { PRIVATE_CALLBACKS } from "../../src/http/guard.ts";
import { commandsOn } from "../cli/in-process.ts";
import { examination } from "../support/doctor.ts";
import { ADVANCED, SINGLE } from "../support/sending.ts";
import { basic, eventually, startTestService } from "../support/service.ts";

const OPERATOR = basic("operator", "operator-password");
const HERE = "http://127.0.0.1:9000/reports";
const LOOPBACK = `address not allowed: loopback (${PRIVATE_CALLBACKS} allows it)`;
const service = await startTestService({ after }, { sandbox: false });
const { store } = service.settings;
const where = store.url === "" ? ["--data", store.data] : ["--store", store.url];

const message = (notifyUrl: string, more: object = {}) => ({
  from: "Sender",
  destinations: [{ to: "41793026727" }],
  text: "Hello",
  notifyUrl,
  ...more,
});

async function send(path: string, body: object) {
  const { status, headers, json, text } = await service.call("POST", path, { body });
  assert.ok(status < 300, text);
  return { warnings: headers.get(WARNINGS_HEADER), json };
}

test("a message whose report will never be pushed is accepted, and the answer says why and what allows it", async () => {
  const says = (host: string, why: string) => `nothing is pushed to ${host}: ${why}`;
  const { warnings, json } = await send(ADVANCED, { messages: [message("https://sms.example/"), message(HERE)] });
  assert.equal(warnings, says("http://127.0.0.1:9000", LOOPBACK));
  assert.equal(json.messages[1].status.name, "PENDING_ENROUTE");

  const one = { from: "Sender", to: "41793026727", text: "Hello" };
  const local = await send(SINGLE, { ...one, notifyUrl: "http://localhost/" });
  assert.equal(local.warnings, says("http://localhost", LOOPBACK));
  const metadata = await send(SINGLE, { ...one, notifyUrl: "http://169.254.169.254/" });
  assert.match(metadata.warnings!, /link-local or cloud metadata$/, "nothing allows it");
  const webhooks = { delivery: { url: "http://10.0.0.1:8080/" } };
  const third = { sender: "Sender", destinations: [{ to: "41793026727" }], content: { text: "Hello" }, webhooks };
  assert.match(
    (await send("/sms/3/messages", { messages: [third] })).warnings!,
    /^nothing is pushed to http:\/\/10\.0\.0\.1:8080: /,
  );
  for (const notifyUrl of ["https://sms.example/127.0.0.1", "http://8.8.8.8/", "http://inside/"])
    assert.equal((await send(SINGLE, { ...one, notifyUrl })).warnings, null, notifyUrl);
});

test("so is a subscription to reports", async () => {
  const wish = { criteria: "", notifyURL: HERE, callbackData: "", clientCorrelator: "here" };
  const { warnings } = await send("/1/smsmessaging/outbound/Mine/subscriptions", wish);
  assert.equal(warnings, `nothing is pushed to http://127.0.0.1:9000: ${LOOPBACK}`);
});

test("in the sandbox, and with the setting, this machine is called and nothing is said", async (t) => {
  const sandbox = await startTestService(t);
  const { headers } = await sandbox.call("POST", ADVANCED, { body: { messages: [message(HERE)] } });
  assert.equal(headers.get(WARNINGS_HEADER), null);
});

test("before its report is tried, and when the try was refused, a message says so; so do dead letters and the doctor", async () => {
  const tracked = async (id: string) => {
    const path = `/operator/1/accounts/DEMO0001/messages/${id}`;
    return (await service.call("GET", path, { authorization: OPERATOR })).json.results[0];
  };
  const inner = "http://10.0.0.1:9000/reports";
  const why = `address not allowed: private network (${PRIVATE_CALLBACKS} allows it)`;
  const later = await send(ADVANCED, {
    messages: [message(inner, { sendAt: new Date(Date.now() + 3_600_000).toISOString() })],
  });
  const waiting: string = later.json.messages[0].messageId;
  assert.equal((await tracked(waiting)).notCalled, why);
  const commands = commandsOn(...where);
  assert.ok((await commands.done("message", "show", waiting)).includes(why));

  const { json } = await send(ADVANCED, { messages: [message(inner)] });
  const id: string = json.messages[0].messageId;
  await eventually(async () => (await tracked(id)).reports[0]?.tries === 1);
  const { reports, notCalled } = await tracked(id);
  assert.deepEqual([reports[0].state, reports[0].reason, notCalled], ["waiting", why, null]);
  assert.ok((await commands.done("message", "show", id)).includes(`waits after 1 try: ${why}`));
  assert.ok((await commands.done("report", "dead", "--host", "http://10.0.0.1:9000")).includes(why));

  const told = (await examination([...where, "--no-connect"])).about("http://10.0.0.1:9000");
  assert.equal(told.state, "wrong");
  assert.ok(told.says.endsWith(`${why}. Nothing is pushed there`), told.says);
  assert.match(told.mend!, /^set \[reports\] dangerousAllowPrivateCallbacks = true if every client is trusted, or /);
});
