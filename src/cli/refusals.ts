/** Prints what the operator's rules refuse for the command line: as a sentence that names the option, and with an exit code. */
import type { Refusal } from "../admin/refusal.ts";
import { CommandFault, UsageFault } from "./fault.ts";

/** Fields that have another name on the command line than their own with dashes. */
const NAMES: Readonly<Record<string, string>> = {
  allowedAddresses: "--networks",
  allowedSenders: "--senders",
  amount: "the amount",
  defaultSender: "--sender",
  expiresAt: "--expires",
  number: "the number",
  openingBalance: "--funds",
  password: "the password",
};

/** "limits.messagesPerSecond" → "--messages-per-second", "allowedSenders[3]" → "--senders" */
function nameOf(field: string): string {
  const name = field.replace(/\[\d+\]$/, "").replace(/^limits\./, "");
  const dashed = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll(".", "-");
  return NAMES[name] ?? `--${dashed}`;
}

export function refusalFault(refusal: Refusal): CommandFault {
  switch (refusal.kind) {
    case "invalid": {
      const { field, says, value } = refusal;
      // A password never stands on the command line.
      const Fault = field === "password" ? CommandFault : UsageFault;
      return new Fault(`${nameOf(field)} ${says}${value === undefined ? "" : `, not "${value}"`}`);
    }
    case "outdated":
      return new CommandFault(
        `somebody else has changed the ${refusal.name} at this moment: look at it, and try again`,
      );
    case "conflict":
    case "forbidden": {
      const { field, says } = refusal;
      return new CommandFault(field === null ? says : `${nameOf(field)}: ${says}`);
    }
    case "unknown": {
      const hint = refusal.what === "account" ? ': "heliograph account list" shows them all' : "";
      return new CommandFault(`${refusal.says}${hint}`);
    }
  }
}
