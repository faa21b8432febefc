/** URLs as they may be shown: without the name and the password that may stand in one, and without what in its query looks like a secret. */
import { unescape as lenientlyDecoded } from "node:querystring";

export const MASK = "***";
/** Within names, in lower case. */
const SECRET_NAME = /pass(?:word|wd|phrase)|pwd|secret|token|credential/;
/** Names in queries of URLs are anybody's: there these are more often a secret than not. */
const SECRET_PARAMETER = /key|auth|session|^sig$|^sign$|signature|^code$|^pass$|^pw$/;

/** Whether a value by this name is a secret, by its looks. */
export function looksSecret(name: string): boolean {
  return SECRET_NAME.test(name.toLowerCase());
}

/** "a%20b+c" → "a b c", also where a piece of it is broken or cut off. */
export function decoded(text: string): string {
  return lenientlyDecoded(text.replaceAll("+", " "));
}

/** The host, with what stands before and behind it: after a scheme's colon, or after two slashes. Parsers take more or fewer, and other ones too. */
const AUTHORITY = /(:[\\/]{1,9}|[\\/]{2,9})([^\s/\\?#"'<>]*)/g;
const PARAMETER = /([?&;#])([^\s=?&;#"'<>]+)=([^\s&;#"'<>]*)/g;
/** What stands where the port does and is none is a password whose host is missing or cut off. */
const NO_PORT = /^([^[\]:]*):(?!\d{0,5}$)/;

/** Also for texts that have URLs in them. */
export function shownUrl(text: string): string {
  return text
    .replace(AUTHORITY, (_, slashes: string, authority: string) => {
      const host = authority.slice(authority.lastIndexOf("@") + 1);
      const name = NO_PORT.exec(host)?.[1];
      return slashes + (name === undefined ? host : `${name}:${MASK}`);
    })
    .replace(PARAMETER, (whole, mark: string, name: string) => {
      const plain = decoded(name).toLowerCase();
      return looksSecret(plain) || SECRET_PARAMETER.test(plain) ? `${mark}${name}=${MASK}` : whole;
    });
}
