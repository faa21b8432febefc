/** The catalogue over the API: what is set is in force within a second, and what would not fit together is refused. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { CERTIFICATE } from "../support/certificate.ts";
import { good, operating, refusal } from "../support/operator.ts";
import { eventually } from "../support/patience.ts";
import { basic, startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const call = operating(service);

async function send(to: string, authorization = basic("demo", "demo-password")): Promise<number> {
  const body = { from: "Acme", to, text: "x" };
  const { messages } = good(await service.call("POST", "/sms/1/text/single", { authorization, body }));
  return messages[0].status.id;
}

async function balanceOf(username: string): Promise<number> {
  return good(await service.call("GET", "/account/1/balance", { authorization: basic(username, "password") })).balance;
}

const SMPP = { kind: "smpp", hosts: ["127.0.0.1:9"], systemId: "me", password: "s3cr3t!!" };
const planAt = (price: string) => ({ currency: "EUR", rate: [{ prefix: "", price }] });

test("the next message after a rate was changed costs the new price", async () => {
  good(await call("PUT", "/rate-plans/changing", planAt("0.02")));
  const body = { key: "PAYER", username: "PAYER", password: "password", ratePlan: "changing", openingBalance: 1 };
  good(await call("POST", "/accounts", body));
  const pay = async (): Promise<number> => {
    const before = await balanceOf("PAYER");
    await send("41793026727", basic("PAYER", "password"));
    return Math.round((before - (await balanceOf("PAYER"))) * 1_000_000);
  };
  assert.equal(await pay(), 20_000);
  const { version } = good(await call("PUT", "/rate-plans/changing", { ...planAt("0.05"), version: 1 }));
  assert.equal(version, 2);
  await eventually(async () => (await pay()) === 50_000);
});

test("a route is in force within a second after it was set, changed and deleted", async () => {
  const carrierOf = async (): Promise<string | null> => {
    const handed = service.handedOn.length;
    await send("888123456");
    return service.handedOn[handed]?.carrierId ?? null;
  };
  good(await call("PUT", "/carriers/second", { kind: "simulator", answerAfterMs: 1 }));
  assert.equal(await carrierOf(), "simulator");
  good(await call("PUT", "/routes/888", { groups: [[{ carrier: "second", weight: 2 }]] }));
  await eventually(async () => (await carrierOf()) === "second");
  good(await call("PUT", "/routes/888", { carrier: "simulator", version: 1 }));
  await eventually(async () => (await carrierOf()) === "simulator");
  good(await call("DELETE", "/routes/888?version=2"), 204);
  assert.equal((await call("GET", "/routes/888")).status, 404);
  assert.equal(await carrierOf(), "simulator");
});

test("only the command line may name a file of this machine; over the API the certificate itself is given", async () => {
  const refused = await call("PUT", "/carriers/secure", { ...SMPP, tls: true, tlsCa: "/dev/zero" });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /tlsCaPem/);
  assert.equal((await call("GET", "/carriers/secure")).status, 404);
  const body = { id: "secure", ...SMPP, tls: true, tlsCa: "/etc/acme.pem" };
  const items = [
    ...(await service.store.catalogue()),
    { kind: "carrier" as const, id: "secure", body: JSON.stringify(body) },
  ];
  await service.store.putCatalogue({ items });
  const { version, ...seen } = good(await call("GET", "/carriers/secure"));
  assert.equal(good(await call("PUT", "/carriers/secure", { ...seen, window: 5, version })).tlsCa, "/etc/acme.pem");
  const changed = await call("PUT", "/carriers/secure", { ...seen, tlsCa: "/etc/passwd", version: version + 1 });
  assert.equal(changed.status, 400);
  const { tlsCa: _, ...rest } = seen;
  const given = { ...rest, tlsCaPem: CERTIFICATE.cert, version: version + 1 };
  assert.equal(good(await call("PUT", "/carriers/secure", given)).tlsCaPem, CERTIFICATE.cert);
  const odd = await call("PUT", "/carriers/odd", { ...SMPP, tlsCaPem: "no certificate" });
  assert.equal(odd.status, 400);
});

test("an item is seen as it was written, with its version, and listed in pages", async () => {
  const items: readonly (readonly [path: string, names: object, body: object])[] = [
    ["/carriers/seen", { id: "seen" }, { kind: "simulator", capacity: 5 }],
    ["/routes/999", { prefix: "999" }, { carrier: "simulator" }],
    ["/rate-plans/seen", { id: "seen" }, planAt("0.5")],
    ["/exchange-rates/CHF/EUR", { from: "CHF", to: "EUR" }, { rate: "1.05" }],
    ["/numbers/12345", { number: "12345" }, { account: "DEMO0001", keywords: ["GO"] }],
  ];
  for (const [path, names, body] of items) {
    const written = good(await call("PUT", path, body));
    assert.deepEqual(written, { ...names, ...body, version: 1 });
    const seen = await call("GET", path);
    assert.deepEqual([good(seen), seen.headers.get("etag")], [written, '"1"']);
    // What was seen can be sent back as it is.
    const again = good(await call("PUT", path, written));
    assert.equal(again.version, 2);
    const list = path.split("/")[1]!;
    const listed: unknown[] = [];
    for (let after: string | null = ""; after !== null; ) {
      const page = good(await call("GET", `/${list}?limit=1${after}`));
      listed.push(...page.results);
      after = page.next === null ? null : `&after=${encodeURIComponent(page.next)}`;
    }
    assert.ok(
      listed.some((item) => JSON.stringify(item) === JSON.stringify(again)),
      path,
    );
    good(await call("DELETE", path, undefined, { headers: { "if-match": '"2"' } }), 204);
    assert.equal((await call("GET", path)).status, 404);
  }
  assert.equal(good(await call("GET", "/routes/default")).prefix, "");
});

test("an item is written over the version that was seen; of two operators one wins", async () => {
  good(await call("PUT", "/exchange-rates/GBP/EUR", { rate: "1.1" }));
  const late = await call("PUT", "/exchange-rates/GBP/EUR", { rate: "1.2" });
  assert.deepEqual(refusal(late), [409, null, "It was changed meanwhile: its version is 1 now."]);
  assert.deepEqual(late.json.current, { from: "GBP", to: "EUR", rate: "1.1", version: 1 });
  const rates = ["1.3", "1.4", "1.5"];
  const answers = await Promise.all(rates.map((rate) => call("PUT", "/exchange-rates/GBP/EUR", { rate, version: 1 })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
  const winner = answers.find(({ status }) => status === 200)!;
  assert.deepEqual(good(await call("GET", "/exchange-rates/GBP/EUR")), winner.json);
  assert.equal((await call("DELETE", "/exchange-rates/GBP/EUR?version=1")).status, 409);
  assert.equal((await call("DELETE", "/exchange-rates/GBP/EUR")).status, 400);
  assert.deepEqual(refusal(await call("PUT", "/exchange-rates/JPY/EUR", { rate: "1", version: 3 })), [
    409,
    null,
    "It is not there any more.",
  ]);
});

test("a carrier's password is written and never shown: not in an answer, not in the audit", async () => {
  const { password: _, ...rest } = SMPP;
  const written = good(await call("PUT", "/carriers/acme", SMPP));
  assert.deepEqual(written, { id: "acme", ...rest, version: 1 });
  // Left out, it stays as it was.
  good(await call("PUT", "/carriers/acme", { ...written, window: 20 }));
  const stored = async () => JSON.parse((await service.store.catalogue()).find(({ id }) => id === "acme")!.body);
  assert.deepEqual(await stored(), { id: "acme", ...SMPP, window: 20 });
  good(await call("PUT", "/carriers/acme", { ...rest, password: "another", version: 2 }));
  assert.equal((await stored()).password, "another");
  good(await call("DELETE", "/carriers/acme?version=3"), 204);
  const { results } = good(await call("GET", "/audit?kind=carrier&subject=acme"));
  assert.deepEqual(
    results.map(({ action, before, after }: Record<string, { password?: string }>) => [
      action,
      before?.password ?? null,
      after?.password ?? null,
    ]),
    [
      ["delete", "(hidden)", null],
      ["change", "(hidden)", "(hidden)"],
      ["change", "(hidden)", "(hidden)"],
      ["create", null, "(hidden)"],
    ],
  );
  const list = (await call("GET", "/carriers")).text;
  assert.ok(!list.includes("password"));
});

test("a new carrier needs its password", async () => {
  const { password: _, ...rest } = SMPP;
  assert.deepEqual(refusal(await call("PUT", "/carriers/bare", rest)), [400, ["password"], "password is required."]);
});

test("what would not fit together is refused, and says with what", async () => {
  const cases: readonly (readonly [
    method: string,
    path: string,
    body: object | undefined,
    status: number,
    says: RegExp,
  ])[] = [
    ["PUT", "/routes/77", { carrier: "nowhere" }, 400, /^carrier names "nowhere", which is not there/],
    ["PUT", "/routes/77", { groups: [[{ carrier: "simulator" }, { carrier: "nowhere" }]] }, 400, /"nowhere"/],
    ["PUT", "/routes/77", {}, 400, /^carrier or groups must be given, not both/],
    ["PUT", "/routes/7x", { carrier: "simulator" }, 400, /^prefix/],
    ["PUT", "/routes/77", { carrier: "simulator", prefix: "78" }, 400, /^prefix is another one than in the path/],
    ["PUT", "/routes/77", { carrier: "simulator", colour: "red" }, 400, /^colour is not known here/],
    ["DELETE", "/carriers/simulator?version=1", undefined, 409, /^Route "\*" goes to carrier "simulator"/],
    ["PUT", "/carriers/pigeon", { kind: "pigeon" }, 400, /^kind must be one of simulator, smpp/],
    ["PUT", "/carriers/a%20b", { kind: "simulator" }, 400, /^id/],
    ["DELETE", "/rate-plans/standard?version=1", undefined, 409, /^Account \w+ pays by rate plan "standard"/],
    ["PUT", "/rate-plans/standard", { currency: "USD", rate: [{ prefix: "", price: "1" }], version: 1 }, 409, /EUR/],
    ["PUT", "/rate-plans/new", { currency: "EUR", rate: [] }, 400, /^rate/],
    [
      "PUT",
      "/rate-plans/new",
      {
        currency: "EUR",
        rate: [
          { prefix: "1", price: "1" },
          { prefix: "1", price: "2" },
        ],
      },
      400,
      /two prices for prefix "1"/,
    ],
    ["PUT", "/exchange-rates/USD/JPY", { rate: "0" }, 400, /above zero/],
    ["PUT", "/exchange-rates/usd/JPY", { rate: "1" }, 400, /^from/],
    ["PUT", "/numbers/54321", { account: "NOBODY" }, 400, /^account names no account: "NOBODY"/],
    ["PUT", "/numbers/54321", { account: "DEMO0001", keywords: ["two words"] }, 400, /not one word/],
    ["PUT", "/numbers/54321", { account: "DEMO0001", version: -1 }, 400, /^version/],
    ["PUT", "/numbers/54321", [], 400, /^body must be an object/],
  ] as const;
  const before = await service.store.catalogue();
  for (const [method, path, body, status, says] of cases) {
    const [got, , sentence] = refusal(await call(method, path, body));
    assert.equal(got, status, `${path}: ${sentence}`);
    assert.match(sentence ?? "", says);
  }
  assert.deepEqual(await service.store.catalogue(), before);
});

test("a plan stays by which a reseller or an operator pays, and so does its currency", async () => {
  for (const [key, kind] of [
    ["PAYINGRESELLER", "reseller"],
    ["PAYINGOPERATOR", "operator"],
  ] as const) {
    const plan = `/rate-plans/of-${kind}`;
    good(await call("PUT", plan, planAt("0.01")));
    await addAccount(service.store, { key, kind });
    good(await call("PATCH", `/accounts/${key}`, { version: 1, ratePlan: `of-${kind}` }));
    const inUse = `Account ${key} pays by rate plan "of-${kind}": give it another one first.`;
    assert.deepEqual(refusal(await call("DELETE", `${plan}?version=1`)), [409, null, inUse]);
    const paid = `Rate plan "of-${kind}" is paid in EUR by account ${key}.`;
    const francs = { ...planAt("0.01"), currency: "CHF", version: 1 };
    assert.deepEqual(refusal(await call("PUT", plan, francs)), [409, null, paid]);
  }
});

test("what is not there is named", async () => {
  const says = async (method: string, path: string) => refusal(await call(method, path))[2];
  assert.equal(await says("GET", "/carriers/nobody"), "There is no carrier nobody.");
  assert.equal(await says("DELETE", "/rate-plans/none?version=1"), "There is no rate plan none.");
  assert.equal(await says("GET", "/exchange-rates/USD/XTS"), "There is no exchange rate USD/XTS.");
});

test("a plan that nobody pays by any more can go", async () => {
  good(await call("PUT", "/rate-plans/leaving", planAt("0.01")));
  await addAccount(service.store, { key: "LEAVER" });
  good(await call("PATCH", "/accounts/LEAVER", { version: 1, ratePlan: "leaving" }));
  assert.equal((await call("DELETE", "/rate-plans/leaving?version=1")).status, 409);
  good(await call("PATCH", "/accounts/LEAVER", { version: 2, ratePlan: "standard" }));
  good(await call("DELETE", "/rate-plans/leaving?version=1"), 204);
});
