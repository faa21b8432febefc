/**
 * What goes wrong on a connection to a carrier, for the log: whose doing it is, and which PDU it was. Never what is in one: a message's text, a
 * password. An error of the store may quote what it was given, so of that only the name is told. Pure.
 */
import { commandOf } from "./codec/commands.ts";
import type { SessionProblem } from "./session/contract.ts";

/** What is wrong with what carriers send, counted. */
export interface SmppCounts {
  /** Ids in answers to submits under which no part can be kept. */
  unusableIds: number;
  /** PDUs that could not be read, or not be dealt with. */
  problems: number;
  /** Requests that were wrong by an octet, and were read all the same. */
  mended: number;
}

export interface ToldProblem {
  readonly says: string;
  readonly facts: Readonly<Record<string, string | number>>;
}

type Told = {
  readonly [Kind in SessionProblem["kind"]]: (problem: SessionProblem & { readonly kind: Kind }) => ToldProblem;
};

const TOLD: Told = {
  malformed: ({ malformed: { commandId, sequence, fault, octets } }) => ({
    says: "the carrier sent a PDU that cannot be read",
    facts: { problem: "malformed", command: nameOf(commandId), sequence, fault, octets: octets.length },
  }),
  handler: ({ request: { command, sequence }, error }) => ({
    says: "what the carrier sent could not be dealt with here; it was told ESME_RSYSERR, and may send it again",
    facts: { problem: "handler", command, sequence, error: errorName(error) },
  }),
  unencodable: ({ draft: { command }, error }) => ({
    says: "a PDU for the carrier could not be written, because a value has no place in its field; it was not sent",
    // Made by the encoder: it names the field and what is wrong with it.
    facts: { problem: "unencodable", command, error: error instanceof RangeError ? error.message : errorName(error) },
  }),
};

export function toldProblem(problem: SessionProblem): ToldProblem {
  return TOLD[problem.kind](problem as never);
}

function nameOf(commandId: number): string {
  return commandOf(commandId) ?? `0x${commandId.toString(16).padStart(8, "0")}`;
}

function errorName(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" ? `${error.name} ${code}` : error.name;
}
