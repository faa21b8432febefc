/**
 * The description of the API, for programs (/openapi.json) and for people (/docs). Anybody may ask for it, so it is made once, compressed once, and
 * given out as it is; requests for it have a bound of their own.
 */
import { hash } from "node:crypto";
import { gzipSync } from "node:zlib";
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../runtime/clock.ts";
import { ApiError } from "./errors.ts";
import { PAGE_POLICY } from "./headers.ts";
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

function documentOf(type: string, text: string): Document {
  const plain = Buffer.from(text);
  return { type, plain, zipped: gzipSync(plain), etag: `"${hash("sha256", plain, "base64url").slice(0, 22)}"` };
}

/** Whether the caller takes it compressed: not a full reading of RFC 9110, and whoever is misread gets it plain. */
function takesGzip(header: string | string[] | undefined): boolean {
  return typeof header === "string" && /\bgzip\b(?!\s*;\s*q=0(?:[\s,.]|$))/.test(header.slice(0, 200));
}

export async function documentApi(api: Api, clock: Clock): Promise<void> {
  await api.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Heliograph",
        version: "1",
        description:
          "The SMS messaging API of Heliograph. Guides, limits and error codes are in the project's docs folder.",
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      components: {
        securitySchemes: {
          basic: { type: "http", scheme: "basic" },
          apiKey: {
            type: "apiKey",
            in: "header",
            name: "Authorization",
            description: "App and the key",
          },
          session: {
            type: "apiKey",
            in: "header",
            name: "Authorization",
            description: "IBSSO and the token from login",
          },
        },
      },
    },
  });

  let readers = 0;
  const rate = new Buckets<"all">(clock);
  const enter = (request: FastifyRequest): void => {
    if (readers >= MAX_READERS || rate.take("all", MAX_PER_SECOND, 1) !== null)
      throw new ApiError("unavailable", {
        description: "Too many read the documentation right now.",
        headers: { "retry-after": "1" },
      });
    readers++;
    request.progress!.holds(() => readers--);
  };

  const made = new Map<string, Document>();
  const documents: Readonly<Record<string, () => Document>> = {
    json: () => documentOf("application/json; charset=utf-8", JSON.stringify(api.swagger())),
    yaml: () => documentOf("application/yaml; charset=utf-8", api.swagger({ yaml: true })),
  };
  const send = (name: keyof typeof documents, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    let document = made.get(name);
    if (document === undefined) {
      document = documents[name]!();
      made.set(name, document);
    }
    const { type, plain, zipped, etag } = document;
    reply.headers({ "cache-control": CACHE_CONTROL, etag, vary: "accept-encoding" });
    if (request.headers["if-none-match"] === etag) return reply.code(304).send();
    const gzip = takesGzip(request.headers["accept-encoding"]);
    if (gzip) reply.header("content-encoding", "gzip");
    return reply.type(type).send(gzip ? zipped : plain);
  };

  const pages = async (scope: FastifyInstance): Promise<void> => {
    scope.addHook("onRequest", (request, reply, next) => {
      enter(request);
      // The page asks for the document here; the plugin would write it anew each time.
      const name = /^\/docs\/(json|yaml)$/.exec(request.routeOptions.url ?? "")?.[1];
      if (name === undefined) next();
      else send(name, request, reply);
    });
    await scope.register(swaggerUi, {
      routePrefix: "/docs",
      theme: { title: "Heliograph API" },
      staticCSP: PAGE_POLICY,
      // No validator: it would be told, on a server of its own, where this service is.
      uiConfig: { docExpansion: "list", defaultModelsExpandDepth: 0, validatorUrl: null },
    });
  };
  await api.register(pages);
  api.get("/openapi.json", { schema: { hide: true } }, async (request, reply) => {
    enter(request);
    return send("json", request, reply);
  });
}
