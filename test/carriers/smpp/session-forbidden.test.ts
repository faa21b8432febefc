/** Requests that may not go any more, or have nowhere to go, when they are about to be written: none of them reaches the other end. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PduDraft } from "../../../src/carriers/smpp/codec/pdu.ts";
import { until } from "../../support/patience.ts";
import { esmeAgainstPeer } from "./session-support.ts";

const submit = (text: string): PduDraft<"submit_sm"> => ({
  command: "submit_sm",
  destinationAddr: "385991234567",
  shortMessage: Buffer.from(text),
});

test("submits gathered for a turn are not written when they may not go at its end", async (t) => {
  let may = true;
  const { session, peer } = await esmeAgainstPeer(t, { mayAsk: () => may });
  const first = session.request(submit("first"));
  const { sequence } = await peer.take("submit_sm");
  const gathered = [session.request(submit("second")), session.request(submit("third"))];
  may = false;
  for (const answer of await Promise.all(gathered)) assert.deepEqual(answer, { kind: "unsent", why: "forbidden" });
  // The first may have been taken; nobody will know.
  assert.deepEqual(await first, { kind: "unknown", sequence });
  assert.equal((await session.closed).why, "forbidden");
  await until(() => peer.ended);
  assert.deepEqual(peer.received, []);
});

test("a portion that is full before the turn ends is not written either", async (t) => {
  let may = true;
  const { session, peer } = await esmeAgainstPeer(t, { window: 200, mayAsk: () => may });
  may = false;
  const answers = await Promise.all(Array.from({ length: 100 }, () => session.request(submit("x".repeat(140)))));
  for (const answer of answers) assert.equal(answer.kind, "unsent");
  assert.equal((await session.closed).why, "forbidden");
  await until(() => peer.ended);
  assert.deepEqual(peer.received, []);
});

test("what the peer asks is answered all the same: a connection with nothing to submit stays", async (t) => {
  let may = true;
  const { session, peer } = await esmeAgainstPeer(t, {
    mayAsk: () => may,
    onRequest: () => ({ command: "deliver_sm_resp" }),
  });
  may = false;
  peer.send({ command: "deliver_sm", sequence: 1, shortMessage: Buffer.from("a receipt") });
  peer.send({ command: "enquire_link", sequence: 2 });
  assert.equal((await peer.take("deliver_sm_resp")).status, 0);
  await peer.take("enquire_link_resp");
  assert.equal(session.state, "bound_trx");
});

test("submits gathered for a turn in which the connection ends have not left, and what was written before is unknown", async (t) => {
  const { session, peer } = await esmeAgainstPeer(t);
  const first = session.request(submit("first"));
  const { sequence } = await peer.take("submit_sm");
  const gathered = [session.request(submit("second")), session.request(submit("third"))];
  void session.close();
  for (const answer of await Promise.all(gathered)) assert.deepEqual(answer, { kind: "unsent", why: "state" });
  assert.deepEqual(await first, { kind: "unknown", sequence });
  await until(() => peer.ended);
  assert.deepEqual(peer.received, []);
});
