/**
 * Every way in which a provider's HTTP side fails, with every preset: the status, the charge and the copies of a message. The table of docs/carriers-http.md is made
 * here; WRITE_TABLE=1 writes it there anew.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { PRESETS } from "../../../src/carriers/http/profile.ts";
import type { Faults } from "../../../src/provider/faults.ts";
import { sleep, systemClock } from "../../../src/runtime/clock.ts";
import { eventually } from "../../support/service.ts";
import { type Rig, startRig } from "./rig.ts";

const PAGE = join(import.meta.dirname, "../../../docs/carriers-http.md");
const ONCE = { count: 1 };

interface Story {
  readonly faults: Faults;
  /** The last digits of the phone. */
  readonly phone?: string;
  /** It is about receipts that the provider sends; one that is asked for them never meets it. */
  readonly isOfReceipts?: boolean;
  /** Nothing listens at the provider's address, until the carrier has found out. */
  readonly isAway?: boolean;
  /** It strikes always for so long, and several messages meet it. */
  readonly forMs?: number;
}

const BLINK_MS = 2_000;
const MESSAGES_OF_BLINK = 10;
const lasting = (faults: Faults): Story => ({ faults, forMs: BLINK_MS });

const STORIES: Readonly<Record<string, Story>> = {
  "no connection": { faults: {}, isAway: true },
  "429, or its like": { faults: { tooFast: ONCE } },
  "5xx": { faults: { broken: ONCE } },
  "the connection ends before the request is taken": { faults: { lostRequest: ONCE } },
  "the connection ends after it is taken": { faults: { noAnswer: ONCE } },
  "the same, every time": { faults: { noAnswer: {} } },
  "half an answer": { faults: { halfAnswer: ONCE } },
  "an answer that is no JSON": { faults: { wrongJson: ONCE } },
  "no answer in time": { faults: { slowAnswer: { ...ONCE, ms: 2_500 } } },
  "429, or its like, for 2 s": lasting({ tooFast: {} }),
  "5xx, for 2 s": lasting({ broken: {} }),
  "the connection ends before the request is taken, for 2 s": lasting({ lostRequest: {} }),
  "the connection ends after it is taken, for 2 s": lasting({ noAnswer: {} }),
  "half an answer, for 2 s": lasting({ halfAnswer: {} }),
  "an answer that is no JSON, for 2 s": lasting({ wrongJson: {} }),
  "no answer in time, for 2 s": lasting({ slowAnswer: { ms: 2_500 } }),
  "the receipt late": { faults: { receiptsLate: { ...ONCE, ms: 500 } }, isOfReceipts: true },
  "the receipt twice": { faults: { receiptsTwice: ONCE }, isOfReceipts: true },
  "the receipts in the wrong order": { faults: { receiptsReordered: ONCE }, phone: "999002", isOfReceipts: true },
  "the receipt never": { faults: { receiptsLost: ONCE }, isOfReceipts: true },
};

/** What is done about an answer that never came, and by which presets. */
const WAYS: Readonly<Record<string, readonly (typeof PRESETS)[number][]>> = {
  "waits for its receipt": ["twilio", "vonage", "plivo", "telnyx", "bandwidth", "kannel", "jasmin"],
  "goes again with the same key": ["heliograph", "android", "webhook"],
  "is looked up": ["sinch"],
};

/** Its status, once nothing more will come of it. */
async function settled(
  { provider, service }: Rig,
  story: Story,
  to: string,
  messageId: string,
): Promise<string | false> {
  // Before its status, which may be another by the time that it is held.
  const held = await service.store.outstanding({ carrierId: "upstream", afterRow: 0, limit: 1_000 });
  const isHeld = held.some((row) => row.to === to);
  const { json } = await service.call("GET", `/sms/1/logs?messageId=${messageId}`);
  const { name } = json.results[0].status;
  if (!name.startsWith("PENDING")) return name;
  // Handed over as far as we know, and no receipt will come: the provider never had it, or its word is lost.
  const isTaken = provider.messages.some((message) => message.to === to);
  return isHeld && (!isTaken || story.faults.receiptsLost !== undefined) && name;
}

async function outcomeOf(rig: Rig, story: Story, to: string): Promise<string> {
  const { provider, service, send, open } = rig;
  const balance = async (): Promise<number> => (await service.call("GET", "/account/1/balance")).json.balance;
  const before = await balance();
  provider.faults = story.faults;
  const { forMs = 0 } = story;
  const phones = Array.from(
    { length: forMs > 0 ? MESSAGES_OF_BLINK : 1 },
    (_, index) => `${to.slice(0, -6)}${index}${to.slice(-6)}`,
  );
  const sent = await Promise.all(phones.map(async (phone) => ({ phone, messageId: await send(phone) })));
  if (forMs > 0) {
    await sleep(systemClock, forMs);
    provider.faults = {};
  }
  if (story.isAway === true) await open();
  const statuses = await Promise.all(
    sent.map(({ phone, messageId }) => eventually(() => settled(rig, story, phone, messageId))),
  );
  assert.equal(new Set(statuses).size, 1, `they end as ${statuses.join(", ")}`);
  const copies = provider.messages.filter((message) => phones.includes(message.to)).length;
  return `${statuses[0]}, ${((before - (await balance())) / sent.length).toFixed(2)}, ${copies / sent.length}`;
}

/** Fault → what came of it. Each story has a phone of its own, so that what one leaves behind is not another's. */
async function outcomesOf(t: TestContext, preset: (typeof PRESETS)[number]): Promise<Map<string, string>> {
  const rig = await startRig(t, preset, { profile: "answerSeconds = 1", isAway: true });
  const outcomes = new Map<string, string>();
  for (const [index, [fault, story]] of Object.entries(STORIES).entries()) {
    if (story.isOfReceipts === true && preset === "android") continue;
    outcomes.set(
      fault,
      await outcomeOf(rig, story, `41790${String(index).padStart(2, "0")}${story.phone ?? "026727"}`),
    );
  }
  return outcomes;
}

test("each fault of a provider ends as the table in the docs says, whatever the preset", async (t) => {
  assert.deepEqual(Object.values(WAYS).flat().sort(), [...PRESETS].sort());
  const byPreset = new Map(
    await Promise.all(PRESETS.map(async (preset) => [preset, await outcomesOf(t, preset)] as const)),
  );
  const cellOf = (fault: string, presets: (typeof WAYS)[string]): string => {
    const all = presets.flatMap((preset) => byPreset.get(preset)!.get(fault) ?? []);
    assert.deepEqual(new Set(all).size, 1, `${fault}: ${presets.join(", ")} end as ${all.join(" | ")}`);
    return all[0]!;
  };
  const rows = Object.keys(STORIES).map((fault) =>
    [fault, ...Object.values(WAYS).map((presets) => cellOf(fault, presets))].join(" | "),
  );
  const heads = ["fault, once or for 2 s", ...Object.keys(WAYS)];
  const lines = [heads.join(" | "), heads.map(() => "---").join("|"), ...rows];
  const table = lines.map((line) => (line.startsWith("---") ? `|${line}|` : `| ${line} |`)).join("\n");
  const page = readFileSync(PAGE, "utf8");
  const inPage = /^\| fault, once.*? \|.*(?:\n\|.*)*/m.exec(page)?.[0] ?? "";
  if (process.env.WRITE_TABLE === "1") writeFileSync(PAGE, page.replace(inPage, table));
  else assert.equal(inPage, table);
});
