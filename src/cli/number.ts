/** `heliograph number list|set|delete`: numbers to which phones write, and whose they are. */
import { Command } from "commander";
import type { ItemFields } from "../catalogue/file.ts";
import { IncomingNumber } from "../catalogue/numbers.ts";
import { plainSender } from "../sms/addresses.ts";
import { deleteItem, listing, putItem, withFields } from "./catalogue-items.ts";
import type { Column, JsonOption } from "./show.ts";
import { type CommonOptions, jsonCommand, storeCommand, UsageFault } from "./support.ts";

const COLUMNS: readonly Column<IncomingNumber>[] = [
  { title: "NUMBER", of: ({ number }) => number },
  { title: "ACCOUNT", of: ({ account }) => account },
  { title: "FORWARDED TO", of: ({ forwardUrl }) => forwardUrl ?? "fetched" },
  { title: "STOP WORDS", of: ({ stopKeywords }) => stopKeywords?.join(",") ?? null },
  { title: "KEYWORDS", of: ({ keywords }) => keywords?.join(",") ?? null },
];

export function numberCommand(): Command {
  const list = jsonCommand("list", "Show the numbers to which phones write.", "heliograph number list").action(
    listing("number", COLUMNS, "number"),
  );

  const set = jsonCommand(
    "set",
    "Give a number to an account, or change what is done with messages to it. docs/incoming.md lists the fields; name= takes one away.",
    "heliograph number set 12345 account=ACME forwardUrl=https://acme.example/incoming stopKeywords=STOP,END",
    "heliograph number set 12345 forwardUrl=",
  )
    .argument("<number>", "in international form, or a short code")
    .argument("<fields...>", "name=value; a list has commas")
    .action(async (written: string, pairs: readonly string[], options: CommonOptions & JsonOption) => {
      const number = plainSender(written);
      if (pairs.some((pair) => /^number=/.test(pair))) throw new UsageFault("a number stays: set another one");
      const change = (before: ItemFields | null) => withFields(before ?? { number }, pairs, IncomingNumber);
      await putItem(options, { kind: "number", id: number }, change);
    });

  const remove = storeCommand("delete", "Take a number away from its account.", "heliograph number delete 12345")
    .argument("<number>", "as in the list")
    .action((number: string, options: CommonOptions) =>
      deleteItem(options, { kind: "number", id: plainSender(number) }),
    );

  return new Command("number")
    .description("Numbers to which phones write.")
    .addCommand(list)
    .addCommand(set)
    .addCommand(remove);
}
