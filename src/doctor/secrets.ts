/** The doctor on secrets: whether those in the store are sealed and can be opened, and who can read the files that others are in. */
import { readFileSync } from "node:fs";
import { orElse } from "../runtime/or-else.ts";
import { tooOpen } from "../runtime/private-files.ts";
import { missingKey, parseSecretKeys, secretBox } from "../runtime/secrets.ts";
import { counted } from "../runtime/text.ts";
import type { Settings } from "../settings/settings.ts";
import { countSecrets } from "../store/open.ts";
import type { Examined, Findings } from "./finding.ts";

/** The file of --config is among them if it holds a secret itself. */
export function lookAtSecretFiles({ store, server }: Settings, config: string | undefined, found: Findings): void {
  const holdsSecret = config !== undefined && /^\s*(url|secretKey)\s*=/m.test(readFileSync(config, "utf8"));
  const files = [store.urlFile, store.secretKeyFile, server.tlsKey, holdsSecret ? config : ""];
  for (const file of files.filter((name) => name !== "")) {
    // A file that this user does not get to is told of by whoever needs it.
    const says = orElse(() => tooOpen(file), null);
    if (says !== null) found.warn("secrets", says, `chmod 600 ${file}`);
  }
}

/** Whether all secrets of the store can be opened. */
export async function lookAtSecrets({ store, settings }: Examined, found: Findings): Promise<boolean> {
  const { keyIds } = secretBox(parseSecretKeys(settings.store.secretKey)!);
  const counts = await countSecrets(store);
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const missing = counts.flatMap(({ keyId }) => (keyId === null || keyIds.includes(keyId) ? [] : [keyId]));
  if (missing.length > 0) {
    found.wrong(
      "secrets",
      missingKey(missing, keyIds.length > 0),
      "the catalogue and the carriers are looked at after that",
    );
    return false;
  }
  const [newest] = keyIds;
  const outdated = counts.filter(({ keyId }) => keyId !== newest).reduce((sum, { count }) => sum + count, 0);
  if (newest === undefined)
    found.ok(
      "secrets",
      `${counted(total, "secret is", "secrets are")} kept as they are: [store] secretKeyFile would have them sealed`,
    );
  else if (outdated > 0)
    found.warn(
      "secrets",
      `${outdated} of ${total} are not sealed with the newest key`,
      '"heliograph secrets seal" does it',
    );
  else found.ok("secrets", `${counted(total, "secret is", "secrets are")} sealed with the key ${newest}`);
  return true;
}
