/**
 * What accounts and users may be called, and which names are a reseller's own. A reseller's namespace has the keys that begin with its key
 * and a dash, and the usernames that begin with its key and one of `-._`, in any letter case. Only its clients are called so. A reseller
 * chooses names in its namespace alone, and so learns from a name that is taken nothing but its own clients. Pure.
 */

/** Letters and digits, with single dashes between them. */
export const ACCOUNT_KEY = "^(?=.{1,64}$)[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*$";
export const ACCOUNT_KEY_SAYS = "must be 1 to 64 letters and digits, with dashes between them if you like";
/** So that there is room behind it for what its clients are called. */
export const MAX_RESELLER_KEY = 32;

const KEY = new RegExp(ACCOUNT_KEY);
const KEY_SEPARATORS = ["-"];
const USERNAME_SEPARATORS = ["-", ".", "_"];

export function isAccountKey(text: string): boolean {
  return KEY.test(text);
}

/** Basic authentication ends the username at the first colon. */
export function isUsername(text: string): boolean {
  return /^[^\s:]{1,64}$/.test(text);
}

/** What the names of a reseller's clients begin with, in lower case. */
export function usernamePrefixes(resellerKey: string): string[] {
  return USERNAME_SEPARATORS.map((separator) => `${resellerKey.toLowerCase()}${separator}`);
}

export function keyPrefix(resellerKey: string): string {
  return `${resellerKey}-`;
}

/** Whether a key is in the namespace, however its letters are written: keys that differ in nothing else are not for two resellers. */
export function isKeyOf(resellerKey: string, key: string): boolean {
  return beginsWith(key, resellerKey, KEY_SEPARATORS);
}

export function isUsernameOf(resellerKey: string, username: string): boolean {
  return beginsWith(username, resellerKey, USERNAME_SEPARATORS);
}

function beginsWith(name: string, resellerKey: string, separators: readonly string[]): boolean {
  const start = name.slice(0, resellerKey.length + 1).toLowerCase();
  return (
    name.length > start.length && separators.some((separator) => start === `${resellerKey.toLowerCase()}${separator}`)
  );
}
