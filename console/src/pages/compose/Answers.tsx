/** What the service answered to each number, with a way to its message. */
import { whyRejected } from "../../../../src/api/console/message-words.ts";
import { count as figure } from "../../parts/Amount.tsx";
import { type Column, DataTable } from "../../parts/DataTable.tsx";
import { type StateColour, Status } from "../../parts/Status.tsx";

export interface AnsweredMessage {
  readonly to: string;
  readonly messageId?: string;
  readonly smsCount?: number;
  readonly status: {
    readonly groupName: string;
    readonly name: string;
    readonly description: string;
  };
}

/** A message that was sent, for whoever follows it. */
export interface SentMessage extends AnsweredMessage {
  readonly bulkId: string;
  readonly from: string;
}

export interface Answer {
  readonly bulkId: string;
  readonly messages: readonly AnsweredMessage[];
  /** The sender that they have. */
  readonly from: string;
}

const COLOURS: Readonly<Record<string, StateColour>> = {
  ACCEPTED: "moving",
  PENDING: "moving",
  REJECTED: "failed",
};

/** What the names of statuses mean to whoever has just sent something. */
const WORDS: Readonly<Record<string, string>> = {
  PENDING_ACCEPTED: "Accepted",
  PENDING_ENROUTE: "Accepted",
  REJECTED_DESTINATION: "Rejected: it is no phone number",
  REJECTED_SOURCE: "Rejected: this sender cannot be used",
  REJECTED_NOT_ENOUGH_CREDITS: "Rejected: there is not enough money",
  REJECTED_DESTINATION_BLOCKLISTED: "Rejected: the number has opted out",
  REJECTED_ROUTE_NOT_AVAILABLE: "Rejected: there is no route or no price for it",
  REJECTED_MESSAGE_TOO_LONG: "Rejected: it is too long",
  REJECTED_DUPLICATE_MESSAGE_ID: "Rejected: this message id was used before",
  REJECTED_INVALID_UDH: "Rejected: its user data header is broken",
};

export function answerWords(message: AnsweredMessage, from: string): string {
  const why = whyRejected({ ...message, from });
  return why === null ? (WORDS[message.status.name] ?? message.status.description) : `Rejected: ${why}`;
}

const columnsFor = (from: string): readonly Column<AnsweredMessage>[] => [
  { head: "To", width: "minmax(120px, 160px)", cell: ({ to }) => <span class="mono">{to}</span> },
  {
    head: "Answer",
    width: "minmax(0, 1fr)",
    cell: (message) => (
      <span class="compose-answer">
        <Status is={COLOURS[message.status.groupName] ?? "waiting"}>{answerWords(message, from)}</Status>
      </span>
    ),
  },
  { head: "Parts", width: "64px", number: true, cell: ({ smsCount }) => smsCount ?? "–" },
];

export function Answers({ of: { bulkId, messages, from } }: { of: Answer }) {
  return (
    <section class="stack" aria-label="Answers">
      <div class="row spread">
        <h2>{messages.length === 1 ? "The service answered" : `${figure(messages.length)} answers of the service`}</h2>
        {messages.length > 1 && <a href={`/bulks/${encodeURIComponent(bulkId)}`}>The whole bulk</a>}
      </div>
      <DataTable
        label="Answers"
        columns={columnsFor(from)}
        rows={messages}
        keyOf={({ to, messageId }) => messageId ?? to}
        href={({ messageId }) => (messageId === undefined ? null : `/messages/${encodeURIComponent(messageId)}`)}
      />
    </section>
  );
}
