/**
 * Examples of PINs, of OneAPI and of conversions (operation-examples.ts has the others). Some need an id that only an answer has: a note says of which operation,
 * and the id stands in the example as that operation's answer shows it.
 */
import type { OperationExamples } from "./document.ts";

const APPLICATION_ID = "0F1E2D3C4B5A69788796A5B4C3D2E1F0";
const TEMPLATE_ID = "A1B2C3D4E5F60718293A4B5C6D7E8F90";
const PIN_ID = "9C817C6F8AF3D48F9FE553282AFA2B67";
const TO = "41793026727";
const CORRELATOR = "example-correlator";
const NOTIFY_URL = "https://shop.example/reports";
const REPORT_SUBSCRIPTION = "example-report-subscription";
const INBOUND_SUBSCRIPTION = "example-inbound-subscription";

const needs = (what: string, operation: string): string =>
  `The example needs ${what}: put the one that ${operation} answers with in its place.`;
const NOTE_APPLICATION = needs("an applicationId", "POST /2fa/2/applications");
const NOTE_TEMPLATE = needs("a messageId", "POST /2fa/2/applications/{appId}/messages");
const NOTE_PIN = needs("a pinId", "POST /2fa/2/pin");
const NOTE_REQUEST =
  "The example needs the request that the example of POST /1/smsmessaging/outbound/{sender}/requests makes.";
const NOTE_REPORTS = needs("an id", "POST /1/smsmessaging/outbound/subscriptions");
const NOTE_INBOUND = needs("an id", "POST /1/smsmessaging/inbound/subscriptions");

const CONFIGURATION = {
  pinAttempts: 10,
  allowMultiplePinVerifications: true,
  pinTimeToLive: "15m",
  verifyPinLimit: "1/3s",
  sendPinPerApplicationLimit: "10000/1d",
  sendPinPerPhoneNumberLimit: "10/1d",
};
const APPLICATION = { name: "Login", enabled: true, configuration: CONFIGURATION };
const MADE_APPLICATION = { applicationId: APPLICATION_ID, ...APPLICATION };
const TEMPLATE = { messageText: "Your PIN is {{pin}}", pinType: "NUMERIC", pinLength: 4, senderId: "Heliograph" };
const MADE_TEMPLATE = {
  messageId: TEMPLATE_ID,
  applicationId: APPLICATION_ID,
  pinPlaceholder: "{{pin}}",
  ...TEMPLATE,
};
const SENT_PIN = { pinId: PIN_ID, to: TO, ncStatus: "NC_NOT_CONFIGURED", smsStatus: "MESSAGE_SENT" };

const OF_APPLICATION = { note: NOTE_APPLICATION, parameters: { appId: APPLICATION_ID } };
const OF_TEMPLATE = { note: NOTE_TEMPLATE, parameters: { appId: APPLICATION_ID, msgId: TEMPLATE_ID } };
const OF_PIN = { note: NOTE_PIN, parameters: { pinId: PIN_ID } };

export const PIN_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  listPinApplications: { answer: [MADE_APPLICATION] },
  makePinApplication: { body: APPLICATION, answer: MADE_APPLICATION },
  readPinApplication: { ...OF_APPLICATION, answer: MADE_APPLICATION },
  changePinApplication: { ...OF_APPLICATION, body: APPLICATION, answer: MADE_APPLICATION },
  listPinTemplates: { ...OF_APPLICATION, answer: [MADE_TEMPLATE] },
  makePinTemplate: { ...OF_APPLICATION, body: TEMPLATE, answer: MADE_TEMPLATE },
  readPinTemplate: { ...OF_TEMPLATE, answer: MADE_TEMPLATE },
  changePinTemplate: { ...OF_TEMPLATE, body: TEMPLATE, answer: MADE_TEMPLATE },
  sendPin: {
    note: NOTE_TEMPLATE,
    body: { applicationId: APPLICATION_ID, messageId: TEMPLATE_ID, to: TO },
    answer: SENT_PIN,
  },
  resendPin: { ...OF_PIN, body: {}, answer: SENT_PIN },
  verifyPin: {
    ...OF_PIN,
    body: { pin: "1598" },
    answer: { pinId: PIN_ID, msisdn: TO, verified: false, attemptsRemaining: 9, pinError: "WRONG_PIN" },
  },
  pinVerifications: {
    note: NOTE_APPLICATION,
    parameters: { appId: APPLICATION_ID, msisdn: TO },
    answer: { verifications: [{ msisdn: TO, verified: false, sentAt: 1_770_890_300_323 }] },
  },
};

const SUBSCRIPTION = { notifyURL: NOTIFY_URL, criteria: "HELLO", callbackData: "shop" };
const INBOUND = { destinationAddress: "12345", notifyURL: NOTIFY_URL, criteria: "INFO", notificationFormat: "JSON" };
const SENDER = { sender: "InfoSMS" };

export const ONEAPI_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  oneApiSend: {
    parameters: SENDER,
    body: { senderAddress: "InfoSMS", address: [TO], message: "Hello", clientCorrelator: CORRELATOR },
  },
  oneApiDeliveryInfos: { note: NOTE_REQUEST, parameters: { ...SENDER, correlator: CORRELATOR } },
  oneApiDeliveryInfosOfRequest: { note: NOTE_REQUEST, parameters: { correlator: CORRELATOR } },
  oneApiDeliveryReportsOfRequest: { note: NOTE_REQUEST, parameters: { correlator: CORRELATOR } },
  oneApiSubscribeToReports: { body: SUBSCRIPTION },
  oneApiSubscribeToReportsOfSender: { parameters: SENDER, body: SUBSCRIPTION },
  oneApiReportSubscriptionsOfSender: { parameters: SENDER },
  oneApiReportSubscription: { note: NOTE_REPORTS, parameters: { id: REPORT_SUBSCRIPTION } },
  oneApiUnsubscribeFromReports: { note: NOTE_REPORTS, parameters: { id: REPORT_SUBSCRIPTION } },
  oneApiSubscribeToInbound: { body: INBOUND },
  oneApiRedirectInbound: {
    note: NOTE_INBOUND,
    body: { subscriptionId: INBOUND_SUBSCRIPTION, notifyURL: NOTIFY_URL },
  },
  oneApiInboundSubscription: { note: NOTE_INBOUND, parameters: { id: INBOUND_SUBSCRIPTION } },
  oneApiUnsubscribeFromInbound: { note: NOTE_INBOUND, parameters: { id: INBOUND_SUBSCRIPTION } },
  oneApiProfileById: { note: needs("the id of a profile", "GET /1/customerProfile"), parameters: { id: "3" } },
};

export const CONVERSION_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  endConversion: {
    note: "The example needs the id of a message that was sent with conversion tracking.",
    answer: { processKey: "order-4711" },
  },
};
