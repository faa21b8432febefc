/** The shapes of what only the sandbox has: phones, the faults of their network, and the clock. */
import { Type } from "../runtime/type.ts";
import { PHONE_STATES } from "../simulator/phone-states.ts";
import { Flag, OneOf, Text, Whole } from "./shapes.ts";

export const PhoneStateWord = OneOf(
  PHONE_STATES,
  "`on`; `off`: messages wait until it is on again or their validity ends; `full`: takes none; `abroad`: slower, and on another network; `unknown`: no such subscriber.",
);

export const PhoneChange = Type.Object({ state: Type.Optional(PhoneStateWord) }, { additionalProperties: false });

export const PhoneSetting = Type.Object({ number: Type.String(), state: PhoneStateWord });

const milliseconds = (maximum: number, description: string) => Type.Integer({ minimum: 0, maximum, description });

const faults = {
  throttling: Flag("Every submit is answered with `too fast`; it is tried again every second."),
  refusing: Flag("Every submit is refused for good: messages fail at once."),
  connectionLost: Flag("There is no connection to the network: messages wait."),
  slowAnswersMs: milliseconds(60_000, "How long the network takes to answer a submit."),
  noReceipts: Flag("Messages arrive, and no receipt ever comes."),
  duplicatedReceipts: Flag("Each receipt comes twice."),
  lateReceiptsMs: milliseconds(86_400_000, "Receipts come so much later."),
};

export const NetworkSwitches = Type.Object(faults, { title: "Network" });
/** What is left out is off. */
export const NetworkChange = Type.Partial(NetworkSwitches, { additionalProperties: false });

export const ClockAnswer = Type.Object({
  now: Text("The sandbox's time."),
  offsetMs: Whole("By how much it is ahead of the real time."),
});

export const ClockChange = Type.Object(
  {
    by: Type.Optional(Type.String({ maxLength: 20, description: "From now on: `90s`, `5m`, `2h`, `1d`." })),
    to: Type.Optional(Type.String({ maxLength: 40, description: "A moment, as 2026-02-12T09:58:20.000+0000." })),
    offset: Type.Optional(Type.String({ maxLength: 20, description: "Ahead of the real time by so much: `2h`." })),
  },
  { additionalProperties: false, description: "One of the three." },
);

export const ClockJump = Type.Object({
  ...ClockAnswer.properties,
  jumpedMs: Type.Integer(),
  released: Type.Object(
    {
      messages: Whole("Scheduled messages that were waiting for a time that has come by now."),
      reports: Whole("Reports whose next try has come."),
    },
    { description: "Of this account; of all accounts for the operator. At most 10,000 are looked at." },
  ),
});
