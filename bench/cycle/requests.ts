/** The requests of a run: bytes made once, in which only the digits of phone numbers change. */
import { numberOf } from "./numbers.ts";

/** A request's bytes, and where in them the phone numbers begin. */
export interface Template {
  readonly bytes: Buffer;
  readonly numbers: readonly number[];
}

/** What a request looks like: so many destinations, by one of the API's operations. */
export interface Mode {
  readonly destinations: number;
  readonly path: string;
  readonly body: (numbers: readonly string[], common: object) => object;
}

const TEXT = "Your verification code is 482913. It is valid for 10 minutes. Do not share it with anyone.";

const advanced = (destinations: number): Mode => ({
  destinations,
  path: "/sms/1/text/advanced",
  body: (numbers, common) => ({
    messages: [{ ...common, destinations: numbers.map((to) => ({ to })), text: TEXT }],
  }),
});

export const MODES = {
  one: advanced(1),
  hundred: advanced(100),
  thousand: advanced(1_000),
  single: {
    destinations: 1,
    path: "/sms/1/text/single",
    body: ([to], common) => ({ ...common, to, text: TEXT }),
  },
  /** Ten messages, each with a text of its own. */
  multi: {
    destinations: 10,
    path: "/sms/1/text/multi",
    body: (numbers, common) => ({
      messages: numbers.map((to, index) => ({ ...common, to, text: `${index}: ${TEXT}` })),
    }),
  },
} as const satisfies Record<string, Mode>;

export type ModeName = keyof typeof MODES;

/** Rounded up to whole requests. */
export function wholeRequests(messages: number, mode: ModeName): number {
  const { destinations } = MODES[mode];
  return Math.ceil(messages / destinations) * destinations;
}

export interface BodyOptions {
  readonly mode: ModeName;
  readonly sender: string;
  /** Null: no reports are wanted. */
  readonly notifyUrl: string | null;
}

export interface RequestOptions extends BodyOptions {
  readonly port: number;
  readonly authorization: string;
}

/** With phone numbers that no round has. */
export function heliographBody({ mode, sender, notifyUrl }: BodyOptions): string {
  const { destinations, body } = MODES[mode];
  const common = { from: sender, ...(notifyUrl === null ? {} : { notifyUrl, callbackData: "bench" }) };
  return JSON.stringify(body(placeholders(destinations), common));
}

export function heliographRequest({ port, authorization, ...options }: RequestOptions): Template {
  const { destinations, path } = MODES[options.mode];
  const text = heliographBody(options);
  const head =
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${authorization}\r\n` +
    `Content-Type: application/json\r\nAccept: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n`;
  return template(head + text, placeholders(destinations));
}

export interface KannelRequestOptions {
  readonly mode: ModeName;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly sender: string;
  /** Null: no reports are wanted. */
  readonly reportUrl: string | null;
}

/** Kannel takes a message in a URL, with its recipients separated by spaces. */
export function kannelRequest(options: KannelRequestOptions): Template {
  const { mode, port, username, password, sender, reportUrl } = options;
  const numbers = placeholders(MODES[mode].destinations);
  const query = [
    `username=${username}&password=${password}&from=${sender}`,
    `to=${numbers.join("+")}&text=${encodeURIComponent(TEXT).replaceAll("%20", "+")}`,
    ...(reportUrl === null ? [] : [`dlr-mask=1&dlr-url=${encodeURIComponent(reportUrl)}`]),
  ].join("&");
  return template(`GET /cgi-bin/sendsms?${query} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`, numbers);
}

/** Numbers that are nowhere else in the request, and that no round comes to. */
function placeholders(count: number): string[] {
  return Array.from({ length: count }, (_, index) => numberOf(9_000_000_000 + index));
}

function template(text: string, numbers: readonly string[]): Template {
  const bytes = Buffer.from(text);
  return { bytes, numbers: numbers.map((number) => bytes.indexOf(number)) };
}
