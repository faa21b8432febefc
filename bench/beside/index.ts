/**
 * What one client's load does to another: `npm run bench -- --beside [ATTACK…]`. A good client sends single messages, one after the other, first
 * alone and then beside an account that does all it may within its limits. Printed is how long a message takes to be answered, as a ratio to
 * the same without the attack.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { atShare } from "../cycle/statistics.ts";
import { ATTACKS, type AttackData, type AttackFigures, type AttackName } from "./attacker.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/heliograph.js");
const OPERATOR = `Basic ${Buffer.from("operator:operator-password").toString("base64")}`;
const SECONDS = 15;
const WARM_UP_MESSAGES = 300;
const PAUSE_MS = 20;
const FUNDS = 1_000_000;

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** The status, the answer, and how long it took. */
function post(url: string, authorization: string, body: object): Promise<{ status: number; text: string; ms: number }> {
  return new Promise((resolve, reject) => {
    const startMs = performance.now();
    const headers = { authorization, "content-type": "application/json" };
    const sent = request(url, { method: "POST", agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode!, text, ms: performance.now() - startMs }));
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });
}

async function createAccount(url: string, key: string): Promise<string> {
  const account = { key, username: key.toLowerCase(), ratePlan: "standard", openingBalance: FUNDS };
  for (const [path, body] of [
    ["/operator/1/accounts", account],
    [`/operator/1/accounts/${key}/api-keys`, {}],
  ] as const) {
    const { status, text } = await post(`${url}${path}`, OPERATOR, body);
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    if (path.endsWith("api-keys")) return `App ${(JSON.parse(text) as { key: string }).key}`;
  }
  throw new Error("no key");
}

interface Figures {
  readonly ms: readonly number[];
  readonly refused: number;
}

/** Sends messages one after the other until `isOver`. */
async function sendSingles(url: string, key: string, isOver: (sent: number) => boolean): Promise<Figures> {
  const ms: number[] = [];
  let refused = 0;
  for (let sent = 0; !isOver(sent); sent++) {
    const body = { from: "Good", to: String(41_790_000_000 + sent), text: "Your code is 123456" };
    const answer = await post(`${url}/sms/1/text/single`, key, body);
    if (answer.status === 200) ms.push(answer.ms);
    else refused++;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return { ms, refused };
}

function forSeconds(seconds: number): () => boolean {
  const endMs = performance.now() + seconds * 1_000;
  return () => performance.now() > endMs;
}

async function beside(name: AttackName): Promise<object> {
  const directory = mkdtempSync(join(tmpdir(), "heliograph-bench-"));
  const program = spawn(process.execPath, [PROGRAM, "sandbox", "--quiet", "--port", "0", "--data", directory], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, HELIOGRAPH_LOG_LEVEL: "error" },
  });
  const ended = new Promise((resolve) => program.once("close", resolve));
  try {
    const url = await new Promise<string>((resolve, reject) => {
      program.stdout.on("data", (data) => {
        const found = /listens on (http:\/\/\S+)/.exec(String(data));
        if (found !== null) resolve(found[1]!);
      });
      program.once("exit", () => reject(new Error("the service did not start")));
    });
    const [good, bad] = [await createAccount(url, "GOOD"), await createAccount(url, "BAD")];
    await sendSingles(url, good, (sent) => sent === WARM_UP_MESSAGES);
    const data: AttackData = { name, url, authorization: bad };
    const attacker = new Worker(new URL("./attacker.ts", import.meta.url), { workerData: data });
    const told = (): Promise<AttackFigures> => new Promise((resolve) => attacker.once("message", resolve));
    // What has to be there before it begins, such as messages whose ids are used again.
    await told();
    const alone = await sendSingles(url, good, forSeconds(SECONDS));
    attacker.postMessage("begin");
    const attacked = await sendSingles(url, good, forSeconds(SECONDS));
    attacker.postMessage("end");
    const { answers } = await told();
    await attacker.terminate();
    const row = ({ ms }: Figures, share: number): number =>
      Math.round(
        10 *
          atShare(
            ms.toSorted((a, b) => a - b),
            share,
          ),
      ) / 10;
    const ratio = (share: number): number => Math.round((10 * row(attacked, share)) / row(alone, share)) / 10;
    return {
      attack: name,
      "alone, ms": `${row(alone, 0.5)} / ${row(alone, 0.95)}`,
      "beside it, ms": `${row(attacked, 0.5)} / ${row(attacked, 0.95)} / ${row(attacked, 1)}`,
      "ratio of medians": ratio(0.5),
      "of the 95th of 100": ratio(0.95),
      messages: attacked.ms.length,
      refused: attacked.refused,
      "answers to the attacker": answers,
    };
  } finally {
    program.kill("SIGTERM");
    await ended;
    rmSync(directory, { recursive: true, force: true });
  }
}

const given = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const names = (given.length > 0 ? given : Object.keys(ATTACKS)) as AttackName[];
const rows: object[] = [];
for (const name of names) {
  if (!Object.hasOwn(ATTACKS, name)) {
    console.error(`--beside takes ${Object.keys(ATTACKS).join(", ")}, not ${name}`);
    process.exit(1);
  }
  rows.push(await beside(name));
}
agent.destroy();
console.log("milliseconds to the answer of a single message: median / 95th of 100 / worst");
console.table(rows);
