/**
 * A message's life, whole, as one table: (state, event) → next state, the status that the client sees, and whether the charge
 * is given back.
 *
 *   scheduled ──due──▶ queued ──taken──▶ submitting ──accepted──▶ submitted ──receipt──▶ done
 *       ▲                │  ▲                 │
 *       ├─window closed,─┘  └──later, unknown─┤         and from every state but the last straight to done.
 *       │ slot missed                         │
 *       └──────────────put off────────────────┘
 *
 * `submitting` lives in memory only, for as long as the carrier's answer is awaited: in the store such a message is still
 * `queued` and owned by its node, and a node that dies with it leaves a message whose outcome is unknown.
 * `done` has no row: a final state never changes.
 */
import type { StatusName } from "../sms/statuses.ts";

export type State = "scheduled" | "queued" | "submitting" | "submitted" | "done";

export type Event =
  | "due" // its time has come
  | "window closed" // it waited so long that its delivery window shut
  | "slot missed" // it waited so long that its bulk's speed limit wants it to take another slot
  | "taken" // dispatch hands it to the carrier
  | "later" // the carrier is busy
  | "put off" // the carrier cannot take this one for a while, as when its phone is full
  | "unknown" // the link died before the answer, and it may be sent again
  | "accepted" // the carrier has it
  | "refused" // the carrier will never take it
  | "gave up" // its outcome stayed unknown as often as the policy allows
  | "no route" // no carrier serves it any more
  | "validity over"
  | "canceled" // the client called its bulk off
  | "held" // the network has it and waits for the phone
  | "delivered"
  | "undeliverable"
  | "rejected"
  | "expired" // the network gave up
  | "lost" // the network does not know what became of it
  | "no receipt"; // the carrier took it and never said more

export interface Step {
  readonly to: State;
  readonly status: StatusName;
  /** The charge is given back: no carrier took the message. */
  readonly refund?: true;
}

const expired: Step = { to: "done", status: "EXPIRED_EXPIRED", refund: true };
const unroutable: Step = { to: "done", status: "REJECTED_ROUTE_NOT_AVAILABLE", refund: true };
const waiting: Step = { to: "queued", status: "PENDING_ENROUTE" };

const LIFE: Readonly<Record<State, Partial<Record<Event, Step>>>> = {
  scheduled: {
    due: waiting,
    "validity over": expired,
    canceled: { to: "done", status: "UNDELIVERABLE_NOT_SENT", refund: true },
    "no route": unroutable,
  },
  queued: {
    taken: { to: "submitting", status: "PENDING_ENROUTE" },
    "window closed": { to: "scheduled", status: "PENDING_ACCEPTED" },
    "slot missed": { to: "scheduled", status: "PENDING_ACCEPTED" },
    "validity over": expired,
    "no route": unroutable,
  },
  submitting: {
    accepted: { to: "submitted", status: "PENDING_WAITING_DELIVERY" },
    later: waiting,
    // For the client it is on its way.
    "put off": { to: "scheduled", status: "PENDING_ENROUTE" },
    unknown: waiting,
    refused: { to: "done", status: "UNDELIVERABLE_REJECTED_OPERATOR", refund: true },
    "gave up": { to: "done", status: "EXPIRED_UNKNOWN" },
    "validity over": expired,
    "no route": unroutable,
  },
  submitted: {
    held: { to: "submitted", status: "PENDING_WAITING_DELIVERY" },
    delivered: { to: "done", status: "DELIVERED_TO_HANDSET" },
    undeliverable: { to: "done", status: "UNDELIVERABLE_NOT_DELIVERED" },
    rejected: { to: "done", status: "UNDELIVERABLE_REJECTED_OPERATOR" },
    expired: { to: "done", status: "EXPIRED_EXPIRED" },
    lost: { to: "done", status: "EXPIRED_UNKNOWN" },
    "no receipt": { to: "done", status: "EXPIRED_DLR_UNKNOWN" },
  },
  done: {},
};

/** The step that `event` makes from `state`, or null when it changes nothing there (late, doubled, contradictory). */
export function step(state: State, event: Event): Step | null {
  return LIFE[state][event] ?? null;
}

/** All that can happen to a message, in the order of its life. */
export const EVENTS: readonly Event[] = [
  ...new Set(Object.values(LIFE).flatMap((events) => Object.keys(events) as Event[])),
];
