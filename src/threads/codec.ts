/**
 * What crosses between threads by the thousand (accepted messages, what became of them, receipts, reports) goes as one flat list of
 * values: an object carries the names of its fields each time, and to write and read them takes as long as all the rest. Measured for
 * the four of them together: 2 µs a message instead of 5. The fields are read in the order in which they are written.
 */
import type { Acceptance, CommandInput, CommandName, Feed } from "../store/port.ts";

type Queued = Feed["messages"][number];
type Batch = Feed["reports"][number];
type Report = Extract<Batch, { kind: "delivery" }>["items"][number];
type Content = Acceptance["contents"][number];
type NewMessage = Acceptance["messages"][number];
type Submitted = CommandInput<"submitted">["messages"][number];
type Receipt = CommandInput<"received">["receipts"][number];

/** Reads a list of values from its start to its end. */
class Cursor {
  readonly #values: readonly unknown[];
  #at = 0;

  constructor(values: readonly unknown[]) {
    this.#values = values;
  }

  /** The type is that of the field which is read. */
  next<Value>(): Value {
    return this.#values[this.#at++] as Value;
  }
}

/** How a thing is written behind others, and read again. */
interface Codec<Thing> {
  readonly write: (values: unknown[], thing: Thing) => void;
  readonly read: (from: Cursor) => Thing;
}

/** Several, behind their number. */
function many<Thing>({ write, read }: Codec<Thing>): Codec<readonly Thing[]> {
  return {
    write: (values, things) => {
      values.push(things.length);
      for (const thing of things) write(values, thing);
    },
    read: (from) => {
      const things: Thing[] = [];
      for (let left = from.next<number>(); left > 0; left--) things.push(read(from));
      return things;
    },
  };
}

const QUEUED: Codec<Queued> = {
  write: (values, it) =>
    values.push(
      it.key,
      it.accountId,
      it.carrierId,
      it.from,
      it.to,
      it.text,
      it.encoding,
      it.partCount,
      it.flash,
      it.intermediateReport,
      it.window,
      it.expiresAtMs,
      it.unknownCount,
      it.taken,
    ),
  read: (from) => ({
    key: from.next(),
    accountId: from.next(),
    carrierId: from.next(),
    from: from.next(),
    to: from.next(),
    text: from.next(),
    encoding: from.next(),
    partCount: from.next(),
    flash: from.next(),
    intermediateReport: from.next(),
    window: from.next(),
    expiresAtMs: from.next(),
    unknownCount: from.next(),
    taken: from.next(),
  }),
};

const REPORT: Codec<Report> = {
  write: (values, it) =>
    values.push(
      it.bulkId,
      it.messageId,
      it.to,
      it.from,
      it.sentAtMs,
      it.doneAtMs,
      it.smsCount,
      it.mccMnc,
      it.callbackData,
      it.pricePerPartMicros,
      it.currency,
      it.statusId,
      it.errorId,
    ),
  read: (from) => ({
    bulkId: from.next(),
    messageId: from.next(),
    to: from.next(),
    from: from.next(),
    sentAtMs: from.next(),
    doneAtMs: from.next(),
    smsCount: from.next(),
    mccMnc: from.next(),
    callbackData: from.next(),
    pricePerPartMicros: from.next(),
    currency: from.next(),
    statusId: from.next(),
    errorId: from.next(),
  }),
};

const CONTENT: Codec<Content> = {
  write: (values, it) =>
    values.push(
      it.from,
      it.text,
      it.encoding,
      it.partCount,
      it.flash,
      it.notifyUrl,
      it.notifyContentType,
      it.callbackData,
      it.intermediateReport,
      it.sendAtMs,
      it.dueAtMs,
      it.window,
      it.expiresAtMs,
    ),
  read: (from) => ({
    from: from.next(),
    text: from.next(),
    encoding: from.next(),
    partCount: from.next(),
    flash: from.next(),
    notifyUrl: from.next(),
    notifyContentType: from.next(),
    callbackData: from.next(),
    intermediateReport: from.next(),
    sendAtMs: from.next(),
    dueAtMs: from.next(),
    window: from.next(),
    expiresAtMs: from.next(),
  }),
};

const NEW_MESSAGE: Codec<NewMessage> = {
  write: (values, it) =>
    values.push(it.content, it.to, it.clientMessageId, it.carrierId, it.pricePerPartMicros, it.rejectedStatusId),
  read: (from) => ({
    content: from.next(),
    to: from.next(),
    clientMessageId: from.next(),
    carrierId: from.next(),
    pricePerPartMicros: from.next(),
    rejectedStatusId: from.next(),
  }),
};

const PARTS = many<Submitted["parts"][number]>({
  write: (values, it) => values.push(it.carrierMessageId, it.counts),
  read: (from) => ({ carrierMessageId: from.next(), counts: from.next() }),
});

const SUBMITTED = many<Submitted>({
  write: (values, it) => {
    values.push(it.key, it.carrierId, it.refusedErrorId, it.atMs);
    PARTS.write(values, it.parts);
  },
  read: (from) => ({
    key: from.next(),
    carrierId: from.next(),
    refusedErrorId: from.next(),
    atMs: from.next(),
    parts: PARTS.read(from),
  }),
});

const RECEIPTS = many<Receipt>({
  write: (values, it) =>
    values.push(
      it.carrierMessageId,
      it.outcome,
      it.errorId,
      it.atMs,
      it.mccMnc,
      it.to,
      it.other ?? null,
      it.unmarked === true,
      it.submittedAtMs ?? null,
      it.octets ?? null,
    ),
  read: (from) => ({
    carrierMessageId: from.next(),
    outcome: from.next(),
    errorId: from.next(),
    atMs: from.next(),
    mccMnc: from.next(),
    to: from.next(),
    other: from.next(),
    unmarked: from.next(),
    submittedAtMs: from.next(),
    octets: from.next(),
  }),
});

const CONTENTS = many(CONTENT);
const NEW_MESSAGES = many(NEW_MESSAGE);
const QUEUED_MESSAGES = many(QUEUED);
const REPORTS = many(REPORT);

/** The inputs that have a codec; the others cross as they are. */
const INPUTS: { readonly [Name in CommandName]?: Codec<CommandInput<Name>> } = {
  accept: {
    write: (values, it) => {
      values.push(it.accountId, it.bulkId, it.replay, it.receivedAtMs, it.firstKey);
      CONTENTS.write(values, it.contents);
      NEW_MESSAGES.write(values, it.messages);
    },
    read: (from) => ({
      accountId: from.next(),
      bulkId: from.next(),
      replay: from.next(),
      receivedAtMs: from.next(),
      firstKey: from.next(),
      contents: CONTENTS.read(from),
      messages: NEW_MESSAGES.read(from),
    }),
  },
  submitted: {
    write: (values, it) => {
      values.push(it.awaited === true);
      SUBMITTED.write(values, it.messages);
    },
    read: (from) => ({ awaited: from.next(), messages: SUBMITTED.read(from) }),
  },
  received: {
    write: (values, it) => {
      values.push(it.carrierId);
      RECEIPTS.write(values, it.receipts);
    },
    read: (from) => ({ carrierId: from.next(), receipts: RECEIPTS.read(from) }),
  },
};

function codecOf(command: string): Codec<unknown> | undefined {
  return INPUTS[command as CommandName] as Codec<unknown> | undefined;
}

export function packInput(command: CommandName, input: unknown): unknown {
  const codec = codecOf(command);
  return codec === undefined ? input : packed(codec, input);
}

export function unpackInput(command: CommandName, input: unknown): unknown {
  return codecOf(command)?.read(new Cursor(input as unknown[])) ?? input;
}

function packed<Thing>({ write }: Codec<Thing>, thing: Thing): unknown[] {
  const values: unknown[] = [];
  write(values, thing);
  return values;
}

/** A feed on its way. */
export interface PackedFeed extends Omit<Feed, "messages" | "reports"> {
  readonly messages: readonly unknown[];
  readonly reports: readonly PackedBatch[];
}

type PackedBatch = Omit<Batch, "items"> & { readonly items: readonly unknown[] };

export function packFeed(feed: Feed): PackedFeed {
  const reports = feed.reports.map((batch) =>
    batch.kind === "delivery" ? { ...batch, items: packed(REPORTS, batch.items) } : batch,
  );
  return { ...feed, messages: packed(QUEUED_MESSAGES, feed.messages), reports };
}

export function unpackFeed(feed: PackedFeed): Feed {
  const reports = feed.reports.map((batch) =>
    batch.kind === "delivery" ? { ...batch, items: REPORTS.read(new Cursor(batch.items)) } : batch,
  ) as Batch[];
  return { ...feed, messages: QUEUED_MESSAGES.read(new Cursor(feed.messages)), reports };
}
