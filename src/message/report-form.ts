/**
 * How the reports of a message are told to its client. Each family of the API has its own form, and a message is reported in that of the family by
 * which it was sent. The form is kept with the message (`notify_type`) and with its reports (`content_type`); those of the first two versions are
 * called by their content types, as they always were.
 */
export type NotifyContentType = "application/json" | "application/xml";
/** How messages from phones are pushed to a number's URL. */
export const INCOMING_FORMS = ["application/json", "application/xml", "get-url", "post-url"] as const;

interface FormRules {
  readonly method: "POST" | "GET";
  /** Null where there is no body. */
  readonly contentType: string | null;
  /** How many items one request may have. */
  readonly maxItems: number;
}

/** The API family's own limit. */
const MAX_ITEMS = 100;

/** All that it says stands in its URL. */
const KANNEL = { method: "GET", contentType: null, maxItems: 1 } as const;

const FORMS = {
  "application/json": { method: "POST", contentType: "application/json", maxItems: MAX_ITEMS },
  "application/xml": { method: "POST", contentType: "application/xml", maxItems: MAX_ITEMS },
  "v3 json": { method: "POST", contentType: "application/json", maxItems: MAX_ITEMS },
  "v3 xml": { method: "POST", contentType: "application/xml", maxItems: MAX_ITEMS },
  // Its clients' readers take one object.
  oneapi: { method: "POST", contentType: "application/json", maxItems: 1 },
  "oneapi xml": { method: "POST", contentType: "application/xml", maxItems: 1 },
  "kannel 1": KANNEL,
  "kannel 2": KANNEL,
  "kannel 4": KANNEL,
  "kannel 8": KANNEL,
  "kannel 16": KANNEL,
  // Messages from phones as Kannel tells them: their URL has escapes, and the body of a POST is the text.
  "get-url": KANNEL,
  "post-url": { method: "POST", contentType: "text/plain; charset=utf-8", maxItems: 1 },
} as const satisfies Record<string, FormRules>;

/** The forms in which something is pushed. */
export type PushedForm = keyof typeof FORMS;
/** The client wants no report, neither pushed nor to be fetched. */
export const NO_REPORT = "none";
/** Of a message that came by Kannel's door: its dlr-mask, the sum of the events that its client wants to hear of. */
type KannelForm = `kannel ${number}`;
export type ReportForm = PushedForm | KannelForm | typeof NO_REPORT;

/** What a report can tell, by Kannel's numbers. A report has one of them; in a mask they are added up. */
export const TOLD = { delivered: 1, failed: 2, buffered: 4, accepted: 8, refused: 16 } as const;
export type Told = (typeof TOLD)[keyof typeof TOLD];

/** The form in which a client is told this of a message; null where it does not want to hear of it. */
export function formFor(form: ReportForm, told: Told): PushedForm | null {
  if (form === NO_REPORT) return null;
  if (!isKannel(form)) return form;
  return (Number(form.slice(KANNEL_PREFIX.length)) & told) === 0 ? null : `kannel ${told}`;
}

const KANNEL_PREFIX = "kannel ";

function isKannel(form: PushedForm | KannelForm): form is KannelForm {
  return form.startsWith(KANNEL_PREFIX);
}

/** What such a report tells; null for the reports of the other families. */
export function toldBy(form: PushedForm): Told | null {
  return isKannel(form) ? (Number(form.slice(KANNEL_PREFIX.length)) as Told) : null;
}

/** Whether a message from a phone stands in its URL. */
export function isInUrl(form: PushedForm): boolean {
  return form === "get-url" || form === "post-url";
}

export function formRules(form: PushedForm): FormRules {
  return FORMS[form];
}

/** The form of version 3 for a content type. */
export function formOfV3(contentType: NotifyContentType): PushedForm {
  return contentType === "application/xml" ? "v3 xml" : "v3 json";
}
