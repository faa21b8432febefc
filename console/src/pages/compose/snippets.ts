/**
 * A request as code: curl, and the client libraries of this API family with their base URL changed. Pure functions of the request. The key is the
 * words YOUR_API_KEY unless it is one that everybody knows.
 */
import type { RequestedMessage, SendingRequest, TimeOfDay } from "./draft.ts";

export const LANGUAGES = ["curl", "javascript", "php", "python", "go"] as const;
export type SnippetLanguage = (typeof LANGUAGES)[number];

export const LANGUAGE_NAMES: Readonly<Record<SnippetLanguage, string>> = {
  curl: "curl",
  javascript: "JavaScript",
  php: "PHP",
  python: "Python",
  go: "Go",
};

/** How the library comes. */
export const INSTALLING: Readonly<Record<SnippetLanguage, string | null>> = {
  curl: null,
  javascript: "npm install @infobip-api/sdk",
  php: 'composer require "infobip/infobip-api-php-client:^5"',
  python: "pip install infobip-api-python-sdk",
  go: "go get github.com/infobip-community/infobip-api-go-sdk/v3",
};

/** What stands in the place of a key. */
export const SOME_KEY = "YOUR_API_KEY";

export function snippet(language: SnippetLanguage, request: SendingRequest, baseUrl: string, key = SOME_KEY): string {
  return WRITERS[language](request, baseUrl, key);
}

const WRITERS: Readonly<Record<SnippetLanguage, (request: SendingRequest, baseUrl: string, key: string) => string>> = {
  curl,
  javascript,
  php,
  python,
  go,
};

// --- curl ------------------------------------------------------------------------------------------------------------------

/** Within single quotes a shell takes all as it is but the quote itself. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function curl({ path, body }: SendingRequest, baseUrl: string, key: string): string {
  return [
    `curl -X POST ${shellQuoted(`${baseUrl}${path}`)} \\`,
    `  -H 'Authorization: App ${key}' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  --data-raw ${shellQuoted(json(body))}`,
  ].join("\n");
}

/** Lone surrogates have no form in UTF-8, which files and shells are in: JSON writes them as escapes. */
function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

// --- JavaScript ------------------------------------------------------------------------------------------------------------

/** These two end a line in older engines. */
export function javascriptQuoted(text: string): string {
  return JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** Objects and lists, each item in a line of its own; `indent` is that of the line in which it begins. */
function literal(value: unknown, style: LiteralStyle, indent: string): string {
  if (typeof value === "string") return style.text(value);
  if (typeof value === "boolean") return style.flag(value);
  if (value === null || typeof value !== "object") return String(value);
  const inner = `${indent}${style.step}`;
  const [open, close, items]: [string, string, string[]] = Array.isArray(value)
    ? ["[", "]", value.map((item) => literal(item, style, inner))]
    : ["{", "}", Object.entries(value).map(([name, item]) => `${style.name(name)}: ${literal(item, style, inner)}`)];
  if (items.length === 0) return `${open}${close}`;
  const line = `${open}${style.pad}${items.join(", ")}${style.pad}${close}`;
  if (line.length <= SHORT_LINE && !line.includes("\n"))
    return Array.isArray(value) ? line.replace(/^\[ | \]$/g, (at) => at.trim()) : line;
  return `${open}\n${items.map((item) => `${inner}${item},`).join("\n")}\n${indent}${close}`;
}

const SHORT_LINE = 60;

interface LiteralStyle {
  readonly step: string;
  /** Within the braces of a short object. */
  readonly pad: string;
  readonly text: (text: string) => string;
  readonly flag: (value: boolean) => string;
  readonly name: (name: string) => string;
}

const JAVASCRIPT: LiteralStyle = {
  step: "  ",
  pad: " ",
  text: javascriptQuoted,
  flag: String,
  name: (name) => (IDENTIFIER.test(name) ? name : javascriptQuoted(name)),
};

function javascript({ path, body }: SendingRequest, baseUrl: string, key: string): string {
  const message = { type: path.includes("binary") ? "binary" : "text", ...body };
  return `import { AuthType, Infobip } from "@infobip-api/sdk";

const client = new Infobip({
  baseUrl: ${javascriptQuoted(baseUrl)},
  apiKey: "${key}",
  authType: AuthType.ApiKey,
});

const response = await client.channels.sms.send(${literal(message, JAVASCRIPT, "")});
console.log(response.data);
`;
}

// --- Python ----------------------------------------------------------------------------------------------------------------

/** JSON's escapes are Python's too, but for pairs of surrogates: what is beyond the first plane stands as it is. */
export function pythonQuoted(text: string): string {
  return JSON.stringify(text);
}

const PYTHON: LiteralStyle = {
  step: "    ",
  pad: "",
  text: pythonQuoted,
  flag: (value) => (value ? "True" : "False"),
  name: pythonQuoted,
};

function python({ path, body }: SendingRequest, baseUrl: string, key: string): string {
  const method = path.includes("binary") ? "send_binary_sms_message" : "send_sms_message";
  return `from infobip_channels.sms.channel import SMSChannel

channel = SMSChannel.from_auth_params({
    "base_url": ${pythonQuoted(baseUrl)},
    "api_key": "${key}",
})

response = channel.${method}(${literal(body, PYTHON, "")})
print(response)
`;
}

// --- PHP -------------------------------------------------------------------------------------------------------------------

/** Within single quotes PHP knows two escapes, and no variables. */
export function phpQuoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}

function php({ path, body }: SendingRequest, baseUrl: string, key: string): string {
  const isBinary = path.includes("binary");
  const kind = isBinary ? "Binary" : "Textual";
  const models = new Set([`SmsAdvanced${kind}Request`, `Sms${kind}Message`, "SmsDestination"]);
  const made = (name: string, fields: readonly string[]): string => {
    models.add(name);
    return `new ${name}(${fields.join(", ")})`;
  };
  const messages = body.messages.map((message) => phpMessage(message, made, isBinary));
  const fields = [`messages: [\n${messages.map((text) => `    ${text},`).join("\n")}\n]`];
  if (body.bulkId !== undefined) fields.unshift(`bulkId: ${phpQuoted(body.bulkId)}`);
  const request = `new SmsAdvanced${kind}Request(${fields.join(", ")})`;
  const method = isBinary ? "sendBinarySmsMessage" : "sendSmsMessage";
  const uses = [...models].sort().map((name) => `use Infobip\\Model\\${name};`);
  return `<?php
require 'vendor/autoload.php';

use Infobip\\Api\\SmsApi;
use Infobip\\Configuration;
${uses.join("\n")}

$api = new SmsApi(new Configuration(host: ${phpQuoted(baseUrl)}, apiKey: '${key}'));

${missingNote("//", PHP_LACKS, body.messages)}$response = $api->${method}(${request});
echo $response->getBulkId(), PHP_EOL;
`;
}

/** What a library has no field for; a comment says so. */
type Lacks = Readonly<Record<string, (message: RequestedMessage) => boolean>>;
const PHP_LACKS: Lacks = {
  campaignReferenceId: (message) => message.campaignReferenceId !== undefined,
  "language.singleShift": ({ language }) => language?.singleShift !== undefined,
  "language.lockingShift": ({ language }) => language?.lockingShift !== undefined,
};
const GO_LACKS: Lacks = {
  ...PHP_LACKS,
  "flash of binary messages": ({ binary, flash }) => binary !== undefined && flash !== undefined,
};

function missingNote(sign: string, lacks: Lacks, messages: readonly RequestedMessage[]): string {
  const missing = Object.keys(lacks).filter((name) => messages.some((message) => lacks[name]!(message)));
  if (missing.length === 0) return "";
  return `${sign} This library has no field for ${missing.join(", ")}: left out here.\n`;
}

type Made = (name: string, fields: readonly string[]) => string;

function phpMessage(message: RequestedMessage, made: Made, isBinary: boolean): string {
  const { destinations, binary, language, sendAt, deliveryTimeWindow: window } = message;
  const time = (name: string, { hour, minute }: TimeOfDay) => made(name, [`hour: ${hour}`, `minute: ${minute}`]);
  const texts = ["from", "text", "transliteration", "notifyUrl", "notifyContentType", "callbackData"] as const;
  const flags = ["flash", "intermediateReport"] as const;
  const fields = [
    `destinations: [${destinations
      .map(({ to, messageId }) =>
        made("SmsDestination", [
          `to: ${phpQuoted(to)}`,
          ...(messageId === undefined ? [] : [`messageId: ${phpQuoted(messageId)}`]),
        ]),
      )
      .join(", ")}]`,
    ...texts.flatMap((name) => (message[name] === undefined ? [] : [`${name}: ${phpQuoted(message[name])}`])),
    ...(binary === undefined
      ? []
      : [
          `binary: ${made("SmsBinaryContent", [
            `hex: ${phpQuoted(binary.hex)}`,
            ...(binary.dataCoding === undefined ? [] : [`dataCoding: ${Number(binary.dataCoding)}`]),
            ...(binary.esmClass === undefined ? [] : [`esmClass: ${Number(binary.esmClass)}`]),
          ])}`,
        ]),
    ...flags.flatMap((name) => (message[name] === undefined ? [] : [`${name}: ${message[name]}`])),
    ...(message.validityPeriod === undefined ? [] : [`validityPeriod: ${Number(message.validityPeriod)}`]),
    ...(language === undefined
      ? []
      : [`language: ${made("SmsLanguage", [`languageCode: ${phpQuoted(language.languageCode)}`])}`]),
    ...(sendAt === undefined ? [] : [`sendAt: new \\DateTime(${phpQuoted(sendAt)})`]),
    ...(window === undefined
      ? []
      : [
          `deliveryTimeWindow: ${made("SmsDeliveryTimeWindow", [
            `days: [${window.days.map((day) => phpQuoted(day)).join(", ")}]`,
            ...(window.from === undefined ? [] : [`from: ${time("SmsDeliveryTimeFrom", window.from)}`]),
            ...(window.to === undefined ? [] : [`to: ${time("SmsDeliveryTimeTo", window.to)}`]),
          ])}`,
        ]),
  ];
  return `new Sms${isBinary ? "Binary" : "Textual"}Message(\n${fields.map((field) => `        ${field},`).join("\n")}\n    )`;
}

// --- Go --------------------------------------------------------------------------------------------------------------------

/** JSON's escapes are Go's too; a lone surrogate is none that Go knows. */
export function goQuoted(text: string): string {
  return JSON.stringify(text.toWellFormed());
}

function go({ path, body }: SendingRequest, baseUrl: string, key: string): string {
  const isBinary = path.includes("binary");
  const [type, request, method] = isBinary
    ? ["BinarySMSMsg", "SendBinarySMSRequest", "SendBinary"]
    : ["SMSMsg", "SendSMSRequest", "Send"];
  const messages = body.messages.map((message) => goMessage(message));
  const bulk = body.bulkId === undefined ? "" : `\n\t\tBulkID: ${goQuoted(body.bulkId)},`;
  return `package main

import (
	"context"
	"fmt"

	"github.com/infobip-community/infobip-api-go-sdk/v3/pkg/infobip"
	"github.com/infobip-community/infobip-api-go-sdk/v3/pkg/infobip/models"
)

func main() {
	client, err := infobip.NewClient(${goQuoted(baseUrl)}, "${key}")
	if err != nil {
		panic(err)
	}
${missingNote("\t//", GO_LACKS, body.messages)}	response, _, err := client.SMS.${method}(context.Background(), models.${request}{${bulk}
		Messages: []models.${type}{
${messages.join("\n")}
		},
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%+v\\n", response)
}
`;
}

const GO_TEXTS = {
  from: "From",
  text: "Text",
  transliteration: "Transliteration",
  notifyUrl: "NotifyURL",
  notifyContentType: "NotifyContentType",
  callbackData: "CallbackData",
  sendAt: "SendAt",
} as const;

function goMessage(message: RequestedMessage): string {
  const { destinations, binary, language, deliveryTimeWindow: window } = message;
  const time = ({ hour, minute }: TimeOfDay) => `models.SMSTime{Hour: ${hour}, Minute: ${minute}}`;
  const fields = [
    `Destinations: []models.SMSDestination{${destinations
      .map(({ to, messageId }) =>
        messageId === undefined ? `{To: ${goQuoted(to)}}` : `{To: ${goQuoted(to)}, MessageID: ${goQuoted(messageId)}}`,
      )
      .join(", ")}}`,
    ...Object.entries(GO_TEXTS).flatMap(([name, field]) => {
      const value = message[name as keyof typeof GO_TEXTS];
      return value === undefined ? [] : [`${field}: ${goQuoted(value)}`];
    }),
    ...(binary === undefined
      ? []
      : [
          `Binary: &models.SMSBinary{Hex: ${goQuoted(binary.hex)}, DataCoding: ${Number(binary.dataCoding ?? 0)}, EsmClass: ${Number(binary.esmClass ?? 0)}}`,
        ]),
    ...(message.flash === undefined || binary !== undefined ? [] : [`Flash: ${message.flash}`]),
    ...(message.intermediateReport === undefined ? [] : [`IntermediateReport: ${message.intermediateReport}`]),
    ...(message.validityPeriod === undefined ? [] : [`ValidityPeriod: ${Number(message.validityPeriod)}`]),
    ...(language === undefined
      ? []
      : [`Language: &models.SMSLanguage{LanguageCode: ${goQuoted(language.languageCode)}}`]),
    ...(window === undefined
      ? []
      : [
          `DeliveryTimeWindow: &models.SMSDeliveryTimeWindow{Days: []string{${window.days.map(goQuoted).join(", ")}}${
            window.from === undefined || window.to === undefined
              ? ""
              : `, From: ${time(window.from)}, To: ${time(window.to)}`
          }}`,
        ]),
  ];
  return `\t\t\t{\n${fields.map((field) => `\t\t\t\t${field},`).join("\n")}\n\t\t\t},`;
}
