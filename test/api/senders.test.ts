/** Whose name a message may go out under: the account's default sender, and those that it is allowed. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { basic, startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const TO = "41793026727";

await addAccount(service.store, { key: "ANY", balanceMicros: 1_000_000n, defaultSender: "Default" });
await addAccount(service.store, {
  key: "SOME",
  balanceMicros: 1_000_000n,
  defaultSender: "Default",
  allowedSenders: ["InfoSMS", "41790000000"],
});
await addAccount(service.store, { key: "NONE", balanceMicros: 1_000_000n, allowedSenders: [] });

/** The names of the messages' statuses, and who the logs say sent them. */
async function send(account: string, ...senders: (string | undefined)[]) {
  const { status, json } = await service.call("POST", "/sms/1/text/multi", {
    authorization: basic(account, "password"),
    body: { messages: senders.map((from) => ({ ...(from === undefined ? {} : { from }), to: TO, text: "Hello" })) },
  });
  assert.equal(status, 200, JSON.stringify(json));
  return json.messages.map(({ status: { name } }: { status: { name: string } }) => name);
}

test("an account without a list may use any sender, and its default one where it names none", async () => {
  assert.deepEqual(await send("ANY", "Whoever", undefined), ["PENDING_ENROUTE", "PENDING_ENROUTE"]);
  const [newest] = (await logs("ANY")).results;
  assert.equal(newest.from, "Default");
});

test("with a list, a sender that is not on it is rejected for that message alone, costs nothing and is in the logs", async () => {
  const before = await balance("SOME");
  assert.deepEqual(await send("SOME", "InfoSMS", "Whoever", "41790000000", "infosms", undefined), [
    "PENDING_ENROUTE",
    "REJECTED_SOURCE",
    "PENDING_ENROUTE",
    "REJECTED_SOURCE",
    "PENDING_ENROUTE",
  ]);
  assert.equal(Math.round((before - (await balance("SOME"))) * 100), 3);
  const rejected = (await logs("SOME", "&generalStatus=REJECTED")).results;
  assert.deepEqual(rejected.map(({ from }: { from: string }) => from).sort(), ["Whoever", "infosms"]);
});

test("the default sender is always allowed, by name too; an empty list allows no other", async () => {
  assert.deepEqual(await send("SOME", "Default"), ["PENDING_ENROUTE"]);
  assert.deepEqual(await send("NONE", "InfoSMS", undefined), ["REJECTED_SOURCE", "REJECTED_SOURCE"]);
});

test("a sender's plus is taken off in every version, and an empty sender is the default one", async () => {
  const authorization = basic("SOME", "password");
  assert.deepEqual(await send("SOME", "+41790000000", ""), ["PENDING_ENROUTE", "PENDING_ENROUTE"]);
  const query = (path: string) => service.call("GET", `${path}&to=${TO}&text=Hi`, { authorization });
  for (const path of [
    "/sms/1/text/query?from=+41790000000",
    "/sms/1/text/query?from=%2B41790000000",
    "/sms/3/text/query?from=+41790000000",
    "/sms/3/text/query?from=",
  ]) {
    const { json, text } = await query(path);
    assert.equal(json.messages[0].status.groupName, "PENDING", `${path} ${text}`);
  }
  const body = { messages: [{ sender: "+41790000000", destinations: [{ to: TO }], content: { text: "Hi" } }] };
  const third = await service.call("POST", "/sms/3/messages", { authorization, body });
  assert.equal(third.json.messages[0].status.groupName, "PENDING", third.text);
  const { results } = await logs("SOME", `&from=${encodeURIComponent("+41790000000")}`);
  assert.ok(results.length >= 5);
  assert.deepEqual([...new Set(results.map(({ from }: { from: string }) => from))], ["41790000000"]);
});

test("binary messages and plain URLs are held to the same list", async () => {
  const authorization = basic("SOME", "password");
  const binary = await service.call("POST", "/sms/1/binary/single", {
    authorization,
    body: { from: "Whoever", to: TO, binary: { hex: "0f" } },
  });
  assert.equal(binary.json.messages[0].status.name, "REJECTED_SOURCE");
  const query = await service.call("GET", `/sms/1/text/query?from=Whoever&to=${TO}&text=x`, { authorization });
  assert.equal(query.json.messages[0].status.name, "REJECTED_SOURCE");
});

async function logs(account: string, query = "") {
  const answer = await service.call("GET", `/sms/1/logs?limit=10${query}`, {
    authorization: basic(account, "password"),
  });
  return answer.json;
}

async function balance(account: string): Promise<number> {
  return (await service.call("GET", "/account/1/balance", { authorization: basic(account, "password") })).json.balance;
}
