/** `heliograph apply FILE`: puts a catalogue of carriers, routes, prices and numbers in force, after showing what that changes. */
import type { Command } from "commander";
import { applyPlan, type CataloguePlan, planCatalogue } from "../admin/catalogue-file.ts";
import { fieldsOf, KEEP, nameOf, shownFields } from "../admin/items.ts";
import { ITEM_KINDS } from "../catalogue/file.ts";
import { FileFault, MAX_CATALOGUE_OCTETS, readGivenFile } from "../runtime/files.ts";
import type { CatalogueItem } from "../store/port/catalogue.ts";
import { isCarrierSecret } from "../store/port/secrets.ts";
import { summary } from "./catalogue-items.ts";
import { currencyOf, linesOf } from "./changes.ts";
import { confirmed, isTerminal } from "./console.ts";
import { withExample } from "./example.ts";
import { counted, type Difference, differences, type JsonOption, printable, showJson } from "./show.ts";
import { byCommandLine, CommandFault, type CommonOptions, jsonCommand, onStore, say } from "./support.ts";

interface ApplyOptions extends CommonOptions, JsonOption {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

const HELP = `
The file is the whole catalogue: what it does not name is deleted. First the plan is shown: what is made (+), changed field by field (~) and
deleted (-). On a terminal it then asks, unless --yes is given; anywhere else, as in a script, it goes on, but deletes only with --yes. A carrier's secret that
reads "${KEEP}" stays as it is: "heliograph export" writes files so.`;

export function applyCommand(): Command {
  return withExample(
    jsonCommand(
      "apply",
      "Put a catalogue in force: carriers, routes, rate plans, exchange rates, numbers. A running service follows within a second.",
    ).addHelpText("after", HELP),
    "heliograph apply catalogue.toml",
    "heliograph apply catalogue.toml --dry-run",
  )
    .argument("<file>", "TOML; example.catalogue.toml shows the form")
    .option("--yes", "do not ask")
    .option("--dry-run", "show what would change, and change nothing")
    .action(apply);
}

async function apply(file: string, options: ApplyOptions): Promise<void> {
  let text: string;
  try {
    text = readGivenFile(file, MAX_CATALOGUE_OCTETS);
  } catch (error) {
    throw new CommandFault(error instanceof FileFault ? error.message : `${file} cannot be read`);
  }
  await onStore(options, async (store) => {
    const plan = await planCatalogue(store, text, file);
    const isEmpty = plan.created.length + plan.changed.length + plan.deleted.length === 0;
    if (options.json === true) showJson(shownPlan(plan));
    else showPlan(plan);
    if (isEmpty || options.dryRun === true) {
      if (options.json !== true)
        say(isEmpty ? "Nothing changes: all of the file is in force." : "Nothing is changed yet.");
      return;
    }
    if (options.yes !== true && !isTerminal() && plan.deleted.length > 0)
      throw new CommandFault(
        `nothing is changed: it would delete ${counted(plan.deleted.length, "item")}, so say --yes`,
      );
    if (options.yes !== true && isTerminal() && !(await confirmed("Put it in force?")))
      throw new CommandFault("nothing is changed");
    await applyPlan(store, plan, byCommandLine());
    if (options.json === true) return;
    const count = (kind: string): number => plan.wanted.filter((item) => item.kind === kind).length;
    say(
      `In force: carriers ${count("carrier")}, routes ${count("route")}, rate plans ${count("ratePlan")}, exchange rates ${count("exchangeRate")}, numbers ${count("number")}.`,
    );
  });
}

/** Field by field, and of a secret only that it is another one. */
function changesOf(before: CatalogueItem, after: CatalogueItem): Difference[] {
  return differences(fieldsOf(before), fieldsOf(after)).map((one) =>
    isCarrierSecret(one.field) ? { field: one.field, before: "(hidden)", after: "(another one)" } : one,
  );
}

function showPlan({ created, changed, deleted }: CataloguePlan): void {
  const inOrder = <Item>(items: readonly Item[], kindOf: (item: Item) => string): Item[] =>
    ITEM_KINDS.flatMap((kind) => items.filter((item) => kindOf(item) === kind));
  for (const item of inOrder(created, ({ kind }) => kind)) say(`+ ${printable(nameOf(item))}: ${summary(item)}`);
  for (const { before, after } of inOrder(changed, ({ after }) => after.kind)) {
    say(`~ ${printable(nameOf(after))}`);
    for (const line of linesOf(changesOf(before, after), currencyOf(fieldsOf(after)))) say(`    ${line}`);
  }
  for (const item of inOrder(deleted, ({ kind }) => kind)) say(`- ${printable(nameOf(item))}: ${summary(item)}`);
  const counts = [
    [created, "to make"],
    [changed, "to change"],
    [deleted, "to delete"],
  ] as const;
  const told = counts
    .filter(([items]) => items.length > 0)
    .map(([items, what]) => `${counted(items.length, "item")} ${what}`);
  if (told.length > 0) say(`${told.join(", ")}.`);
}

function shownPlan({ created, changed, deleted }: CataloguePlan) {
  const shown = ({ kind, id, body }: CatalogueItem) => ({ kind, id, item: shownFields({ body }) });
  return {
    created: created.map(shown),
    changed: changed.map(({ before, after }) => ({ kind: after.kind, id: after.id, fields: changesOf(before, after) })),
    deleted: deleted.map(shown),
  };
}
