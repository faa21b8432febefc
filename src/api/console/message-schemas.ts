/** The shapes of what the console says of messages. */
import { type Static, Type } from "../../runtime/type.ts";
import { DAYS } from "../../schedule/window.ts";
import { Conversion, ShortLink } from "../message-shapes.ts";
import { Flag, OneOf, orNull, Text, Whole } from "../shapes.ts";

const TextOrNone = (description: string) => orNull(Text(description));

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
const StateWord = OneOf(STATE_WORDS);

export const MessageItem = Type.Object({
  id: Text("Our own id of the message, which no other message has."),
  account: Type.String(),
  at: Text("Its place in the list: when it was sent, or accepted as long as it was not."),
  receivedAt: Text("When it was accepted."),
  doneAt: TextOrNone("When its status became final."),
  dueAt: Text("When it may go, or might."),
  from: Type.String(),
  to: Type.String(),
  text: Text("The beginning of it."),
  state: StateWord,
  isOverdue: Flag("It should have gone some seconds ago, and its carrier has not taken it."),
  heldBy: orNull(OneOf(["bulk"], "bulk: its bulk is paused.")),
  status: Status,
  error: orNull(Failure),
  parts: Type.Integer(),
  bulkId: Type.String(),
  carrier: TextOrNone("The carrier that serves it."),
});

export const MessageList = Type.Object({
  results: Type.Array(MessageItem),
  next: TextOrNone("Give it as after for the next page; null on the last one."),
  lookedBackTo: TextOrNone("As far back as this page has looked; null when it has seen the oldest."),
  examined: Whole("How many messages were looked at for it."),
});

export const MessageCounts = Type.Object({
  of: Whole("So many of the newest messages were looked at for what failed, and for what is stuck with a carrier."),
  isAll: Flag("There are no others."),
  isAllWaiting: Flag("Retrying and scheduled are the numbers of all messages; if not, there are at least so many."),
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
  at: Text("When it happened."),
  kind: Text("A word for the sign that it is drawn with."),
  what: Type.String(),
  detail: Type.String(),
  until: TextOrNone("What comes of it is awaited until then."),
  isTrouble: Type.Boolean(),
  exchange: orNull(Exchange),
});

const Report = Type.Object({
  id: Type.String(),
  url: Type.String(),
  items: Type.Integer(),
  attempts: Type.Integer(),
  nextTryAt: TextOrNone("When it is tried again; null for a dead letter."),
  isDead: Type.Boolean(),
  reason: TextOrNone("Why it was not taken."),
});

const DayWindow = Type.Object({
  days: Type.Array(OneOf(DAYS)),
  hours: orNull(Type.Object({ fromMinute: Type.Integer(), toMinute: Type.Integer() })),
});

/** What its request said beyond what is told elsewhere, as far as it is stored: enough to send the same again. */
const Wished = Type.Object({
  validityPeriod: orNull(Whole("In minutes; null for the longest.")),
  intermediateReport: Type.Boolean(),
  callbackData: Type.Optional(Type.String()),
  campaignReferenceId: Type.Optional(Type.String()),
  entityId: Type.Optional(Type.String()),
  applicationId: Type.Optional(Type.String()),
  window: orNull(DayWindow),
});

export const MessageAnswer = Type.Object({
  id: Type.String(),
  messageId: Text("The name by which its client knows it."),
  account: Type.String(),
  bulkId: Type.String(),
  state: StateWord,
  status: Status,
  error: orNull(Failure),
  from: Type.String(),
  to: Type.String(),
  text: Type.String(),
  encoding: Text("gsm7, ucs2, gsm7+ and a language, or octets of a binary message."),
  parts: Type.Integer(),
  flash: Type.Boolean(),
  price: Type.Object({ perPart: Type.String(), charged: Type.String(), currency: Type.String() }),
  carrier: TextOrNone("The carrier that serves it."),
  receivedAt: Text("When it was accepted."),
  dueAt: Text("When it may go, or might."),
  sentAt: TextOrNone("When a carrier took it."),
  doneAt: TextOrNone("When its status became final."),
  expiresAt: Text("It is not sent after this."),
  receiptUntil: Text("A receipt is awaited until then."),
  heldBy: orNull(
    Type.Union([
      Type.Literal("time"),
      Type.Literal("window"),
      Type.Literal("bulk"),
      Type.Literal("carrier"),
      Type.Literal("missed window", { description: "Its window does not open again before it expires." }),
    ]),
  ),
  isOverdue: Flag("It should have gone some seconds ago, and its carrier has not taken it."),
  carrierDownSince: TextOrNone("Since when its carrier has no connection, where this node knows."),
  isPhoneAway: Flag("The network has said that it holds it, because the phone cannot be reached."),
  unknownCount: Whole("How often a carrier did not answer."),
  notifyUrl: TextOrNone("Where its reports are pushed."),
  notifyContentType: Type.String(),
  wished: Wished,
  toFetch: Flag("Its report waits to be fetched."),
  reports: Type.Array(Report),
  reportTakenAt: TextOrNone("When its last report was taken, if that is known."),
  reportTries: Type.Integer(),
  links: Type.Array(ShortLink, { description: "Its short links." }),
  conversion: orNull(Conversion),
  events: Type.Array(MessageEvent),
  timeline: Text("Which steps are kept: all, trouble or off."),
});

export const ReplayAnswer = Type.Object({ outcome: Type.String() });

export type MessageItem = Static<typeof MessageItem>;
export type MessageList = Static<typeof MessageList>;
export type MessageEvent = Static<typeof MessageEvent>;
export type MessageAnswer = Static<typeof MessageAnswer>;
