/**
 * Every setting with its type and its bounds, in one schema: the types and the checks of settings.ts come from it. What a setting is for, and its
 * default, stand in heliograph.default.toml.
 */
import { TRACE_LEVELS } from "../events/trace.ts";
import { parseRoles, ROLES } from "../node/roles.ts";
import { parseNetworks } from "../runtime/networks.ts";
import { parseSecretKeys } from "../runtime/secrets.ts";
import { type Static, type TSchema, Type } from "../runtime/type.ts";
import { urlProblem } from "../runtime/urls.ts";
import { parseHostNames, parseLinkDomains } from "./lists.ts";

/** Whom a second factor may be required of. */
const FACTOR_POLICIES = ["optional", "operators", "managers"] as const;
export type FactorPolicy = (typeof FACTOR_POLICIES)[number];
const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"];

/** 0 would bring the service to a stop. */
const Count = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
/** Where 0 has a meaning. */
const CountOrZero = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Text = Type.String({ minLength: 1 });
const Switch = Type.Boolean();
/** Where nothing at all has a meaning. */
const TextOrNone = Type.String();
const NetworkList = Type.Refine(
  Type.String(),
  (text) => parseNetworks(text) !== null,
  (text) => `must be networks such as 10.0.0.0/8 or 2001:db8::/32, separated by commas, not "${text}"`,
);

const Word = (words: readonly string[]) =>
  Type.Refine(
    Text,
    (word) => words.includes(word),
    (word) => `must be one of ${words.join(", ")}, not "${word}"`,
  );

const section = <Names extends Record<string, TSchema>>(names: Names) => Type.Object(names);

/** What `Refine` says holds for the value that counts in the end; all else, for whatever a source gives. */
export const SettingsSchema = Type.Object({
  server: section({
    host: Text,
    port: Type.Refine(
      CountOrZero,
      (port) => port <= 65_535,
      () => "must be at most 65535",
    ),
    requestTimeoutMs: Count,
    headersTimeoutMs: Count,
    answerTimeoutMs: Count,
    maxConnections: Count,
    connectionsPerAddress: Count,
    maxRequests: Count,
    requestsPerAddress: Count,
    stopDelayMs: CountOrZero,
    stopGraceMs: CountOrZero,
    stopTimeoutMs: CountOrZero,
    tlsCertificate: TextOrNone,
    tlsKey: TextOrNone,
    trustedProxies: NetworkList,
    metricsNetworks: NetworkList,
    publicUrl: Type.Refine(
      Type.String(),
      (text) => text === "" || urlProblem(text) === null,
      () => 'must be a URL such as "https://sms.example.com"',
    ),
    allowHosts: Type.Refine(
      Type.String(),
      (text) => parseHostNames(text) !== null,
      (text) =>
        `must be names such as sandbox.example.com, without scheme and port, separated by commas, not "${text}"`,
    ),
  }),
  store: section({
    data: Text,
    // It is not told what stands there: a password, as a rule.
    url: Type.Refine(
      Type.String({ minLength: 1 }),
      (url) => url === "" || /^postgres(ql)?:\/\//.test(url),
      () => "must be of the form postgres://user:password@host/database",
    ),
    urlFile: Text,
    secretKey: Type.Refine(
      Type.String({ minLength: 1 }),
      (keys) => parseSecretKeys(keys) !== null,
      () =>
        'must be 32 random octets in base64, or several such keys, newest first: "heliograph secrets make-key FILE" makes one',
    ),
    secretKeyFile: Text,
    connections: Count,
    statementTimeoutMs: Count,
    retentionDays: CountOrZero,
  }),
  node: section({
    roles: Type.Refine(
      Type.String({ minLength: 1 }),
      (roles) => parseRoles(roles) !== null,
      (roles) => `must name some of ${ROLES.join(", ")}, not "${roles}"`,
    ),
    leaseMs: Count,
  }),
  limits: section({
    bodyBytes: Count,
    bodiesBytes: Count,
    answersBytes: Count,
    destinationsPerRequest: Count,
    sendAtDays: CountOrZero,
    searchMessages: Count,
    requestsPerSecond: CountOrZero,
    messagesPerSecond: CountOrZero,
    connectionsPerAccount: CountOrZero,
    strangerRequestsPerSecond: CountOrZero,
    rejectedPerSecond: CountOrZero,
    loginAttempts: Count,
  }),
  access: section({
    secondFactor: Word(FACTOR_POLICIES),
    loginAuditDays: Count,
  }),
  dispatch: section({
    laneMessages: Count,
    memoryMessages: Count,
    claimMessages: Count,
    receiptWaitMs: CountOrZero,
    sweepEveryMs: Count,
    unmatchedDays: Count,
    unmatchedRows: Count,
  }),
  reports: section({
    connectionsPerHost: Count,
    timeoutMs: Count,
    memoryReports: Count,
    dangerousAllowPrivateCallbacks: Switch,
  }),
  links: section({
    domains: Type.Refine(
      Type.String(),
      (text) => parseLinkDomains(text) !== null,
      (text) => `must be domains such as go.example.com, separated by commas, not "${text}"`,
    ),
  }),
  resellers: section({
    clientMessages: Switch,
    clientKeys: Switch,
    clientPasswords: Switch,
  }),
  kannel: section({
    enabled: Switch,
  }),
  console: section({
    enabled: Switch,
    liveStreams: Count,
    liveStreamsPerAccount: Count,
    timeline: Word(TRACE_LEVELS),
    timelineDays: Count,
    requestsBytes: Count,
    requestTexts: Switch,
  }),
  log: section({
    level: Type.Refine(
      Type.String({ minLength: 1 }),
      (level) => LOG_LEVELS.includes(level),
      () => `must be one of ${LOG_LEVELS.join(", ")}`,
    ),
  }),
});

type Sections = Static<typeof SettingsSchema>;
export type Settings = { readonly [Section in keyof Sections]: Readonly<Sections[Section]> };
