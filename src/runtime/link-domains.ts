/** The domains of short links, as the operator writes them: "go.example.com, http://localhost:8080". */

/** Each with its scheme, https unless it has one; null where one of them is no domain. */
export function parseLinkDomains(text: string): string[] | null {
  const names = text
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const domains = names.map((name) => (/^https?:\/\//.test(name) ? name : `https://${name}`));
  return domains.every((domain) => URL.parse(domain)?.origin === domain) ? domains : null;
}
