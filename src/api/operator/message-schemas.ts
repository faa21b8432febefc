/** All that is known of a message, as operators get it (tracking/facts.ts). */
import { CARRIER_STATES } from "../../carriers/state.ts";
import { Type } from "../../runtime/type.ts";
import { Conversion, ShortLink } from "../message-shapes.ts";
import { Flag, OneOf, Text, TextOrNull, Whole } from "../shapes.ts";

const IntegerOrNull = (description: string) => Type.Unsafe<number | null>({ type: ["integer", "null"], description });

const Attempt = Type.Object({
  try: Whole("The first one is 1."),
  at: Type.String(),
  status: IntegerOrNull("What the receiver answered with; null when it did not answer."),
  tookMs: Type.Integer(),
  reason: TextOrNull("Why it was not taken; null when it was."),
  answer: Text("The beginning of what was answered."),
  nextTryAt: TextOrNull("When it was to be tried again."),
});

const Report = Type.Object({
  id: Type.String(),
  url: Text("Without the password that may stand in it."),
  state: OneOf(["waiting", "taken", "dead"]),
  tries: Whole("In all, also before a replay."),
  triedWithOthers: Whole("Of these, so many for which another report to the same host was tried, and was not taken."),
  replays: Whole("How often it was sent again after it was a dead letter, as far as known."),
  attempts: Type.Array(Attempt, { description: "Those that are known, oldest first." }),
  nextTryAt: TextOrNull("When it is tried again."),
  reason: TextOrNull("Why the last try failed."),
});

const Request = Type.Object(
  {
    door: TextOrNull(
      "By which door it came (JSON, plain URL, …), where steps of every message are kept (console.timeline).",
    ),
    by: TextOrNull("With which API key or as which user, likewise."),
    messages: IntegerOrNull("How many messages the request made, likewise."),
    validityMinutes: IntegerOrNull("Null for the longest."),
    deliveryWindow: TextOrNull("Days and hours in which it may go."),
    intermediateReport: Type.Boolean(),
    bulkState: TextOrNull("Of a scheduled bulk: open, paused or canceled."),
  },
  { description: "What was asked for." },
);

const Route = Type.Object({
  prefix: TextOrNull("The longest prefix of its number that has a route."),
  group: IntegerOrNull("The place of its carrier's group."),
  groups: IntegerOrNull("How many groups the route has."),
  why: Type.String(),
});

const Awaited = Type.Object({
  carrier: Type.String(),
  state: OneOf([...CARRIER_STATES, "not served"], "not served: no running service serves it."),
  since: TextOrNull("Since when it is not there."),
  reason: TextOrNull("Why."),
  nextTryAt: TextOrNull("When its connection is tried again."),
});

const TrackedMessage = Type.Object(
  {
    id: Text("Our own id of it."),
    messageId: Text("The id that its client has."),
    bulkId: Type.String(),
    account: Type.String(),
    from: Type.String(),
    to: Type.String(),
    text: Type.String(),
    encoding: Text("gsm7, ucs2, gsm7+ and a language, or octets of a binary message."),
    parts: Type.Integer(),
    flash: Type.Boolean(),
    receivedAt: Text("When it was accepted."),
    dueAt: Text("When it may go, or might."),
    sentAt: Text("As the logs say it: when it was sent, or accepted as long as it was not."),
    takenAt: TextOrNull("When a carrier took it."),
    doneAt: TextOrNull("When its status became final."),
    expiresAt: Text("It is not sent after this."),
    state: Text("scheduled, queued, submitted or done."),
    status: Type.String(),
    statusGroup: Type.String(),
    statusDescription: Type.String(),
    final: Type.Boolean(),
    error: TextOrNull("The name of its error."),
    carrierStatus: TextOrNull(
      "What the carrier itself answered when it did not take the message, or a part of it, such as ESME_RINVDSTADR.",
    ),
    errorDescription: TextOrNull("The same in words."),
    pricePerPart: Type.String(),
    price: Type.String(),
    charged: Type.String(),
    currency: Type.String(),
    mccMnc: TextOrNull("Its network, where that is known."),
    callbackData: TextOrNull("What the client gave to hear it again."),
    campaignReferenceId: TextOrNull("Likewise."),
    entityId: TextOrNull("Likewise."),
    applicationId: TextOrNull("Likewise."),
    request: Request,
    carrier: TextOrNull("The carrier that serves it."),
    carrierHosts: Type.Array(Type.String(), { description: "Where that carrier is connected to." }),
    carrierIds: Type.Array(Type.Object({ carrier: Type.String(), id: Type.String() }), {
      description:
        "What carriers call its parts: while a receipt is awaited, a day after it came, and longer where steps were kept (console.timeline).",
    }),
    partsWaiting: Whole("Parts whose receipt is awaited."),
    unanswered: Whole("How often a carrier did not answer."),
    waitsFor: Type.Union([Awaited, Type.Null()], {
      description: "The carrier that it waits for because that is not there; null if it waits for none.",
    }),
    route: Type.Union([Route, Type.Null()]),
    notifyUrl: TextOrNull("Where its reports are pushed, without the password that may stand in it."),
    notCalled: TextOrNull(
      "Why nothing will be pushed there, known before it is tried: an address of the own network. Null where nobody knows of a reason.",
    ),
    notifyContentType: TextOrNull("In which form."),
    toFetch: Flag("Its report waits to be fetched."),
    reports: Type.Array(Report, {
      description: "One that was taken at the first try is missing, unless every step is kept.",
    }),
    nextTryAt: TextOrNull("When its report, or the message itself, is tried next."),
    deadLetters: Whole("Reports of its account that nobody took, since it was sent."),
    laterReceipts: Type.Array(
      Type.Object({
        receivedAt: Type.String(),
        carrier: Type.String(),
        carrierMessageId: Type.String(),
        outcome: Type.String(),
        error: TextOrNull("The name of its error."),
      }),
      { description: "What carriers said after their last word." },
    ),
    links: Type.Array(ShortLink),
    conversion: Type.Union([Conversion, Type.Null()]),
    events: Type.Array(
      Type.Object({
        at: Type.String(),
        what: Type.String(),
        detail: Type.String(),
        until: TextOrNull("What comes of it is awaited until then."),
        isTrouble: Type.Boolean(),
      }),
      { description: "What happened to it, oldest first." },
    ),
  },
  { title: "TrackedMessage" },
);

export const TrackedAnswer = Type.Object({ results: Type.Array(TrackedMessage) });
