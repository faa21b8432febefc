/** The shapes of what pages look at of bulks, reports and messages from phones. */
import { Type } from "../../runtime/type.ts";
import { BULK_STATUSES } from "../../store/port/bulks.ts";
import { TextOrNull } from "../schemas.ts";

const Moment = (description: string) => Type.String({ description: `${description} ISO 8601, UTC.` });
const MomentOrNull = (description: string) => TextOrNull(`${description} ISO 8601, UTC.`);
const words = (all: readonly string[]) => Type.Unsafe<string>({ type: "string", enum: all });
const Next = TextOrNull("To be sent as before: there may be more. Null at the end.");

export const BulkItem = Type.Object({
  bulkId: Type.String(),
  madeAt: Moment("When its first message came."),
  sendAt: Moment("When it is to be sent."),
  status: words(BULK_STATUSES),
  atOnce: Type.Boolean({ description: "None of its messages waits for a time: it cannot be changed." }),
  scheduled: Type.Integer({ description: "Messages that wait for their time." }),
  queued: Type.Integer({ description: "On their way to a carrier." }),
  submitted: Type.Integer({ description: "With a carrier, which has not said the last word." }),
  delivered: Type.Integer(),
  failed: Type.Integer({ description: "Come to another end: undeliverable, expired, rejected, canceled." }),
  total: Type.Integer(),
  isComplete: Type.Boolean({ description: "Whether all were counted: a large bulk takes some looks." }),
  lastDueAt: MomentOrNull("When the last that waits is due."),
});

export const BulkList = Type.Object({ bulks: Type.Array(BulkItem), next: Next });

const Attempt = Type.Object({
  at: Moment("When it was made."),
  status: Type.Union([Type.Integer(), Type.Null()], { description: "What was answered; null without an answer." }),
  durationMs: Type.Integer(),
  reason: Type.String(),
  excerpt: Type.String({ description: "The first bytes of the answer." }),
});

export const HostList = Type.Object({
  hosts: Type.Array(
    Type.Object({
      accountKey: Type.String(),
      host: Type.String({ description: "Scheme, name and port." }),
      waiting: Type.Integer({ description: "Reports that failed and are tried again, counted up to countedTo." }),
      dead: Type.Integer({ description: "Dead letters, counted up to countedTo." }),
      nextTryAt: MomentOrNull("When the next of those that wait is tried."),
      failingSince: MomentOrNull("The first try that failed, of those that are known."),
      last: Type.Union([Attempt, Type.Null()]),
    }),
  ),
  countedTo: Type.Integer(),
  more: Type.Boolean({ description: "There are more hosts than are shown." }),
});

const untaken = {
  id: Type.String({ description: "Also the webhook-id." }),
  accountKey: Type.String(),
  url: Type.String(),
  madeAt: Moment("When it was made."),
  itemCount: Type.Integer(),
  attempts: Type.Integer(),
  reason: Type.String(),
  nextTryAt: MomentOrNull("Null for a dead letter."),
  deadAt: MomentOrNull("Null for one that is tried again."),
};

export const ReportList = Type.Object({ reports: Type.Array(Type.Object(untaken)), next: Next });

export const ReportView = Type.Object({
  ...untaken,
  host: Type.String(),
  kind: Type.String(),
  contentType: Type.String(),
  body: Type.String({ description: "What is sent, cut off if it is long." }),
  isCut: Type.Boolean(),
  messages: Type.Array(Type.Object({ messageId: Type.String(), to: Type.String() })),
  history: Type.Array(Attempt),
});

export const IncomingList = Type.Object({
  messages: Type.Array(
    Type.Object({
      messageId: Type.String(),
      from: Type.String(),
      to: Type.String(),
      text: Type.String({ description: "Cut off if it is long; of octets, their hex." }),
      isBinary: Type.Boolean(),
      keyword: TextOrNull("The first word, where it is a keyword of the number."),
      wish: TextOrNull("What the keyword asked for: stop or start."),
      receivedAt: Moment("When the last part came."),
      smsCount: Type.Integer(),
      state: words(["waiting", "fetched", "forwarded"]),
      forwardUrl: TextOrNull("Where it is pushed to."),
    }),
  ),
  next: Next,
  numbers: Type.Array(Type.String(), { description: "The account's numbers, the first of them." }),
});
