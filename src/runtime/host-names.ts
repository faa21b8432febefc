/** Names of hosts, as the operator writes them: "sandbox.example.com, sms.example". */

/** The characters of a name. Whether there is such a host is not asked. */
const NAME = /^[a-z0-9_][a-z0-9_.-]{0,252}$/;

/** In small letters; null where one of them is no name, but a URL, say, or has a port. */
export function parseHostNames(text: string): string[] | null {
  const names = text
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return names.every((name) => NAME.test(name)) ? names : null;
}
