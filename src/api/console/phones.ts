/** What the pages of the sandbox look at: the phones, one phone with its messages, and the network with its clock. */
import { Type } from "../../runtime/type.ts";
import type { HandsetMessage } from "../../simulator/phones.ts";
import type { ApiParts } from "../parts.ts";
import { readText } from "../query.ts";
import { readNumber, viewerOf } from "../sandbox.ts";
import { seenBy } from "../sandbox-clock.ts";
import { NetworkSwitches, PhoneStateWord } from "../sandbox-schemas.ts";
import { Flag, OneOf, orNull, Text, Whole } from "../shapes.ts";
import { TRACKING, type View } from "./view.ts";

const MAX_PHONES = 100;
const MAX_NUMBERS = 50;
/** Of a text in the list, and of one on its phone. */
const LIST_CHARACTERS = 80;
const PHONE_CHARACTERS = 2_000;
/** Later than anything can be scheduled. */
const EVER_MS = 8_640_000_000_000_000;

const MessageOnPhone = Type.Object({
  place: Whole("Counts the messages of the whole network."),
  direction: OneOf(["received", "written"]),
  peer: Text("The sender that the phone shows, or the number that it wrote to."),
  text: Text("Of what is no text, its hex."),
  clipped: Flag("There is more of the text."),
  binary: Type.Boolean(),
  dataCoding: orNull(Type.Integer()),
  flash: Type.Boolean(),
  parts: Type.Integer(),
  at: Type.String(),
  messageKey: orNull(Text("Of the message that brought it.")),
});

const PhonesAnswer = Type.Object({
  phones: Type.Array(
    Type.Object({
      number: Type.String(),
      state: PhoneStateWord,
      messageCount: Type.Integer(),
      last: orNull(MessageOnPhone),
    }),
  ),
  more: Flag("There are others, which were used longer ago."),
});

const PhoneAnswer = Type.Object({
  number: Type.String(),
  state: PhoneStateWord,
  messages: Type.Array(MessageOnPhone),
});

const SandboxAnswer = Type.Object({
  network: NetworkSwitches,
  numbers: Type.Array(Type.String(), { description: "Numbers of this account, to which phones can write." }),
  clock: orNull(
    Type.Object({
      offsetMs: Type.Integer(),
      nextMessageAt: orNull(Text("When the next scheduled message is due.")),
    }),
  ),
});

function shown(message: HandsetMessage, maxCharacters: number) {
  const { text, isBinary, isFlash, partCount, atMs, ...rest } = message;
  const clipped = text.length > maxCharacters;
  return {
    ...rest,
    text: clipped ? text.slice(0, maxCharacters).toWellFormed() : text,
    clipped,
    binary: isBinary,
    flash: isFlash,
    parts: partCount,
    at: new Date(atMs).toISOString(),
  };
}

/** None outside the sandbox. */
export function phoneViews({ sandbox, store, catalogue }: ApiParts): View[] {
  if (sandbox === null) return [];
  const { network, travel } = sandbox;
  return [
    {
      name: "phones",
      summary: "Simulated phones that have something for this account",
      ...TRACKING,
      answer: PhonesAnswer,
      async read(caller) {
        const { phones, more } = await network("phones", { viewer: viewerOf(caller), limit: MAX_PHONES });
        const listed = phones.map(({ last, ...phone }) => ({
          ...phone,
          last: last === null ? null : shown(last, LIST_CHARACTERS),
        }));
        return { phones: listed, more };
      },
    },
    {
      name: "phone",
      summary: "What a simulated phone shows of this account's messages",
      ...TRACKING,
      query: Type.Object({ number: Text("4 to 15 digits.") }),
      answer: PhoneAnswer,
      async read(caller, fields) {
        const number = readNumber("number", readText(fields, "number") ?? "");
        const { state, messages } = await network("phone", { number, viewer: viewerOf(caller) });
        return { number, state, messages: messages.map((message) => shown(message, PHONE_CHARACTERS)) };
      },
    },
    {
      name: "sandbox",
      summary: "The simulated network's faults, the account's numbers, and the sandbox's clock",
      ...TRACKING,
      answer: SandboxAnswer,
      async read(caller) {
        const faults = await network("faults", null);
        const numbers = catalogue.current.numbersOf(caller.key).slice(0, MAX_NUMBERS);
        return { network: faults, numbers, clock: travel === null ? null : await clockView(travel.offsetMs) };

        async function clockView(offsetMs: number) {
          const { firstMessageAtMs: atMs } = await store.waitingUntil({ untilMs: EVER_MS, accountId: seenBy(caller) });
          return { offsetMs, nextMessageAt: atMs === null ? null : new Date(atMs).toISOString() };
        }
      },
    },
  ];
}
