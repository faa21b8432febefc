/**
 * Twenty thousand requests made from the service's own description, good ones and odd ones, as everybody who can call: none of them is the
 * service's fault, each gets an answer of the API's, and afterwards the service is what it was before. HOSTILE_SEED repeats a run,
 * HOSTILE_REQUESTS makes it longer.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { isLong, seed } from "../support/chance.ts";
import { startChild } from "../support/child.ts";
import { OPERATOR } from "../support/operator.ts";
import { callService, temporaryDirectory } from "../support/service.ts";
import { Chance } from "./support/chance.ts";
import { type Operation, operationsOf } from "./support/document.ts";
import { mutate } from "./support/mutate.ts";
import { type Draft, encode, validDraft } from "./support/valid.ts";
import { Wire, type WireAnswer } from "./support/wire.ts";
import { World } from "./support/world.ts";

const SEED = Number(process.env.HOSTILE_SEED ?? seed);
const REQUESTS = Number(process.env.HOSTILE_REQUESTS ?? (isLong ? 25_000 : 1_500));
/** Well below what the service takes at a time from one address. */
const CONNECTIONS = 16;
const GOOD_PERCENT = 30;
/** Of so few good requests of an operation, all may have been about something that is not there any more. */
const MIN_GOOD = 5;
const MAX_ERROR_BYTES = 4_096;
const MAX_GROWTH_BYTES = 400 * 1024 * 1024;
const MAX_SHOWN = 3_000;

/** What takes long on purpose (passwords), or longer the more there is (the whole ledger), or follows every change comes less often. */
const SELDOM: readonly (readonly [operations: RegExp, percent: number])[] = [
  [
    /\/password$|^(POST|DELETE) \/operator\/1\/accounts(\/\{key\})?$|customerProfile\/log(in|out)$|\/auth\/1\/session$/,
    8,
  ],
  [/ledger\/verify|\/metrics$/, 15],
  [
    /^(PUT|DELETE) \/operator\/1\/(carriers|routes|rate-plans|exchange-rates|numbers)\/|\/statement$|api-keys\/\{id\}$/,
    30,
  ],
];

/** Operations of which no generated request can be good, and why. */
const NEVER_GOOD: Readonly<Record<string, string>> = {
  "PUT /account/1/password": "would change the password of the caller",
  "POST /account/1/second-factor": "an API key is not enough, and the password of a session's user is not told",
  "POST /account/1/second-factor/confirm": "needs the code of a phone",
  "DELETE /account/1/second-factor": "needs the code of a phone",
  "DELETE /account/1/api-keys/{id}": "would revoke the key of the caller",
  "GET /account/1/statement": "needs a period",
  "GET /1/smsmessaging/outbound/subscriptions/{id}": "needs the id of a subscription",
  "DELETE /1/smsmessaging/outbound/subscriptions/{id}": "needs the id of a subscription",
  "GET /1/smsmessaging/inbound/subscriptions/{id}": "needs the id of a subscription",
  "DELETE /1/smsmessaging/inbound/subscriptions/{id}": "needs the id of a subscription",
  "PUT /1/smsmessaging/inbound/subscriptions": "needs the id of a subscription",
  "POST /ct/1/log/end/{messageId}": "needs the id of a message with conversion tracking",
  "GET /1/customerProfile/{id}": "needs the id of the caller's own account",
  "GET /1/customerProfile/account/clients": "is for resellers and operators",
  "POST /1/customerProfile/signup": "is refused to everybody",
  "POST /1/customerProfile/verify": "is refused to everybody",
  "POST /operator/1/reports/retry": "needs a host or ids of reports that wait",
  "PUT /sandbox/1/clock": "takes one of three fields, and only forwards",
};

const shareOf = ({ name }: Operation): number => SELDOM.find(([operations]) => operations.test(name))?.[1] ?? 100;

interface Sent {
  readonly index: number;
  readonly draft: Draft;
  readonly request: Buffer;
}

/** What is needed to send it again by hand. */
function shown({ index, draft, request }: Sent, answer: WireAnswer | null): string {
  const text = request.toString("latin1");
  return [
    `request ${index} of HOSTILE_SEED=${SEED}: ${draft.operation.name} (${draft.mutations.join("; ") || "should be good"})`,
    `Latin-1, ${text.length} octets: ${JSON.stringify(text.slice(0, MAX_SHOWN))}`,
    `answer: ${answer?.status} ${answer?.body.slice(0, MAX_SHOWN)}`,
  ].join("\n");
}

/** What any request may be answered, whatever it asks for: the description says so of all of them at once. */
const ANYWHERE = [405, 406, 408, 413, 415, 431];

/** Whether the answer is one that the operation is described with. A request whose method or path is another one is none of its. */
function isDescribed({ operation, method, path }: Draft, status: number): boolean {
  const isItsOwn = method === operation.method && path === null;
  return !isItsOwn || ANYWHERE.includes(status) || operation.statuses.includes(status);
}

const PLAIN = "string";
const isTexts = (list: unknown): boolean => Array.isArray(list) && list.every((name) => typeof name === PLAIN);

/** Version 3's: all five fields, and no other. */
function isApiError(json: Record<string, unknown>): boolean {
  const { errorCode, description, action, violations, resources, ...rest } = json;
  return (
    [errorCode, description, action].every((text) => typeof text === PLAIN) &&
    Array.isArray(violations) &&
    violations.every(({ property, violation }) => isTexts([property, violation])) &&
    Array.isArray(resources) &&
    Object.keys(rest).length === 0
  );
}

/** That of PINs and tokens: no more than what is documented. */
function isApiException(json: Record<string, unknown>): boolean {
  const { requestError, ...others } = json as { requestError?: { serviceException?: Record<string, unknown> } };
  // Tokens have a word of their standard beside it.
  const rest = Object.keys(others).filter((name) => name !== "error");
  const { messageId, text, validationErrors = {}, ...more } = requestError?.serviceException ?? {};
  return (
    isTexts([messageId, text]) &&
    Object.values(validationErrors as object).every(isTexts) &&
    rest.length + Object.keys(more).length === 0 &&
    Object.keys(requestError!).length === 1
  );
}

/** The contract's, on all other paths. */
function isContractError(json: Record<string, unknown>): boolean {
  const { requestError, ...others } = json as { requestError?: Record<string, Record<string, unknown>> };
  const rest = Object.keys(others).filter((name) => name !== "current");
  const { messageId, text, variables, additionalDescription, ...more } = requestError?.serviceException ?? {};
  return (
    isTexts([messageId, text]) &&
    (variables === null || isTexts(variables)) &&
    (additionalDescription === null || typeof additionalDescription === PLAIN) &&
    rest.length + Object.keys(more).length === 0
  );
}

/** What cannot be read as HTTP, or has no URL in its first line, has no path that its error could follow. */
const isUnread = (json: Record<string, unknown>): boolean =>
  /The request could not be read\.|The path is not a valid URL\./.test(JSON.stringify(json));

/** A path that was made up may belong to another family than it looks like. */
function isOfFamily(json: Record<string, unknown>, path: string): boolean {
  if (isApiError(json)) return path.includes("/sms/3");
  if (isContractError(json)) return isUnread(json) || !/^\/(sms\/3|2fa\/2)\//.test(path);
  return isApiException(json) && /2fa|oauth2|\/ct\//.test(path);
}

/** What is wrong with an answer; null if nothing is. */
function fault({ draft }: Sent, { status, headers, body }: WireAnswer): string | null {
  if (status === 0) return "no answer";
  if (status >= 500) return `status ${status}`;
  if (!isDescribed(draft, status)) return `status ${status}, which is not described`;
  if (draft.method === "HEAD" || status < 300) return null;
  if (status < 400) return headers.get("location") === "/docs" || status === 304 ? null : `status ${status}`;
  // Kannel's door speaks in sentences.
  if (draft.operation.path === "/cgi-bin/sendsms" && headers.get("content-type") === "text/plain; charset=utf-8")
    return body.length > 0 && Buffer.byteLength(body) <= MAX_ERROR_BYTES
      ? null
      : "an error that says nothing, or too much";
  let json: Record<string, unknown>;
  try {
    json = JSON.parse(body);
  } catch {
    return "an error that is no JSON";
  }
  if (headers.get("content-type") !== "application/json; charset=utf-8") return "an error of another type";
  const right = isOfFamily(json, draft.path ?? draft.operation.path);
  if (!right) return "an error of another shape";
  if (json.current === undefined && Buffer.byteLength(body) > MAX_ERROR_BYTES)
    return `${Buffer.byteLength(body)} octets of error`;
  return null;
}

/** The most memory that the process has ever had, in bytes. Only Linux tells. */
function peakMemory(pid: number): number {
  if (process.platform !== "linux") return 0;
  return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

interface Counts {
  good: number;
  answeredGood: number;
  all: number;
}

/** Sends all of them, from several connections at a time. */
async function sendAll(url: string, world: World, operations: readonly Operation[], onFault: (says: string) => void) {
  const counts = new Map<string, Counts>(operations.map(({ name }) => [name, { good: 0, answeredGood: 0, all: 0 }]));
  const statuses = new Map<number, number>();
  let next = 0;
  const work = async (): Promise<void> => {
    const wire = new Wire(url);
    while (next < REQUESTS) {
      const index = next++;
      const chance = new Chance(SEED + index * 2_654_435_761);
      let operation = chance.pick(operations);
      while (!chance.percent(shareOf(operation))) operation = chance.pick(operations);
      const draft = validDraft(operation, world, chance);
      if (!chance.percent(GOOD_PERCENT)) mutate(draft, world, chance);
      const sent = { index, draft, request: encode(draft) };
      const isLast = draft.headers.some(([name, value]) => name === "connection" && value === "close");
      const answer = await wire.call(sent.request, { isHead: draft.method === "HEAD", isLast });
      const count = counts.get(operation.name)!;
      count.all++;
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      const says = fault(sent, answer);
      if (says !== null) onFault(`${says}\n${shown(sent, answer)}`);
      const isGood = answer.status >= 200 && answer.status < 300;
      if (isGood && draft.method === operation.method && draft.path === null) {
        const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
        world.learn(operation.name, draft.params, isJson ? JSON.parse(answer.body) : undefined);
      }
      if (draft.mutations.length > 0) continue;
      count.good++;
      if (isGood) count.answeredGood++;
      else if (process.env.HOSTILE_SHOW === "refused") console.log(shown(sent, answer));
    }
    wire.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return { counts, statuses };
}

test(`${REQUESTS} requests made from the description are answered, and none is the service's fault`, async (t: TestContext) => {
  t.diagnostic(`HOSTILE_SEED=${SEED}`);
  const data = await temporaryDirectory({ after: (clean) => t.after(clean) });
  const child = await startChild(t, ["sandbox", "--port", "0", "--data", data], {
    HELIOGRAPH_LIMITS_LOGIN_ATTEMPTS: "1000000",
  });
  const { url } = child;
  const pid = child.process.pid!;
  const open = { authorization: null };
  const operations = operationsOf((await callService(url, "GET", "/openapi.json", open)).json);
  assert.ok(operations.length > 60);
  const world = await World.prepare(url);
  const before = peakMemory(pid);

  const faults: string[] = [];
  const { counts, statuses } = await sendAll(url, world, operations, (says) => faults.push(says));

  t.diagnostic(
    `statuses: ${[...statuses]
      .sort(([a], [b]) => a - b)
      .map(([status, count]) => `${status} × ${count}`)
      .join(", ")}`,
  );
  assert.equal(
    faults.length,
    0,
    `${faults.length} wrong answers, seed ${SEED}; the first ones:\n${faults.slice(0, 5).join("\n\n")}`,
  );
  assert.doesNotMatch(child.output(), /a request failed/);

  // What should be good is good, or the odd ones would have been refused for another reason than their oddness. Of a few requests nothing can be said.
  const poor = [...counts]
    .filter(([name]) => !(name in NEVER_GOOD))
    // Many are an operator's, or about one thing that is not there; test/api/console-inputs.test.ts asks all of them.
    .filter(([name]) => !name.includes(" /console/1/"))
    // Whether there is something left to delete is chance, and whether something is there that others delete meanwhile, nearly so.
    .filter(([name]) => !name.startsWith("DELETE "))
    .filter(([name, { good, answeredGood }]) => {
      const isDeleted = name.startsWith("GET ") && counts.has(`DELETE ${name.slice(4)}`);
      return good >= MIN_GOOD && answeredGood < (isDeleted ? 1 : good * 0.2);
    });
  if (isLong) {
    assert.deepEqual(poor, [], "operations whose good requests are not good");
    // How often is chance, and some have a small share.
    for (const [name, { all }] of counts) assert.ok(all > 0, `${name} was never called`);
  }

  // The service is what it was before.
  assert.equal((await callService(url, "GET", "/healthz", open)).status, 200);
  assert.equal((await callService(url, "GET", "/readyz", open)).status, 200);
  assert.equal((await callService(url, "GET", "/account/1/balance")).status, 200);
  const ledger = await callService(url, "GET", "/operator/1/ledger/verify", { authorization: OPERATOR });
  assert.deepEqual([ledger.status, ledger.json], [200, { right: true, faults: [] }]);
  const grown = peakMemory(pid) - before;
  assert.ok(grown < MAX_GROWTH_BYTES, `memory grew by ${grown} bytes`);
  t.diagnostic(`memory grew by ${Math.round(grown / 1024 / 1024)} MiB`);
  assert.equal(await child.end("SIGTERM"), 0);
});
