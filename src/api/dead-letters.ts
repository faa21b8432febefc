/** For operators: reports that nobody took in time, listed and sent again. */
import { Type } from "typebox";
import type { Clock } from "../runtime/clock.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { Store } from "../store/port/store.ts";
import { badField } from "./errors.ts";
import { type Api, operation } from "./operation.ts";
import { DEFAULT_LIMIT, fieldsOf, MAX_LIMIT, readForm, readLimit, readText } from "./query.ts";
import * as schemas from "./schemas.ts";

export interface DeadLetterParts {
  readonly store: Pick<Store, "deadLetters" | "replayDeadLetters">;
  readonly clock: Clock;
}

/** Replayed in one call; the answer says how many it was, so that the next call can go on. */
const MAX_REPLAY = 10_000;
/** So many ids of 19 digits, with quotes, commas and some space. */
const REPLAY_OCTETS = 524_288;
const MAX_URL = 2_048;
/** Up to what a signed number of 64 bits can hold. */
const REPORT_ID = /^[0-9]{1,18}$|^[1-8][0-9]{18}$/;

const DeadLetterQuery = Type.Object({
  accountKey: Type.Optional(Type.String()),
  url: Type.Optional(Type.String()),
  before: Type.Optional(Type.String({ description: "The id of the last one of the page before." })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT })),
});

const ReplayRequest = Type.Object({
  ids: Type.Optional(Type.Array(Type.String({ pattern: REPORT_ID.source }), { minItems: 1, maxItems: MAX_REPLAY })),
  accountKey: Type.Optional(Type.String({ maxLength: 64 })),
  url: Type.Optional(Type.String({ maxLength: MAX_URL })),
  all: Type.Optional(Type.Boolean({ description: "Needed to replay without any other filter." })),
});

export function deadLetterOperations(api: Api, { store, clock }: DeadLetterParts): void {
  api.get(
    "/operator/1/reports/dead",
    operation({
      tag: "Operating",
      summary: "List reports that nobody took in time, newest first",
      auth: "operator",
      scope: "manage",
      query: DeadLetterQuery,
      answer: schemas.DeadLettersResponse,
    }),
    async ({ query }) => {
      const fields = fieldsOf(query);
      const letters = await store.deadLetters({
        accountKey: readText(fields, "accountKey"),
        url: readText(fields, "url"),
        beforeId: readForm(fields, "before", REPORT_ID, "must be the id of a report"),
        limit: readLimit(query),
      });
      return {
        results: letters.map(({ deadAtMs, history, ...letter }) => ({
          ...letter,
          deadAt: formatDateTime(deadAtMs),
          history: history.map(({ atMs, ...attempt }) => ({ at: formatDateTime(atMs), ...attempt })),
        })),
      };
    },
  );

  api.post(
    "/operator/1/reports/replay",
    operation({
      tag: "Operating",
      summary: "Send dead letters again: by id, by account or by URL",
      auth: "operator",
      scope: "manage",
      bodyOctets: REPLAY_OCTETS,
      schema: { body: ReplayRequest },
      answer: schemas.ReplayResponse,
    }),
    async ({ body }) => {
      const { ids, accountKey = null, url = null, all = false } = body;
      if (ids === undefined && accountKey === null && url === null && !all) {
        throw badField("ids", "is missing: name ids, an accountKey or a url, or say all");
      }
      const when = { nowMs: clock.now(), limit: MAX_REPLAY };
      return store.replayDeadLetters(ids === undefined ? { accountKey, url, ...when } : { ids, ...when });
    },
  );
}
