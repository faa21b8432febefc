/** The profile of a simulated carrier. */
import { type Static, Type } from "../runtime/type.ts";

const strict = { additionalProperties: false };

const OUTCOMES = ["delivered", "undeliverable", "rejected", "expired", "refused", "silent"] as const;

/** What an operator may make of the phones whose numbers end in some digits. */
const OwnHandset = Type.Object(
  {
    suffix: Type.String({ pattern: "^[0-9]{3,15}$" }),
    /** The last word of its network. "refused": at once, so that nothing was sent. "silent": none ever. */
    outcome: Type.Unsafe<(typeof OUTCOMES)[number]>(Type.Union(OUTCOMES.map((outcome) => Type.Literal(outcome)))),
    /** The name of an error; what the outcome usually has unless it is given. */
    error: Type.Optional(Type.String({ maxLength: 64 })),
    /** On top of the time that every handset takes. */
    laterMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400_000 })),
  },
  strict,
);
export type OwnHandset = Static<typeof OwnHandset>;

export const SimulatorCarrierProfile = Type.Object(
  {
    id: Type.String({ pattern: "^[A-Za-z0-9_.-]{1,64}$" }),
    kind: Type.Literal("simulator"),
    /** The rate plan that has what it would ask for a part, as other carriers have one. */
    ratePlan: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9_.-]{1,64}$" })),
    /** How long a handset takes to answer, give or take a fifth. */
    answerAfterMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400_000 })),
    /** How many parts the network holds at most before it says "later". */
    capacity: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    /** Phones that behave as the operator says, beside those that every simulated network has. */
    handset: Type.Optional(Type.Array(OwnHandset, { maxItems: 1_000 })),
  },
  strict,
);

export type SimulatorProfile = Static<typeof SimulatorCarrierProfile>;
