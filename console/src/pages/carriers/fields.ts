const SIGNS: Readonly<Record<string, string>> = {
  api: "API",
  ca: "CA",
  ia5: "IA5",
  id: "id",
  ids: "ids",
  ms: "ms",
  pem: "PEM",
  tls: "TLS",
  tlv: "TLV",
  tlvs: "TLVs",
  url: "URL",
};

/** A field of the catalogue's file as a person reads it: "partsPerSecond" → "Parts per second", "tlsCaPem" → "TLS CA PEM". */
export function labelOf(name: string): string {
  const words = name.split(/(?=[A-Z])/).map((word) => SIGNS[word.toLowerCase()] ?? word.toLowerCase());
  const label = words.join(" ");
  return `${label.slice(0, 1).toUpperCase()}${label.slice(1)}`;
}

/** What the fields of a carrier's profile mean, in a line each: as in the operator's guide. */
export const HINTS: Readonly<Record<string, string>> = {
  hosts: "host:port, one a line, in the order in which they are tried.",
  systemId: "The name that the carrier gave you.",
  password: "Over SMPP at most 8 characters. One that is left out stays as it was.",
  preset: "Whose HTTP API it is.",
  url: "Where the API is; needed where the preset has none of its own.",
  username: "What the provider calls your account.",
  apiKey: "One that is left out stays as it was.",
  callbackSecret: "What the provider signs its callbacks with. One that is left out stays as it was.",
  ratePlan: "The rate plan that has what the carrier asks of you, for heliograph rate compare.",
  systemType: "Where the carrier asks for one.",
  bind: "One connection for both ways, or one for each. Default transceiver.",
  binds: "Connections at a time, for all nodes together. Default 1.",
  window: "Unanswered submits on one connection. Default 10.",
  partsPerSecond: "Over all connections; no limit unless given.",
  tls: "Speak TLS, and check the carrier's certificate.",
  tlsCaPem: "The carrier's certificate authority, in PEM.",
  tlsName: "The name in its certificate, where it is not the host's.",
  alphabet: "What the carrier takes data_coding 0 for. Default gsm.",
  missingLetters: "What becomes of letters that this alphabet lacks. Default transliterate.",
  nameAlphabet: "What the octets of a sender's name are. Default latin1.",
  ia5: "What it writes under data_coding 1. Default ascii.",
  longMessages: "How long messages are sent. Default udh.",
  referenceBits: "Bits of the reference in the header of a part. Default 8.",
  receiptIds: "Whether ids are written alike in answers and receipts. Default same.",
  unmarkedReceipts: "Receipts come without their mark.",
  receiptAddresses: "Whose the addresses of a receipt are. Default message.",
  partRule: "Which parts of a long message get a receipt that counts. Default every.",
  unknownOutcome: "A submit whose answer never came: send it again, or wait. Default resend.",
  serviceType: "service_type of every submit.",
  tlvs: "Only for carriers that ask for regional fields, as in India: the number of the optional parameter for each, which the carrier tells. 5120 is 0x1400.",
  tlvStrings: "How the values of these end. Default octets.",
  enquireLinkSeconds: "Silence after which the connection is tried. Default 30.",
  enquireLinkAnswerSeconds: "How long the answer to that may take. Default 10.",
  answerSeconds: "How long the answer to a submit may take. Default 30.",
  bindSeconds: "How long the answer to a bind may take. Default 10.",
  reconnectSeconds:
    "The longest wait before a lost connection is tried again, from ten minutes after it was lost on. Default 60.",
  answerAfterMs: "How long a simulated phone takes to answer. Default 1000.",
  capacity: "Parts in its hands at once. Default 100000.",
  handset: "Phones that behave as you say, as JSON.",
  destinationType: 'How recipients are marked, as JSON: {"ton":1,"npi":1}.',
  internationalType: "How senders that are numbers are marked, as JSON.",
  shortCodeType: "How senders that are short codes are marked, as JSON.",
  nameType: "How senders that are names are marked, as JSON.",
};

/** A whole one, shown where nothing is written yet. */
export const PLACEHOLDERS: Readonly<Record<string, string>> = {
  tlvs: '{"principalEntityId": 5120, "contentTemplateId": 5121, "telemarketerId": 5122}',
};

/** These stand open; the others behind "More fields". */
export const MAIN = new Set([
  "hosts",
  "systemId",
  "password",
  "preset",
  "url",
  "username",
  "apiKey",
  "callbackSecret",
  "binds",
  "window",
  "partsPerSecond",
  "tls",
  "answerAfterMs",
  "capacity",
]);
