/** What is done to good requests to make them odd: each a small change that some client, proxy or attacker would make. */
import type { Chance } from "./chance.ts";
import { type Draft, endsSession, percent } from "./valid.ts";
import { type Role, type World, WRONG_BASIC } from "./world.ts";

const NAMES_OF_JAVASCRIPT = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "length", "then"];

/** None of them is a host with a port, or anything else that would have the service call somebody. */
const ODD_TEXTS: readonly string[] = [
  "",
  " ",
  "\t\n",
  "\0",
  "a\0b",
  "\ud800",
  "x\udc00",
  `e${"\u0301".repeat(60)}`,
  "\u202eabc\u2066",
  "\u2028\ufeff\u200d",
  "ﷺ".repeat(20),
  "😀".repeat(30),
  "ÿþ",
  "null",
  "undefined",
  "NaN",
  "Infinity",
  "-Infinity",
  "-0",
  "-1",
  "0",
  "00",
  "1e999",
  "1e3",
  "0x10",
  "1,5",
  "1.0000001",
  "9007199254740993",
  "9223372036854775808",
  "99999999999999999999999999999999999999",
  "١٢٣٤",
  "true",
  "TRUE",
  "2026-02-30T25:61:00.000+0000",
  "-271821-04-20T00:00:00.000Z",
  "+275760-09-13T00:00:00.000+0000",
  "9999-12-31T23:59:59.999+0000",
  "0000-01-01T00:00:00.000+0000",
  "' OR 1=1 --",
  '"; DROP TABLE message; --',
  "%",
  "%00",
  "../../../../etc/passwd",
  "\r\nx-injected: yes",
  "<script>alert(1)</script>",
  "http://[::1",
  "http://",
  "javascript:alert(1)",
  "10.0.0.0/33",
  "*",
  "a,b,,c",
  ...NAMES_OF_JAVASCRIPT,
  "a".repeat(300),
  "9".repeat(400),
  "x".repeat(5_000),
  "é ".repeat(3_000),
];

const nested = (levels: number): unknown => {
  let value: unknown = "deep";
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  -1e308,
  5e-324,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  [],
  {},
  [[]],
  [null],
  [{}],
  ["a", 1, null],
  { toString: "x" },
  { toString: {}, valueOf: 1 },
  { toString: null, length: 3 },
  { length: 5 },
  { length: -1, 0: "a" },
  { constructor: { prototype: { polluted: true } } },
  JSON.parse('{"__proto__": {"polluted": true, "toString": 1}}'),
  JSON.parse('{"then": "x", "toJSON": "y"}'),
  nested(10),
  nested(31),
  nested(100),
  Array.from({ length: 1_500 }, () => 0),
  Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`field${index}`, index])),
];

/** A long text now and then: megabytes have tests of their own. */
function oddText(chance: Chance): string {
  if (chance.below(400) === 0) return chance.pick(["y", "ü", "\u0301", "😀", "[", '"']).repeat(60_000);
  return chance.pick(ODD_TEXTS);
}

function oddValue(chance: Chance): unknown {
  return chance.percent(50) ? oddText(chance) : chance.pick(ODD_VALUES);
}

// --- Bodies ----------------------------------------------------------------------------------------------------------------

type Container = Record<string | number, unknown>;

/** Every place in a JSON value where something stands. */
function places(json: unknown): [Container, string | number][] {
  if (typeof json !== "object" || json === null) return [];
  const keys = Array.isArray(json) ? [...json.keys()].slice(0, 20) : Object.keys(json);
  const container = json as Container;
  return keys.flatMap((key) => [[container, key] as [Container, string | number], ...places(container[key])]);
}

function define(container: Container, key: string | number, value: unknown): void {
  Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
}

const odd = (value: unknown): unknown => structuredClone(value);

const ON_PLACES: Readonly<Record<string, (container: Container, key: string | number, chance: Chance) => void>> = {
  replaced: (container, key, chance) => define(container, key, odd(oddValue(chance))),
  "replaced by an odd text": (container, key, chance) => define(container, key, oddText(chance)),
  removed: (container, key) => {
    delete container[key];
  },
  "put into a list": (container, key) => define(container, key, [container[key]]),
  "put into an object": (container, key, chance) =>
    define(container, key, { [chance.pick(NAMES_OF_JAVASCRIPT)]: container[key] }),
  "taken out of its list": (container, key) => {
    const value = container[key];
    if (Array.isArray(value)) define(container, key, value[0]);
  },
  repeated: (container, key) =>
    define(
      container,
      key,
      Array.from({ length: 300 }, () => container[key]),
    ),
  "made a text": (container, key) => define(container, key, JSON.stringify(container[key]) ?? ""),
  "joined by an odd field": (container, _, chance) => {
    if (!Array.isArray(container)) define(container, oddText(chance), odd(oddValue(chance)));
  },
};

function mutateJson(draft: Draft, chance: Chance): string {
  if (draft.body === null || !("json" in draft.body)) return mutateOctets(draft, chance);
  const found = places(draft.body.json);
  if (found.length === 0 || chance.percent(5)) {
    draft.body = { json: odd(oddValue(chance)) };
    return "another body";
  }
  const [container, key] = chance.pick(found);
  const name = chance.pick(Object.keys(ON_PLACES));
  ON_PLACES[name]!(container, key, chance);
  return `${key} ${name}`.slice(0, 60);
}

const NUMBERS = ["1e999", "-1e999", "-0", "00", "1.", "0x1", "NaN", "9".repeat(30), "1E400", "0.1e-500"];

const ON_OCTETS: Readonly<Record<string, (octets: Buffer, chance: Chance) => Buffer>> = {
  empty: () => Buffer.alloc(0),
  "cut off": (octets, chance) => octets.subarray(0, chance.below(octets.length)),
  "one octet changed": (octets, chance) => {
    const changed = Buffer.from(octets);
    if (changed.length > 0) changed[chance.below(changed.length)] = chance.below(256);
    return changed;
  },
  "not UTF-8": (octets) => Buffer.concat([octets, Buffer.from([0xc3, 0x28])]),
  "with a byte order mark": (octets) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), octets]),
  twice: (octets) => Buffer.concat([octets, octets]),
  "with another number": (octets, chance) =>
    Buffer.from(octets.toString("latin1").replace(/(?<=[:[,])\d+/, chance.pick(NUMBERS)), "latin1"),
  "with a field twice": (octets) =>
    Buffer.from(octets.toString("latin1").replace(/^\{("\w+":)/, "{$1null,$1"), "latin1"),
  brackets: (_, chance) => Buffer.from(chance.pick(["[", "{", '{"a":', "]", '"']).repeat(1 + chance.below(3_000))),
  "a form": () => Buffer.from("username=demo&password=x&__proto__=1&a[b]=c&a[]=1&=&%=%&%00=%ff&to=1&to=2"),
  "many fields": (_, chance) => Buffer.from("a=1&".repeat(chance.below(3_000))),
  XML: () => Buffer.from('<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'),
  random: (_, chance) => Buffer.from(Array.from({ length: chance.below(200) }, () => chance.below(256))),
};

function mutateOctets(draft: Draft, chance: Chance): string {
  const { body } = draft;
  const octets =
    body === null ? Buffer.from("{}") : "octets" in body ? body.octets : Buffer.from(JSON.stringify(body.json) ?? "");
  const name = chance.pick(Object.keys(ON_OCTETS));
  draft.body = { octets: ON_OCTETS[name]!(octets, chance) };
  return `body ${name}`;
}

// --- Queries, paths, headers -----------------------------------------------------------------------------------------------

function mutateQuery(draft: Draft, chance: Chance): string {
  const names = [
    ...draft.operation.parameters.filter(({ in: place }) => place === "query").map(({ name }) => name),
    "a",
  ];
  const name = chance.percent(85) ? chance.pick(names) : percent(chance.pick(NAMES_OF_JAVASCRIPT));
  const value = percent(oddText(chance).slice(0, 3_000));
  const FORMS: readonly (() => void)[] = [
    () => {
      draft.query = draft.query.filter(([other]) => other !== name);
      draft.query.push([name, value]);
    },
    () => draft.query.push([name, value], [name, value]),
    () => draft.query.push(...(draft.query.length > 0 ? draft.query : [[name, "1"] as [string, string]])),
    () => draft.query.push([`${name}[]`, value], [`${name}[]`, "b"]),
    () => draft.query.push([`${name}[x]`, value]),
    () => draft.query.push([`${name}[__proto__][y]`, "1"], [`${name}.z`, "1"]),
    () =>
      draft.query.push([
        name,
        chance.pick(["%", "%f", "%ff%fe", "%ed%a0%80", "+", "%2B", "&&&", "=", "%00", "a%0d%0ab"]),
      ]),
    () => draft.query.push(...Array.from({ length: 700 }, () => [name, "1"] as [string, string])),
    () => draft.query.push([name, "1,".repeat(2_000)]),
    () => {
      draft.query = [];
    },
  ];
  chance.pick(FORMS)();
  return `query ${name}`;
}

const ODD_STEPS = [
  "%",
  "%zz",
  "%00",
  "%2F",
  "%2f..%2f",
  "%5C",
  "..",
  ".",
  "%2e%2e",
  "%ff",
  "%ed%a0%80",
  ";a=b",
  "a%0d%0ab",
];

function mutatePath(draft: Draft, chance: Chance): string {
  const names = Object.keys(draft.params);
  if (names.length > 0 && chance.percent(70)) {
    draft.params[chance.pick(names)] = oddText(chance).slice(0, 6_000);
    return "path with an odd name";
  }
  const { path } = draft.operation;
  const filled = path.replaceAll(/\{\w+\}/g, () => chance.pick(ODD_STEPS));
  draft.path = chance.pick([
    filled,
    `${filled}/`,
    `${filled}//`,
    `/${filled}`,
    filled.toUpperCase(),
    `${filled}/${chance.pick(ODD_STEPS)}`,
    `http://elsewhere.example${filled}`,
    `http://${filled}`,
    filled.replace("/1/", "/%31/"),
    filled.replace("/1/", "/9/"),
    `${filled}#fragment`,
    "*",
    "/",
    "/docs/static/..%2f..%2fpackage.json",
    `/${"a".repeat(7_000)}`,
    `${"/a".repeat(3_000)}`,
  ]);
  return "another path";
}

const LATIN1 = "caf\xe9 \xff\xfe";
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  "content-type": [
    "text/plain",
    "application/xml",
    "application/json; charset=utf-16",
    "application/json;;;=",
    "APPLICATION/JSON",
    "multipart/form-data; boundary=x",
    "application/x-www-form-urlencoded",
    "",
    "/",
    "a".repeat(2_000),
    LATIN1,
    "application/json, text/plain",
  ],
  accept: [
    "text/html",
    "*/*;q=0",
    "application/json;q=0.000",
    ",,,;;;",
    "application/*",
    "text/csv",
    "a".repeat(2_000),
    LATIN1,
  ],
  "if-match": ["", '"', "W/", '"1", "2"', "-1", "99999999999999999999", "*, *", LATIN1, "1".repeat(3_000)],
  "idempotency-key": ["", "same", "k".repeat(255), "k".repeat(256), LATIN1, "__proto__", "\t"],
  "x-forwarded-for": ["10.0.0.1", "a, b, c", "::1%zone", "[", "9".repeat(3_000)],
  "x-forwarded-proto": ["javascript", "https"],
  username: ["demo", LATIN1, "__proto__"],
  range: ["bytes=0-", "bytes=-1,0-99999"],
  expect: ["100-continue", "200-maybe"],
  "transfer-encoding": ["chunked"],
  connection: ["close", "upgrade", "keep-alive, x"],
  upgrade: ["websocket", "h2c"],
  cookie: ["a=b; c", "a=".repeat(2_000)],
  "content-encoding": ["gzip", "br, gzip"],
  origin: ["null", "http://elsewhere.example"],
  host: ["", "a b", "x".repeat(2_000)],
  "x-long": ["z".repeat(9_000), "z".repeat(17_000)],
  [`x-${"n".repeat(500)}`]: ["v"],
};

function mutateHeaders(draft: Draft, chance: Chance): string {
  const name = chance.pick(Object.keys(HEADERS));
  const value = chance.pick(HEADERS[name]!);
  // A second one of these beside the first is another mutation.
  if (chance.percent(85)) draft.headers = draft.headers.filter(([other]) => other !== name);
  draft.headers.push([name, value]);
  return `${name}: ${value}`.slice(0, 60);
}

const ROLES: readonly Role[] = ["nobody", "client", "clientToken", "reseller", "resellerToken", "operator", "scoped"];

/** A password costs the service a tenth of a second on purpose: few of them are enough. */
const PASSWORD_ONE_OF = 40;
const WRONG_AUTHORIZATION = [
  "",
  "Basic",
  "Basic !!!!",
  "Basic Og",
  "Basic YQ==",
  "basic  ",
  "App",
  "App ",
  `App ${"k".repeat(5_000)}`,
  "App caf\xe9",
  "IBSSO x",
  "IBSSO __proto__",
  "Bearer x.y.z",
  "App a b c",
  `${"A".repeat(3_000)} x`,
  `App${" ".repeat(3_000)}`,
  LATIN1,
];

function mutateCaller(draft: Draft, world: World, chance: Chance): string {
  if (chance.below(PASSWORD_ONE_OF) === 0)
    draft.authorization = chance.percent(50) ? WRONG_BASIC : world.authorization("password", chance);
  else if (chance.percent(40)) draft.authorization = chance.pick(WRONG_AUTHORIZATION);
  else draft.authorization = world.authorization(chance.pick(ROLES), chance);
  return "another caller";
}

/** Not CONNECT, to which Node answers by closing. */
const METHODS = [
  "HEAD",
  "OPTIONS",
  "GET",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "TRACE",
  "PROPFIND",
  "SEARCH",
  "QUERY",
  "NONSENSE",
  "get",
];

/** By how often, of a hundred. */
const MUTATIONS: readonly (readonly [share: number, mutate: (draft: Draft, world: World, chance: Chance) => string])[] =
  [
    [45, (draft, _, chance) => mutateJson(draft, chance)],
    [7, (draft, _, chance) => mutateOctets(draft, chance)],
    [16, (draft, _, chance) => mutateQuery(draft, chance)],
    [9, (draft, _, chance) => mutatePath(draft, chance)],
    [11, (draft, _, chance) => mutateHeaders(draft, chance)],
    [8, mutateCaller],
    [
      4,
      (draft, _, chance) => {
        draft.method = chance.pick(METHODS);
        return draft.method;
      },
    ],
  ];

/** Changes a request in one to three places. */
export function mutate(draft: Draft, world: World, chance: Chance): void {
  for (let count = chance.pick([1, 1, 2, 2, 3]); count > 0; count--) {
    let left = chance.below(100);
    const [, change] = MUTATIONS.find(([share]) => {
      left -= share;
      return left < 0;
    })!;
    draft.mutations.push(change(draft, world, chance));
  }
  // The callers' own sessions must not end.
  if (endsSession(draft.operation.path) && world.isKept(draft.authorization)) draft.authorization = "IBSSO ended";
}
