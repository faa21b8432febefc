/** What templates have places for: a message, the carrier's own values, and where its callbacks go. */
import { HEADER_BIT } from "../../sms/binary.ts";
import { isOctets } from "../../sms/body.ts";
import type { PartToSubmit } from "../port.ts";
import type { Description } from "./description.ts";
import type { HttpProfile } from "./profile.ts";
import type { Values } from "./template.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** The names that a template of the profile may have, beside those of the place where it stands. */
export const CARRIER_VALUES = ["username", "password", "apiKey", "callbackSecret", "option"] as const;
export const MESSAGE_VALUES = [
  ...[
    "key",
    "from",
    "to",
    "plusFrom",
    "plusTo",
    "text",
    "hex",
    "octets",
    "header",
    "esmClass",
    "dataCoding",
    "flash",
    "unicode",
  ],
  ...["reference", "sequence", "total", "validSeconds", "validMinutes", "validMs", "expiresAt"],
  ...["receiptsUrl", "incomingUrl", "eventsUrl"],
] as const;

export function carrierValues(profile: HttpProfile): Values {
  return Object.fromEntries(CARRIER_VALUES.map((name) => [name, profile[name]]));
}

/** A number as most of the world writes it; a name stays one. */
const withPlus = (address: string): string => (/^\d{7,15}$/.test(address) ? `+${address}` : address);

export interface ValueParts {
  readonly nowMs: number;
  /** Where the provider may call us. */
  readonly callbacks: Values;
  readonly bounds: Description["bounds"];
}

export function messageValues(part: PartToSubmit, { nowMs, callbacks, bounds = {} }: ValueParts): Values {
  const values = { ...callbacks, ...valuesOf(part, nowMs) };
  const bounded = Object.entries(bounds).flatMap(([name, [least, most]]) => {
    const value = values[name];
    return typeof value === "number" ? [[name, Math.min(Math.max(value, least!), most!)]] : [];
  });
  return { ...values, ...Object.fromEntries(bounded) };
}

function valuesOf({ message, userData, place }: PartToSubmit, nowMs: number): Values {
  const { from, to, text, encoding, flash, expiresAtMs, key, reference } = message;
  const leftMs = Math.max(expiresAtMs - nowMs, 0);
  const headerLength = userData.hasHeader ? (userData.octets[0] ?? 0) + 1 : 0;
  const octets = Buffer.from(userData.octets);
  return {
    key,
    from,
    to,
    plusFrom: withPlus(from),
    plusTo: withPlus(to),
    text: isOctets(encoding) ? undefined : place === null ? text : userData.text,
    hex: octets.toString("hex"),
    octets: octets.toString("hex", headerLength),
    header: headerLength === 0 ? undefined : octets.toString("hex", 0, headerLength),
    esmClass: headerLength === 0 ? 0 : HEADER_BIT,
    dataCoding: userData.dataCoding,
    flash,
    unicode: encoding === "ucs2",
    reference,
    ...(place === null ? {} : place),
    validSeconds: Math.max(1, Math.floor(leftMs / SECOND_MS)),
    validMinutes: Math.max(1, Math.floor(leftMs / MINUTE_MS)),
    validMs: Math.max(1, leftMs),
    expiresAt: new Date(expiresAtMs).toISOString(),
  };
}
