/** Why a connection to a carrier is not there, as a sentence for whoever watches it. Pure. */
import type { CloseReason } from "./session/contract.ts";

const ENDED: Readonly<Record<CloseReason, string>> = {
  unbound: "we ended the connection",
  "peer unbound": "the carrier ended the connection (unbind)",
  closed: "we closed the connection",
  "peer closed": "the carrier closed the connection without a word",
  "connection failed": "the connection broke",
  silent: "the carrier fell silent: it did not answer enquire_link",
  "bind timeout": "the bind was not answered in time",
  "bind refused": "the bind was refused",
  "unbind timeout": "the end of the connection was not answered in time",
  "outbind refused": "the carrier asked for a connection that nobody here wanted",
  "framing lost": "what the carrier sent could not be told apart any more",
  forbidden: "this node lost its lease, and gave the connection up",
};

/** What the system says when there is no connection to be had. */
const UNREACHED: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nobody listens there: the connection was refused",
  ECONNRESET: "the connection was reset",
  EHOSTUNREACH: "there is no way to this host",
  ENETUNREACH: "there is no way to this network",
  ENOTFOUND: "the host's name is not known",
  EAI_AGAIN: "the host's name could not be looked up",
  ETIMEDOUT: "no answer to the attempt to connect",
  CERT_HAS_EXPIRED: "the carrier's certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the carrier's certificate is signed by itself, and not trusted",
  ERR_TLS_CERT_ALTNAME_INVALID: "the carrier's certificate is for another name",
};

export function endedWords(why: CloseReason, error: Error | undefined): string {
  return error === undefined ? ENDED[why] : `${ENDED[why]} (${error.message})`;
}

export function unreachedWords(error: NodeJS.ErrnoException): string {
  return UNREACHED[error.code ?? ""] ?? error.message;
}
