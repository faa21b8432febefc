/** The steps that were noted of a message (events/trace.ts), by their kind. */
import type { TraceDetails, TraceKind } from "../events/trace.ts";
import type { MessageLife } from "../store/port/message-life.ts";

export interface Step<Kind extends TraceKind> {
  readonly subject: string;
  readonly atMs: number;
  readonly detail: TraceDetails[Kind];
}

/** Oldest first. */
export function stepsOf<Kind extends TraceKind>({ trace }: Pick<MessageLife, "trace">, wanted: Kind): Step<Kind>[] {
  return trace
    .filter(({ kind }) => kind === wanted)
    .map(({ subject, atMs, detail }) => ({ subject, atMs, detail: JSON.parse(detail) }));
}
