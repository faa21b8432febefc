/** The shapes of what pages look at of bulks, reports and messages from phones. */
import { Type } from "../../runtime/type.ts";
import { BULK_STATUSES } from "../../store/port/bulks.ts";
import { Flag, OneOf, Text, TextOrNull, Whole } from "../shapes.ts";

const Moment = (description: string) => Text(`${description} ISO 8601, UTC.`);
const MomentOrNull = (description: string) => TextOrNull(`${description} ISO 8601, UTC.`);
const Next = TextOrNull("To be sent as before: there may be more. Null at the end.");

export const BulkItem = Type.Object({
  bulkId: Type.String(),
  madeAt: Moment("When its first message came."),
  sendAt: Moment("When it is to be sent."),
  status: OneOf(BULK_STATUSES),
  atOnce: Flag("None of its messages waits for a time: it cannot be changed."),
  scheduled: Whole("Messages that wait for their time."),
  queued: Whole("On their way to a carrier."),
  submitted: Whole("With a carrier, which has not said the last word."),
  delivered: Type.Integer(),
  failed: Whole("Come to another end: undeliverable, expired, rejected, canceled."),
  total: Type.Integer(),
  isComplete: Flag("Whether all were counted: a large bulk takes some looks."),
  lastDueAt: MomentOrNull("When the last that waits is due."),
});

export const BulkList = Type.Object({ bulks: Type.Array(BulkItem), next: Next });

const Attempt = Type.Object({
  at: Moment("When it was made."),
  status: Type.Union([Type.Integer(), Type.Null()], { description: "What was answered; null without an answer." }),
  durationMs: Type.Integer(),
  reason: Type.String(),
  excerpt: Text("The first bytes of the answer."),
});

export const HostList = Type.Object({
  hosts: Type.Array(
    Type.Object({
      accountKey: Type.String(),
      host: Text("Scheme, name and port."),
      waiting: Whole("Reports that failed and are tried again, counted up to countedTo."),
      dead: Whole("Dead letters, counted up to countedTo."),
      nextTryAt: MomentOrNull("When the next of those that wait is tried."),
      failingSince: MomentOrNull("The first try that failed, of those that are known."),
      last: Type.Union([Attempt, Type.Null()]),
    }),
  ),
  countedTo: Type.Integer(),
  more: Flag("There are more hosts than are shown."),
});

const untaken = {
  id: Text("Also the webhook-id."),
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
  body: Text("What is sent, cut off if it is long."),
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
      text: Text("Cut off if it is long; of octets, their hex."),
      isBinary: Type.Boolean(),
      keyword: TextOrNull("The first word, where it is a keyword of the number."),
      wish: TextOrNull("What the keyword asked for: stop or start."),
      receivedAt: Moment("When the last part came."),
      smsCount: Type.Integer(),
      state: OneOf(["waiting", "fetched", "forwarded"]),
      forwardUrl: TextOrNull("Where it is pushed to."),
    }),
  ),
  next: Next,
  numbers: Type.Array(Type.String(), { description: "The account's numbers, the first of them." }),
});
