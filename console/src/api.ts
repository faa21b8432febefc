/**
 * Calls to the service. The session is in a cookie that no script can read; the header says that it is this page that asks, which a page of
 * another site cannot say.
 */

/** What went wrong, in words that can be shown. */
export class Problem extends Error {
  /** The status of the answer, or 0 when there was none. */
  readonly status: number;
  /** The fields that were wrong. */
  readonly fields: readonly string[];

  constructor(message: string, status = 0, fields: readonly string[] = []) {
    super(message);
    this.status = status;
    this.fields = fields;
  }
}

const CONSOLE_HEADERS = { "x-heliograph-console": "1", accept: "application/json" };
/** Names the account that the page shows: in another tab somebody else may have signed in, for whom nothing is to be done from here. */
const SHOWN_ACCOUNT = "x-heliograph-account";
let shownAccount: string | null = null;

export function showAccount(accountKey: string | null): void {
  shownAccount = accountKey;
}

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A path with its query; what is null, undefined or empty is left out. */
export function withQuery(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}

interface ErrorBody {
  readonly requestError?: {
    readonly serviceException?: {
      readonly text?: string;
      readonly additionalDescription?: string | null;
      readonly variables?: readonly string[] | null;
    };
  };
}

export async function problemOf(response: Response): Promise<Problem> {
  let body: ErrorBody = {};
  try {
    body = (await response.json()) as ErrorBody;
  } catch {
    // An answer that is none of ours, as a proxy's: its status has to do.
  }
  const { text, additionalDescription, variables } = body.requestError?.serviceException ?? {};
  const words = additionalDescription ?? text ?? `The service answered ${response.status}.`;
  return new Problem(words, response.status, variables ?? []);
}

let whenSignedOut: () => void = () => {};
let whenOther: () => void = () => {};

/** Called when somebody else has signed in with this browser. */
export function onOtherAccount(run: () => void): void {
  whenOther = run;
}

/** Called when the service no longer knows the session. */
export function onSignedOut(run: () => void): void {
  whenSignedOut = run;
}

export function signedOut(): void {
  whenSignedOut();
}

export async function fetchAs(path: string, options: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, {
      credentials: "same-origin",
      ...options,
      headers: {
        ...CONSOLE_HEADERS,
        ...(shownAccount === null ? {} : { [SHOWN_ACCOUNT]: shownAccount }),
        ...options.headers,
      },
    });
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    const isLook = options.method === undefined || options.method === "GET";
    throw new Problem(
      isLook
        ? "The service cannot be reached."
        : "The service cannot be reached, and it is not known whether this was done: look before you do it again.",
    );
  }
  if (response.ok) return response;
  if (response.status === 401 && !path.startsWith("/console/1/session")) signedOut();
  const problem = await problemOf(response);
  if (problem.fields.includes(SHOWN_ACCOUNT)) whenOther();
  throw problem;
}

async function call<Result>(method: string, path: string, body?: unknown): Promise<Result> {
  const response = await fetchAs(path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  return (response.status === 204 ? undefined : await response.json()) as Result;
}

export const api = {
  get: <Result>(path: string, query?: Query) => call<Result>("GET", withQuery(path, query)),
  post: <Result>(path: string, body: unknown = {}) => call<Result>("POST", path, body),
  put: <Result>(path: string, body: unknown = {}) => call<Result>("PUT", path, body),
  patch: <Result>(path: string, body: unknown = {}) => call<Result>("PATCH", path, body),
  delete: <Result>(path: string, body?: unknown) => call<Result>("DELETE", path, body),
};

/** Fetches a file and offers it for saving. */
export async function download(path: string, name: string, accept = "text/csv"): Promise<void> {
  const response = await fetchAs(path, { headers: { accept } });
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
