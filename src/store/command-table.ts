/**
 * The table of commands, as an engine sees it: how each of them is run, and what a group of them reads. An engine knows tables and never a rule: what
 * the commands decide comes to it as `Rules`, when it is opened.
 */
import type { ReportBatch } from "../message/message.ts";
import type { CommandParts } from "./command-parts.ts";
import type { Call, CallOutcome } from "./group.ts";
import type { COMMAND_MODES } from "./modes.ts";
import type { CommandInput, CommandName, CommandOutput } from "./port/store.ts";
import type { Awaitable } from "./sql.ts";
import type { ReadSet } from "./tables.ts";
import type { Unit } from "./unit.ts";

export type Handle<Input, Output> = (input: Input) => Awaitable<Output>;

export interface Grouped<Input, Output> {
  readonly reads: (input: Input) => ReadSet;
  readonly handle: Handle<Input, Output>;
}

export type Entry<Name extends CommandName> = (typeof COMMAND_MODES)[Name] extends "grouped"
  ? Grouped<CommandInput<Name>, CommandOutput<Name>>
  : Handle<CommandInput<Name>, CommandOutput<Name>>;

/** All commands of the port. */
export type CommandTable = { readonly [Name in CommandName]: Entry<Name> };

/** What each engine does in its own way. */
export type OwnCommands = Pick<CommandTable, "cluster" | "nodes" | "shareBinds" | "purgeMessages">;

/** What the engines are given of the rules. */
export interface Rules {
  /** All commands, for an engine that gives them its tables. */
  commandTable(parts: CommandParts, own: OwnCommands): CommandTable;
  /** Writes the report batches that the unit gathered, and returns those that may go out from here now. Called last in the transaction. */
  flushReports(parts: CommandParts, unit: Unit): ReportBatch[];
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
