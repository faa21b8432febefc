/** What a carrier says of its load, and what it is sent for that. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Congestion } from "../../../src/carriers/pace/congestion.ts";
import { decodePdu } from "../../../src/carriers/smpp/codec/decode.ts";
import { readTlv } from "../../../src/carriers/smpp/codec/tlvs.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

/** The rate that is found, a second at a time, when each of 100 parts a second is answered so. */
async function ratesAt(states: readonly number[]): Promise<number[]> {
  const clock = new VirtualClock();
  const congestion = new Congestion(clock);
  const rates: number[] = [];
  for (const state of states) {
    for (let turn = 0; turn < 100; turn++) {
      congestion.heard(state);
      await clock.advance(10);
    }
    rates.push(congestion.rate);
  }
  return rates;
}

const times = (count: number, state: number): number[] => Array<number>(count).fill(state);

test("the optimum load is no reason to send less: jSMPP's server says 81 with every answer", async () => {
  const octets = Buffer.from("0000001d80000004000000000000000635643838376638000428000151", "hex");
  const decoded = decodePdu(octets);
  assert.ok(decoded.kind === "pdu" && decoded.pdu.command === "submit_sm_resp");
  const state = readTlv(decoded.pdu.tlvs, "congestion_state");
  assert.equal(state, 81);
  assert.deepEqual(await ratesAt([...times(5, state!), 89]), times(6, Number.POSITIVE_INFINITY));
});

test("from 90 on it is sent less, the less the higher, and not less with every answer", async () => {
  const after = async (state: number): Promise<number> => (await ratesAt(times(10, state))).at(-1)!;
  const [at90, at95, at99, at100] = [await after(90), await after(95), await after(99), await after(100)];
  assert.ok(at90 > 90, `${at90} of 100 at 90`);
  assert.ok(at95 < at90 && at99 < at95 && at100 < at99, `${[at90, at95, at99, at100]}`);
  assert.ok(at100 >= 20 && at100 <= 30, `${at100} of 100 at 100`);
  const [, second, third] = await ratesAt(times(3, 100));
  assert.ok(second! >= 65 && third! >= 45, "at most a step a second");
});

test("when the congestion is over it is sent as much as before", async () => {
  const rates = await ratesAt([...times(5, 100), ...times(20, 50)]);
  assert.ok(rates[4]! < 50);
  assert.equal(rates.at(-1), Number.POSITIVE_INFINITY);
});

test("a carrier that says 95 whatever it is sent is not sent less and less", async () => {
  const rates = await ratesAt(times(60, 95));
  assert.ok(Math.min(...rates) >= 65, `${Math.min(...rates)}`);
  assert.ok(rates.at(-1)! >= 100, `${rates.at(-1)} after a minute`);
});
