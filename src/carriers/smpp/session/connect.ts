/**
 * Makes the socket that a session runs on: TCP, or TLS with the peer's certificate verified. Every try is a new socket; a
 * failure is a value.
 */
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls, createSecureContext, type SecureContext } from "node:tls";
import type { Clock } from "../../../runtime/clock.ts";
import { given } from "../../../runtime/given.ts";

export interface TlsSettings {
  /** Authorities to trust instead of those that Node brings (`contextOf`). */
  readonly context?: SecureContext;
  /** The name that the certificate must be for, where it is not the host's. */
  readonly serverName?: string;
}

export interface ConnectTarget {
  /** "host:port", the host of IPv6 in brackets. */
  readonly place: string;
  /** TCP without it. */
  readonly tls?: TlsSettings;
  /** For the name, the connection and the TLS handshake together. */
  readonly timeoutMs: number;
  /** Ends the try. */
  readonly signal?: AbortSignal;
}

export type ConnectOutcome =
  | { readonly kind: "connected"; readonly socket: Socket }
  | { readonly kind: "failed"; readonly error: Error };

export function connectSocket(target: ConnectTarget, clock: Clock): Promise<ConnectOutcome> {
  const { place, tls, timeoutMs, signal } = target;
  const colon = place.lastIndexOf(":");
  const host = place.slice(0, colon).replace(/^\[|\]$/g, "");
  const port = Number(place.slice(colon + 1));
  return new Promise((resolve) => {
    const socket =
      tls === undefined
        ? connectTcp({ host, port, noDelay: true })
        : connectTls({ host, port, ...tlsOptions(host, tls) });
    // An error that nobody listens for ends the process: one of a socket given up, or one that its session is not yet on.
    socket.on("error", () => {});
    const fail = (error: Error) => {
      settle();
      socket.destroy();
      resolve({ kind: "failed", error });
    };
    const succeed = () => {
      settle();
      socket.setNoDelay(true);
      resolve({ kind: "connected", socket });
    };
    const onAbort = () => fail(new Error("given up"));
    const onClose = () => fail(new Error("closed before it was connected"));
    const timer = clock.after(timeoutMs, () => fail(new Error(`no connection within ${timeoutMs} ms`)));
    const connected = tls === undefined ? "connect" : "secureConnect";
    const settle = () => {
      timer.cancel();
      signal?.removeEventListener("abort", onAbort);
      socket.removeListener(connected, succeed);
      socket.removeListener("error", fail);
      socket.removeListener("close", onClose);
    };
    socket.once(connected, succeed);
    socket.once("error", fail);
    socket.once("close", onClose);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
  });
}

const MIN_VERSION = "TLSv1.2";

/** For any number of connections that trust these authorities, in PEM. */
export function contextOf(authorities: readonly string[]): SecureContext {
  return createSecureContext({ ca: [...authorities], minVersion: MIN_VERSION });
}

function tlsOptions(host: string, tls: TlsSettings): ConnectionOptions {
  const serverName = tls.serverName ?? (isIP(host) === 0 ? host : undefined);
  return {
    minVersion: MIN_VERSION,
    rejectUnauthorized: true,
    ...given({ secureContext: tls.context, servername: serverName }),
  };
}
