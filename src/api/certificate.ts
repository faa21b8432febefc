/**
 * The certificate that the API is served with, where it speaks TLS itself. Its files are looked at every few seconds (a watch of the
 * file system says nothing on some, and follows no symbolic link), and new ones are taken when they have stayed the same for two looks:
 * the certificate and its key are not replaced in one moment. A pair that cannot be used changes nothing.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContextOptions, type Server } from "node:tls";
import { type Clock, Interval } from "../runtime/clock.ts";
import { readSmallFile } from "../runtime/files.ts";
import type { Log } from "../runtime/log.ts";
import type { Settings } from "../settings/settings.ts";

const LOOK_EVERY_MS = 2_000;

interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** The certificate or its key cannot be used; the message says why. */
export class CertificateFault extends Error {}

export class Certificate {
  readonly #server: Settings["server"];
  #pair: Pair;
  /** What the last look found: new files, or what is wrong with them. */
  #last: string;
  #looking: Interval | null = null;

  private constructor(server: Settings["server"], pair: Pair) {
    this.#server = server;
    this.#pair = pair;
    this.#last = asText(pair);
  }

  /** Null where the API is served without TLS. */
  static async read({ server }: Settings): Promise<Certificate | null> {
    if (server.tlsCertificate === "" && server.tlsKey === "") return null;
    if (server.tlsCertificate === "" || server.tlsKey === "")
      throw new CertificateFault("[server] tlsCertificate and tlsKey are set both or not at all");
    const pair = await readPair(server);
    try {
      checkPair(pair);
    } catch (error) {
      throw new CertificateFault(
        `the certificate ${server.tlsCertificate} and the key ${server.tlsKey} cannot be used: ${(error as Error).message}`,
      );
    }
    return new Certificate(server, pair);
  }

  get options(): SecureContextOptions {
    return optionsOf(this.#pair);
  }

  /** From now on new connections get whatever the files have. */
  watch(server: Pick<Server, "setSecureContext">, clock: Clock, log: Log): void {
    this.#looking = new Interval(clock, LOOK_EVERY_MS, () => this.#look(server, log));
  }

  async #look(server: Pick<Server, "setSecureContext">, log: Log): Promise<void> {
    const files = { certificate: this.#server.tlsCertificate, key: this.#server.tlsKey };
    const found = await readPair(this.#server).catch((error: CertificateFault) => error);
    const text = found instanceof Error ? found.message : asText(found);
    const same = text === this.#last;
    this.#last = text;
    if (found instanceof Error) {
      if (!same) log.error({ ...files, err: found }, "the certificate cannot be read; the one before stays in use");
      return;
    }
    if (!same || text === asText(this.#pair)) return;
    this.#pair = found;
    try {
      checkPair(found);
      server.setSecureContext(optionsOf(found));
      log.info(files, "the certificate was replaced");
    } catch (error) {
      log.error({ ...files, err: error }, "the new certificate or its key cannot be used; the one before stays in use");
    }
  }

  async stop(): Promise<void> {
    await this.#looking?.stop();
  }
}

async function readPair({ tlsCertificate, tlsKey }: Settings["server"]): Promise<Pair> {
  try {
    const [cert, key] = await Promise.all([readSmallFile(tlsCertificate), readSmallFile(tlsKey)]);
    return { cert, key };
  } catch (error) {
    throw new CertificateFault(`the certificate or its key cannot be read: ${(error as Error).message}`);
  }
}

/** Throws what is wrong with it. Node would take an empty certificate for none, and then refuse every handshake. */
function checkPair(pair: Pair): void {
  if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key)))
    throw new Error("they do not belong together");
  createSecureContext(optionsOf(pair));
}

function optionsOf(pair: Pair): SecureContextOptions {
  return { ...pair, minVersion: "TLSv1.2" };
}

function asText({ cert, key }: Pair): string {
  return JSON.stringify([cert, key]);
}
