/** Scheduled bulks: when one is to go, and whether it is to go at all. */
import { formatDateTime } from "../schedule/date-time.ts";
import { tooFarAhead } from "../schedule/sending-time.ts";
import type { Bulk, BulkChangeOutcome, BulkName, BulkStatus } from "../store/port/bulks.ts";
import { ApiError, badField } from "./errors.ts";
import { Mutex } from "./mutex.ts";
import { type Api, accountOf, operation, SENDING, TRACKING } from "./operation.ts";
import { readStatusNumber } from "./ordinals.ts";
import type { ApiParts } from "./parts.ts";
import { momentIn } from "./query.ts";
import * as schemas from "./schemas.ts";

const SEEN = { tag: "Scheduled bulks", ...TRACKING } as const;
const CHANGED = { tag: "Scheduled bulks", ...SENDING } as const;
/** Messages looked at in one step where a bulk's status has to be worked out from them. */
const PAGE_MESSAGES = 1_000;

export function bulkOperations(api: Api, { store, clock, settings }: ApiParts): void {
  // However many large bulks are asked about, the store has one page of them at a time.
  const mutex = new Mutex();

  api.get(
    "/sms/1/bulks",
    operation({
      ...SEEN,
      id: "getBulk",
      summary: "When a bulk is to be sent",
      schema: { querystring: schemas.BulkQuery },
      answer: schemas.BulkSchedule,
    }),
    async (request) => {
      const { bulkId } = request.query;
      const { sendAtMs } = await find({ accountId: accountOf(request).id, bulkId });
      return { bulkId, sendAt: formatDateTime(sendAtMs) };
    },
  );

  api.put(
    "/sms/1/bulks",
    operation({
      ...CHANGED,
      id: "moveBulk",
      summary: "Move a bulk to another time",
      schema: { querystring: schemas.BulkQuery, body: schemas.BulkMove },
      answer: schemas.BulkSchedule,
    }),
    async (request) => {
      const { bulkId } = request.query;
      const nowMs = clock.now();
      const { sendAtDays } = settings.limits;
      const sendAtMs = momentIn(request.body.sendAt, "sendAt");
      if (tooFarAhead(sendAtMs, nowMs, sendAtDays)) throw badField("sendAt", `is more than ${sendAtDays} days ahead`);
      const name = { accountId: accountOf(request).id, bulkId };
      checkChanged(await store.moveBulk({ ...name, sendAtMs, nowMs }), "moved");
      return { bulkId, sendAt: formatDateTime(Math.max(sendAtMs, nowMs)) };
    },
  );

  api.get(
    "/sms/1/bulks/status",
    operation({
      ...SEEN,
      id: "getBulkStatus",
      summary: "How far a bulk is",
      schema: { querystring: schemas.BulkQuery },
      answer: schemas.BulkState,
    }),
    async (request) => {
      const name = { accountId: accountOf(request).id, bulkId: request.query.bulkId };
      const { status } = await find(name);
      return { bulkId: name.bulkId, status: status ?? (await statusByMessages(name, request.raw.socket)) };
    },
  );

  api.put(
    "/sms/1/bulks/status",
    {
      ...operation({
        ...CHANGED,
        id: "setBulkStatus",
        summary: "Pause a bulk, resume it or call it off",
        schema: { querystring: schemas.BulkQuery, body: schemas.BulkStatusChange },
        answer: schemas.BulkState,
      }),
      preValidation: readStatusNumber,
    },
    async (request) => {
      const { bulkId } = request.query;
      const { status } = request.body;
      checkChanged(await store.setBulkStatus({ accountId: accountOf(request).id, bulkId, status }), status);
      return { bulkId, status };
    },
  );

  async function find(name: BulkName): Promise<Bulk> {
    const bulk = await store.bulk(name);
    if (bulk === null) throw new ApiError("bulkNotFound");
    return bulk;
  }

  /** For a bulk that was sent at once. Page by page, so that nobody waits for a large one, and no longer than somebody wants to know. */
  function statusByMessages(name: BulkName, caller: { readonly destroyed: boolean }): Promise<BulkStatus> {
    return mutex.search(name.accountId, async (take) => {
      let sent = false;
      for (let afterKey: string | null = "0"; afterKey !== null && !caller.destroyed; ) {
        const place = { ...name, afterKey, limit: PAGE_MESSAGES };
        const page: Awaited<ReturnType<typeof store.lookThroughBulk>> = await take(() => store.lookThroughBulk(place));
        if (page.unfinished) return "PROCESSING";
        sent ||= page.sent;
        afterKey = page.lastKey;
      }
      return sent ? "FINISHED" : "FAILED";
    });
  }
}

function checkChanged(change: BulkChangeOutcome, wanted: BulkStatus | "moved"): void {
  if (change.kind === "unknown") throw new ApiError("bulkNotFound");
  if (change.kind === "not scheduled")
    throw new ApiError("conflict", "The bulk was sent at once: only a scheduled one can be changed.");
  if (change.kind === "refused") throw new ApiError("conflict", { description: refusal(change.status, wanted) });
}

/** Why a bulk in this status cannot become what was asked for. */
function refusal(status: BulkStatus, wanted: BulkStatus | "moved"): string {
  if (status === wanted) return `The bulk is ${status} already.`;
  if (status !== "PENDING" && status !== "PAUSED")
    return `The bulk is ${status}: only one that is PENDING or PAUSED can be changed.`;
  return `A bulk cannot be set to ${wanted}: only to PENDING, PAUSED or CANCELED.`;
}
