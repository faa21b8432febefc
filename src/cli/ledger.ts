/** `heliograph ledger verify`: whether balances, postings and messages agree. */
import { Command } from "commander";
import { Failed } from "./fault.ts";
import { counted, type JsonOption, printable, showJson } from "./show.ts";
import { type CommonOptions, jsonCommand, onStore, say } from "./support.ts";

export function ledgerCommand(): Command {
  const verify = jsonCommand(
    "verify",
    "Check that every balance is the sum of its postings, that nobody is below the credit limit, and that accounts paid what their messages cost. It reads all postings, and changes nothing.",
    "heliograph ledger verify",
  ).action(async (options: CommonOptions & JsonOption) => {
    const faults = await onStore(options, (store) => store.verifyLedger());
    if (options.json === true) showJson({ ok: faults.length === 0, faults });
    else {
      for (const fault of faults) say(printable(fault));
      say(
        faults.length === 0
          ? "The books agree."
          : `${counted(faults.length, "fault")}. Keep a copy of the store as it is, and report them: no command of ours may cause them.`,
      );
    }
    if (faults.length > 0) throw new Failed();
  });
  return new Command("ledger").description("The books.").addCommand(verify);
}
