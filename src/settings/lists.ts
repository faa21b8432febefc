/** Lists that the operator writes into one setting, with commas: "sandbox.example.com, sms.example". */

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

/** The characters of a host's name. Whether there is such a host is not asked. */
const HOST_NAME = /^[a-z0-9_][a-z0-9_.-]{0,252}$/;

/** Names of hosts in small letters; null where one of them is no name, but a URL, say, or has a port. */
export function parseHostNames(text: string): string[] | null {
  const names = wordsOf(text);
  return names.every((name) => HOST_NAME.test(name)) ? names : null;
}

/** The domains of short links, each with its scheme, https unless it has one; null where one of them is no domain. */
export function parseLinkDomains(text: string): string[] | null {
  const domains = wordsOf(text).map((name) => (/^https?:\/\//.test(name) ? name : `https://${name}`));
  return domains.every((domain) => URL.parse(domain)?.origin === domain) ? domains : null;
}
