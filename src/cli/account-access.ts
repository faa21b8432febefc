/** `heliograph account password` and `sessions`: who can get in. */
import type { Command } from "commander";
import { endSessions, removeSecondFactor, setPassword, userIn } from "../admin/passwords.ts";
import { readSecret } from "./console.ts";
import { accountParts, commandLine } from "./operator.ts";
import { counted } from "./show.ts";
import { accountNamed, type CommonOptions, onStore, say, storeCommand } from "./support.ts";

interface PasswordOptions extends CommonOptions {
  readonly stdin?: boolean;
  readonly username?: string;
}

export function passwordCommand(): Command {
  return storeCommand(
    "password",
    "Give an account a new password, and end its sessions. It is made here and printed once, or read from standard input; never from the command line, which others can see.",
    "heliograph account password ACME",
    "pass show heliograph/acme | heliograph account password ACME --stdin",
  )
    .argument("<key>", "the account's")
    .option("--stdin", "take the first line of standard input for the password")
    .option("--username <name>", "which of its users, if it has several")
    .action(async (key: string, options: PasswordOptions) => {
      await onStore(options, async (store, settings) => {
        const username = userIn(await accountNamed(store, key), options.username);
        const { text, madeUp } = await setPassword(accountParts(store, settings), commandLine(), {
          accountKey: key,
          username,
          ...(options.stdin === true ? { password: await readSecret() } : {}),
        });
        say(
          madeUp
            ? `The sessions of ${key} are ended. ${username} logs in with this password, which is shown only now:\n${text}`
            : `${username} has the new password, and the sessions of ${key} are ended.`,
        );
      });
    });
}

export function secondFactorCommand(): Command {
  return storeCommand(
    "second-factor",
    "Take a user's second factor away, for one who has lost the phone and the recovery codes, and end the user's sessions. The password stays good.",
    "heliograph account second-factor ACME --reset",
  )
    .argument("<key>", "the account's")
    .requiredOption("--reset", "take it away; the user can enrol another")
    .option("--username <name>", "which of its users, if it has several")
    .action(async (key: string, options: CommonOptions & { readonly username?: string }) => {
      await onStore(options, async (store) => {
        const username = userIn(await accountNamed(store, key), options.username);
        await removeSecondFactor(store, commandLine(), username);
        say(`${username} has no second factor any more, and the user's sessions are ended.`);
      });
    });
}

export function sessionsCommand(): Command {
  return storeCommand(
    "sessions",
    "End all sessions of an account: whoever is logged in has to log in again. Passwords and keys stay good.",
    "heliograph account sessions ACME --end",
  )
    .argument("<key>", "the account's")
    .requiredOption("--end", "end them; the store does not tell more about them")
    .action(async (key: string, options: CommonOptions) => {
      const { ended } = await onStore(options, (store) => endSessions(store, commandLine(), key));
      say(`${counted(ended, "session")} of ${key} ended.`);
    });
}
