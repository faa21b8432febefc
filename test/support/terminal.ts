/** A terminal for tests that follow a page: what stands there is pasted into a shell, block by block. */
import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { eventually } from "./service.ts";

const ROOT = join(import.meta.dirname, "../..");

/** A shell that is typed into. What it says is heard at once, and a block is over when the shell says so. */
export class Terminal {
  readonly #shell: ChildProcessWithoutNullStreams;
  #output = "";
  #pasted = 0;

  constructor(t: TestContext) {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("HELIOGRAPH_"));
    // A group of its own, so that what the shell started ends with it.
    this.#shell = spawn("sh", [], {
      cwd: ROOT,
      detached: true,
      env: { ...Object.fromEntries(inherited), PATH: `${join(ROOT, "node_modules/.bin")}:${process.env.PATH}` },
    });
    const hear = (data: Buffer): void => {
      this.#output += data;
    };
    this.#shell.stdout.on("data", hear);
    this.#shell.stderr.on("data", hear);
    const ended = new Promise((resolve) => this.#shell.once("close", resolve));
    t.after(async () => {
      if (this.#shell.exitCode === null) process.kill(-this.#shell.pid!, "SIGKILL");
      await ended;
    });
  }

  get output(): string {
    return this.#output;
  }

  type(text: string): void {
    this.#shell.stdin.write(text);
  }

  /** Every line has to succeed. */
  async paste(block: string): Promise<string> {
    const from = this.#output.length;
    const mark = `block ${++this.#pasted} ended with`;
    this.type(`set -e; trap 'echo "${mark} $?"' EXIT\n${block}\ntrap - EXIT; echo "${mark} 0"\n`);
    const end = await eventually(async () => new RegExp(`${mark} (\\d+)`).exec(this.#output.slice(from)));
    const said = this.#output.slice(from, from + end.index);
    assert.equal(end[1], "0", `${block}\n${said}`);
    return said;
  }
}
