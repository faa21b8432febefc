/** A drawing of boxes, arrows and words as SVG, light or dark as its reader's screen is. */

export type Tone = "plain" | "waiting" | "moving" | "done" | "retrying" | "failed";
export type Point = readonly [x: number, y: number];

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The colours of the console: grey waits, blue is on its way, green is done, amber is tried again, red has failed. */
const TONES: Readonly<Record<Tone, readonly [light: string, lightFill: string, dark: string, darkFill: string]>> = {
  plain: ["#16181d", "#ffffff", "#e8eaf0", "#171a20"],
  waiting: ["#5b6170", "#eceef2", "#a3aaba", "#262b34"],
  moving: ["#1558b8", "#e5effc", "#7db4ff", "#172a45"],
  done: ["#12703c", "#e2f5e9", "#5fd08f", "#12301f"],
  retrying: ["#8a5300", "#fdf0d9", "#f2b654", "#3a2a0d"],
  failed: ["#b3261e", "#fde8e6", "#ff8f87", "#431a18"],
};

const toned = (column: 0 | 2): string =>
  Object.entries(TONES)
    .map(([name, colours]) => `.${name}{--ink:${colours[column]};--fill:${colours[column + 1]}}`)
    .join("");

const STYLE = [
  "text{font:14px system-ui,'Segoe UI',Roboto,'Noto Sans',sans-serif;fill:var(--ink)}",
  ".small{font-size:12px}.title{font-size:18px;font-weight:600}.name{font-weight:600}",
  ".mono{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:11.5px}",
  "rect{fill:var(--fill);stroke:var(--ink)}path,line{fill:none;stroke:var(--ink);stroke-width:1.5}",
  ".page{fill:#f7f7f9;stroke:none}.dashed{stroke-dasharray:5 4}marker path{fill:var(--ink);stroke:none}",
  toned(0),
  `@media(prefers-color-scheme:dark){.page{fill:#101216}${toned(2)}}`,
].join("");

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

interface Words {
  readonly tone?: Tone;
  readonly look?: "name" | "small" | "title" | "mono";
  readonly anchor?: "start" | "middle" | "end";
}

interface Line {
  readonly tone?: Tone;
  readonly dashed?: boolean;
  /** Where words of the arrow stand; without it, above its middle. */
  readonly label?: string;
  readonly labelAt?: Point;
  readonly anchor?: "start" | "middle" | "end";
}

export class Drawing {
  readonly #width: number;
  readonly #height: number;
  readonly #title: string;
  readonly #parts: string[] = [];

  constructor(title: string, width: number, height: number) {
    this.#title = title;
    this.#width = width;
    this.#height = height;
    this.words([24, 36], title, { look: "title" });
  }

  words([x, y]: Point, text: string, { tone = "plain", look, anchor = "start" }: Words = {}): void {
    const classes = [tone, look].filter((one) => one !== undefined).join(" ");
    this.#parts.push(`<text class="${classes}" x="${x}" y="${y}" text-anchor="${anchor}">${escaped(text)}</text>`);
  }

  /** A box with its name and what is said below it. */
  box(
    x: number,
    y: number,
    width: number,
    height: number,
    name: string,
    says: readonly string[] = [],
    tone: Tone = "plain",
  ): Box {
    this.#parts.push(`<rect class="${tone}" x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/>`);
    const first = y + height / 2 + 5 - says.length * 8;
    this.words([x + width / 2, first], name, { tone, look: "name", anchor: "middle" });
    says.forEach((line, index) => {
      this.words([x + width / 2, first + 17 * (index + 1)], line, { look: "small", anchor: "middle" });
    });
    return { x, y, width, height };
  }

  /** An arrow along these points. */
  arrow(
    points: readonly Point[],
    { tone = "plain", dashed = false, label, labelAt, anchor = "middle" }: Line = {},
  ): void {
    const way = points.map(([x, y], index) => `${index === 0 ? "M" : "L"}${x} ${y}`).join("");
    this.#parts.push(`<path class="${tone}${dashed ? " dashed" : ""}" d="${way}" marker-end="url(#${tone})"/>`);
    if (label === undefined) return;
    const [from, to] = [points[0]!, points.at(-1)!];
    const at = labelAt ?? ([(from[0] + to[0]) / 2, (from[1] + to[1]) / 2 - 8] as const);
    this.words(at, label, { tone, look: "small", anchor });
  }

  line([x1, y1]: Point, [x2, y2]: Point, tone: Tone = "plain"): void {
    this.#parts.push(`<line class="${tone}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`);
  }

  dot([x, y]: Point, tone: Tone): void {
    this.#parts.push(`<rect class="${tone}" x="${x - 4}" y="${y - 4}" width="8" height="8" rx="4"/>`);
  }

  toString(): string {
    const size = `${this.#width} ${this.#height}`;
    const markers = Object.keys(TONES).map(
      (tone) =>
        `<marker id="${tone}" class="${tone}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker>`,
    );
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size}" role="img" aria-label="${escaped(this.#title)}">`,
      `<style>${STYLE}</style>`,
      `<defs>${markers.join("")}</defs>`,
      `<rect class="page" width="${this.#width}" height="${this.#height}"/>`,
      ...this.#parts,
      "</svg>\n",
    ].join("\n");
  }
}

/** The middle of a box's side. */
export const left = ({ x, y, height }: Box): Point => [x, y + height / 2];
export const right = ({ x, y, width, height }: Box): Point => [x + width, y + height / 2];
export const top = ({ x, y, width }: Box): Point => [x + width / 2, y];
export const bottom = ({ x, y, width, height }: Box): Point => [x + width / 2, y + height];
