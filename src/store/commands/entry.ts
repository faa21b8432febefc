/**
 * How a command stands in its file: as the function that runs it, with the types that the port has for its name. What can share a transaction
 * (store/modes.ts) also says what it reads.
 */
import type { Call, CallOutcome } from "../group.ts";
import type { COMMAND_MODES } from "../modes.ts";
import type { CommandInput, CommandName, CommandOutput } from "../port/store.ts";
import type { Awaitable } from "../sql.ts";
import type { ReadSet } from "../tables.ts";

type Handle<Input, Output> = (input: Input) => Awaitable<Output>;

interface Grouped<Input, Output> {
  readonly reads: (input: Input) => ReadSet;
  readonly handle: Handle<Input, Output>;
}

type Entry<Name extends CommandName> = (typeof COMMAND_MODES)[Name] extends "grouped"
  ? Grouped<CommandInput<Name>, CommandOutput<Name>>
  : Handle<CommandInput<Name>, CommandOutput<Name>>;

export type CommandTable = { readonly [Name in CommandName]: Entry<Name> };

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

export function runCommand(table: CommandTable, { command, input }: Call): unknown {
  const entry = table[command] as Handle<unknown, unknown> | Grouped<unknown, unknown>;
  return typeof entry === "function" ? entry(input) : entry.handle(input);
}

/** One after the other, in one transaction. */
export async function runCommands(table: CommandTable, calls: readonly Call[]): Promise<CallOutcome[]> {
  const outcomes: CallOutcome[] = [];
  for (const call of calls) {
    const answer = runCommand(table, call);
    outcomes.push({ ok: true, value: answer instanceof Promise ? await answer : answer });
  }
  return outcomes;
}

/** What all these calls will read. */
export function readSetOf(table: CommandTable, calls: readonly Call[]): ReadSet {
  const sum: Record<string, unknown> = {};
  for (const { command, input } of calls) {
    const entry = table[command] as Handle<unknown, unknown> | Grouped<unknown, unknown>;
    if (typeof entry === "function") continue;
    for (const [name, value] of Object.entries(entry.reads(input))) {
      if (!Array.isArray(value)) sum[name] = value;
      else if (sum[name] === undefined) sum[name] = [...value];
      else for (const item of value) (sum[name] as unknown[]).push(item);
    }
  }
  return sum;
}
