/** What the console's views are asked, however absurd, is answered or refused with what is wrong: never with an error of the service. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { OPERATOR } from "../support/operator.ts";
import { DEMO, startTestService } from "../support/service.ts";

const LARGE = "9".repeat(19);
const VALUES: readonly string[] = [
  "",
  "x",
  "%00",
  "%F0%9F%98%80",
  "%ED%A0%80",
  "%",
  "-1",
  "1e309",
  "NaN",
  "__proto__",
  "9223372036854775807",
  "9223372036854775808",
  LARGE,
  `1.${LARGE}`,
  `${LARGE}.1`,
  "9999999999999999.1",
  "1.9223372036854775807",
  "9999999999999999.9999999999999999.1",
  `1.1.${LARGE}`,
  "1.%00",
  "999999-99-99T99:99:99.999+9999",
  "9999-12-31",
  "account:%00",
  "id:%00+bulk:%00",
  "since:9999w",
  "since:0000-01-01+until:9999-12-31",
  `error:${LARGE}`,
  "a".repeat(3_000),
  `${"4179,".repeat(400)}4179`,
];

interface Described {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

test("no parameter of a view, absurd, doubled or too long, brings an error of the service", async (t) => {
  const service = await startTestService(t, { settings: { limits: { requestsPerSecond: 1_000_000 } } });
  await service.call("POST", "/sms/1/text/single", { body: { from: "Shop", to: "41793026727", text: "x" } });
  const { json } = await service.call("GET", "/openapi.json");
  const views = Object.entries(json.paths as Record<string, { readonly get?: Described }>).filter(
    ([path, { get }]) => path.startsWith("/console/1/") && get !== undefined,
  );
  assert.ok(views.length > 20, `${views.length} views`);
  const failed: string[] = [];
  let asked = 0;
  const ask = async (path: string, query: string) => {
    for (const authorization of [DEMO, OPERATOR]) {
      const { status, text } = await service.call("GET", `${path}?${query}`, { authorization });
      asked++;
      if (status >= 500) failed.push(`${status} ${path}?${query.slice(0, 80)}: ${text.slice(0, 200)}`);
    }
  };
  for (const [path, { get }] of views) {
    const names = (get!.parameters ?? []).filter((parameter) => parameter.in === "query").map(({ name }) => name);
    if (path.endsWith("/live")) continue;
    for (const name of names) {
      for (const value of VALUES) await ask(path, `${name}=${value}`);
      await ask(path, `${name}=a&${name}=b`);
      await ask(path, `${name}[]=a&${name}[b]=c`);
    }
    // All at once, and each twice: what one refuses must not hide what the next does.
    for (const value of ["1", "x"]) await ask(path, names.map((name) => `${name}=${value}&${name}=${value}`).join("&"));
  }
  assert.ok(asked > 1_000, `${asked} questions`);
  assert.deepEqual(failed, []);
});
