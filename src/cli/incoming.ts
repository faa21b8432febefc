/** `heliograph incoming list`: messages from phones that no account gets, for finding out whose they are. */
import { Command } from "commander";
import { formatDateTime } from "../schedule/date-time.ts";
import type { UnmatchedIncoming } from "../store/port/incoming.ts";
import { type Column, showList } from "./show.ts";
import { jsonCommand, LIMIT, type LimitOptions, limitOf, onStore } from "./support.ts";

function shown({ messageId, receivedAtMs, carrierId, from, to, text, binary }: UnmatchedIncoming) {
  const message = { messageId, receivedAt: formatDateTime(receivedAtMs), carrier: carrierId, from, to, text };
  return { ...message, ...(binary === undefined ? {} : { binary: { hex: text, ...binary } }) };
}

/** A text in quotes; octets bare, with what they are. */
function says({ text, binary }: ReturnType<typeof shown>): string {
  if (binary === undefined) return JSON.stringify(text);
  const header = binary.esmClass === 0 ? "" : ", with a header";
  return `${text} (binary, data coding ${binary.dataCoding}${header})`;
}

const COLUMNS: readonly Column<ReturnType<typeof shown>>[] = [
  { title: "RECEIVED", of: ({ receivedAt }) => receivedAt },
  { title: "CARRIER", of: ({ carrier }) => carrier },
  { title: "FROM", of: ({ from }) => from },
  { title: "TO", of: ({ to }) => to },
  { title: "TEXT", of: says },
];

export function incomingCommand(): Command {
  const list = jsonCommand(
    "list",
    'Show messages to numbers that are nobody\'s, newest first. "heliograph number set" gives a number to an account.',
    "heliograph incoming list",
  )
    .addOption(LIMIT)
    .action(async (options: LimitOptions) => {
      const { count, messages } = await onStore(options, (store) =>
        store.unmatchedIncoming({ limit: limitOf(options) }),
      );
      showList(
        options,
        COLUMNS,
        messages.map(shown),
        count === 0
          ? "Every message from a phone has found its account."
          : `${count} ${count === 1 ? "message was" : "messages were"} to numbers that are nobody's.`,
      );
    });
  return new Command("incoming").description("Messages from phones.").addCommand(list);
}
