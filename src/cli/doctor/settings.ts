/** The doctor on settings: whether they can be read, who listens on the port, and what they let others do. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { get as getPlain, type IncomingMessage } from "node:http";
import { get as getTls } from "node:https";
import { createServer } from "node:net";
import { systemClock } from "../../runtime/clock.ts";
import { readSmallFile } from "../../runtime/files.ts";
import type { Settings } from "../../runtime/settings.ts";
import { counted } from "../show.ts";
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
  await lookAtCertificate(settings, found);
  lookAtExposure(settings, found);
  return { settings, findings: found.all };
}

function isEncrypted({ server }: Settings): boolean {
  return server.tlsCertificate !== "";
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

/** Its certificate may be for another name than the address; nothing that is secret is said here. */
function isHeliograph(settings: Settings): Promise<boolean> {
  const { host, port } = settings.server;
  const options = { host, port, path: "/healthz", timeout: HEALTH_TIMEOUT_MS, agent: false };
  return new Promise((resolve) => {
    const onAnswer = (response: IncomingMessage): void => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        body = (body + piece).slice(0, 1_000);
      });
      response.on("end", () => resolve(/"status":\s*"ok"/.test(body)));
      response.on("error", () => resolve(false));
    };
    const request = isEncrypted(settings)
      ? getTls({ ...options, rejectUnauthorized: false }, onAnswer)
      : getPlain(options, onAnswer);
    request.on("timeout", () => request.destroy(new Error("no answer")));
    request.on("error", () => resolve(false));
  });
}

const DAY_MS = 86_400_000;
const SOON_DAYS = 14;

async function lookAtCertificate({ server }: Settings, found: Findings): Promise<void> {
  const { tlsCertificate, tlsKey } = server;
  if (tlsCertificate === "" && tlsKey === "") return;
  if (tlsCertificate === "" || tlsKey === "") {
    found.wrong("certificate", "only one of [server] tlsCertificate and tlsKey is set", "set both, or neither");
    return;
  }
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(await readSmallFile(tlsCertificate));
    if (!certificate.checkPrivateKey(createPrivateKey(await readSmallFile(tlsKey)))) {
      found.wrong("certificate", `${tlsKey} is not the key of ${tlsCertificate}`, "name the two that belong together");
      return;
    }
  } catch (error) {
    found.wrong(
      "certificate",
      `${tlsCertificate} and ${tlsKey} cannot be used: ${(error as Error).message}`,
      "put the certificate and its key there, in PEM, with the right for this user to read them",
    );
    return;
  }
  const days = Math.floor((certificate.validToDate.getTime() - systemClock.now()) / DAY_MS);
  if (days < 0)
    found.wrong("certificate", `${tlsCertificate} ended on ${certificate.validTo}`, "put a new one in its place");
  else if (days < SOON_DAYS)
    found.warn(
      "certificate",
      `${tlsCertificate} is good for ${counted(days, "more day", "more days")}`,
      "put a new one in its place",
    );
  else found.ok("certificate", `${tlsCertificate} is good until ${certificate.validTo}`);
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
