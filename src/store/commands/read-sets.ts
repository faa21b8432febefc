/** What a command will read, told before it runs, so that an engine far from its data can fetch it for a whole group at once. */
import { nthId } from "../../runtime/ids.ts";
import type { CommandInput, CommandName } from "../port.ts";
import type { ReadSet } from "../tables.ts";
import { optOutLists } from "./accept.ts";
import { replayNames } from "./replays.ts";

type ReadSetsOf = { readonly [Name in CommandName]?: (input: CommandInput<Name>) => ReadSet };

const keysOf = (items: readonly { key: string }[]): string[] => items.map(({ key }) => key);
const idsOf = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);

/** The commands that can share a transaction. The others read by themselves, and have one of their own. */
export const READ_SETS: ReadSetsOf = {
  accept: ({ accountId, bulkId, replay, firstKey, messages }) => ({
    wallets: [accountId],
    bulks: [{ accountId, bulkId }],
    replays: replayNames(accountId, replay, bulkId),
    names: messages.flatMap(({ clientMessageId }) =>
      clientMessageId === null ? [] : [{ accountId, clientMessageId }],
    ),
    numbers: optOutLists(accountId).flatMap((list) => messages.map(({ to }) => ({ list, number: to }))),
    newKeys: [firstKey, nthId(firstKey, messages.length - 1)],
  }),
  submitted: ({ messages }) => {
    const parts = messages.flatMap(({ carrierId, parts }) =>
      parts.map(({ carrierMessageId }) => ({ carrierId, carrierMessageId })),
    );
    return { messages: keysOf(messages), parked: parts };
  },
  reroute: ({ messages }) => ({ messages: keysOf(messages) }),
  postpone: ({ messages }) => ({ messages: keysOf(messages) }),
  again: ({ messages }) => ({ messages: keysOf(messages) }),
  finish: ({ endings }) => ({ messages: keysOf(endings), refunds: true }),
  release: ({ keys }) => ({ messages: keys }),
  received: ({ carrierId, receipts }) => ({ receipts: receipts.map((receipt) => ({ ...receipt, carrierId })) }),
  matchParked: ({ names }) => ({ parts: names, parked: names }),
  reportsDelivered: ({ ids }) => ({ leaders: ids }),
  reportsFailed: ({ failures }) => ({ reports: idsOf(failures), leaders: idsOf(failures) }),
  reportsReleased: () => ({}),
  mergeReports: ({ ids }) => ({ reports: ids }),
};
