/**
 * The console as Vite has built it, in memory: read once when the service starts, and compressed once, when somebody first asks for it so. A request
 * names a file in a Map and never a path of the file system.
 */
import { hash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { perKey } from "../../runtime/lazy.ts";

/** Far more than the console has; whoever puts a film into its folder is told so. */
const MAX_FILES = 1_000;
const MAX_OCTETS = 32 * 1024 * 1024;
/** Below this a compressed file is hardly smaller. */
const MIN_COMPRESSED_OCTETS = 512;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};
/** What is compressed already gains nothing. */
const COMPRESSED_TYPES = new Set([".png", ".ico", ".woff2"]);

type Encoding = "br" | "gzip";
/** The best first. */
const ENCODINGS: readonly Encoding[] = ["br", "gzip"];
const COMPRESS: Readonly<Record<Encoding, (octets: Buffer) => Promise<Buffer>>> = {
  // The best but one: the very best takes ten times as long for a twentieth.
  br: (octets) =>
    promisify(brotliCompress)(octets, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: octets.length },
    }),
  gzip: (octets) => promisify(gzip)(octets),
};

export class ConsoleFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly #isCompressible: boolean;
  #etag: string | null = null;
  readonly compressed = perKey((encoding: Encoding) => COMPRESS[encoding](this.plain));

  constructor(name: string, plain: Buffer) {
    const extension = extname(name);
    this.type = TYPES[extension] ?? "application/octet-stream";
    this.plain = plain;
    this.#isCompressible = !COMPRESSED_TYPES.has(extension) && plain.length >= MIN_COMPRESSED_OCTETS;
  }

  /** Weak: the same for all encodings. */
  get etag(): string {
    this.#etag ??= `W/"${hash("sha256", this.plain, "base64url").slice(0, 22)}"`;
    return this.#etag;
  }

  /** Which of the encodings that a client takes is the best for this file; null for none. */
  encodingFor(accepted: string | undefined): Encoding | null {
    if (!this.#isCompressible || accepted === undefined) return null;
    return ENCODINGS.find((encoding) => takes(accepted, encoding)) ?? null;
  }
}

const MAX_ACCEPT_CHARACTERS = 200;

/** Not a full reading of RFC 9110: whoever is misread gets the file as it is. */
function takes(accepted: string, encoding: Encoding): boolean {
  return accepted
    .slice(0, MAX_ACCEPT_CHARACTERS)
    .split(",")
    .some((choice) => {
      const [name = "", quality = ""] = choice.split(";").map((piece) => piece.trim().toLowerCase());
      return name === encoding && !/^q=0(\.0*)?$/.test(quality);
    });
}

/** The files below a folder by their paths, "/" before each step; null where there is no such folder, or no index.html in it. */
export async function readConsoleFiles(folder: string): Promise<ReadonlyMap<string, ConsoleFile> | null> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  if (names.length > MAX_FILES) throw new Error(`${folder} has more than ${MAX_FILES} files: build the console anew`);
  const files = new Map<string, ConsoleFile>();
  let octets = 0;
  for (const name of names) {
    const plain = await readFile(name);
    octets += plain.length;
    if (octets > MAX_OCTETS) throw new Error(`${folder} has more than ${MAX_OCTETS} octets: build the console anew`);
    files.set(`/${relative(folder, name).split(sep).join("/")}`, new ConsoleFile(name, plain));
  }
  return files.has("/index.html") ? files : null;
}
