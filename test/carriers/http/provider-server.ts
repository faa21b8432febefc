/** A provider of a test's own making, on a port of this machine, and a carrier that speaks with it. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { HttpCarrier } from "../../../src/carriers/http/carrier.ts";
import type { HttpProfile } from "../../../src/carriers/http/profile.ts";
import type { Submission } from "../../../src/carriers/port.ts";
import { type Clock, systemClock } from "../../../src/runtime/clock.ts";
import { type Log, silentLog } from "../../../src/runtime/log.ts";

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export type Answering = (asked: Asked, response: ServerResponse, request: IncomingMessage) => void;

export interface ProviderServer {
  readonly port: number;
  readonly asked: readonly Asked[];
}

export function json(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(value));
}

/** As a provider that takes everything. */
export const taking: Answering = (_, response) => json(response, 200, { id: "taken" });

export async function startServer(
  t: TestContext,
  answering: Answering,
  tls: { readonly key: string; readonly cert: string } | null = null,
): Promise<ProviderServer> {
  const asked: Asked[] = [];
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on("error", () => undefined);
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const one = { method, path: url, headers, body: Buffer.concat(chunks).toString() };
      asked.push(one);
      answering(one, response, request);
    });
  };
  const server: Server = tls === null ? createServer(serve) : createTlsServer(tls, serve);
  await listening(t, server);
  return { port: (server.address() as AddressInfo).port, asked };
}

export async function listening(t: TestContext, server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
}

/** A carrier that needs no more than a URL: it posts the text and reads an id. */
export const PLAIN: HttpProfile = {
  id: "mine",
  kind: "http",
  send: { path: "/send", json: { to: "{to}", text: "{text}" }, id: "id" },
};

export interface Sender {
  readonly carrier: HttpCarrier;
  submit(text?: string): Promise<Submission>;
}

interface Surroundings {
  readonly clock?: Clock;
  readonly log?: Log;
}

export function carrierFor(t: TestContext, profile: Partial<HttpProfile>, around: Surroundings = {}): Sender {
  return carrierWith(t, { ...PLAIN, ...profile }, around);
}

/** One with this profile and nothing else. */
export function carrierWith(
  t: TestContext,
  profile: HttpProfile,
  { clock = systemClock, log = silentLog }: Surroundings = {},
): Sender {
  const carrier = new HttpCarrier(profile, { clock, log, callbacks: {} });
  t.after(() => carrier.stop());
  return {
    carrier,
    submit(text = "Hello") {
      const [part] = carrier.partsOf({
        key: "1234567890123456789",
        from: "InfoSMS",
        to: "41793026727",
        text,
        encoding: "gsm7",
        flash: false,
        intermediateReport: false,
        expiresAtMs: clock.now() + 3_600_000,
        reference: 1,
      } as Parameters<HttpCarrier["partsOf"]>[0]);
      return carrier.submit(part!);
    },
  };
}
