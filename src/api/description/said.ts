/**
 * The OpenAPI document as the operations say it of themselves, with what is to be said of the API as a whole. A server that listens nowhere has the
 * same routes, so that the plugin for this need not be loaded by the one that listens.
 */
import swagger, { type FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import Fastify, { type RouteOptions } from "fastify";

const ABOUT =
  "The SMS messaging API of Heliograph. Guides, limits and error codes are in the project's docs folder.\n\nBeside the errors that an operation lists, any request can be answered " +
  "405 (no such method here), 406 (only JSON can be had), 408 (the request came too slowly), 413 or 415 (a body that nobody asked for), 431 (its headers are too large) or 501 (its body has another transfer coding than chunked).";
const ABOUT_SANDBOX =
  "\n\n**This is a sandbox.** The account `demo` with the password `demo-password` is filled in, so that what is for clients can be tried as it stands: its phones are simulated. Some examples need an id that another answer gives, and say so. " +
  "Under *Authorize* log in as `operator` with `operator-password` to try what operators do.";

export type SaidRoute = Pick<RouteOptions, "method" | "url" | "schema">;

export async function saidBy(routes: readonly SaidRoute[], isSandbox: boolean): Promise<object> {
  const server = Fastify({ exposeHeadRoutes: false });
  // Nobody calls these routes.
  server.setValidatorCompiler(() => () => true);
  server.setSerializerCompiler(() => JSON.stringify);
  await server.register(swagger, { openapi: about(isSandbox) });
  for (const route of routes) server.route({ ...route, handler: () => undefined });
  await server.ready();
  return server.swagger();
}

function about(isSandbox: boolean): NonNullable<FastifyDynamicSwaggerOptions["openapi"]> {
  return {
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
  };
}
