/**
 * Reports that were not taken: an account lists its own dead letters, sends them again, and has those that wait tried at once. Operators do so for
 * everybody. One call changes a page of them: `next` in its answer is the `after` of the next call, so that a million of them hold up nobody.
 */

import { type Static, Type } from "../runtime/type.ts";
import { hostOf, NO_HOST } from "../runtime/urls.ts";
import { formatDateTime, parseDateTime } from "../schedule/date-time.ts";
import { badField } from "./errors.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import { OPERATOR } from "./operator/managing.ts";
import type { ApiParts } from "./parts.ts";
import { DEFAULT_LIMIT, fieldsOf, MAX_LIMIT, readForm, readLimit, readMoment, readText } from "./query.ts";
import * as schemas from "./schemas.ts";
import { OptionalFlag, OptionalText } from "./shapes.ts";

/** Changed in one call by a filter: some milliseconds of the store's time. */
const STEP_REPORTS = 1_000;
/** Named by their ids in one call. */
const MAX_IDS = 10_000;
/** So many ids of 19 digits, with quotes, commas and some space. */
const IDS_OCTETS = 524_288;
const MAX_URL = 2_048;
/** Up to what a signed number of 64 bits can hold. */
export const REPORT_ID = /^[0-9]{1,18}$|^[1-8][0-9]{18}$/;
const OWN = { tag: "Reports", auth: "account", scope: "track" } as const;

const LetterQuery = {
  url: Type.Optional(Type.String()),
  host: OptionalText("Scheme, name and port, such as https://example.com."),
  since: OptionalText("Only reports made then or later."),
  before: OptionalText("The id of the last one of the page before."),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT })),
};
const AccountKey = Type.Optional(Type.String({ maxLength: 64 }));
const Ids = Type.Optional(Type.Array(Type.String({ pattern: REPORT_ID.source }), { minItems: 1, maxItems: MAX_IDS }));
const After = Type.Optional(
  Type.String({ pattern: REPORT_ID.source, description: "What the call before gave as next." }),
);
const Which = {
  ids: Ids,
  url: Type.Optional(Type.String({ maxLength: MAX_URL })),
  host: Type.Optional(Type.String({ maxLength: MAX_URL })),
  since: Type.Optional(Type.String({ maxLength: 64, description: "Only reports made then or later." })),
  all: OptionalFlag("Needed to replay without any other filter."),
  after: After,
};
const ReplayRequest = Type.Object(Which);
const OperatorReplayRequest = Type.Object({ ...Which, accountKey: AccountKey });
const Retry = { ids: Ids, host: Which.host, after: After };
const RetryRequest = Type.Object(Retry);
const OperatorRetryRequest = Type.Object({ ...Retry, accountKey: AccountKey });

export function deadLetterOperations(api: Api, parts: ApiParts): void {
  api.get(
    "/sms/1/reports/dead",
    operation({
      ...OWN,
      id: "listDeadReports",
      summary: "List the account's reports that nobody took in time, newest first",
      query: Type.Object(LetterQuery),
      answer: schemas.DeadLettersResponse,
    }),
    (request) => listLetters(parts, accountOf(request).key, request.query),
  );

  api.post(
    "/sms/1/reports/replay",
    operation({
      ...OWN,
      id: "replayDeadReports",
      summary: "Send the account's dead letters again: by id, by URL, by host, since a time, or all",
      bodyOctets: IDS_OCTETS,
      schema: { body: ReplayRequest },
      answer: schemas.ReplayResponse,
    }),
    (request) => replay(parts, accountOf(request).key, request.body, "ids, a url, a host or since"),
  );

  api.post(
    "/sms/1/reports/retry",
    operation({
      ...OWN,
      id: "retryReports",
      summary: "Try reports that wait for their next try at once: by id, or those of a host",
      bodyOctets: IDS_OCTETS,
      schema: { body: RetryRequest },
      answer: schemas.RetryResponse,
    }),
    (request) => retry(parts, accountOf(request).key, request.body),
  );

  api.get(
    "/operator/1/reports/dead",
    operation({
      ...OPERATOR,
      id: "listAllDeadReports",
      summary: "List reports that nobody took in time, newest first",
      query: Type.Object({ ...LetterQuery, accountKey: AccountKey }),
      answer: schemas.DeadLettersResponse,
    }),
    ({ query }) => listLetters(parts, readText(fieldsOf(query), "accountKey"), query),
  );

  api.post(
    "/operator/1/reports/replay",
    operation({
      ...OPERATOR,
      id: "replayAllDeadReports",
      summary: "Send dead letters again: by id, by account, by URL, by host, since a time, or all",
      bodyOctets: IDS_OCTETS,
      schema: { body: OperatorReplayRequest },
      answer: schemas.ReplayResponse,
    }),
    ({ body }) => replay(parts, body.accountKey ?? null, body, "ids, an accountKey, a url, a host or since"),
  );

  api.post(
    "/operator/1/reports/retry",
    operation({
      ...OPERATOR,
      id: "retryAllReports",
      summary: "Try reports that wait for their next try at once: by id, or those of an account's host",
      bodyOctets: IDS_OCTETS,
      schema: { body: OperatorRetryRequest },
      answer: schemas.RetryResponse,
    }),
    ({ body }) => retry(parts, body.accountKey ?? null, body),
  );
}

/** Those of one account, or with null of all. */
async function listLetters({ store }: ApiParts, accountKey: string | null, query: unknown) {
  const fields = fieldsOf(query);
  const letters = await store.deadLetters({
    accountKey,
    url: readText(fields, "url"),
    host: readHost(readText(fields, "host")),
    sinceMs: readMoment(fields, "since"),
    beforeId: readForm(fields, "before", REPORT_ID, "must be the id of a report"),
    limit: readLimit(query),
  });
  return {
    results: letters.map(({ deadAtMs, history, ...letter }) => ({
      ...letter,
      deadAt: formatDateTime(deadAtMs),
      history: history.map(({ atMs, status, ...attempt }) => ({
        at: formatDateTime(atMs),
        ...(status === null ? {} : { status }),
        ...attempt,
      })),
    })),
  };
}

async function replay(
  { store, clock }: ApiParts,
  accountKey: string | null,
  { ids, ...filter }: Static<typeof OperatorReplayRequest>,
  choices: string,
) {
  const nowMs = clock.now();
  if (ids !== undefined) return stepOf(await store.replayDeadLetters({ ids, accountKey, nowMs, limit: MAX_IDS }));
  const { url, host, since, all = false, after } = filter;
  if (!all && [url, host, since, filter.accountKey].every((each) => each === undefined))
    throw badField("ids", `is missing: name ${choices}, or say all`);
  return stepOf(
    await store.replayDeadLetters({
      accountKey,
      url: url ?? null,
      host: readHost(host ?? null),
      sinceMs: readSince(since),
      afterId: after ?? null,
      nowMs,
      limit: STEP_REPORTS,
    }),
  );
}

/** No answer below /sms has a null: at the end there is no `next`. */
function stepOf<Step extends { readonly next: string | null }>({ next, ...step }: Step) {
  return next === null ? step : { ...step, next };
}

async function retry(
  { store, clock }: ApiParts,
  accountKey: string | null,
  { ids, host, after }: Static<typeof RetryRequest>,
) {
  const nowMs = clock.now();
  if (ids !== undefined) return stepOf(await store.retryReports({ ids, accountKey, nowMs, limit: MAX_IDS }));
  if (host === undefined) throw badField("host", "is missing: name ids or a host");
  if (accountKey === null) throw badField("accountKey", "is missing: a host's reports are those of an account");
  return stepOf(
    await store.retryReports({
      accountKey,
      host: readHost(host)!,
      afterId: after ?? null,
      nowMs,
      limit: STEP_REPORTS,
    }),
  );
}

/** As reports have it: somebody may write a whole URL, or the port that is usual. */
function readHost(host: string | null): string | null {
  if (host === null || host === NO_HOST) return host;
  const origin = hostOf(host);
  if (origin === NO_HOST) throw badField("host", "must be a scheme and a name, such as https://example.com");
  return origin;
}

function readSince(since: string | undefined): number | null {
  if (since === undefined) return null;
  const atMs = parseDateTime(since);
  if (atMs === null) throw badField("since", "is not a date and time like 2026-02-12T09:58:20.323+0000");
  return atMs;
}
