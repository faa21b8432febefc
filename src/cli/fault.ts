/**
 * How a command says that it failed. Exit codes: 0 done, 1 it could not be done (the message says what to do), 2 the command line itself
 * is wrong.
 */

/** Something is wrong that the user can put right; the message says how. */
export class CommandFault extends Error {}

/** The command line says something that cannot be. */
export class UsageFault extends CommandFault {}

export const EXIT = { done: 0, fault: 1, usage: 2 } as const;

/** A command has said all there is to say, and it was not good. */
export class Failed extends Error {}
