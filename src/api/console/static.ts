/**
 * The console's page and what it loads, at `/`. By hand and not with @fastify/static: that one reads from the disk for each request, where a few
 * files in memory will do, and nobody can ask for a file that is not among them.
 */
import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../errors.ts";
import type { Api } from "../operation.ts";
import { type ConsoleFile, readConsoleFiles } from "./files.ts";
import { PAGE_NAMES } from "./page-names.ts";

/** Where `npm run build:console` puts it. */
export const CONSOLE_FOLDER = join(import.meta.dirname, "../../../console/dist");

const HIDDEN = { schema: { hide: true } } as const;
/** The names of these have a hash of their content in them. */
const ASSETS = "/assets/";
const FOREVER = "public, max-age=31536000, immutable";
/** May be kept, and is asked for anew each time: a new version is there at once. */
const CHECKED = "no-cache";

const PAGE_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
    "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

const NOT_BUILT = `Heliograph is running, and its API is described at /docs.

The console, which would be on this page, has not been built. In the folder of Heliograph:

  npm ci
  npm run build:console

Then start the service again.
`;

/** Shows the page at a path that is none. */
export type PageForNone = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** A browser is to show what it asks for; programs ask for answers of the API. */
export function wantsPage({ method, headers }: FastifyRequest): boolean {
  return method === "GET" && headers.accept?.includes("text/html") === true;
}

/** Null where there are no pages. */
export async function consolePages(api: Api, folder: string): Promise<PageForNone | null> {
  const files = await readConsoleFiles(folder);
  if (files === null) {
    api.get("/", HIDDEN, async (_, reply) => reply.type("text/plain; charset=utf-8").send(NOT_BUILT));
    return null;
  }
  const page = files.get("/index.html")!;
  // In a scope of its own, whose headers come after those of the API and so take their place.
  await api.register(async (scope: FastifyInstance) => {
    scope.addHook("onSend", (_, reply, _payload, done) => {
      reply.headers(PAGE_HEADERS);
      done();
    });
    const showPage = (request: FastifyRequest, reply: FastifyReply) => send(page, request, reply, CHECKED);
    scope.get("/", HIDDEN, showPage);
    for (const name of PAGE_NAMES) {
      scope.get(`/${name}`, HIDDEN, showPage);
      scope.get(`/${name}/*`, HIDDEN, showPage);
    }
    for (const [path, file] of files) {
      if (file !== page && !path.startsWith(ASSETS))
        scope.get(path, HIDDEN, (request, reply) => send(file, request, reply, CHECKED));
    }
    scope.get<{ Params: { name: string } }>(`${ASSETS}:name`, HIDDEN, (request, reply) => {
      const file = files.get(ASSETS + request.params.name);
      if (file === undefined) throw new ApiError("notFound", "There is no such file.");
      return send(file, request, reply, FOREVER);
    });
  });
  return (request, reply) => send(page, request, reply.code(404).headers(PAGE_HEADERS), CHECKED);
}

async function send(
  file: ConsoleFile,
  { headers }: FastifyRequest,
  reply: FastifyReply,
  caching: string,
): Promise<FastifyReply> {
  reply.headers({ "cache-control": caching, etag: file.etag, vary: "accept-encoding" });
  if (isKnown(headers["if-none-match"], file.etag)) return reply.code(304).send();
  const accepted = headers["accept-encoding"];
  const encoding = file.encodingFor(typeof accepted === "string" ? accepted : undefined);
  if (encoding !== null) reply.header("content-encoding", encoding);
  return reply.type(file.type).send(encoding === null ? file.plain : await file.compressed(encoding));
}

/** Whether the client has it already: its list of ETags, of which it needs one (RFC 9110, 13.1.2). */
function isKnown(header: string | undefined, etag: string): boolean {
  const strong = etag.slice("W/".length);
  return header?.split(",").some((known) => known.trim().replace(/^W\//, "") === strong) ?? false;
}
