/** Octets written out for a person to read: hex, with spaces where they help, and a comment from a semicolon to the end of the line. */
export function octets(text: string): Buffer {
  const hex = text.replaceAll(/;.*$/gm, "").replaceAll(/\s/g, "");
  const read = Buffer.from(hex, "hex");
  if (read.length * 2 !== hex.length) throw new Error(`not hex: ${hex}`);
  return read;
}
