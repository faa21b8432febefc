/**
 * The states of a session and who may send what in each, as a table (3.4 §2.2 and §2.3). Two roles: the SMSC is the carrier's
 * end, the ESME (external short messaging entity) the customer's.
 */
import type { PduName } from "../codec/commands.ts";

export type SessionRole = "esme" | "smsc";

export type SessionState =
  | "open" // connected, nothing said yet
  | "bound_tx" // the ESME may submit
  | "bound_rx" // the SMSC may deliver
  | "bound_trx" // both
  | "unbinding" // one end has said goodbye: what is under way is finished, nothing new is begun
  | "closed";

/** The ways to bind, as the ESME sees them. */
export type BindKind = "transmitter" | "receiver" | "transceiver";

export type BindName = `bind_${BindKind}`;
export type BoundState = "bound_tx" | "bound_rx" | "bound_trx";

const BOUND_BY: Partial<Record<PduName, BoundState>> = {
  bind_transmitter_resp: "bound_tx",
  bind_receiver_resp: "bound_rx",
  bind_transceiver_resp: "bound_trx",
};

/** The state that a response leads to, if it is one to a bind. */
export function boundBy(response: PduName): BoundState | undefined {
  return BOUND_BY[response];
}

export function isBind(command: PduName): boolean {
  return command.startsWith("bind_");
}

const UNBOUND: readonly SessionState[] = ["open"];
const BOUND: readonly SessionState[] = ["bound_tx", "bound_rx", "bound_trx"];
const SUBMITTING: readonly SessionState[] = ["bound_tx", "bound_trx"];
const ANY: readonly SessionState[] = ["open", "bound_tx", "bound_rx", "bound_trx", "unbinding"];

/**
 * The standard has the SMSC deliver to receivers and transceivers. There are carriers that send a transmitter its receipts all
 * the same, and no receipt is thrown away.
 */
const DELIVERING = BOUND;

/** The requests of each role, and the states in which it may send them. */
const MAY_SEND: Readonly<Record<SessionRole, Partial<Record<PduName, readonly SessionState[]>>>> = {
  esme: {
    bind_transmitter: UNBOUND,
    bind_receiver: UNBOUND,
    bind_transceiver: UNBOUND,
    submit_sm: SUBMITTING,
    submit_multi: SUBMITTING,
    data_sm: BOUND,
    query_sm: SUBMITTING,
    cancel_sm: SUBMITTING,
    replace_sm: SUBMITTING,
    enquire_link: ANY,
    unbind: [...BOUND, "unbinding"],
  },
  smsc: {
    outbind: UNBOUND,
    deliver_sm: DELIVERING,
    data_sm: DELIVERING,
    alert_notification: DELIVERING,
    enquire_link: ANY,
    unbind: [...BOUND, "unbinding"],
  },
};

export function maySend(role: SessionRole, command: PduName, state: SessionState): boolean {
  return MAY_SEND[role][command]?.includes(state) ?? false;
}

/** Whether to take it from a peer of that role: while unbinding, it may not yet know, and what it sent is still answered. */
export function mayArrive(from: SessionRole, command: PduName, state: SessionState): boolean {
  return maySend(from, command, state === "unbinding" ? "bound_trx" : state);
}

export function isBound(state: SessionState): boolean {
  return BOUND.includes(state);
}
