/** The request that carries a batch: its body, and the headers by which a receiver knows it for ours. */
import type { KeyObject } from "node:crypto";
import type { ReportBatch } from "../message/message.ts";
import { bodyOf } from "./body.ts";
import { signatures } from "./signature.ts";
import type { Target } from "./target.ts";
import type { Post } from "./transport.ts";

/** The id stays the same on every try; the time and the signatures are those of this one. */
export function requestFor(batch: ReportBatch, target: Target, keys: readonly KeyObject[], nowMs: number): Post {
  const timestampSeconds = Math.floor(nowMs / 1000);
  const body = bodyOf(batch);
  return {
    origin: target.origin,
    path: target.path,
    headers: {
      "content-type": batch.contentType,
      "user-agent": "Heliograph",
      "webhook-id": batch.id,
      "webhook-timestamp": String(timestampSeconds),
      "webhook-signature": signatures({ id: batch.id, timestampSeconds, body }, keys),
      ...(target.authorization === null ? {} : { authorization: target.authorization }),
    },
    body,
  };
}
