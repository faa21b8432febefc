/**
 * How a command stands in its file: as the function that runs it, with the types that the port has for its name. What can share a transaction
 * (store/modes.ts) also says what it reads.
 */
import type { Entry, Grouped, Handle } from "../store/command-table.ts";
import type { CommandName } from "../store/port/store.ts";
import type { ReadSet } from "../store/tables.ts";

/** Some commands, each with the types of its name. */
export function commands<Name extends CommandName>(entries: { readonly [Each in Name]: Entry<Each> }) {
  return entries;
}

export function grouped<Input, Output>(
  reads: (input: NoInfer<Input>) => ReadSet,
  handle: Handle<Input, Output>,
): Grouped<Input, Output> {
  return { reads, handle };
}
