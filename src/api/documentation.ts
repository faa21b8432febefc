/**
 * The description of the API, for programs (/openapi.json) and for people (/docs). Anybody may ask for it, so it is made once, compressed once, and
 * given out as it is; requests for it have a bound of their own. What makes it is as large as the rest of the API, and is loaded by who asks first.
 */
import { hash } from "node:crypto";
import { once } from "node:events";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import { boundedCache } from "../runtime/cache.ts";
import { systemClock } from "../runtime/clock.ts";
import { once as lazily } from "../runtime/lazy.ts";
import type { WriterData } from "./description/writer.ts";
import { ApiError, unavailable } from "./errors.ts";
import { PAGE_POLICY } from "./headers.ts";
import type { Api } from "./operation.ts";
import type { ApiParts } from "./parts.ts";
import { Buckets } from "./rate-limits.ts";

/** Requests for documentation in progress, and a second. The page takes eight, and what is not read fills the system's memory, not ours. */
const MAX_READERS = 32;
const MAX_PER_SECOND = 50;
const CACHE_CONTROL = "public, max-age=300";
/** Both documents, the page, and its files, of which it has ten. */
const MAX_DOCUMENTS = 32;
/** As the page's files are called: no two of these are the same file. */
const FILE = /^(?:theme\/)?\w[\w.-]*$/;

interface Document {
  readonly type: string;
  readonly plain: Buffer;
  readonly zipped: Buffer;
  readonly etag: string;
}

async function documentOf(type: string, plain: Buffer): Promise<Document> {
  const zipped = await promisify(gzip)(plain);
  return { type, plain, zipped, etag: `"${hash("sha256", plain, "base64url").slice(0, 22)}"` };
}

async function written(data: WriterData): Promise<string> {
  const file = new URL("./description/writer.ts", import.meta.url);
  const worker = new Worker(file, { name: "description", workerData: data });
  // A stop does not wait for it.
  worker.unref();
  const [text] = (await once(worker, "message")) as [string];
  return text;
}

/** Whether the caller takes it compressed: not a full reading of RFC 9110, and whoever is misread gets it plain. */
function takesGzip(header: string | string[] | undefined): boolean {
  return typeof header === "string" && /\bgzip\b(?!\s*;\s*q=0(?:[\s,.]|$))/.test(header.slice(0, 200));
}

export async function documentApi(api: Api, { clock, sandbox }: ApiParts): Promise<void> {
  const isSandbox = sandbox !== null;
  uniqueIds(api);
  const routes: RouteOptions[] = [];
  api.addHook("onRoute", (route) => void routes.push(route));

  let readers = 0;
  const rate = new Buckets<"all">(systemClock);
  const enter = (request: FastifyRequest): void => {
    if (readers >= MAX_READERS || rate.take("all", MAX_PER_SECOND, 1) !== null)
      throw unavailable("Too many read the documentation right now.");
    readers++;
    request.progress!.holds(() => readers--);
  };

  // Both documents are of one moment.
  const said = lazily(() => ({
    routes: JSON.stringify(routes.map(({ method, url, schema }) => ({ method, url, schema }))),
    isSandbox,
    nowMs: clock.now(),
  }));
  const pages = lazily(async () => (await import("./description/page.ts")).pageFiles(isSandbox));
  const make = async (name: string): Promise<Document> => {
    if (name === "json" || name === "yaml")
      return documentOf(`application/${name}; charset=utf-8`, Buffer.from(await written({ ...said(), as: name })));
    const file = await (await pages())(name);
    if (file === null) throw new ApiError("notFound");
    return documentOf(file.type, file.content);
  };
  const made = boundedCache<string, Promise<Document>>(MAX_DOCUMENTS);
  const send = async (name: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    let making = made.get(name);
    if (making === undefined) {
      making = make(name);
      made.set(name, making);
      making.catch(() => made.delete(name));
    }
    const { type, plain, zipped, etag } = await making;
    reply.headers({ "cache-control": CACHE_CONTROL, etag, vary: "accept-encoding" });
    if (request.headers["if-none-match"] === etag) return reply.code(304).send();
    const isZipped = takesGzip(request.headers["accept-encoding"]);
    if (isZipped) reply.header("content-encoding", "gzip");
    return reply.type(type).send(isZipped ? zipped : plain);
  };

  const hidden = { schema: { hide: true } };
  await api.register(async (scope) => {
    scope.addHook("onRequest", (request, _, next) => {
      enter(request);
      next();
    });
    scope.addHook("onSend", (_, reply, __, next) => {
      reply.header("content-security-policy", PAGE_POLICY);
      next();
    });
    for (const name of ["json", "yaml"])
      scope.get(`/docs/${name}`, hidden, (request, reply) => send(name, request, reply));
    scope.get("/docs", hidden, (request, reply) => send("", request, reply));
    scope.get<{ Params: { "*": string } }>("/docs/static/*", hidden, async (request, reply) => {
      const file = request.params["*"];
      if (!FILE.test(file)) throw new ApiError("notFound");
      if (file === "index.html") return reply.redirect("/docs/");
      return send(`static/${file}`, request, reply);
    });
  });
  api.get("/openapi.json", hidden, async (request, reply) => {
    enter(request);
    return send("json", request, reply);
  });
}

/** Clients that are generated from the description call their functions by the ids of the operations: a service with two of a name does not start. */
function uniqueIds(api: Api): void {
  const operations = new Map<string, string>();
  api.addHook("onRoute", ({ method, url, schema }) => {
    const id = (schema as { readonly operationId?: string } | undefined)?.operationId;
    if (id === undefined) return;
    const name = `${method} ${url}`;
    const other = operations.get(id);
    if (other !== undefined) throw new Error(`${name} and ${other} have the same id: ${id}`);
    operations.set(id, name);
  });
}
