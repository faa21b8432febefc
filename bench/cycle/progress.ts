/** How far a run is, on standard error: a bar on a terminal, a line every few seconds elsewhere. */
const LINE_EVERY_MS = 5_000;
const BAR_EVERY_MS = 100;
const BAR_WIDTH = 30;

export class Progress {
  readonly #terminal = process.stderr.isTTY === true;
  #title = "";
  #total = 0;
  #saidAtMs = 0;

  begin(title: string, total: number): void {
    this.#title = title;
    this.#total = total;
    this.#saidAtMs = this.#terminal ? 0 : performance.now();
    this.at(0);
  }

  at(done: number): void {
    const nowMs = performance.now();
    if (nowMs - this.#saidAtMs < (this.#terminal ? BAR_EVERY_MS : LINE_EVERY_MS)) return;
    this.#saidAtMs = nowMs;
    const figures = `${this.#title}: ${done.toLocaleString("en")} of ${this.#total.toLocaleString("en")}`;
    if (!this.#terminal) {
      process.stderr.write(`${figures}\n`);
      return;
    }
    const filled = Math.round((BAR_WIDTH * done) / this.#total);
    process.stderr.write(`\r\x1b[K[${"#".repeat(filled)}${"-".repeat(BAR_WIDTH - filled)}] ${figures}`);
  }

  /** Leaves nothing of the bar. */
  end(): void {
    if (this.#terminal) process.stderr.write("\r\x1b[K");
  }
}
