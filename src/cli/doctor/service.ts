/** The doctor on the service that runs: who listens on its port, whether its store answers it, and what it alone knows of its carriers. */
import { get as getPlain, type IncomingMessage } from "node:http";
import { get as getTls } from "node:https";
import { createServer } from "node:net";
import { isEncrypted } from "../../doctor/exposure.ts";
import { AREAS, type Finding, type Findings } from "../../doctor/finding.ts";
import { storeMark } from "../../doctor/store-mark.ts";
import { isServed } from "../../drivers/sqlite/database.ts";
import type { Settings } from "../../settings/settings.ts";
import { storeName } from "../../store/open.ts";

const ANSWER_TIMEOUT_MS = 3_000;
const MAX_ANSWER_BYTES = 1_000_000;

/** Gives whether it is Heliograph that listens there. */
export async function lookAtService(settings: Settings, found: Findings): Promise<boolean> {
  const { host, port } = settings.server;
  const place = `${host}:${port}`;
  const problem = port === 0 ? null : await listenProblem(host, port);
  if (problem === "EADDRINUSE") return lookAtListener(settings, place, found);
  if (port === 0) found.ok("port", "any free one");
  else if (problem === null) found.ok("port", `${place} is free: nothing listens there`);
  else {
    const mend =
      problem === "EACCES" ? "set [server] port to 1024 or more" : "set [server] host to an address of this machine";
    found.wrong("port", `${place} cannot be listened on (${problem})`, mend);
  }
  return false;
}

async function lookAtListener(settings: Settings, place: string, found: Findings): Promise<boolean> {
  const health = await ask(settings, "/healthz");
  if (health.kind === "silent") {
    found.wrong(
      "port",
      `${place} takes connections, and nothing answers there within ${ANSWER_TIMEOUT_MS / 1_000} seconds`,
      "see whether that is the service, its log, and whether its disk answers; if it stays so, restart it: nothing that it accepted is lost",
    );
    return true;
  }
  if (health.kind !== "answered" || !/"status":\s*"ok"/.test(health.body)) {
    found.wrong("port", `${place} is taken by another program`, "stop that program, or set [server] port");
    return false;
  }
  const answer = await ask(settings, "/statusz");
  const status = answer.kind === "answered" ? readStatus(answer.body) : null;
  if (status !== null && status.store !== null && status.store !== storeMark(settings.store)) {
    toldOther(settings, place, found);
    return false;
  }
  found.ok("port", `Heliograph answers on ${place}`);
  // A version before this one does not know the question.
  if (answer.kind !== "answered" || answer.status !== 404) toldStatus(answer, status, place, found);
  return true;
}

/** Another service, such as the sandbox: what it says of itself says nothing of this one. */
function toldOther({ store }: Settings, place: string, found: Findings): void {
  const says = `another Heliograph answers on ${place}, on other data than ${storeName({ store })}: the sandbox, perhaps`;
  const name = "name this service's own port with HELIOGRAPH_SERVER_PORT, or its settings with --config";
  if (store.url === "" && isServed(store.data)) found.warn("port", says, name);
  else found.wrong("port", says, `stop that one, or give this one another port; then ${name}`);
}

/** What the service says of itself. */
function toldStatus(answer: Answer, status: Status | null, place: string, found: Findings): void {
  if (answer.kind === "answered" && answer.status === 403)
    found.warn(
      "service",
      `it does not tell this address how its carriers are (${place}/statusz)`,
      "[server] metricsNetworks should have the addresses of this machine",
    );
  else if (status === null)
    found.warn("service", `it runs, and does not say how it is (${place}/statusz)`, "see its log");
  else if (status.ready) found.ok("service", "it runs, and its store answers");
  else
    found.wrong(
      "service",
      "it runs, and its store does not answer: requests are answered with 503",
      "see what is said of the store here; the service goes on by itself when the store does",
    );
  found.all.push(...(status?.findings ?? []));
}

interface Status {
  /** Null of a version before this one, which does not say it. */
  readonly store: string | null;
  readonly ready: boolean;
  readonly findings: readonly Finding[];
}

/** Null for what is none. */
function readStatus(body: string): Status | null {
  try {
    const { status, store, findings } = JSON.parse(body) as Record<string, unknown>;
    if (typeof status !== "string" || !Array.isArray(findings)) return null;
    return {
      ready: status === "ready",
      store: typeof store === "string" ? store : null,
      findings: findings.filter(isFinding),
    };
  } catch {
    return null;
  }
}

function isFinding(value: unknown): value is Finding {
  const { area, about, state, says, mend } = (value ?? {}) as Record<string, unknown>;
  const isKnown = AREAS.some((name) => name === area) && (state === "warning" || state === "wrong");
  return isKnown && [about, says, mend].every((text) => typeof text === "string");
}

function listenProblem(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
}

type Answer =
  | { readonly kind: "answered"; readonly status: number; readonly body: string }
  | { readonly kind: "silent" } // connected, and no word within the time
  | { readonly kind: "failed" };

/** Its certificate may be for another name than the address; nothing that is secret is said here. */
function ask(settings: Settings, path: string): Promise<Answer> {
  const { host, port } = settings.server;
  const options = { host, port, path, timeout: ANSWER_TIMEOUT_MS, agent: false };
  return new Promise((resolve) => {
    const onAnswer = (response: IncomingMessage): void => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        body += piece;
        if (body.length > MAX_ANSWER_BYTES) response.destroy();
      });
      response.on("end", () => resolve({ kind: "answered", status: response.statusCode ?? 0, body }));
      response.on("error", () => resolve({ kind: "failed" }));
      response.on("close", () => resolve({ kind: "failed" }));
    };
    const request = isEncrypted(settings)
      ? getTls({ ...options, rejectUnauthorized: false }, onAnswer)
      : getPlain(options, onAnswer);
    request.on("timeout", () => {
      resolve({ kind: "silent" });
      request.destroy();
    });
    request.on("error", () => resolve({ kind: "failed" }));
  });
}
