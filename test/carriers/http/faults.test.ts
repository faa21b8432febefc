/** Every way in which a provider's HTTP side fails, for each way of dealing with an answer that never came: status, charge and copies, as docs/carriers-http.md has them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { FaultName, Faults } from "../../../src/provider/faults.ts";
import { eventually } from "../../support/service.ts";
import { startRig } from "./rig.ts";

const DOCS = readFileSync(join(import.meta.dirname, "../../../docs/carriers-http.md"), "utf8");

/** Of each the first request is struck. */
const FAULTS: Readonly<Record<string, { readonly name: FaultName; readonly ms?: number }>> = {
  "429, or its like": { name: "tooFast" },
  "5xx": { name: "broken" },
  "the connection ends before the request is taken": { name: "lostRequest" },
  "the connection ends after it is taken": { name: "noAnswer" },
  "half an answer": { name: "halfAnswer" },
  "an answer that is no JSON": { name: "wrongJson" },
  "no answer in time": { name: "slowAnswer", ms: 2_500 },
  "the receipt twice": { name: "receiptsTwice" },
  "the receipts in the wrong order": { name: "receiptsReordered" },
};

/** What is done about an answer that never came, by preset. */
const WAYS: readonly (readonly [preset: string, way: string])[] = [
  ["twilio", "waits for its receipt"],
  ["webhook", "goes again with the same key"],
  ["sinch", "is looked up"],
];

interface Outcome {
  readonly status: string;
  readonly charged: string;
  readonly copies: number;
}

async function outcomeOf(
  t: TestContext,
  preset: string,
  { name, ms }: { name: FaultName; ms?: number },
): Promise<Outcome> {
  const faults: Faults = { [name]: { count: 1, ...(ms === undefined ? {} : { ms }) } };
  const { provider, service, send } = await startRig(t, preset, { faults, profile: "answerSeconds = 1" });
  const balance = async (): Promise<number> => (await service.call("GET", "/account/1/balance")).json.balance;
  const before = await balance();
  const messageId = await send("41793026727");
  // What never came to the provider and waits for its receipt has nothing more to wait for here.
  const isLost = name === "lostRequest" && preset === "twilio";
  const status = await eventually(async () => {
    const { json } = await service.call("GET", `/sms/1/logs?messageId=${messageId}`);
    const { name } = json.results[0].status;
    return (
      (isLost ? name === "PENDING_ENROUTE" || name === "PENDING_WAITING_DELIVERY" : !name.startsWith("PENDING")) && name
    );
  });
  return { status, charged: (before - (await balance())).toFixed(2), copies: provider.messages.length };
}

for (const [fault, how] of Object.entries(FAULTS))
  test(`${fault}: the outcome is what the table says`, async (t) => {
    for (const [preset, way] of WAYS) {
      const { status, charged, copies } = await outcomeOf(t, preset, how);
      const row = `| ${fault} | ${way} | ${status} | ${charged} | ${copies} |`;
      assert.ok(DOCS.includes(row), row);
    }
  });
