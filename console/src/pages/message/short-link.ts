/** A short link as it stands in the text of its message, with the domain that it was sent with. */

/** Its path alone where the text no longer has it. */
export function shortLink(text: string, code: string): string {
  const path = `/l/${code}`;
  const at = text.indexOf(path);
  if (at < 0) return path;
  const before = text.slice(0, at);
  const word = before.slice(Math.max(before.lastIndexOf(" "), before.lastIndexOf("\n")) + 1);
  const scheme = Math.max(word.lastIndexOf("http://"), word.lastIndexOf("https://"));
  // Without a scheme it is a domain, behind whatever opens a bracket or a quotation.
  const first = scheme >= 0 ? scheme : word.search(/[0-9A-Za-z]/);
  return `${word.slice(Math.max(first, 0))}${path}`;
}
