/**
 * Words that one client writes as their place in the contract's list: MONDAY as 0, PENDING as 0. They become the words before the schema looks at
 * the body; what is no place in the list stays as it is, and the schema says what is wrong with it.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { DAYS } from "../schedule/window.ts";
import { BULK_STATUSES } from "../store/port/bulks.ts";

type Fields = Record<string, unknown>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

/** The word at this place of the list, which is written as a number or as its digit. */
function wordAt(words: readonly string[], value: unknown): unknown {
  const place = typeof value === "string" && /^\d$/.test(value) ? Number(value) : value;
  return typeof place === "number" ? (words[place] ?? value) : value;
}

function readDays(message: unknown): void {
  if (!isFields(message) || !isFields(message.deliveryTimeWindow)) return;
  const { days } = message.deliveryTimeWindow;
  if (Array.isArray(days) && days.length <= DAYS.length)
    message.deliveryTimeWindow.days = days.map((day) => wordAt(DAYS, day));
}

/** The days of the windows of a request that sends, whether it has messages or is one. */
export function readDayNumbers({ body }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (isFields(body)) {
    if (Array.isArray(body.messages)) for (const message of body.messages) readDays(message);
    else readDays(body);
  }
  done();
}

/** The status that a bulk is to have. */
export function readStatusNumber({ body }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (isFields(body) && body.status !== undefined) body.status = wordAt(BULK_STATUSES, body.status);
  done();
}
