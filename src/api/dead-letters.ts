/**
 * Reports that were not taken: an account lists its own dead letters, sends them again, and has those that wait tried at once. Operators do so for
 * everybody. One call changes a page of them: `next` in its answer is the `after` of the next call, so that a million of them hold up nobody.
 */
import { type Static, type TObject, type TProperties, Type } from "../runtime/type.ts";
import { hostOf, NO_HOST } from "../runtime/urls.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import { badField } from "./errors.ts";
import { type Api, accountOf, operation } from "./operation.ts";
import { OPERATOR } from "./operator/managing.ts";
import type { ApiParts } from "./parts.ts";
import { DEFAULT_LIMIT, fieldsOf, MAX_LIMIT, momentIn, readForm, readLimit, readMoment, readText } from "./query.ts";
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
const Url = Type.Optional(Type.String({ maxLength: MAX_URL }));
const Replay = {
  ids: Ids,
  url: Url,
  host: Url,
  since: Type.Optional(Type.String({ maxLength: 64, description: "Only reports made then or later." })),
  all: OptionalFlag("Needed to replay without any other filter."),
  after: After,
};
const Retry = { ids: Ids, host: Url, after: After };
type OfAny<Fields extends TProperties> = Static<TObject<Fields & { accountKey: typeof AccountKey }>>;

/** An account's own; and everybody's, of which an operator may name one account's. */
const WHOSE = [
  { root: "/sms/1/reports", who: OWN, all: "", whose: "the account's ", more: {} },
  { root: "/operator/1/reports", who: OPERATOR, all: "All", whose: "", more: { accountKey: AccountKey } },
] as const;

export function deadLetterOperations(api: Api, parts: ApiParts): void {
  for (const { root, who, all, whose, more } of WHOSE) {
    const isOwn = who === OWN;

    api.get(
      `${root}/dead`,
      operation({
        ...who,
        id: `list${all}DeadReports`,
        summary: `List ${whose}reports that nobody took in time, newest first`,
        query: Type.Object({ ...LetterQuery, ...more }),
        answer: schemas.DeadLettersResponse,
      }),
      (request) => {
        const key = isOwn ? accountOf(request).key : readText(fieldsOf(request.query), "accountKey");
        return listLetters(parts, key, request.query);
      },
    );

    api.post(
      `${root}/replay`,
      operation({
        ...who,
        id: `replay${all}DeadReports`,
        summary: `Send ${whose}dead letters again: by id,${isOwn ? "" : " by account,"} by URL, by host, since a time, or all`,
        bodyOctets: IDS_OCTETS,
        schema: { body: Type.Object({ ...Replay, ...more }) },
        answer: schemas.ReplayResponse,
      }),
      (request) => {
        const body = request.body as OfAny<typeof Replay>;
        const key = isOwn ? accountOf(request).key : (body.accountKey ?? null);
        return replay(parts, key, body, `ids,${isOwn ? "" : " an accountKey,"} a url, a host or since`);
      },
    );

    api.post(
      `${root}/retry`,
      operation({
        ...who,
        id: `retry${all}Reports`,
        summary: `Try reports that wait for their next try at once: by id, or those of ${isOwn ? "a" : "an account's"} host`,
        bodyOctets: IDS_OCTETS,
        schema: { body: Type.Object({ ...Retry, ...more }) },
        answer: schemas.RetryResponse,
      }),
      (request) => {
        const body = request.body as OfAny<typeof Retry>;
        return retry(parts, isOwn ? accountOf(request).key : (body.accountKey ?? null), body);
      },
    );
  }
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
  { ids, ...filter }: OfAny<typeof Replay>,
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
      sinceMs: since === undefined ? null : momentIn(since, "since"),
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

async function retry({ store, clock }: ApiParts, accountKey: string | null, { ids, host, after }: OfAny<typeof Retry>) {
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
