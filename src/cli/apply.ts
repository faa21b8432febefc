/** `heliograph apply FILE`: puts a catalogue of carriers, routes, prices and numbers in force. */
import { readFileSync } from "node:fs";
import { Command } from "commander";
import { readCatalogueFile } from "../catalogue/file.ts";
import { CommandFault, type CommonOptions, onStore, say, withStoreOptions } from "./support.ts";

export function applyCommand(): Command {
  const command = new Command("apply").description(
    "Put a catalogue in force: carriers, routes, rate plans, exchange rates, numbers. A running service follows within a second.",
  );
  return withStoreOptions(command)
    .argument("<file>", "TOML; sandbox.catalogue.toml shows the form")
    .action(async (file: string, options: CommonOptions) => {
      let text: string;
      try {
        text = readFileSync(file, "utf8");
      } catch {
        throw new CommandFault(`${file} cannot be read`);
      }
      const items = readCatalogueFile(text);
      await onStore(options, (store) => store.putCatalogue({ items }));
      const count = (kind: string): number => items.filter((item) => item.kind === kind).length;
      say(
        `In force: carriers ${count("carrier")}, routes ${count("route")}, rate plans ${count("ratePlan")}, exchange rates ${count("exchangeRate")}, numbers ${count("number")}.`,
      );
    });
}
