/** What operations take is bounded, and what is of another kind than they take is the caller's fault and never ours. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { dereferenced } from "../support/openapi.ts";
import { OPERATOR, operating, refusal } from "../support/operator.ts";
import { startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const call = operating(service);

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: unknown;
  readonly const?: unknown;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
}
interface Described {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Schema }> };
}
const { json } = await service.call("GET", "/openapi.json");
const { paths } = dereferenced<{ paths: Record<string, Record<string, Described>> }>(json);
const OPERATIONS = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({ method: method.toUpperCase(), path, ...described })),
);

/** Whether every text of the pattern is short: a long run of any one character that could stand in it must not fit. */
const isShort = (pattern: string): boolean =>
  ["1", "a", "A", "-", ".", "x:1"].every((letter) => !new RegExp(pattern).test(letter.repeat(5_000)));

/** The places in a schema that take a text or a list of any length. */
function unbounded(schema: Schema, place: string): string[] {
  const types = [schema.type ?? []].flat();
  const bounded = schema.enum !== undefined || schema.const !== undefined || schema.maxLength !== undefined;
  const text = types.includes("string") && !bounded && !isShort(schema.pattern ?? "");
  const list = types.includes("array") && schema.maxItems === undefined;
  return [
    ...(text || list ? [place] : []),
    ...(schema.items === undefined ? [] : unbounded(schema.items, `${place}[]`)),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) => unbounded(one, `${place}.${name}`)),
    ...(schema.anyOf ?? []).flatMap((one) => unbounded(one, place)),
  ];
}

test("every text and every list that an operator or a client's own account sends has a longest", () => {
  const managed = OPERATIONS.filter(({ path }) => /^\/(operator|account)\/1\//.test(path));
  const bodies = managed.filter(({ requestBody }) => requestBody !== undefined);
  assert.ok(bodies.length > 10);
  const found = bodies.flatMap(({ method, path, requestBody }) =>
    Object.values(requestBody!.content).flatMap(({ schema }) => unbounded(schema, `${method} ${path} `)),
  );
  assert.deepEqual(found, []);
});

/** Names in paths, of things that are there. */
const NAMES: Readonly<Record<string, string>> = { key: "DEMO0001", number: "41790000001", id: "simulator" };

test("a parameter that stands twice, is empty, has no characters of a text, or is too long is a bad request", async () => {
  let asked = 0;
  for (const { method, path, parameters = [] } of OPERATIONS) {
    if (!/^\/(operator|account)\/1\//.test(path) || method !== "GET") continue;
    const where = path.replace(/\{(\w+)\}/g, (_, name: string) => NAMES[name] ?? "x");
    for (const { name } of parameters.filter((one) => one.in === "query")) {
      for (const query of [`${name}=1&${name}=1`, `${name}=`, `${name}=%00`, `${name}=${"1".repeat(3_000)}`]) {
        const answer = await service.call("GET", `${where}?${query}`, { authorization: OPERATOR });
        assert.deepEqual([answer.status, refusal(answer)[1]], [400, [name]], `${where} ${query.slice(0, 60)}`);
        asked++;
      }
    }
  }
  assert.ok(asked > 50);
});

const GOOD: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "/carriers/x": { kind: "simulator", answerAfterMs: 1, capacity: 1, handset: [] },
  "/carriers/y": { kind: "smpp", hosts: ["127.0.0.1:9"], systemId: "me", password: "x", tlsCa: "x" },
  "/routes/447": { carrier: "simulator", groups: [[{ carrier: "simulator" }]] },
  "/rate-plans/x": { currency: "EUR", rate: [{ prefix: "", price: "1" }] },
  "/exchange-rates/USD/CHF": { rate: "2" },
  "/numbers/447700900000": { account: "DEMO0001", forwardUrl: "https://example.com", keywords: ["x"] },
};
const STRANGE: readonly unknown[] = [{ toString: 1 }, { length: 1, valueOf: 1 }, [{ toString: 1 }], 0.5, true];

for (const [path, good] of Object.entries(GOOD)) {
  test(`whatever stands in a field of PUT ${path.replace(/\/\w+$/, "")} in place of a value, the answer is no 500`, async () => {
    for (const name of [...Object.keys(good), "version"]) {
      for (const strange of STRANGE) {
        const answer = await call("PUT", path, { ...good, [name]: strange });
        assert.equal(answer.status, 400, `${name}: ${JSON.stringify(strange)} ${answer.text}`);
      }
    }
  });
}

test("a carrier's kind that is no word is told of by its name", async () => {
  const answer = await call("PUT", "/carriers/x", { kind: { toString: 1 } });
  assert.deepEqual(refusal(answer), [400, ["kind"], "kind must be one of simulator, smpp, http, not a table."]);
});
