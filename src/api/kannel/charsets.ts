/** The charsets in which programs write the texts that they hand to Kannel. */
import { isUtf8 } from "node:buffer";
import { orElse } from "../../runtime/or-else.ts";
import { textProblem } from "../../runtime/text.ts";

/** What Windows has where Latin-1 has control characters, which no text means. */
const WINDOWS_80_TO_9F = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/** Names that the platform does not know, or takes for something else: without a mark of their order the octets are big-endian. */
const ALIASES: Readonly<Record<string, string>> = {
  "utf-16": "utf-16be",
  "ucs-2": "utf-16be",
  "ucs-2be": "utf-16be",
  ucs2: "utf-16be",
};
const WESTERN = new Set(["iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1", "windows-1252", "cp1252"]);
const MAX_NAME = 40;

/** Whether it is a name of Latin-1, in lower case, or of what Windows has in its place. */
export function isWestern(name: string): boolean {
  return WESTERN.has(name);
}

/** The text, or null where the octets are none in this charset, or nobody knows it. */
export function decodeText(octets: Buffer, charset: string): string | null {
  const name = charset.trim().toLowerCase();
  const text =
    name === "utf-8" || name === "utf8" ? utf8(octets) : isWestern(name) ? western(octets) : other(octets, name);
  return text === null || textProblem(text) !== null ? null : text;
}

function utf8(octets: Buffer): string | null {
  return isUtf8(octets) ? octets.toString("utf8").replace(/^\ufeff/, "") : null;
}

/** By a table of our own: the platform's decoder of Windows' charset reads it as Latin-1. */
function western(octets: Buffer): string {
  return octets.toString("latin1").replace(/[\x80-\x9f]/g, (sign) => WINDOWS_80_TO_9F[sign.charCodeAt(0) - 0x80]!);
}

function other(octets: Buffer, name: string): string | null {
  if (name.length > MAX_NAME) return null;
  return orElse(() => new TextDecoder(ALIASES[name] ?? name, { fatal: true }).decode(octets), null);
}
