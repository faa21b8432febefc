/** Which receipts may wait a moment for their acknowledgement: those that keep the carrier from sending nothing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PduDraft } from "../../../src/carriers/smpp/codec/pdu.ts";
import { eventually } from "../../support/service.ts";
import { carrierAgainstPeer } from "./carrier-support.ts";

const receipt = (sequence: number): PduDraft<"deliver_sm"> => ({
  command: "deliver_sm",
  sequence,
  sourceAddr: "41790000001",
  destinationAddr: "Sender",
  esmClass: 4,
  shortMessage: Buffer.from(
    `id:${sequence} sub:001 dlvrd:001 submit date:2602121000 done date:2602121001 stat:DELIVRD err:000 text:Hello`,
  ),
});

test("a receipt may wait once its connection has sent more of them without an answer, and not before", async (t) => {
  const { carrier, peer } = await carrierAgainstPeer(t);
  const waiting: { readonly mayWait: boolean | undefined; readonly safe: () => void }[] = [];
  carrier.listen({
    onReceipt: (_receipt, _asMessage, _raw, mayWait) => new Promise((safe) => waiting.push({ mayWait, safe })),
  });
  /** Sends so many at once, and says of each whether it may wait. All are acknowledged then. */
  const send = async (...sequences: number[]): Promise<(boolean | undefined)[]> => {
    peer.send(...sequences.map(receipt));
    await eventually(async () => waiting.length === sequences.length);
    const heard = waiting.splice(0);
    for (const { safe } of heard) safe();
    await peer.takeMany(sequences.length, "deliver_sm_resp");
    return heard.map(({ mayWait }) => mayWait);
  };
  assert.deepEqual(await send(1), [false], "it may be one that sends one at a time");
  assert.deepEqual(await send(2), [false]);
  assert.deepEqual(await send(3, 4, 5), [false, false, false]);
  assert.deepEqual(await send(6), [true]);
  assert.deepEqual(await send(7, 8, 9, 10), [true, true, false, false], "three may be all that it sends");
});
