/**
 * The description of the API, for programs (/openapi.json) and for people (/docs). Anybody may ask for it, so it is made once, compressed once, and
 * given out as it is; requests for it have a bound of their own.
 */
import { hash } from "node:crypto";
import { once } from "node:events";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { gzip } from "node:zlib";
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Clock, systemClock } from "../runtime/clock.ts";
import { once as lazily } from "../runtime/lazy.ts";
import { pageOptions } from "./description/page.ts";
import type { WriterData } from "./description/writer.ts";
import { ApiError } from "./errors.ts";
import type { Api } from "./operation.ts";
import { Buckets } from "./rate-limits.ts";

/** Requests for documentation in progress, and a second. The page takes eight, and what is not read fills the system's memory, not ours. */
const MAX_READERS = 32;
const MAX_PER_SECOND = 50;
const CACHE_CONTROL = "public, max-age=300";

interface Document {
  readonly type: string;
  readonly plain: Buffer;
  readonly zipped: Buffer;
  readonly etag: string;
}

async function documentOf(type: string, text: string): Promise<Document> {
  const plain = Buffer.from(text);
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

export interface DocumentationParts {
  /** The service's, for examples of what is to be later. */
  readonly clock: Clock;
  readonly isSandbox: boolean;
}

const ABOUT =
  "The SMS messaging API of Heliograph. Guides, limits and error codes are in the project's docs folder.\n\nBeside the errors that an operation lists, any request can be answered " +
  "405 (no such method here), 406 (only JSON can be had), 408 (the request came too slowly), 413 or 415 (a body that nobody asked for), 431 (its headers are too large) or 501 (its body has another transfer coding than chunked).";
const ABOUT_SANDBOX =
  "\n\n**This is a sandbox.** The account `demo` with the password `demo-password` is filled in, so that what is for clients can be tried as it stands: its phones are simulated. Some examples need an id that another answer gives, and say so. " +
  "Under *Authorize* log in as `operator` with `operator-password` to try what operators do.";

export async function documentApi(api: Api, { clock, isSandbox }: DocumentationParts): Promise<void> {
  uniqueIds(api);
  await api.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Heliograph API",
        version: "1",
        description: isSandbox ? ABOUT + ABOUT_SANDBOX : ABOUT,
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: "/", description: "This service" }],
      components: {
        securitySchemes: {
          basic: {
            type: "http",
            scheme: "basic",
            description: `Username and password${isSandbox ? "; in the sandbox `demo` and `demo-password`" : ""}.`,
          },
          apiKey: {
            type: "apiKey",
            in: "header",
            name: "Authorization",
            description: `\`App\` and the API key${isSandbox ? ": `App demo-api-key` in the sandbox" : ""}.`,
          },
          session: {
            type: "apiKey",
            in: "header",
            name: "Authorization",
            description: "`IBSSO` and the token of a login.",
          },
        },
      },
    },
  });

  let readers = 0;
  const rate = new Buckets<"all">(systemClock);
  const enter = (request: FastifyRequest): void => {
    if (readers >= MAX_READERS || rate.take("all", MAX_PER_SECOND, 1) !== null)
      throw new ApiError("unavailable", {
        description: "Too many read the documentation right now.",
        headers: { "retry-after": "1" },
      });
    readers++;
    request.progress!.holds(() => readers--);
  };

  const made = new Map<string, Promise<Document>>();
  // Both documents are of one moment.
  const said = lazily(() => ({ operations: JSON.stringify(api.swagger()), nowMs: clock.now() }));
  const documents: Readonly<Record<string, () => Promise<Document>>> = {
    json: async () => documentOf("application/json; charset=utf-8", await written({ ...said(), as: "json" })),
    yaml: async () => documentOf("application/yaml; charset=utf-8", await written({ ...said(), as: "yaml" })),
  };
  const send = async (name: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    let making = made.get(name);
    if (making === undefined) {
      making = documents[name]!();
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

  const pages = async (scope: FastifyInstance): Promise<void> => {
    scope.addHook("onRequest", (request, reply, next) => {
      enter(request);
      // The page asks for the document here; the plugin would write it anew each time.
      const name = /^\/docs\/(json|yaml)$/.exec(request.routeOptions.url ?? "")?.[1];
      if (name === undefined) next();
      else send(name, request, reply).catch(next);
    });
    await scope.register(swaggerUi, pageOptions(isSandbox));
  };
  await api.register(pages);
  api.get("/openapi.json", { schema: { hide: true } }, async (request, reply) => {
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
