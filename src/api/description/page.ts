/** How the page at /docs looks: our name and mark, our colours, and in the sandbox the demo account filled in. All of it comes from the service itself. */
import swagger from "@fastify/swagger";
import swaggerUi, { type FastifySwaggerUiOptions } from "@fastify/swagger-ui";
import Fastify from "fastify";
import { DEMO_ACCOUNTS } from "../../auth/demo-accounts.ts";

/** A mirror that catches the sun: the console's mark. */
const MARK =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>Heliograph</title><rect width="32" height="32" rx="8" fill="#4338ca"/>' +
  '<circle cx="16" cy="16" r="5" fill="#fde68a"/><g stroke="#fde68a" stroke-width="2.4" stroke-linecap="round"><path d="M16 5v3M16 24v3M5 16h3M24 16h3M8.2 8.2l2.1 ' +
  '2.1M21.7 21.7l2.1 2.1M8.2 23.8l2.1-2.1M21.7 10.3l2.1-2.1"/></g></svg>';

const STYLE = `
.swagger-ui .info { margin: 32px 0 24px; }
.swagger-ui .info .title { display: flex; align-items: center; gap: 12px; color: #1e1b4b; }
.swagger-ui .info .title::before { content: ""; width: 40px; height: 40px; flex: none; background: url("favicon.svg") center / contain no-repeat; }
.swagger-ui .info a, .swagger-ui .btn.authorize { color: #4338ca; }
.swagger-ui .btn.authorize { border-color: #4338ca; }
.swagger-ui .btn.authorize svg { fill: #4338ca; }
.swagger-ui .btn.execute { background-color: #4338ca; border-color: #4338ca; }
.swagger-ui .scheme-container { box-shadow: none; border-bottom: 1px solid #e5e7eb; }
`;

interface PageFile {
  readonly type: string;
  readonly content: Buffer;
}

/** Gives the page ("") and its files ("static/…"), and null for what is none of them. They are a server's that listens nowhere. */
export async function pageFiles(isSandbox: boolean): Promise<(name: string) => Promise<PageFile | null>> {
  const server = Fastify();
  // The plugin of the page asks for that of the document.
  await server.register(swagger);
  await server.register(swaggerUi, pageOptions(isSandbox));
  await server.ready();
  return async (name) => {
    const { statusCode, headers, rawPayload } = await server.inject(name === "" ? "/docs" : `/docs/${name}`);
    return statusCode === 200 ? { type: String(headers["content-type"]), content: rawPayload } : null;
  };
}

function pageOptions(isSandbox: boolean): FastifySwaggerUiOptions {
  const { username, password } = DEMO_ACCOUNTS.find(({ kind }) => kind === "client")!;
  // The page's script has its settings and `ui` in one place.
  const signIn = `() => ui.preauthorizeBasic("basic", ${JSON.stringify(username)}, ${JSON.stringify(password)})`;
  return {
    routePrefix: "/docs",
    theme: {
      title: "Heliograph API",
      favicon: [{ filename: "favicon.svg", rel: "icon", sizes: "any", type: "image/svg+xml", content: MARK }],
      css: [{ filename: "heliograph.css", content: STYLE }],
    },
    uiConfig: {
      // Without the bar at the top, which has another name on it.
      layout: "BaseLayout",
      // There are so many operations that one finds them by their group, or by its name in the field above them.
      docExpansion: "none",
      filter: true,
      defaultModelsExpandDepth: 0,
      tryItOutEnabled: true,
      displayRequestDuration: true,
      // No validator: it would be told, on a server of its own, where this service is.
      validatorUrl: null,
      ...(isSandbox ? { onComplete: asScript(signIn) } : {}),
    },
  };
}

/** The plugin writes a function into the page's script as its source reads. */
function asScript(source: string): () => void {
  const script = (): void => {};
  script.toString = () => source;
  return script;
}
