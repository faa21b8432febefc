/** `heliograph exchange list|set|delete`: what one currency is worth in another. */
import { Command } from "commander";
import type { ExchangeRate } from "../catalogue/file.ts";
import { deleteItem, listing, putItem } from "./catalogue-items.ts";
import type { Column, JsonOption } from "./show.ts";
import { type CommonOptions, jsonCommand, storeCommand } from "./support.ts";

const COLUMNS: readonly Column<ExchangeRate>[] = [
  { title: "FROM", of: ({ from }) => from },
  { title: "TO", of: ({ to }) => to },
  { title: "RATE", of: ({ rate }) => rate, right: true },
];

export function exchangeCommand(): Command {
  const list = jsonCommand("list", "Show the exchange rates.", "heliograph exchange list").action(
    listing("exchangeRate", COLUMNS, "exchange rate"),
  );

  const set = jsonCommand(
    "set",
    "Say how many units of one currency are worth a unit of another. Funds in the first are posted in the second at this rate.",
    "heliograph exchange set USD EUR 0.92",
  )
    .argument("<from>", "ISO 4217")
    .argument("<to>", "ISO 4217")
    .argument("<rate>", "a decimal number with at most 6 places")
    .action((from: string, to: string, rate: string, options: CommonOptions & JsonOption) =>
      putItem(options, { kind: "exchangeRate", id: `${from}/${to}` }, () => ({ from, to, rate })),
    );

  const remove = storeCommand("delete", "Delete an exchange rate.", "heliograph exchange delete USD EUR")
    .argument("<from>", "ISO 4217")
    .argument("<to>", "ISO 4217")
    .action((from: string, to: string, options: CommonOptions) =>
      deleteItem(options, { kind: "exchangeRate", id: `${from}/${to}` }),
    );

  return new Command("exchange").description("Exchange rates.").addCommand(list).addCommand(set).addCommand(remove);
}
