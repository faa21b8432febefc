/**
 * The head of a request, by its octets. Only one that nobody could read in two ways is read: so the octet at which the next request begins is
 * certain. Any other is left to Node's parser.
 */

export interface RequestHead {
  /** Of all of it, its end included. */
  readonly octets: number;
  readonly method: string;
  readonly target: string;
  /** Names in lower case, in the order in which they came. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly bodyOctets: number;
}

const END = Buffer.from("\r\n\r\n");
/** Heads of programs have some hundreds. */
const MAX_OCTETS = 4_096;

const REQUEST_LINE = /^([A-Z]{3,10}) ([\x21-\x7e]+) HTTP\/1\.1$/;
const FIELD = /^([\w!#$%&'*+.^`|~-]+):([\t\x20-\x7e]*)$/;
const LENGTH = /^\d{1,12}$/;
/** With these, something else than the length may say where a request ends. */
const NOT_READ: ReadonlySet<string> = new Set(["expect", "transfer-encoding", "upgrade"]);

/** The text of the head that begins there, without its end; null where it is not whole, or too long. */
export function headText(octets: Buffer, at: number): string | null {
  const end = octets.indexOf(END, at);
  return end < 0 || end - at > MAX_OCTETS ? null : octets.toString("latin1", at, end);
}

export function readHead(text: string): RequestHead | null {
  const [requestLine, ...lines] = text.split("\r\n");
  const request = REQUEST_LINE.exec(requestLine!);
  if (request === null || request[1] === "CONNECT") return null;
  const fields: [string, string][] = [];
  let length: string | null = null;
  for (const line of lines) {
    const field = FIELD.exec(line);
    if (field === null) return null;
    const name = field[1]!.toLowerCase();
    const value = field[2]!.trim();
    if (NOT_READ.has(name)) return null;
    if (name === "content-length") {
      if (length !== null || !LENGTH.test(value)) return null;
      length = value;
    }
    fields.push([name, value]);
  }
  const [, method, target] = request as unknown as [string, string, string];
  return { octets: text.length + END.length, method, target, fields, bodyOctets: Number(length ?? 0) };
}
