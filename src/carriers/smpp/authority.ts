/** The certificate authority of a carrier that speaks TLS: given in its profile, or in a file that the profile names. */
import { readSmallFile } from "../../runtime/files.ts";
import type { SmppProfile } from "./profile.ts";
import type { TlsSettings } from "./session/connect.ts";

export async function tlsOf({
  tlsCa,
  tlsCaPem,
  tlsName,
}: Pick<SmppProfile, "tlsCa" | "tlsCaPem" | "tlsName">): Promise<TlsSettings> {
  const ca = tlsCaPem ?? (tlsCa === undefined ? undefined : await readSmallFile(tlsCa));
  return { ...(ca === undefined ? {} : { ca }), ...(tlsName === undefined ? {} : { serverName: tlsName }) };
}
