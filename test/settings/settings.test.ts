/** Settings: every one of the default file, from every place where it can be set, and what is said of those that are wrong. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { parse } from "smol-toml";
import { makeSecretKey } from "../../src/runtime/secrets.ts";
import { SettingsSchema } from "../../src/settings/schema.ts";
import { readSettings, SettingsFault, type SettingsSources } from "../../src/settings/settings.ts";
import { factorPolicyOf, rolesOf } from "../../src/settings/words.ts";
import { temporaryDirectory } from "../support/service.ts";

const DEFAULT_TEXT = readFileSync(join(import.meta.dirname, "../../heliograph.default.toml"), "utf8");

type Value = string | number | boolean;
type Sections = Record<string, Record<string, Value>>;

/** As plain objects, whatever the parser makes. */
const DEFAULTS = structuredClone(parse(DEFAULT_TEXT) as Sections);
const directory = await temporaryDirectory({ after });

const read = (sources: Partial<SettingsSources> = {}): Sections =>
  structuredClone(readSettings({ environment: {}, flags: {}, ...sources }) as unknown as Sections);

let files = 0;
async function configFile(text: string): Promise<string> {
  const file = join(directory, `${++files}.toml`);
  await writeFile(file, text);
  return file;
}

function assertFault(run: () => unknown, says: string | RegExp): void {
  assert.throws(run, (error: Error) => {
    assert.ok(error instanceof SettingsFault, `${error.stack}`);
    if (typeof says === "string") assert.equal(error.message, says);
    else assert.match(error.message, says);
    return true;
  });
}

/** Another value that the setting may have. */
function otherValue(section: string, name: string): Value {
  if (section === "log") return "debug";
  if (name === "secondFactor") return "managers";
  if (name === "timeline") return "all";
  if (name === "roles") return "reports,dispatch,api";
  if (name === "trustedProxies" || name === "metricsNetworks") return "10.0.0.0/8,::1";
  if (name === "domains") return "go.example.com,https://go2.example.com";
  if (name === "publicUrl") return "https://sms.example.com";
  if (name === "secretKey") return makeSecretKey();
  if (name === "url") return "postgresql://heliograph@127.0.0.1/heliograph";
  const value = DEFAULTS[section]![name]!;
  if (typeof value === "number") return value + 1;
  return typeof value === "boolean" ? !value : `${value}2`;
}

const settings = Object.entries(DEFAULTS).flatMap(([section, values]) =>
  Object.keys(values)
    .filter((name) => !name.endsWith("File"))
    .map((name) => ({ section, name, value: otherValue(section, name) })),
);

test("without anything else, the default file is what counts", () => {
  assert.deepEqual(read(), DEFAULTS);
});

test("every setting of the default file has a word of explanation above it", () => {
  const lines = DEFAULT_TEXT.split("\n");
  for (const name of Object.values(DEFAULTS).flatMap((values) => Object.keys(values))) {
    const place = lines.findIndex((line) => line.startsWith(`${name} = `));
    assert.ok(place > 0, name);
    assert.match(lines[place - 1]!, /^# .{10,}/, name);
  }
});

test("every setting can be set in the environment, in a file and by the mode, and changes nothing but itself", async (t) => {
  for (const { section, name, value } of settings) {
    await t.test(`[${section}] ${name}`, async () => {
      const expected = { ...DEFAULTS, [section]: { ...DEFAULTS[section], [name]: value } };
      const shout = (word: string) => word.replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase();
      const environment = { [`HELIOGRAPH_${shout(section)}_${shout(name)}`]: String(value) };
      assert.deepEqual(read({ environment }), expected);
      const file = await configFile(`[${section}]\n${name} = ${JSON.stringify(value)}\n`);
      assert.deepEqual(read({ configFile: file }), expected);
      assert.deepEqual(read({ mode: { [section]: { [name]: value } } }), expected);
    });
  }
});

test("the names in the environment are these", () => {
  const environment = {
    HELIOGRAPH_SERVER_PORT: "1",
    HELIOGRAPH_LIMITS_BODY_BYTES: "2",
    HELIOGRAPH_REPORTS_DANGEROUS_ALLOW_PRIVATE_CALLBACKS: "true",
    HELIOGRAPH_STORE_DATA: "/somewhere",
    PATH: "/bin",
    OTHER_HELIOGRAPH_SERVER_PORT: "3",
  };
  const { server, limits, reports, store } = read({ environment });
  assert.deepEqual([server!.port, limits!.bodyBytes, store!.data], [1, 2, "/somewhere"]);
  assert.equal(reports!.dangerousAllowPrivateCallbacks, true);
});

test("from weak to strong: the default file, the mode, the operator's file, the environment, the command line", async () => {
  const mode = { server: { port: 1 } };
  const file = await configFile("[server]\nport = 2\n");
  const environment = { HELIOGRAPH_SERVER_PORT: "3" };
  const flags = { server: { port: 4 } };
  assert.equal(read({}).server!.port, 8080);
  assert.equal(read({ mode }).server!.port, 1);
  assert.equal(read({ mode, configFile: file }).server!.port, 2);
  assert.equal(read({ mode, configFile: file, environment }).server!.port, 3);
  assert.equal(read({ mode, configFile: file, environment, flags }).server!.port, 4);
});

test("a variable that is no setting is refused by its name", () => {
  for (const name of [
    "HELIOGRAPH_PORT",
    "HELIOGRAPH_SERVER_PROT",
    "HELIOGRAPH_SERVER_port",
    "HELIOGRAPH_",
    "HELIOGRAPH_X_Y",
  ]) {
    assertFault(
      () => read({ environment: { [name]: "1" } }),
      `${name} is not a setting; heliograph.default.toml lists them all`,
    );
  }
});

test("the default file has every setting of the schema, and no other", () => {
  const names = (sections: Readonly<Record<string, object>>) =>
    Object.entries(sections).flatMap(([section, settings]) =>
      Object.keys(settings).map((name) => `${section}.${name}`),
    );
  const schema = Object.entries(SettingsSchema.properties).map(([section, { properties }]) => [section, properties]);
  assert.deepEqual(names(DEFAULTS), names(Object.fromEntries(schema)));
});

const WRONG_VARIABLES: readonly (readonly [variable: string, value: string, says: string])[] = [
  ["SERVER_PORT", "", 'HELIOGRAPH_SERVER_PORT must be a whole number, not ""'],
  ["SERVER_PORT", "http", 'HELIOGRAPH_SERVER_PORT must be a whole number, not "http"'],
  ["SERVER_PORT", "80.5", 'HELIOGRAPH_SERVER_PORT must be a whole number, not "80.5"'],
  ["SERVER_PORT", "-1", 'HELIOGRAPH_SERVER_PORT must be a whole number, not "-1"'],
  ["SERVER_PORT", " 80", 'HELIOGRAPH_SERVER_PORT must be a whole number, not " 80"'],
  ["SERVER_PORT", "0x50", 'HELIOGRAPH_SERVER_PORT must be a whole number, not "0x50"'],
  ["SERVER_PORT", "65536", "[server] port must be at most 65535"],
  ["LIMITS_BODY_BYTES", "9".repeat(16), `HELIOGRAPH_LIMITS_BODY_BYTES must be a whole number, not "${"9".repeat(16)}"`],
  ["LIMITS_BODY_BYTES", "0", "the environment: [limits] bodyBytes must be a whole number of 1 or more"],
  ["SERVER_HOST", "", "the environment: [server] host must not be empty"],
  [
    "REPORTS_DANGEROUS_ALLOW_PRIVATE_CALLBACKS",
    "yes",
    'HELIOGRAPH_REPORTS_DANGEROUS_ALLOW_PRIVATE_CALLBACKS must be a boolean, not "yes"',
  ],
  [
    "SERVER_TRUSTED_PROXIES",
    "10.0.0.0/8 ::1",
    '[server] trustedProxies must be networks such as 10.0.0.0/8 or 2001:db8::/32, separated by commas, not "10.0.0.0/8 ::1"',
  ],
  [
    "SERVER_METRICS_NETWORKS",
    "all",
    '[server] metricsNetworks must be networks such as 10.0.0.0/8 or 2001:db8::/32, separated by commas, not "all"',
  ],
  ["LOG_LEVEL", "loud", "[log] level must be one of debug, info, warn, error, silent"],
];

test("a wrong value in the environment is refused with the name of the variable and what it should be", () => {
  for (const [variable, value, says] of WRONG_VARIABLES) {
    assertFault(() => read({ environment: { [`HELIOGRAPH_${variable}`]: value } }), says);
  }
});

const LISTED = "heliograph.default.toml lists them all";
const WRONG_FILES: readonly (readonly [text: string, place: string, says: string])[] = [
  ["[sever]\nport = 1", "1:1", `there is no section [sever]; ${LISTED}; did you mean "server"?`],
  ["# the server\n[server]\nprot = 1", "3:1", `[server] has no setting "prot"; ${LISTED}; did you mean "port"?`],
  // What every object has is no setting.
  ...["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__"].flatMap(
    (name): [string, string, string][] => [
      [`[server]\n${name} = 5`, "2:1", `[server] has no setting "${name}"; ${LISTED}`],
      [`[${name}]\nport = 5`, "1:1", `there is no section [${name}]; ${LISTED}`],
    ],
  ),
  ["port = 1", "1:1", `there is no section [port]; ${LISTED}`],
  ["server = 1", "1:1", '"server" is a section and has no value'],
  ['[server]\n\n  port = "1"', "3:3", "[server] port must be a number"],
  ["server.host = 1", "1:1", "[server] host must be a string"],
  ["server = { port = 1, host = ['a'] }", "1:22", "[server] host must be a string"],
  ["[server]\nport = true", "2:1", "[server] port must be a number"],
  ["[server]\nport = 1.5", "2:1", "[server] port must be a whole number of 0 or more"],
  ["[server]\nport = -1", "2:1", "[server] port must be a whole number of 0 or more"],
  ["[server]\nport = inf", "2:1", "[server] port must be a whole number of 0 or more"],
  ["[server]\nport = 65536", "2:1", "[server] port must be at most 65535"],
  ["[server]\nmaxRequests = 0", "2:1", "[server] maxRequests must be a whole number of 1 or more"],
  ['[store]\ndata = ""', "2:1", "[store] data must not be empty"],
  [
    "[reports]\ndangerousAllowPrivateCallbacks = 1",
    "2:1",
    "[reports] dangerousAllowPrivateCallbacks must be a boolean",
  ],
];

test("what is wrong in a file is told with the file's name, line and column", async () => {
  for (const [text, place, says] of WRONG_FILES) {
    const file = await configFile(text);
    assertFault(() => read({ configFile: file }), `${file}:${place}: ${says}`);
  }
});

test("all that is wrong in a file is told at once", async () => {
  const file = await configFile('[server]\nprot = 1\nhost = ""\n[logg]\nlevel = "info"');
  assertFault(
    () => read({ configFile: file }),
    [
      `3 faults in ${file}:`,
      `  ${file}:2:1: [server] has no setting "prot"; ${LISTED}; did you mean "port"?`,
      `  ${file}:3:1: [server] host must not be empty`,
      `  ${file}:4:1: there is no section [logg]; ${LISTED}; did you mean "log"?`,
    ].join("\n"),
  );
});

test("what every object has is no setting of the command line or a mode either", () => {
  for (const name of ["constructor", "toString", "__proto__"]) {
    const flags = JSON.parse(`{ "server": { "${name}": 5 } }`);
    const says = `[server] has no setting "${name}"; heliograph.default.toml lists them all`;
    assertFault(() => read({ flags }), `the command line: ${says}`);
    assertFault(() => read({ mode: flags }), `the mode: ${says}`);
  }
});

test("a file that is no TOML, or is not there, is told so", async () => {
  const broken = await configFile("[server\nport = 1");
  assertFault(() => read({ configFile: broken }), new RegExp(`^${broken}:1:\\d+: is not readable as TOML: `));
  const missing = join(directory, "missing.toml");
  assertFault(() => read({ configFile: missing }), `the file named with --config, ${missing}, cannot be read`);
});

test("zero is taken where it means something, and nowhere else", () => {
  const zeros = settings
    .filter(({ value }) => typeof value === "number")
    .filter(({ section, name }) => {
      try {
        read({ flags: { [section]: { [name]: 0 } } });
        return true;
      } catch {
        return false;
      }
    });
  assert.deepEqual(
    zeros.map(({ section, name }) => `${section}.${name}`),
    [
      "server.port",
      "server.stopDelayMs",
      "server.stopGraceMs",
      "server.stopTimeoutMs",
      "store.retentionDays",
      "limits.sendAtDays",
      "limits.requestsPerSecond",
      "limits.messagesPerSecond",
      "limits.connectionsPerAccount",
      "limits.strangerRequestsPerSecond",
      "limits.rejectedPerSecond",
      "dispatch.receiptWaitMs",
    ],
  );
});

test("a node's roles are some of the three; less than all is for a store that nodes can share", () => {
  const url = "postgres://127.0.0.1/heliograph";
  const roles = (text?: string) =>
    rolesOf(
      readSettings({ environment: {}, flags: text === undefined ? {} : { node: { roles: text }, store: { url } } }),
    );
  assert.deepEqual(roles(), ["api", "dispatch", "reports"]);
  assert.deepEqual(roles("reports, api"), ["api", "reports"]);
  assert.deepEqual(roles("dispatch"), ["dispatch"]);
  for (const wrong of ["send", "api,", "api dispatch", " "])
    assertFault(() => roles(wrong), `[node] roles must name some of api, dispatch, reports, not "${wrong}"`);
  assertFault(
    () => read({ flags: { node: { roles: "api,reports" } } }),
    '[node] roles are "api,reports", and the embedded store has one node that must do everything: set [store] url, or leave roles alone',
  );
});

test("a second factor is required of some kinds of account, in words that there are", () => {
  const policy = (secondFactor: string) =>
    factorPolicyOf(readSettings({ environment: {}, flags: { access: { secondFactor } } }));
  assert.deepEqual(["optional", "operators", "managers"].map(policy), ["optional", "operators", "managers"]);
  for (const wrong of ["all", "Operators", "operators,managers"])
    assertFault(
      () => policy(wrong),
      `[access] secondFactor must be one of optional, operators, managers, not "${wrong}"`,
    );
});

/** Each secret of the settings, and what it may be. */
const SECRETS = [
  { name: "url", variable: "HELIOGRAPH_STORE_URL", value: "postgres://heliograph:hush@127.0.0.1/heliograph" },
  { name: "secretKey", variable: "HELIOGRAPH_STORE_SECRET_KEY", value: makeSecretKey() },
] as const;

test("a secret can be read from a file, from every place where the file can be named", async () => {
  for (const { name, variable, value } of SECRETS) {
    const secret = await configFile(`${value}\n`);
    const config = await configFile(`[store]\n${name}File = ${JSON.stringify(secret)}\n`);
    for (const sources of [
      { configFile: config },
      { environment: { [`${variable}_FILE`]: secret } },
      { flags: { store: { [`${name}File`]: secret } } },
    ])
      assert.equal(read(sources).store![name], value);
  }
});

test("of a secret and its file what the stronger place says counts, and one place does not say both", async () => {
  for (const { name, variable, value } of SECRETS) {
    const other = name === "url" ? "postgres://127.0.0.1/other" : makeSecretKey();
    const secret = await configFile(`${value}\r\n`);
    const plain = await configFile(`[store]\n${name} = ${JSON.stringify(other)}\n`);
    const file = await configFile(`[store]\n${name}File = ${JSON.stringify(secret)}\n`);
    assert.equal(read({ configFile: plain, environment: { [`${variable}_FILE`]: secret } }).store![name], value);
    assert.equal(read({ configFile: file, environment: { [variable]: other } }).store![name], other);
    assertFault(
      () => read({ environment: { [variable]: other, [`${variable}_FILE`]: secret } }),
      `the environment: [store] ${name} and ${name}File are both set: keep one`,
    );
  }
});

test("a file for a secret that is missing, empty, too large, a directory or a pipe is refused by the setting's name", async () => {
  const pipe = join(directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  for (const [file, says] of [
    [join(directory, "missing"), /ENOENT/],
    [await configFile("\n"), /is empty/],
    [await configFile("a".repeat(65_537)), /has more than 65536 octets/],
    [directory, /is no regular file/],
    [pipe, /is no regular file/],
  ] as const) {
    const fault = (error: Error) => error.message.startsWith("the file of [store] urlFile cannot be used: ");
    assert.throws(
      () => read({ flags: { store: { urlFile: file } } }),
      (error: Error) => fault(error) && says.test(error.message),
    );
  }
});

test("a key that is none is refused without being told", async () => {
  for (const key of ["hush", `${makeSecretKey()}!`, `${makeSecretKey()},hush`]) {
    assert.throws(
      () => read({ environment: { HELIOGRAPH_STORE_SECRET_KEY: key } }),
      (error: Error) =>
        /^\[store\] secretKey must be 32 random octets in base64/.test(error.message) && !error.message.includes(key),
    );
  }
});
