/** The doctor on what the settings let others do: the certificate, unencrypted passwords, and callbacks into the own network. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { systemClock } from "../runtime/clock.ts";
import { readSmallFile } from "../runtime/files.ts";
import { LOOPBACK } from "../runtime/networks.ts";
import { counted } from "../runtime/text.ts";
import type { Settings } from "../settings/settings.ts";
import type { Findings } from "./finding.ts";

export function isEncrypted({ server }: Settings): boolean {
  return server.tlsCertificate !== "";
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

export async function lookAtExposure(settings: Settings, found: Findings): Promise<void> {
  await lookAtCertificate(settings, found);
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
