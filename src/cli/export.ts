/** `heliograph export [FILE]`: the catalogue in force as the file that `heliograph apply` takes back. */
import type { Command } from "commander";
import { exportCatalogue } from "../admin/catalogue-file.ts";
import { KEEP } from "../admin/items.ts";
import { writePrivateFile } from "../runtime/private-files.ts";
import { shellWord } from "../runtime/text.ts";
import { print } from "./console.ts";
import { CommandFault, type CommonOptions, onStore, say, storeCommand } from "./support.ts";

interface ExportOptions extends CommonOptions {
  readonly withSecrets?: boolean;
  readonly force?: boolean;
}

export function exportCommand(): Command {
  return storeCommand(
    "export",
    `Write the whole catalogue as one TOML file, which "heliograph apply" takes back unchanged. Carriers' secrets read "${KEEP}", which apply takes for the one in force, unless they are asked for.`,
    "heliograph export catalogue.toml",
    "heliograph export --with-secrets whole.toml     # for another service; the file is its owner's alone",
  )
    .argument("[file]", "where to (default: standard output)")
    .option("--with-secrets", "write the carriers' passwords, API keys and callback secrets too")
    .option("--force", "write over a file that is there")
    .action(async (file: string | undefined, options: ExportOptions) => {
      const withSecrets = options.withSecrets === true;
      const text = await onStore(options, (store) => exportCatalogue(store, { withSecrets }));
      if (file === undefined) {
        print(text);
        return;
      }
      try {
        // There may be secrets in it.
        writePrivateFile(file, text, { replace: options.force === true });
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        throw new CommandFault(
          code === "EEXIST"
            ? `${file} is there already: name another file, or say --force to write over it`
            : `${file} cannot be written (${code})`,
        );
      }
      say(`The catalogue is in ${file}; "heliograph apply ${shellWord(file)}" puts it in force.`);
    });
}
