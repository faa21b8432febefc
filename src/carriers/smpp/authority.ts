/**
 * Who vouches for a carrier that speaks TLS: the authority in its profile, or in a file that the profile names; without one those that this
 * machine trusts. Node's own list, which Node would take, is as old as Node and has none of the authorities that an operator has added,
 * so it is only for machines that have no list.
 */
import { getCACertificates, type SecureContext } from "node:tls";
import { readSmallFile } from "../../runtime/files.ts";
import { once } from "../../runtime/lazy.ts";
import { orElse } from "../../runtime/or-else.ts";
import type { SmppProfile } from "./profile.ts";
import { contextOf, type TlsSettings } from "./session/connect.ts";

type TlsProfile = Pick<SmppProfile, "tlsCa" | "tlsCaPem" | "tlsName">;

export async function tlsOf({ tlsCa, tlsCaPem, tlsName }: TlsProfile): Promise<TlsSettings> {
  const ca = tlsCaPem ?? (tlsCa === undefined ? undefined : await readSmallFile(tlsCa));
  return {
    context: ca === undefined ? machineAuthorities().context : contextOf([ca]),
    ...(tlsName === undefined ? {} : { serverName: tlsName }),
  };
}

/** In words, for whoever looks for the reason that a carrier is not trusted. */
export function authorityName({ tlsCa, tlsCaPem }: TlsProfile): string {
  if (tlsCaPem !== undefined) return "the authority in tlsCaPem";
  return tlsCa === undefined ? machineAuthorities().name : `the authority in ${tlsCa}`;
}

interface Authorities {
  readonly name: "the system's authorities" | "the authorities that Node brings, for the system's cannot be read";
  readonly context: SecureContext;
}

/** Read once, when the first carrier needs them: some 60 ms for 150 of them, and another 15 to make a context. */
const machineAuthorities = once((): Authorities => {
  // On Linux those of OpenSSL (SSL_CERT_FILE, SSL_CERT_DIR, or where the distribution has them).
  const system = orElse(() => getCACertificates("system"), []);
  // Those of NODE_EXTRA_CA_CERTS are the operator's too.
  const certificates = [...(system.length > 0 ? system : getCACertificates("bundled")), ...getCACertificates("extra")];
  return {
    name:
      system.length > 0
        ? "the system's authorities"
        : "the authorities that Node brings, for the system's cannot be read",
    context: contextOf([...new Set(certificates)]),
  };
});
