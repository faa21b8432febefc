/**
 * What the commands say, ask and are told: standard output, standard error and standard input, which a test puts its own in place of. Names and
 * texts in it are of others, so nothing reaches a terminal from here that the terminal would obey.
 */
import { createInterface } from "node:readline/promises";
import { visible } from "../runtime/visible.ts";

export interface Console {
  out(text: string): void;
  error(text: string): void;
  /** Whether standard output is a terminal. */
  readonly outIsTerminal: boolean;
  /** Whether a person sits there who can be asked. */
  readonly isTerminal: boolean;
  /** A line from that person. */
  ask(question: string): Promise<string>;
  /** All of standard input. */
  readInput(): Promise<string>;
}

const systemConsole: Console = {
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
  get outIsTerminal() {
    return process.stdout.isTTY === true;
  },
  get isTerminal() {
    return process.stdin.isTTY === true && process.stdout.isTTY === true;
  },
  async ask(question) {
    const lines = createInterface({ input: process.stdin, output: process.stdout });
    try {
      // Whoever ends the input, or the command, has said no.
      const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
      return await Promise.race([lines.question(question), ended]);
    } finally {
      lines.close();
    }
  },
  async readInput() {
    let text = "";
    process.stdin.setEncoding("utf8");
    for await (const piece of process.stdin) text += piece;
    return text;
  },
};

let current: Console = systemConsole;

/** Speaks to another console while `work` goes on. */
export async function speakingTo<Result>(other: Console, work: () => Promise<Result>): Promise<Result> {
  const before = current;
  current = other;
  try {
    return await work();
  } finally {
    current = before;
  }
}

export function say(line: string): void {
  current.out(`${visible(line)}\n`);
}

/** As it is, without a line's end, for a file or another program; a person gets to see it. */
export function print(text: string): void {
  // A CSV file's lines end with CR LF; to a person that is a line's end, and no character to be seen.
  current.out(current.outIsTerminal ? visible(text.replaceAll("\r\n", "\n")) : text);
}

export function complain(text: string): void {
  current.error(visible(text));
}

export function isTerminal(): boolean {
  return current.isTerminal;
}

export async function confirmed(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await current.ask(`${visible(question)} [y/N] `)).trim());
}

/** A secret from standard input: its first line, without its end. */
export async function readSecret(): Promise<string> {
  return (await readSecrets())[0]!;
}

/** Several, a line each. */
export async function readSecrets(): Promise<string[]> {
  return (await current.readInput()).split(/\r?\n/);
}
