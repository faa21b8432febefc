/** The shapes of what the console says of messages. */
import { type Static, Type } from "../../runtime/type.ts";
import { DAYS, type Day } from "../../schedule/window.ts";
import { Conversion, ShortLink } from "../message-shapes.ts";
import { orNull } from "../schemas.ts";

const Moment = (description: string) => Type.String({ description });
const TextOrNone = (description: string) => orNull(Type.String({ description }));
const MomentOrNone = TextOrNone;

const Status = Type.Object({
  name: Type.String(),
  groupName: Type.String(),
  description: Type.String(),
  final: Type.Boolean(),
});
const Failure = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  description: Type.String(),
  permanent: Type.Boolean(),
});

/** Where a message is in its life, in the words of the console. */
const STATE_WORDS = ["delivered", "failed", "retrying", "stuck", "scheduled", "waiting", "sent"] as const;
export type StateWord = (typeof STATE_WORDS)[number];
const StateWord = Type.Unsafe<StateWord>({ type: "string", enum: STATE_WORDS });

export const MessageItem = Type.Object({
  id: Type.String({ description: "Our own id of the message, which no other message has." }),
  account: Type.String(),
  at: Moment("Its place in the list: when it was sent, or accepted as long as it was not."),
  receivedAt: Moment("When it was accepted."),
  doneAt: MomentOrNone("When its status became final."),
  dueAt: Moment("When it may go, or might."),
  from: Type.String(),
  to: Type.String(),
  text: Type.String({ description: "The beginning of it." }),
  state: StateWord,
  isOverdue: Type.Boolean({ description: "It should have gone some seconds ago, and its carrier has not taken it." }),
  heldBy: orNull(Type.Unsafe<"bulk">({ type: "string", enum: ["bulk"], description: "bulk: its bulk is paused." })),
  status: Status,
  error: orNull(Failure),
  parts: Type.Integer(),
  bulkId: Type.String(),
  carrier: TextOrNone("The carrier that serves it."),
});

export const MessageList = Type.Object({
  results: Type.Array(MessageItem),
  next: TextOrNone("Give it as after for the next page; null on the last one."),
  lookedBackTo: MomentOrNone("As far back as this page has looked; null when it has seen the oldest."),
  examined: Type.Integer({ description: "How many messages were looked at for it." }),
});

export const MessageCounts = Type.Object({
  of: Type.Integer({ description: "So many messages were looked at, the newest." }),
  isAll: Type.Boolean({ description: "There are no others." }),
  failed: Type.Integer(),
  retrying: Type.Integer(),
  stuck: Type.Integer(),
  scheduled: Type.Integer(),
});

const Exchange = Type.Object({
  url: Type.String(),
  body: TextOrNone("The beginning of what was sent."),
  status: orNull(Type.Integer()),
  answer: TextOrNone("The beginning of what was answered."),
});

export const MessageEvent = Type.Object({
  at: Moment("When it happened."),
  kind: Type.String({ description: "A word for the sign that it is drawn with." }),
  what: Type.String(),
  detail: Type.String(),
  until: MomentOrNone("What comes of it is awaited until then."),
  isTrouble: Type.Boolean(),
  exchange: orNull(Exchange),
});

const Report = Type.Object({
  id: Type.String(),
  url: Type.String(),
  items: Type.Integer(),
  attempts: Type.Integer(),
  nextTryAt: MomentOrNone("When it is tried again; null for a dead letter."),
  isDead: Type.Boolean(),
  reason: TextOrNone("Why it was not taken."),
});

const DayWindow = Type.Object({
  days: Type.Array(Type.Unsafe<Day>({ type: "string", enum: [...DAYS] })),
  hours: orNull(Type.Object({ fromMinute: Type.Integer(), toMinute: Type.Integer() })),
});

/** What its request said beyond what is told elsewhere, as far as it is stored: enough to send the same again. */
const Wished = Type.Object({
  validityPeriod: orNull(Type.Integer({ description: "In minutes; null for the longest." })),
  intermediateReport: Type.Boolean(),
  callbackData: Type.Optional(Type.String()),
  campaignReferenceId: Type.Optional(Type.String()),
  entityId: Type.Optional(Type.String()),
  applicationId: Type.Optional(Type.String()),
  window: orNull(DayWindow),
});

export const MessageAnswer = Type.Object({
  id: Type.String(),
  messageId: Type.String({ description: "The name by which its client knows it." }),
  account: Type.String(),
  bulkId: Type.String(),
  state: StateWord,
  status: Status,
  error: orNull(Failure),
  from: Type.String(),
  to: Type.String(),
  text: Type.String(),
  encoding: Type.String({ description: "gsm7, ucs2, gsm7+ and a language, or octets of a binary message." }),
  parts: Type.Integer(),
  flash: Type.Boolean(),
  price: Type.Object({ perPart: Type.String(), charged: Type.String(), currency: Type.String() }),
  carrier: TextOrNone("The carrier that serves it."),
  receivedAt: Moment("When it was accepted."),
  dueAt: Moment("When it may go, or might."),
  sentAt: MomentOrNone("When a carrier took it."),
  doneAt: MomentOrNone("When its status became final."),
  expiresAt: Moment("It is not sent after this."),
  receiptUntil: Moment("A receipt is awaited until then."),
  heldBy: orNull(
    Type.Union([
      Type.Literal("time"),
      Type.Literal("window"),
      Type.Literal("bulk"),
      Type.Literal("carrier"),
      Type.Literal("missed window", { description: "Its window does not open again before it expires." }),
    ]),
  ),
  isOverdue: Type.Boolean({ description: "It should have gone some seconds ago, and its carrier has not taken it." }),
  carrierDownSince: MomentOrNone("Since when its carrier has no connection, where this node knows."),
  isPhoneAway: Type.Boolean({
    description: "The network has said that it holds it, because the phone cannot be reached.",
  }),
  unknownCount: Type.Integer({ description: "How often a carrier did not answer." }),
  notifyUrl: TextOrNone("Where its reports are pushed."),
  notifyContentType: Type.String(),
  wished: Wished,
  toFetch: Type.Boolean({ description: "Its report waits to be fetched." }),
  reports: Type.Array(Report),
  reportTakenAt: MomentOrNone("When its last report was taken, if that is known."),
  reportTries: Type.Integer(),
  links: Type.Array(ShortLink, { description: "Its short links." }),
  conversion: orNull(Conversion),
  events: Type.Array(MessageEvent),
  timeline: Type.String({ description: "Which steps are kept: all, trouble or off." }),
});

export const ReplayAnswer = Type.Object({ outcome: Type.String() });

export type MessageItem = Static<typeof MessageItem>;
export type MessageList = Static<typeof MessageList>;
export type MessageEvent = Static<typeof MessageEvent>;
export type MessageAnswer = Static<typeof MessageAnswer>;
