/** How far a run is, on standard error: a bar on a terminal, a line every few seconds elsewhere. */
const LINE_EVERY_MS = 5_000;
const BAR_EVERY_MS = 100;
const BAR_WIDTH = 30;

export class Progress {
  readonly #terminal = process.stderr.isTTY === true;
  #title = "";
  #saidAtMs = 0;

  show(title: string, done: number, total: number): void {
    const nowMs = performance.now();
    // On a terminal what is new is shown at once; elsewhere it has to last a while to be worth a line.
    if (title !== this.#title) this.#saidAtMs = this.#terminal ? 0 : nowMs;
    this.#title = title;
    if (nowMs - this.#saidAtMs < (this.#terminal ? BAR_EVERY_MS : LINE_EVERY_MS)) return;
    this.#saidAtMs = nowMs;
    const figures = `${title}: ${done.toLocaleString("en")} of ${total.toLocaleString("en")}`;
    if (!this.#terminal) {
      process.stderr.write(`${figures}\n`);
      return;
    }
    const filled = Math.min(BAR_WIDTH, Math.round((BAR_WIDTH * done) / total));
    process.stderr.write(`\r\x1b[K[${"#".repeat(filled)}${"-".repeat(BAR_WIDTH - filled)}] ${figures}`);
  }

  /** A line that stays. */
  say(line: string): void {
    this.end();
    process.stderr.write(`${line}\n`);
  }

  /** Leaves nothing of the bar. */
  end(): void {
    if (this.#terminal) process.stderr.write("\r\x1b[K");
  }
}
