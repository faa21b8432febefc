/** Senders whose letters not every carrier can write, through the whole service: over carriers that can, and rejected where none does. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { readCatalogueFile } from "../../src/catalogue/file.ts";
import { balanceOf, MULTI, SINGLE } from "../support/sending.ts";
import { eventually, startTestService, type TestService } from "../support/service.ts";
import { startSmsc } from "../support/smsc.ts";

const TO = "41793026727";
/** Nobody listens there. */
const NOWHERE = 1;

const carrier = (id: string, port: number, nameAlphabet: string): string => `
[[carrier]]
id = "${id}"
kind = "smpp"
hosts = ["127.0.0.1:${port}"]
systemId = "${id}"
password = "secret"
reconnectSeconds = 1
nameAlphabet = "${nameAlphabet}"
`;

const SIMULATOR = `
[[carrier]]
id = "simulator"
kind = "simulator"
answerAfterMs = 10
`;

const routed = (carriers: string, ...groups: readonly string[][]): string => `${carriers}
[[route]]
prefix = ""
groups = [${groups.map((group) => `[${group.map((id) => `{ carrier = "${id}" }`)}]`)}]
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "0.01" }]
`;

/** The names of the statuses of a message from each. */
async function send(service: TestService, ...senders: string[]): Promise<string[]> {
  const messages = senders.map((from) => ({ from, to: TO, text: from }));
  const { status, json, text } = await service.call("POST", MULTI, { body: { messages } });
  assert.equal(status, 200, text);
  return json.messages.map(({ status: { name } }: { status: { name: string } }) => name);
}

const GOES = "PENDING_ENROUTE";
const REJECTED = "REJECTED_SOURCE";

/** What the carriers got: who took it, and the octets of its sender. */
async function arrivals(smsc: Awaited<ReturnType<typeof startSmsc>>, count: number): Promise<string[]> {
  const parts = await eventually(async () => smsc.parts.length >= count && smsc.parts);
  return parts.map(({ systemId, from }) => `${systemId} ${Buffer.from(from, "latin1").toString("hex")}`).toSorted();
}

test("a sender is written in the carrier's alphabet, or rejected before it costs anything", async (t) => {
  for (const [nameAlphabet, statuses, octets] of [
    ["latin1", [REJECTED, REJECTED, GOES, GOES], ["436166e9", "6d6540686f6d65"]],
    ["gsm", [GOES, GOES, GOES, REJECTED], ["1018", "411b65", "43616605"]],
    ["ascii", [REJECTED, REJECTED, REJECTED, GOES], ["6d6540686f6d65"]],
  ] as const) {
    const smsc = await startSmsc(t);
    const service = await startTestService(t, {
      catalogue: routed(carrier("acme", smsc.port, nameAlphabet), ["acme"]),
    });
    const before = await balanceOf(service);
    assert.deepEqual(await send(service, "ΔΣ", "A€", "Café", "me@home"), statuses, nameAlphabet);
    assert.deepEqual(
      await arrivals(smsc, octets.length),
      octets.map((hex) => `acme ${hex}`),
    );
    assert.equal(Math.round((before - (await balanceOf(service))) * 100), octets.length);
  }
});

test("of a route's carriers one is chosen that can write the sender; the simulator can write any", async (t) => {
  const smsc = await startSmsc(t);
  const carriers = carrier("latin", smsc.port, "latin1") + carrier("greek", smsc.port, "gsm");
  const service = await startTestService(t, { catalogue: routed(carriers, ["latin"], ["greek"]) });
  assert.deepEqual(await send(service, "ΔΣ", "me@home", "Plain", "Δ@"), [GOES, GOES, GOES, REJECTED]);
  assert.deepEqual(await arrivals(smsc, 3), ["greek 1018", "latin 506c61696e", "latin 6d6540686f6d65"]);

  const simulated = await startTestService(t, { catalogue: routed(SIMULATOR, ["simulator"]) });
  assert.deepEqual(await send(simulated, "ΔΣ", "Δ@", "Café"), [GOES, GOES, GOES]);
});

/** A service with messages that wait for a carrier that is down, which alone can write one of their senders. */
async function waiting(t: TestContext) {
  const smsc = await startSmsc(t);
  const carriers = (port: number, nameAlphabet: string) =>
    routed(carrier("greek", port, nameAlphabet) + carrier("latin", smsc.port, "latin1"), ["greek"], ["latin"]);
  const service = await startTestService(t, { catalogue: carriers(NOWHERE, "gsm") });
  const answer = await service.call("POST", SINGLE, { body: { from: "ΔΣ", to: TO, text: "one" } });
  assert.equal(answer.json.messages[0].status.name, GOES);
  assert.deepEqual(await send(service, "Plain"), [GOES]);
  // The second could go elsewhere, and so it has gone.
  assert.deepEqual(await arrivals(smsc, 1), ["latin 506c61696e"]);
  const change = (nameAlphabet: string) =>
    service.store.putCatalogue({ items: readCatalogueFile(carriers(smsc.port, nameAlphabet)) });
  return { smsc, service, change };
}

test("a message whose carrier is down does not go over one that cannot write its sender", async (t) => {
  const { smsc, change } = await waiting(t);
  await change("gsm");
  assert.deepEqual(await arrivals(smsc, 2), ["greek 1018", "latin 506c61696e"]);
});

test("a message whose carrier can no longer write its sender ends as one with a bad sender, and is refunded", async (t) => {
  const { smsc, service, change } = await waiting(t);
  const before = await balanceOf(service);
  await change("latin1");
  const ended = await eventually(async () => {
    const { results } = (await service.call("GET", "/sms/1/logs?limit=10")).json;
    return results.find(
      ({ from, status }: { from: string; status: { groupName: string } }) =>
        from === "ΔΣ" && status.groupName !== "PENDING",
    );
  });
  assert.deepEqual(
    [ended.status.name, ended.error.name],
    ["UNDELIVERABLE_REJECTED_OPERATOR", "EC_INVALID_SOURCE_ADDRESS"],
  );
  assert.equal(smsc.parts.length, 1);
  assert.equal(Math.round(((await balanceOf(service)) - before) * 100), 1);
});
