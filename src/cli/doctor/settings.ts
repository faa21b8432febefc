/** The doctor on settings: whether they can be read, who listens on the port, and what they let others do. */
import { createServer } from "node:net";
import type { Settings } from "../../runtime/settings.ts";
import { LOOPBACK } from "../signals.ts";
import { type CommonOptions, settingsOf } from "../support.ts";
import { type Finding, Findings } from "./finding.ts";

const HEALTH_TIMEOUT_MS = 3_000;

/** Null for settings that cannot be read: then there is nothing else to look at. */
export async function lookAtSettings(
  options: CommonOptions,
): Promise<{ settings: Settings | null; findings: readonly Finding[] }> {
  const found = new Findings("settings");
  let settings: Settings;
  try {
    settings = settingsOf(options);
  } catch (error) {
    found.wrong(
      options.config ?? "settings",
      (error as Error).message,
      "correct it; heliograph.default.toml lists every setting",
    );
    return { settings: null, findings: found.all };
  }
  const variables = Object.keys(process.env).filter((name) => name.startsWith("HELIOGRAPH_"));
  const sources = [
    ...(options.config === undefined ? [] : [options.config]),
    ...(variables.length === 0 ? [] : [`the environment (${variables.sort().join(", ")})`]),
  ];
  found.ok("settings", sources.length === 0 ? "all are the defaults" : `read from ${sources.join(" and ")}`);
  await lookAtPort(settings, found);
  lookAtExposure(settings, found);
  return { settings, findings: found.all };
}

function isEncrypted({ server }: Settings): boolean {
  return ((server as { readonly tlsCertificate?: string }).tlsCertificate ?? "") !== "";
}

async function lookAtPort(settings: Settings, found: Findings): Promise<void> {
  const { host, port } = settings.server;
  const place = `${host}:${port}`;
  if (port === 0) {
    found.ok("port", "any free one");
    return;
  }
  const problem = await listenProblem(host, port);
  if (problem === null) found.ok("port", `${place} is free: no service runs here`);
  else if (problem === "EADDRINUSE") {
    const answers = await isHeliograph(settings);
    if (answers) found.ok("port", `Heliograph answers on ${place}`);
    else found.wrong("port", `${place} is taken by another program`, "stop that program, or set [server] port");
  } else {
    const mend =
      problem === "EACCES" ? "set [server] port to 1024 or more" : "set [server] host to an address of this machine";
    found.wrong("port", `${place} cannot be listened on (${problem})`, mend);
  }
}

function listenProblem(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
}

/** Its certificate may be for another name than the address, so with TLS the question goes without words: whoever has the port is taken for ours. */
async function isHeliograph(settings: Settings): Promise<boolean> {
  if (isEncrypted(settings)) return true;
  const { host, port } = settings.server;
  const name = host.includes(":") ? `[${host}]` : host;
  try {
    const response = await fetch(`http://${name}:${port}/healthz`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
    return ((await response.json()) as { status?: string }).status === "ok";
  } catch {
    return false;
  }
}

function lookAtExposure(settings: Settings, found: Findings): void {
  const { host } = settings.server;
  if (!LOOPBACK.test(host) && !isEncrypted(settings)) {
    found.warn(
      "encryption",
      `passwords and messages cross the network unencrypted to ${host}`,
      "put a proxy that speaks TLS in front and listen on 127.0.0.1, or set [server] tlsCertificate and tlsKey",
    );
  }
  if (settings.reports.dangerousAllowPrivateCallbacks) {
    found.warn(
      "private callbacks",
      "clients can have reports sent to addresses inside your network",
      "unset [reports] dangerousAllowPrivateCallbacks unless every client is trusted",
    );
  }
}
