/** `heliograph init`: sets up the data of a real service and makes its first operator. */
import type { Command } from "commander";
import { createFirstOperator } from "../admin/accounts.ts";
import { storeName } from "../store/open.ts";
import { sayCreated } from "./account.ts";
import { accountParts, commandLine } from "./operator.ts";
import { CommandFault, type CommonOptions, requireData, say, settingsOf, storeCommand, withStore } from "./support.ts";

export function initCommand(): Command {
  return storeCommand(
    "init",
    "Set up a real service: its store and its first operator, whose password is printed once.",
    "heliograph init --data /var/lib/heliograph",
  )
    .option("--username <name>", "the operator's", "operator")
    .action(async (options: CommonOptions & { readonly username: string }) => {
      const settings = settingsOf(options);
      requireData(settings, { orNone: true });
      await withStore(settings, async (store) => {
        if ((await store.claimPurpose({ purpose: "production" })) !== "production") {
          throw new CommandFault(
            `${storeName(settings)} is a sandbox's, with passwords that everybody knows: name another directory with --data`,
          );
        }
        if ((await store.countAccounts({ kind: "operator" })) > 0) {
          throw new CommandFault(
            `${storeName(settings)} is set up already; "heliograph account create" makes more accounts`,
          );
        }
        const { username } = options;
        sayCreated(await createFirstOperator(accountParts(store, settings), commandLine(), username), username);
      });
      say(`
Next:
  heliograph apply FILE        carriers, routes and prices; example.catalogue.toml shows the form
  heliograph account create    clients and resellers
  heliograph serve             run it`);
    });
}
