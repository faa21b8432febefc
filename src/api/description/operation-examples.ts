/**
 * Examples of requests and answers by the id of the operation, where one made from the schema (schema-examples.ts) would not work as it stands or would say
 * little. They work in the sandbox, with its demo accounts: a test sends them. What an operation's row leaves out is made from the schema.
 */
import { sampleBody } from "../../reports/rendering/samples.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import { NO_FAULTS } from "../../simulator/network-faults.ts";
import type { OperationExamples } from "./document.ts";
import { CONVERSION_EXAMPLES, ONEAPI_EXAMPLES, PIN_EXAMPLES } from "./family-examples.ts";
import { RESELLING_EXAMPLES } from "./reselling-examples.ts";
import { shownStatus } from "./schema-examples.ts";

const DAY_MS = 86_400_000;
const DATE = "2026-02-12T09:58:20.323+0000";
const MESSAGE = { from: "InfoSMS", destinations: [{ to: "41793026727" }] };
const BINARY = { hex: "0f c2 4a bf 34 13 ba", dataCoding: 4, esmClass: 0 };
const TEXT = { from: "InfoSMS", to: "41793026727", text: "Hello" };
const KANNEL = { username: "demo", password: "demo-password", ...TEXT };
const OCTETS = { from: "InfoSMS", to: "41793026727", binary: BINARY };
const single = (message: object) => ({ body: message, answer: { messages: [SENT] } });
const multi = (message: object) => ({ body: { messages: [message] }, answer: SENT_BULK });
const BULK = "example-bulk";
const MESSAGE_ID = "3763870000000000022";
const SENT = { to: "41793026727", status: shownStatus("PENDING_ENROUTE"), smsCount: 1, messageId: MESSAGE_ID };
const ACCEPTED = { to: "41793026727", status: shownStatus("PENDING_ACCEPTED"), messageId: MESSAGE_ID };
const SENT_BULK = { bulkId: "3763870000000000021", messages: [SENT] };
const SENT_ADVANCED = { bulkId: "3763870000000000021", trackingProcessKey: "3763870000000000021", messages: [SENT] };
const ACCEPTED_BULK = { bulkId: "3763870000000000021", messages: [ACCEPTED] };
const SENT_V3 = {
  bulkId: "3763870000000000021",
  messages: [
    {
      messageId: MESSAGE_ID,
      status: shownStatus("PENDING_ACCEPTED"),
      destination: "41793026727",
      details: { messageCount: 1 },
    },
  ],
};
const NOTE_BULK = "The example needs the bulk that the example `later` of POST /sms/1/text/advanced makes.";
const NOTE_SESSION = "The example needs a session: put `IBSSO` and the token of a login into the Authorization header.";
const LETTERS = { ids: ["3763870000000000031"] };
const API_KEY = { name: "shop", scopes: ["send", "track"] };
const SECRET_KEY = `hgk_0123456789ab_${"x".repeat(43)}`;
const ACCOUNT = {
  key: "DEMO0001",
  version: 1,
  kind: "client",
  parent: "RESELLER1",
  usernames: ["demo"],
  currency: "EUR",
  balance: 99.99,
  creditLimit: 0,
  ratePlan: "standard",
  defaultSender: "InfoSMS",
  allowedSenders: null,
  allowedAddresses: null,
  limits: { messagesPerSecond: 20 },
  alert: { below: 5, url: "https://shop.example/low" },
  retryMinutes: null,
  suspended: false,
  createdAt: DATE,
  retiredAt: null,
};
const MADE_KEY = {
  id: "0123456789ab",
  ...API_KEY,
  expiresAt: null,
  allowedAddresses: null,
  createdAt: DATE,
  usedAt: null,
};
const STATEMENT = {
  account: "DEMO0001",
  currency: "EUR",
  from: "2026-02-01T00:00:00.000+0000",
  to: "2026-03-01T00:00:00.000+0000",
  openingBalance: 100,
  closingBalance: 99.99,
  results: [
    {
      id: "17",
      at: DATE,
      kind: "charge",
      amount: -0.01,
      balance: 99.99,
      messageId: MESSAGE_ID,
      smsCount: 1,
      description: null,
    },
  ],
  next: null,
};
const REPORTS_V3 = JSON.parse(sampleBody("delivery", "v3 json")) as { results: Record<string, unknown>[] };
const REPORTS = JSON.parse(sampleBody("delivery", "application/json")) as { results: object[] };

/** The items of the catalogue: `seen` is one that the sandbox has, by how the path names it; `written` is another. */
function catalogue(name: string, seen: Named, written: Named) {
  const shown = { ...seen.item, version: 1 };
  const change = { parameters: written.path, answer: { ...written.item, version: 1 } };
  const note = `The example needs what the example of set${name} makes.`;
  return {
    [`list${name}s`]: { answer: { results: [shown], next: null } },
    [`get${name}`]: { parameters: seen.path, answer: shown },
    [`set${name}`]: { ...change, body: written.item },
    [`delete${name}`]: { note, parameters: { ...written.path, version: 1 } },
  };
}

interface Named {
  readonly path: Readonly<Record<string, string>>;
  readonly item: object;
}

const PRICES = { currency: "EUR", rate: [{ prefix: "", price: "0.01" }] };
const CATALOGUE = {
  reconnectCarrier: { parameters: { id: "simulator" } },
  listCarrierStates: {
    parameters: { carrier: "simulator" },
    answer: {
      count: 1,
      results: [
        {
          carrier: "simulator",
          node: "sms1 4711",
          state: "bound",
          since: DATE,
          reason: null,
          nextTryAt: null,
          bound: 0,
          connections: 0,
        },
      ],
    },
  },
  ...catalogue(
    "Carrier",
    { path: { id: "simulator" }, item: { id: "simulator", kind: "simulator", answerAfterMs: 1000 } },
    { path: { id: "example" }, item: { id: "example", kind: "simulator", answerAfterMs: 1000 } },
  ),
  ...catalogue(
    "Route",
    { path: { prefix: "default" }, item: { prefix: "", carrier: "simulator" } },
    { path: { prefix: "4179" }, item: { prefix: "4179", carrier: "simulator" } },
  ),
  ...catalogue(
    "RatePlan",
    { path: { id: "standard" }, item: { id: "standard", ...PRICES } },
    { path: { id: "example" }, item: { id: "example", ...PRICES } },
  ),
  ...catalogue(
    "ExchangeRate",
    { path: { from: "USD", to: "EUR" }, item: { from: "USD", to: "EUR", rate: "0.92" } },
    { path: { from: "CHF", to: "EUR" }, item: { from: "CHF", to: "EUR", rate: "1.05" } },
  ),
  ...catalogue(
    "Number",
    {
      path: { number: "12345" },
      item: { number: "12345", account: "DEMO0001", stopKeywords: ["STOP", "UNSUBSCRIBE"] },
    },
    { path: { number: "12346" }, item: { number: "12346", account: "DEMO0001", keywords: ["INFO"] } },
  ),
};

/** By the moment that the description is written at: what is for later is later than that. */
export function operationExamples(nowMs: number): Readonly<Record<string, OperationExamples>> {
  const later = formatDateTime(nowMs - (nowMs % DAY_MS) + 30 * DAY_MS + 9 * 3_600_000);
  const since = formatDateTime(nowMs - (nowMs % DAY_MS) - 30 * DAY_MS);
  return {
    ...PIN_EXAMPLES,
    ...ONEAPI_EXAMPLES,
    ...CONVERSION_EXAMPLES,
    sendTextAdvanced: {
      bodies: {
        now: { summary: "One message, at once", value: { messages: [{ ...MESSAGE, text: "Hello" }] } },
        later: {
          summary: "A bulk for later, which can be moved, paused and called off",
          value: { bulkId: BULK, messages: [{ ...MESSAGE, text: "Good morning", sendAt: later }] },
        },
        full: {
          summary: "With most of the fields",
          value: {
            messages: [
              {
                from: "InfoSMS",
                destinations: [{ to: "41793026727" }, { to: "41793026834" }],
                text: "Artık Ulusal Dil Tanımlayıcısı ile Türkçe karakterli smslerinizi rahatlıkla iletebilirsiniz.",
                language: { languageCode: "TR" },
                transliteration: "TURKISH",
                intermediateReport: true,
                callbackData: "order 4711",
                campaignReferenceId: "spring-sale",
                validityPeriod: 720,
                deliveryTimeWindow: {
                  days: ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY"],
                  from: { hour: 9, minute: 0 },
                  to: { hour: 17, minute: 30 },
                },
              },
            ],
          },
        },
      },
      answer: SENT_ADVANCED,
    },
    sendTextAdvancedV2: {
      body: { messages: [{ ...MESSAGE, text: "Hello" }], includeSmsCountInResponse: true },
      answer: { bulkId: ACCEPTED_BULK.bulkId, messages: [{ ...ACCEPTED, smsCount: 1 }] },
    },
    sendTextMulti: {
      body: {
        messages: [TEXT, { from: "InfoSMS", to: ["41793026834", "41793026835"], text: "Hello to both" }],
      },
      answer: SENT_BULK,
    },
    sendTextSingle: single(TEXT),
    sendTextMultiV2: multi(TEXT),
    sendTextSingleV2: single(TEXT),
    sendBinaryMultiV2: multi(OCTETS),
    sendBinarySingleV2: single(OCTETS),
    sendBinaryAdvanced: { body: { messages: [{ ...MESSAGE, binary: BINARY }] }, answer: SENT_ADVANCED },
    sendBinaryAdvancedV2: { body: { messages: [{ ...MESSAGE, binary: BINARY }] }, answer: ACCEPTED_BULK },
    sendBinaryMulti: multi(OCTETS),
    sendBinarySingle: single(OCTETS),
    sendTextSingleByQuery: {
      parameters: { ...KANNEL, to: ["41793026727"] },
      answer: { messages: [SENT] },
    },
    sendMessages: {
      bodies: {
        text: {
          summary: "A text",
          value: {
            messages: [{ sender: "InfoSMS", destinations: [{ to: "41793026727" }], content: { text: "Hello" } }],
            options: { includeSmsCountInResponse: true },
          },
        },
        binary: {
          summary: "A binary message",
          value: { messages: [{ sender: "InfoSMS", destinations: [{ to: "41793026727" }], content: BINARY }] },
        },
        later: {
          summary: "A bulk for later",
          value: {
            messages: [{ sender: "InfoSMS", destinations: [{ to: "41793026727" }], content: { text: "Good morning" } }],
            options: { schedule: { bulkId: "example-bulk-3", sendAt: later } },
          },
        },
      },
      answer: SENT_V3,
    },
    sendTextByQuery: { parameters: { from: "InfoSMS", to: ["41793026727"], text: "Hello" }, answer: SENT_V3 },
    kannelSend: { parameters: KANNEL, answer: "0: Accepted for delivery" },
    kannelPost: {
      parameters: { "x-kannel-from": KANNEL.from, "x-kannel-to": KANNEL.to },
      body: KANNEL,
      answer: "0: Accepted for delivery",
    },
    previewText: {
      body: { text: "Χαίρετε, κόσμε", transliteration: "GREEK" },
      answer: {
        originalText: "Χαίρετε, κόσμε",
        previews: [
          { textPreview: "Χαίρετε, κόσμε", messageCount: 1, charactersRemaining: 56, configuration: {} },
          {
            textPreview: "XAIPETE, KOΣME",
            messageCount: 1,
            charactersRemaining: 146,
            configuration: { transliteration: "GREEK" },
          },
        ],
      },
    },
    fetchInbox: { answer: JSON.parse(sampleBody("incoming", "application/json")) },
    fetchReports: { answer: REPORTS },
    searchLogs: { answer: { results: REPORTS.results.map((report) => ({ ...report, text: "Hello" })) } },
    fetchReportsV3: { answer: REPORTS_V3 },
    searchLogsV3: {
      answer: {
        results: REPORTS_V3.results.map(({ to, callbackData: _, ...report }) => ({
          ...report,
          destination: to,
          content: { text: "Hello" },
        })),
      },
    },
    createAccessToken: {
      body: { client_id: "demo", client_secret: "demo-password", grant_type: "client_credentials" },
      answer: { access_token: "0f6b1ce7a4f94e0d8a3c5b7e9d2f4a60", expires_in: 3600, token_type: "Bearer" },
    },
    getBulk: { note: NOTE_BULK, answer: { bulkId: BULK, sendAt: later } },
    moveBulk: { note: NOTE_BULK, body: { sendAt: later }, answer: { bulkId: BULK, sendAt: later } },
    getBulkStatus: { note: NOTE_BULK },
    setBulkStatus: { note: NOTE_BULK, body: { status: "PAUSED" }, answer: { bulkId: BULK, status: "PAUSED" } },
    replayDeadReports: { body: { host: "https://shop.example" }, answer: { replayed: 3 } },
    retryReports: { body: { host: "https://shop.example" }, answer: { retried: 3 } },
    replayAllDeadReports: { body: LETTERS, answer: { replayed: 1 } },
    retryAllReports: { body: LETTERS, answer: { retried: 1 } },
    loginReseller: {
      body: { username: "reseller", password: "reseller-password" },
      answer: { login: { verified: true, ibAuthCookie: "0f6b1ce7a4f94e0d8a3c5b7e9d2f4a60" } },
    },
    logoutReseller: { note: NOTE_SESSION },
    openSession: { body: { username: "demo", password: "demo-password" } },
    endSession: { note: NOTE_SESSION },
    addFunds: {
      note: `${NOTE_SESSION} It is a reseller's.`,
      body: { accountKey: "DEMO0001", ammount: 25, currencycode: "EUR", description: "Invoice 4711" },
      answer: { transactionId: 1234 },
    },
    getBalance: { answer: { balance: 47.79134, currency: "EUR" } },
    getTotalBalance: { answer: { balance: 47.79134, currency: { code: "EUR" }, freeMessages: {} } },
    getFreeMessages: { answer: { remainingCount: 0 } },
    readOwnStatement: { parameters: { from: since }, answer: STATEMENT },
    readAccountStatement: { parameters: { from: since }, answer: STATEMENT },
    readStatement: { parameters: { from: since }, answer: RESELLING_EXAMPLES.statement },
    listPlans: { answer: { results: [RESELLING_EXAMPLES.plan], next: null } },
    readPlan: { parameters: { id: "standard" }, answer: RESELLING_EXAMPLES.prices },
    readFailures: { answer: RESELLING_EXAMPLES.failures },
    getSecondFactor: { answer: { enabled: false, required: false, recoveryCodes: 0 } },
    beginSecondFactor: {
      body: { password: "demo-password" },
      answer: {
        secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
        uri: "otpauth://totp/Heliograph:demo?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Heliograph",
      },
    },
    confirmSecondFactor: { body: { code: "123456" }, answer: { recoveryCodes: ["k7m2-9xqd-4ftp", "a3vn-6hws-8ycj"] } },
    removeSecondFactor: { body: { code: "123456" } },
    makeOwnApiKey: { body: API_KEY, answer: { ...MADE_KEY, key: SECRET_KEY } },
    makeAccountApiKey: { body: API_KEY, answer: { ...MADE_KEY, key: SECRET_KEY } },
    listOwnApiKeys: { answer: { results: [MADE_KEY] } },
    listAccountApiKeys: { answer: { results: [MADE_KEY] } },
    changeOwnPassword: { body: { currentPassword: "demo-password", password: "another-long-password" } },
    testCallback: {
      body: { url: "https://shop.example/reports" },
      answer: {
        request: {
          headers: { "content-type": "application/json", "webhook-id": "test-3f9ac2d1" },
          body: sampleBody("delivery", "application/json"),
        },
        answer: { status: 200, headers: { "content-type": "text/plain" }, body: "ok" },
        reason: null,
        durationMs: 12,
      },
    },
    makeAccount: {
      body: { key: "SHOP0001", parent: "RESELLER1", ratePlan: "standard", openingBalance: 10, username: "shop" },
    },
    listAccounts: { answer: { results: [ACCOUNT], next: null } },
    getAccount: { answer: ACCOUNT },
    changeAccount: { body: { version: 1, defaultSender: "InfoSMS" }, answer: { ...ACCOUNT, version: 2 } },
    retireAccount: {
      note: "The example needs the account that the example of makeAccount makes.",
      parameters: { key: "SHOP0001", version: 1, paidOut: true },
    },
    moveFunds: {
      body: { kind: "topUp", amount: 25, reason: "Invoice 4711" },
      answer: { account: "DEMO0001", transactionId: 1234, amount: 25, balance: 124.99, currency: "EUR" },
    },
    setUserPassword: { body: { password: "another-long-password" }, answer: { username: "demo" } },
    ...CATALOGUE,
    clearParkedReceipts: { body: { carrier: "simulator", before: DATE }, answer: { cleared: 0, more: false } },
    verifyLedger: { answer: { right: true, faults: [] } },
    moveSandboxClock: { body: { by: "1h" } },
    writeFromPhone: { body: { from: "41793026727", to: "12345", text: "Hello" } },
    getNetwork: { answer: NO_FAULTS },
    setNetwork: { body: { slowAnswersMs: 0 }, answer: NO_FAULTS },
    consoleSignIn: { body: { username: "demo", password: "demo-password" } },
    getHealth: { answer: { status: "ok" } },
    getReadiness: { answer: { status: "ready" } },
    getStatus: { answer: { status: "ready", store: "directory 1054721", findings: [] } },
    getMetrics: {
      answer: "# TYPE heliograph_messages_accepted_total counter\nheliograph_messages_accepted_total 1\n",
    },
    consoleSignInDemo: { body: { account: "demo" } },
  };
}
