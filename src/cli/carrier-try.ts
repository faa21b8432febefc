/** `heliograph carrier try`: one message through a carrier (doctor/carrier-try.ts). */
import type { Command } from "commander";
import { tryCarrier } from "../doctor/carrier-try.ts";
import { byCommandLine, CommandFault, type CommonOptions, onStore, say, storeCommand, wholeOf } from "./support.ts";

interface TryOptions extends CommonOptions {
  readonly to: string;
  readonly from: string;
  readonly text: string;
  readonly wait: string;
}

/** As long as a profile may let an answer take. */
const ANSWER_MS = 600_000;
const MAX_WAIT_SECONDS = 3_600;

export function carrierTryCommand(): Command {
  return storeCommand(
    "try",
    "Send one message through a carrier, past routes and prices, and show the request, the answer and the receipt. It costs what the carrier asks for it, and no account is charged.",
    "heliograph carrier try upstream --to 41793026727",
  )
    .argument("<id>", "the carrier's")
    .requiredOption("--to <number>", "the phone, with its country's code")
    .option("--from <sender>", "the sender", "Heliograph")
    .option("--text <text>", "the text", "Hello from Heliograph")
    .option("--wait <seconds>", "how long to wait for the receipt", "30")
    .action(async (id: string, { wait, ...options }: TryOptions) => {
      const waitMs = wholeOf(wait, "--wait", 0, MAX_WAIT_SECONDS) * 1_000;
      const { to, from, text } = options;
      const problem = await onStore(options, (store, settings) =>
        tryCarrier(store, settings, { id, to, from, text, waitMs, answerMs: ANSWER_MS, ...byCommandLine() }, say),
      );
      if (problem !== null) throw new CommandFault(problem);
    });
}
