/** `heliograph secrets make-key|seal`: the key that seals secrets in the store, and what was stored before there was one. */
import { Command } from "commander";
import { readSecretFile, writePrivateFile } from "../runtime/private-files.ts";
import { makeSecretKey, parseSecretKeys, secretBox } from "../runtime/secrets.ts";
import { countSecrets, sealAllSecrets } from "../store/open.ts";
import { withExample } from "./example.ts";
import { counted } from "./show.ts";
import { CommandFault, type CommonOptions, requireData, say, settingsOf, storeCommand, withStore } from "./support.ts";

const HELP = `
Sealed are the secrets that sign reports, those of second factors, and the carriers' passwords. Without its key sealed data cannot be served, nor a backup of it: keep the key
on every node, and a copy of it apart from the backups.

To seal what there is:
  1. heliograph secrets make-key /etc/heliograph/secret-key
  2. Name it on every node ([store] secretKeyFile, or HELIOGRAPH_STORE_SECRET_KEY_FILE), and start each node again.
  3. heliograph secrets seal

To change the key:
  1. heliograph secrets make-key /etc/heliograph/secret-key --add, and the same file to every node, which is started again.
  2. heliograph secrets seal
  3. Take the second line out of the file. Backups from before need that key.`;

export function secretsCommand(): Command {
  const makeKey = withExample(
    new Command("make-key").description("Make a key in a new file, which is its owner's alone."),
    "heliograph secrets make-key /etc/heliograph/secret-key",
  )
    .argument("<file>")
    .option("--add", "put it before the keys in a file that is there")
    .action(makeKeyIn);

  const seal = storeCommand(
    "seal",
    "Seal with the newest key what is not: secrets from before there was a key, or under an older one. Services may run; interrupted, run it again.",
    "heliograph secrets seal --config /etc/heliograph.toml",
  )
    .option("--renew-lost", "make those anew whose key is lost; whoever has the old ones must be told")
    .action(sealAll);

  return new Command("secrets")
    .description("Secrets in the store: sealed with a key that is not in it.")
    .addHelpText("after", HELP)
    .addCommand(makeKey)
    .addCommand(seal);
}

function makeKeyIn(file: string, { add }: { readonly add?: boolean }): void {
  const key = makeSecretKey();
  try {
    const before = add === true ? readSecretFile(file) : "";
    if (parseSecretKeys(before) === null) throw new CommandFault(`${file} holds something else than keys`);
    writePrivateFile(file, add === true ? `${key}\n${before}\n` : `${key}\n`, { replace: add === true });
  } catch (error) {
    if (error instanceof CommandFault) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandFault(
      code === "EEXIST"
        ? `${file} is there already: name another file, or say --add to put a new key before those in it`
        : `${file} cannot be written: ${message}`,
    );
  }
  const [id] = secretBox(parseSecretKeys(key)!).keyIds;
  say(
    `The key ${id} is in ${file}. Keep a copy of it apart from the backups: without it they cannot be served.\nName the file in [store] secretKeyFile, or in HELIOGRAPH_STORE_SECRET_KEY_FILE.`,
  );
}

async function sealAll(options: CommonOptions & { readonly renewLost?: boolean }): Promise<void> {
  const settings = settingsOf(options);
  requireData(settings);
  const [newest] = secretBox(parseSecretKeys(settings.store.secretKey)!).keyIds;
  if (newest === undefined)
    throw new CommandFault(
      'there is no key: make one with "heliograph secrets make-key FILE" and name it in [store] secretKeyFile',
    );
  await withStore(settings, async (store) => {
    const { sealed, lost } = await sealAllSecrets(store, options.renewLost === true);
    for (const place of lost) say(`${place} could not be opened and is new`);
    if (lost.length > 0)
      say(
        'Give the accounts a secret that their clients know ("heliograph account rotate-secret KEY"), and the carriers their passwords ("heliograph carrier set ID --password-stdin").',
      );
    const all = (await countSecrets(store)).filter(({ keyId }) => keyId === newest);
    const total = all.reduce((sum, { count }) => sum + count, 0);
    say(
      `${counted(sealed, "secret is", "secrets are")} sealed now that were not, ${total} altogether, with the key ${newest}.`,
    );
  });
}
