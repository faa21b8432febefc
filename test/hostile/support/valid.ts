/** Requests that should be good, made from the schemas of an operation and from what its fields mean. */
import type { Chance } from "./chance.ts";
import type { Operation, Schema } from "./document.ts";
import { KNOWN_MESSAGE, later, type Role, type World } from "./world.ts";

/** A request in the making: names and values as they will stand on the wire. */
export interface Draft {
  readonly operation: Operation;
  method: string;
  /** By the names in the path. */
  readonly params: Record<string, string>;
  /** Takes the place of the path, where one was made up. */
  path: string | null;
  query: [name: string, value: string][];
  headers: [name: string, value: string][];
  authorization: string | null;
  /** A JSON value, octets, or nothing. */
  body: { readonly json: unknown } | { readonly octets: Buffer } | null;
  /** What was done to it; empty for one that should be good. */
  readonly mutations: string[];
}

interface Making {
  readonly world: World;
  readonly chance: Chance;
  readonly params: Readonly<Record<string, string>>;
}
type Maker = (making: Making) => unknown;

const LEFT_OUT = Symbol("left out");
const digits = (prefix: string, { chance }: Making): string => `${prefix}${chance.below(10)}`;
const phone: Maker = ({ chance }) => `4179${1_000_000 + chance.below(9_000_000)}`;
const victim: Maker = ({ world, chance }) => chance.pick(world.victims);
const somewhere = "http://127.0.0.1:1/nobody";

/** Of Kannel's door: what cannot be told from the schema, or goes with some other fields only. */
const KANNEL: Readonly<Record<string, Maker>> = {
  username: () => LEFT_OUT,
  password: () => LEFT_OUT,
  charset: () => "UTF-8",
  udh: () => LEFT_OUT,
  mwi: () => LEFT_OUT,
  coding: ({ chance }) => chance.pick([0, 1]),
  "dlr-url": () => `${somewhere}?d=%d&p=%p`,
  account: () => "sales",
  deferred: () => 5,
};

/** What a field means that its schema does not tell: by operation and name, or by name alone. */
const MEANINGS: Readonly<Record<string, Maker>> = {
  // Sending and tracking
  to: phone,
  from: phone,
  text: ({ chance }) => chance.pick(["Hello", "Γειά σου", "x".repeat(200), "😀 and more", "Здравствуйте", "ışğ"]),
  hex: () => "48656c6c6f",
  dataCoding: () => 0,
  esmClass: () => 0,
  notifyUrl: () => somewhere,
  callbackData: () => "data",
  // The older family
  address: phone,
  message: () => "Hello",
  sender: () => "InfoSMS",
  senderAddress: () => "InfoSMS",
  senderName: () => "tel:InfoSMS",
  notifyURL: () => somewhere,
  criteria: () => "QUIZ",
  clientCorrelator: ({ world }) => `correlator-${world.next()}`,
  languageCode: ({ chance }) => chance.pick(["TR", "ES", "PT"]),
  campaignReferenceId: () => "spring",
  entityId: () => "promotions",
  applicationId: () => "shop",
  sendAt: () => later(20),
  deliveryTimeWindow: ({ chance }) => ({
    days: ["MONDAY", "SUNDAY"],
    ...(chance.percent(50) ? { from: { hour: 6, minute: 0 }, to: { hour: 20, minute: 30 } } : {}),
  }),
  bulkId: ({ world }) => `bulk-${world.next()}`,
  messageId: ({ world }) => `message-${world.next()}`,
  mcc: () => "228",
  mnc: () => "01",
  sentSince: () => later(-1),
  sentUntil: () => later(1),
  ...Object.fromEntries(
    ["GET /sms/1/bulks", "PUT /sms/1/bulks", "GET /sms/1/bulks/status", "PUT /sms/1/bulks/status"].map((operation) => [
      `${operation} bulkId`,
      ({ world, chance }: Making) => chance.pick(world.bulks),
    ]),
  ),
  "POST /sms/3/messages content": ({ chance }) => chance.pick([{ text: "Hello" }, { hex: "0f c2 4a" }]),
  "POST /auth/1/oauth2/token client_id": () => "demo",
  "POST /auth/1/oauth2/token client_secret": () => "demo-password",
  "POST /auth/1/oauth2/token grant_type": () => "client_credentials",
  "POST /auth/1/oauth2/token scope": () => "send track",
  "PUT /sms/1/bulks/status status": ({ chance }) => chance.pick(["PAUSED", "PENDING"]),
  ...Object.fromEntries(
    ["GET /cgi-bin/sendsms", "POST /cgi-bin/sendsms"].flatMap((operation) =>
      Object.entries(KANNEL).map(([name, maker]) => [`${operation} ${name}`, maker]),
    ),
  ),
  "GET /sms/1/text/query username": () => LEFT_OUT,
  "GET /sms/1/text/query password": () => LEFT_OUT,
  destinationAddress: () => "12345",
  notificationFormat: () => "JSON",
  page: () => 1,
  "GET /2/messaging/outbound/logs from": () => later(-1),
  "GET /2/messaging/outbound/logs to": () => later(1),
  correlator: ({ world, chance }) => chance.pick(world.bulks),
  registration: () => "INBOUND",
  // PINs
  appId: ({ world }) => world.pins.appId,
  msgId: ({ world }) => world.pins.msgId,
  pinId: ({ world }) => world.pins.pinId,
  "POST /2fa/2/pin/{pinId}/resend pinId": ({ world }) => world.pins.resentId,
  "POST /2fa/2/pin applicationId": ({ world }) => world.pins.appId,
  "POST /2fa/2/pin messageId": ({ world }) => world.pins.msgId,
  "PUT /2fa/2/applications/{appId} enabled": () => true,
  messageText: () => "{{pin}}",
  placeholders: () => LEFT_OUT,
  speechRate: () => 1.5,
  pinTimeToLive: () => "15m",
  verifyPinLimit: () => "1000000/1s",
  sendPinPerApplicationLimit: () => "1000000/1d",
  sendPinPerPhoneNumberLimit: () => "1000000/d",
  msisdn: phone,
  verified: () => "true",
  sent: () => "undefined",
  // Pages
  limit: ({ chance }) => 1 + chance.below(100),
  after: () => LEFT_OUT,
  before: () => LEFT_OUT,
  version: () => LEFT_OUT,
  // Accounts
  key: victim,
  accountKey: victim,
  account: victim,
  parent: () => "RESELLER1",
  kind: () => "client",
  currency: () => "EUR",
  ratePlan: () => "standard",
  openingBalance: () => 1.5,
  creditLimit: () => "20.25",
  defaultSender: () => "Sender",
  allowedSenders: () => ["Sender", "12345"],
  allowedAddresses: () => ["127.0.0.0/8", "::1"],
  alert: () => ({ below: 1, url: somewhere }),
  retryMinutes: () => [1, 5, 30],
  username: ({ params }) => params.key?.toLowerCase() ?? "demo",
  password: () => "demo-password",
  ammount: () => 1.25,
  currencycode: () => "EUR",
  description: () => "generated",
  name: () => "generated",
  url: () => somewhere,
  all: () => true,
  ids: () => ["1", "2"],
  "POST /operator/1/accounts key": ({ world }) => `MADE${world.next()}`,
  "POST /operator/1/accounts username": ({ world }) => `made${world.next()}`,
  "DELETE /operator/1/accounts/{key} key": ({ world }) => world.take("/operator/1/accounts") ?? "MADE0",
  "DELETE /operator/1/accounts/{key}/api-keys/{id} key": ({ world }) => world.apiKeys[0]?.account ?? "MADE0",
  "DELETE /operator/1/accounts/{key}/api-keys/{id} id": ({ world }) => world.apiKeys.shift()?.id ?? "none",
  "POST /operator/1/accounts/{key}/funds kind": () => "topUp",
  "POST /operator/1/accounts/{key}/funds amount": () => "1.25",
  "POST /operator/1/accounts/{key}/funds reason": () => "generated",
  // Ids or a host, and that is always ids.
  "POST /sms/1/reports/retry host": () => LEFT_OUT,
  "GET /operator/1/accounts/{key}/messages/{messageId} key": () => "DEMO0001",
  "GET /operator/1/accounts/{key}/messages/{messageId} messageId": () => KNOWN_MESSAGE,
  "GET /operator/1/accounts/{key}/messages/{messageId}/receipts key": () => "DEMO0001",
  "GET /operator/1/accounts/{key}/messages/{messageId}/receipts messageId": () => KNOWN_MESSAGE,
  "GET /operator/1/accounts/{key}/statement from": () => later(-1),
  "GET /operator/1/accounts/{key}/statement to": () => LEFT_OUT,
  "GET /operator/1/statement from": () => later(-1),
  "GET /operator/1/statement to": () => LEFT_OUT,
  "GET /operator/1/statement reseller": () => LEFT_OUT,
  "GET /operator/1/accounts/{key}/failures from": () => later(-1),
  "GET /operator/1/accounts/{key}/failures to": () => LEFT_OUT,
  "GET /operator/1/plans/{id} id": () => "standard",
  // The catalogue: only what nobody else stands on. `carrier` is the sandbox's own; hosts are on this machine, where nobody listens.
  id: (making) => digits("made-", making),
  prefix: (making) => digits("999", making),
  "GET /operator/1/carriers/{id} id": ({ world }) => world.last("/operator/1/carriers") ?? "simulator",
  "POST /operator/1/carriers/{id}/reconnect id": ({ world }) => world.last("/operator/1/carriers") ?? "simulator",
  "GET /operator/1/rate-plans/{id} id": ({ world }) => world.last("/operator/1/rate-plans") ?? "standard",
  "GET /operator/1/routes/{prefix} prefix": ({ world }) => world.last("/operator/1/routes") ?? "default",
  "GET /operator/1/numbers/{number} number": ({ world }) => world.last("/operator/1/numbers") ?? "12345",
  "DELETE /operator/1/carriers/{id} id": ({ world }) => world.take("/operator/1/carriers") ?? "made-0",
  "DELETE /operator/1/rate-plans/{id} id": ({ world }) => world.take("/operator/1/rate-plans") ?? "made-0",
  "DELETE /operator/1/routes/{prefix} prefix": ({ world }) => world.take("/operator/1/routes") ?? "9990",
  "DELETE /operator/1/numbers/{number} number": ({ world }) => world.take("/operator/1/numbers") ?? "386400",
  carrier: () => "simulator",
  // One of carrier and groups, and that is always carrier.
  groups: () => LEFT_OUT,
  hosts: () => ["127.0.0.1:1"],
  systemId: () => "system",
  tls: () => false,
  tlsCa: () => LEFT_OUT,
  tlsName: () => LEFT_OUT,
  error: () => LEFT_OUT,
  suffix: () => "0001",
  price: () => "0.02",
  rate: () => [{ prefix: "", price: "0.02" }],
  number: (making) => digits("38640", making),
  forwardUrl: () => somewhere,
  keywords: () => ["ORDER"],
  stopKeywords: () => ["HALT"],
  startKeywords: () => ["AGAIN"],
  "POST /sandbox/1/incoming to": () => "12345",
  // Not a second simulated network: the sandbox's phones write through the one that was made last, and it may be gone.
  "PUT /operator/1/carriers/{id} kind": () => "smpp",
  "PUT /operator/1/carriers/{id} password": () => "secret",
  ...Object.fromEntries(
    ["GET", "PUT", "DELETE"].flatMap((method) => [
      [`${method} /operator/1/exchange-rates/{from}/{to} from`, ({ chance }: Making) => chance.pick(["CHF", "SEK"])],
      [`${method} /operator/1/exchange-rates/{from}/{to} to`, () => "PLN"],
      [`${method} /operator/1/exchange-rates/{from}/{to} rate`, () => "1.25"],
    ]),
  ),
};

/** Fields that are needed all the same, though their schema does not say so. */
const ALWAYS = new Set([
  "from",
  "carrier",
  "GET /cgi-bin/sendsms from",
  "PUT /operator/1/carriers/{id} password",
  "POST /sms/1/reports/retry ids",
]);

/** Names that stand in the path too, and must say the same: they are left out of the body. */
const bodyLess = new Set(["id", "prefix", "number", "from", "to"]);

function meant(operation: Operation, name: string, schema: Schema, making: Making): unknown {
  const maker = MEANINGS[`${operation.name} ${name}`] ?? MEANINGS[name];
  return maker === undefined ? fromSchema(operation, schema, making) : maker(making);
}

/** The variant that is of the kind which is meant; the first one where it does not matter. */
function variantOf(operation: Operation, variants: readonly Schema[], making: Making): Schema {
  const isMeant = ({ properties = {} }: Schema): boolean =>
    Object.entries(properties).every(([name, { const: fixed, enum: some = fixed === undefined ? [] : [fixed] }]) => {
      const maker = MEANINGS[`${operation.name} ${name}`];
      return some.length === 0 || maker === undefined || some.includes(maker(making) as never);
    });
  return variants.find(isMeant) ?? variants[0]!;
}

function fromSchema(operation: Operation, schema: Schema, making: Making): unknown {
  const { chance } = making;
  if (schema.const !== undefined) return schema.const;
  if (schema.anyOf !== undefined) return fromSchema(operation, variantOf(operation, schema.anyOf, making), making);
  if (schema.enum !== undefined) return chance.pick(schema.enum);
  switch ([schema.type].flat()[0]) {
    case "object": {
      const inPath = operation.method === "PUT" && operation.path.endsWith("}") ? bodyLess : new Set<string>();
      const fields = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
        if (inPath.has(name) && name in making.params) return [];
        const needed = schema.required?.includes(name) || ALWAYS.has(name) || ALWAYS.has(`${operation.name} ${name}`);
        if (!needed && !chance.percent(25)) return [];
        const value = meant(operation, name, property, making);
        return value === LEFT_OUT ? [] : [[name, value] as const];
      });
      return Object.fromEntries(fields);
    }
    case "array": {
      const count = Math.max(schema.minItems ?? 0, 1 + chance.below(2));
      return Array.from({ length: count }, () => fromSchema(operation, schema.items ?? {}, making));
    }
    case "integer":
    case "number":
      return (schema.minimum ?? 0) + chance.below(Math.min(20, (schema.maximum ?? 100) - (schema.minimum ?? 0) + 1));
    case "boolean":
      return chance.percent(50);
    default:
      return "text";
  }
}

/** Whom an operation is for. */
function rolesFor({ security, path }: Operation): readonly Role[] {
  if (security.length === 0) return ["nobody"];
  if (path.startsWith("/operator/")) return ["operator"];
  if (!security.includes("basic")) return ["resellerToken"];
  return ["client", "clientToken"];
}

export const endsSession = (path: string): boolean => /^\/(auth\/1\/session|1\/customerProfile\/logout)/.test(path);

export function validDraft(operation: Operation, world: World, chance: Chance): Draft {
  const params: Record<string, string> = {};
  const making = { world, chance, params };
  const query: [string, string][] = [];
  for (const { in: place, name, required, schema } of operation.parameters) {
    if (place === "path") params[name] = String(meant(operation, name, schema, making));
    const needed = required === true || ALWAYS.has(`${operation.name} ${name}`);
    if (place !== "query" || (!needed && !chance.percent(30))) continue;
    const value = meant(operation, name, schema, making);
    if (value !== LEFT_OUT) query.push([encodeURIComponent(name), encodeURIComponent(String(value))]);
  }
  const headers: [string, string][] = [];
  let body: Draft["body"] = null;
  const types = Object.keys(operation.bodies);
  if (types.length > 0) {
    const type = chance.pick(types);
    headers.push(["content-type", type]);
    const json = fromSchema(operation, operation.bodies[type]!, making);
    const isForm = type === "application/x-www-form-urlencoded";
    body = isForm ? { octets: Buffer.from(new URLSearchParams(json as Record<string, string>).toString()) } : { json };
  }
  if (["PATCH", "DELETE", "PUT"].includes(operation.method)) headers.push(["if-match", "*"]);
  const authorization = endsSession(operation.path)
    ? (world.tokens.shift() ?? null)
    : world.authorization(chance.pick(rolesFor(operation)), chance);
  return {
    operation,
    method: operation.method,
    params,
    path: null,
    query,
    headers,
    authorization,
    body,
    mutations: [],
  };
}

/** The octets of a request. */
export function encode(draft: Draft): Buffer {
  const path =
    draft.path ?? draft.operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => percent(draft.params[name] ?? ""));
  const query = draft.query.map(([name, value]) => `${name}=${value}`).join("&");
  const { body } = draft;
  const octets = body === null ? null : "octets" in body ? body.octets : Buffer.from(JSON.stringify(body.json) ?? "");
  const chunked = draft.headers.some(([name]) => name === "transfer-encoding");
  const headers: [string, string][] = [
    ...(draft.authorization === null ? [] : ([["authorization", draft.authorization]] as [string, string][])),
    ...draft.headers,
  ];
  if (octets !== null && !chunked) headers.push(["content-length", String(octets.length)]);
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const head = `${draft.method} ${path}${query === "" ? "" : `?${query}`} HTTP/1.1\r\nhost: localhost\r\n${lines}\r\n`;
  const pieces: Buffer[] = [Buffer.from(head, "latin1")];
  if (octets !== null && !chunked) pieces.push(octets);
  if (chunked) {
    const content = octets ?? Buffer.alloc(0);
    if (content.length > 0)
      pieces.push(Buffer.from(`${content.length.toString(16)}\r\n`), content, Buffer.from("\r\n"));
    pieces.push(Buffer.from("0\r\n\r\n"));
  }
  return Buffer.concat(pieces);
}

/** As encodeURIComponent, and halves of surrogate pairs as the octets that they would be. */
export function percent(text: string): string {
  if (text.isWellFormed()) return encodeURIComponent(text);
  return [...text]
    .map((character) => {
      if (character.isWellFormed()) return encodeURIComponent(character);
      const unit = character.charCodeAt(0);
      const octets = [0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)];
      return octets.map((octet) => `%${octet.toString(16)}`).join("");
    })
    .join("");
}
