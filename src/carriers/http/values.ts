/** What templates have places for: a message, the carrier's own values, and where its callbacks go. */
import { HEADER_BIT } from "../../sms/binary.ts";
import { isOctets } from "../../sms/body.ts";
import type { PartToSubmit } from "../port.ts";
import type { Description } from "./description.ts";
import type { HttpProfile } from "./profile.ts";
import { type JsonTemplate, namesIn, type TemplateValue, type Values } from "./template.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** The names that a template of the profile may have, beside those of the place where it stands. */
export const CARRIER_VALUES = ["username", "password", "apiKey", "callbackSecret", "option"] as const;
const CALLBACK_VALUES = ["receiptsUrl", "incomingUrl", "eventsUrl"];

export function carrierValues(profile: HttpProfile): Values {
  return Object.fromEntries(CARRIER_VALUES.map((name) => [name, profile[name]]));
}

/** A number as most of the world writes it; a name stays one. */
const withPlus = (address: string): string => (/^\d{7,15}$/.test(address) ? `+${address}` : address);

/** Octets of the header before those of the text. */
function headerLength({ userData: { hasHeader, octets } }: PartToSubmit): number {
  return hasHeader ? (octets[0] ?? 0) + 1 : 0;
}

function hexOf({ userData: { octets } }: PartToSubmit, from: number, to = octets.length): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString("hex", from, to);
}

const leftMs = ({ message: { expiresAtMs } }: PartToSubmit, nowMs: number): number => Math.max(expiresAtMs - nowMs, 0);

/** What a message has for each name. */
const OF_MESSAGE: Readonly<Record<string, (part: PartToSubmit, nowMs: number) => TemplateValue | undefined>> = {
  key: ({ message }) => message.key,
  from: ({ message }) => message.from,
  to: ({ message }) => message.to,
  plusFrom: ({ message }) => withPlus(message.from),
  plusTo: ({ message }) => withPlus(message.to),
  text: ({ message, userData, place }) =>
    isOctets(message.encoding) ? undefined : place === null ? message.text : userData.text,
  gsmText: (part) => (part.message.encoding === "ucs2" ? undefined : OF_MESSAGE.text!(part, 0)),
  ucs2Hex: ({ message, userData, place }) =>
    message.encoding === "ucs2"
      ? Buffer.from(place === null ? message.text : userData.text, "utf16le")
          .swap16()
          .toString("hex")
      : undefined,
  dltEntity: ({ message }) => message.regional?.indiaDlt?.principalEntityId,
  dltTemplate: ({ message }) => message.regional?.indiaDlt?.contentTemplateId,
  hex: (part) => hexOf(part, 0),
  octets: (part) => hexOf(part, headerLength(part)),
  header: (part) => (headerLength(part) === 0 ? undefined : hexOf(part, 0, headerLength(part))),
  esmClass: (part) => (headerLength(part) === 0 ? 0 : HEADER_BIT),
  dataCoding: ({ userData }) => userData.dataCoding,
  flash: ({ message }) => message.flash,
  unicode: ({ message }) => message.encoding === "ucs2",
  reference: ({ message }) => message.reference ?? 0,
  sequence: ({ place }) => place?.sequence,
  total: ({ place }) => place?.total,
  validSeconds: (part, nowMs) => Math.max(1, Math.floor(leftMs(part, nowMs) / SECOND_MS)),
  validMinutes: (part, nowMs) => Math.max(1, Math.floor(leftMs(part, nowMs) / MINUTE_MS)),
  validMs: (part, nowMs) => Math.max(1, leftMs(part, nowMs)),
  expiresAt: ({ message }) => new Date(message.expiresAtMs).toISOString(),
};

export const MESSAGE_VALUES: readonly string[] = [...Object.keys(OF_MESSAGE), ...CALLBACK_VALUES];

/** Makes the values of messages: of each only what the templates have places for. */
export class MessageValues {
  readonly #names: readonly string[];
  readonly #callbacks: Values;
  readonly #bounds: Description["bounds"];

  /** `callbacks` says where the provider may call us. */
  constructor(description: Description, callbacks: Values) {
    const { send, sendOctets, lookup, bounds } = description;
    const names = new Set(namesIn([send, sendOctets, lookup].map((each) => (each ?? null) as JsonTemplate)));
    this.#names = Object.keys(OF_MESSAGE).filter((name) => names.has(name));
    this.#callbacks = callbacks;
    this.#bounds = bounds;
  }

  of(part: PartToSubmit, nowMs: number): Values {
    const values: Record<string, TemplateValue | undefined> = { ...this.#callbacks };
    for (const name of this.#names) {
      const value = OF_MESSAGE[name]!(part, nowMs);
      const bounds = this.#bounds?.[name];
      values[name] =
        bounds === undefined || typeof value !== "number" ? value : Math.min(Math.max(value, bounds[0]!), bounds[1]!);
    }
    return values;
  }
}
