/** `heliograph carrier list|show|set|delete`: carriers one by one; `heliograph apply` takes them all from a file. */
import { Command } from "commander";
import { itemNamed, listItems } from "../admin/catalogue.ts";
import { shownFields } from "../admin/items.ts";
import { CARRIER_KINDS, type CarrierProfile, carrierSchema } from "../catalogue/carrier-kinds.ts";
import { carriersOf, type ItemFields, type Route } from "../catalogue/file.ts";
import { deleteItem, itemsOf, putItem, withFields } from "./catalogue-items.ts";
import { readSecret } from "./console.ts";
import { withExample } from "./example.ts";
import { type Column, counted, type JsonOption, showFields, showJson, showList, withJson, written } from "./show.ts";
import { type CommonOptions, onStore, UsageFault, withStoreOptions } from "./support.ts";

type Shown = CarrierProfile & { readonly routes: readonly string[] };

const COLUMNS: readonly Column<Shown>[] = [
  { title: "CARRIER", of: ({ id }) => id },
  { title: "KIND", of: ({ kind }) => kind },
  { title: "HOSTS", of: (carrier) => (carrier.kind === "smpp" ? carrier.hosts.join(", ") : null) },
  { title: "SYSTEM ID", of: (carrier) => (carrier.kind === "smpp" ? carrier.systemId : null) },
  { title: "BINDS", of: (carrier) => (carrier.kind === "smpp" ? (carrier.binds ?? 1) : null), right: true },
  {
    title: "PARTS/S",
    of: (carrier) => (carrier.kind === "smpp" ? (carrier.partsPerSecond ?? null) : null),
    right: true,
  },
  { title: "ROUTES", of: ({ routes }) => routes.map((prefix) => (prefix === "" ? "*" : prefix)).join(", ") || "none" },
];

interface SetOptions extends CommonOptions, JsonOption {
  readonly passwordStdin?: boolean;
}

export function carrierCommand(): Command {
  const list = withExample(
    withJson(withStoreOptions(new Command("list").description("Show the carriers, and which routes lead to them."))),
    "heliograph carrier list",
  ).action(listCarriers);

  const show = withExample(
    withJson(withStoreOptions(new Command("show").description("Show one carrier's profile, without its password."))),
    "heliograph carrier show acme",
  )
    .argument("<id>", "the carrier's")
    .action(async (id: string, options: CommonOptions & JsonOption) => {
      const item = await onStore(options, (store) => itemNamed(store, { kind: "carrier", id }));
      const fields = shownFields(item);
      if (options.json === true) showJson(fields);
      else showFields(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, written(value)])));
    });

  const set = withExample(
    withJson(
      withStoreOptions(
        new Command("set").description(
          "Make a carrier, or change fields of one. docs/carriers.md lists the fields; name= takes one away. A connection whose profile changes is made anew.",
        ),
      ),
    ),
    "heliograph carrier set acme kind=smpp hosts=smpp1.acme.example:2775,smpp2.acme.example:2775 systemId=heliograph --password-stdin",
    "heliograph carrier set acme partsPerSecond=200 destinationType=1/1",
  )
    .argument("<id>", "the carrier's")
    .argument("[fields...]", "name=value; a list has commas")
    .option("--password-stdin", "take the first line of standard input for the password")
    .action(setCarrier);

  const remove = withExample(
    withStoreOptions(
      new Command("delete").description("Delete a carrier to which no route leads. What waits for it goes elsewhere."),
    ),
    "heliograph carrier delete acme",
  )
    .argument("<id>", "the carrier's")
    .action((id: string, options: CommonOptions) =>
      onStore(options, (store) => deleteItem(store, { kind: "carrier", id })),
    );

  return new Command("carrier")
    .description("Carriers, one by one. A running service follows a change within a second.")
    .addCommand(list)
    .addCommand(show)
    .addCommand(set)
    .addCommand(remove);
}

async function listCarriers(options: CommonOptions & JsonOption): Promise<void> {
  const { carriers, routes } = await onStore(options, async (store) => ({
    carriers: (await listItems(store, "carrier")).map((item) => shownFields(item) as CarrierProfile),
    routes: await itemsOf<Route>(store, "route"),
  }));
  const rows = carriers.map((carrier) => ({
    ...carrier,
    routes: routes.filter((route) => carriersOf(route).includes(carrier.id)).map(({ prefix }) => prefix),
  }));
  showList(
    options,
    COLUMNS,
    rows,
    rows.length === 0 ? "There are no carriers." : `${counted(rows.length, "carrier")}.`,
  );
}

async function setCarrier(id: string, pairs: readonly string[], options: SetOptions): Promise<void> {
  if (pairs.some((pair) => /^password=/.test(pair)))
    throw new UsageFault("others can see the command line: say --password-stdin, and give the password there");
  if (pairs.some((pair) => /^id=/.test(pair))) throw new UsageFault("a carrier's id stays: make another carrier");
  const password = options.passwordStdin === true ? { password: await readSecret() } : {};
  if (pairs.length === 0 && options.passwordStdin !== true)
    throw new UsageFault("say what to set, such as partsPerSecond=200: docs/carriers.md lists the fields");
  await onStore(options, (store) =>
    putItem(
      store,
      { kind: "carrier", id },
      (before) => {
        const kind = pairs.find((pair) => pair.startsWith("kind="))?.slice("kind=".length) ?? before?.kind ?? "smpp";
        const schema = carrierSchema(kind);
        if (schema === null)
          throw new UsageFault(`kind must be one of ${Object.keys(CARRIER_KINDS).join(", ")}, not "${kind}"`);
        const old: ItemFields = before ?? { id, kind };
        return { ...withFields(old, pairs, schema), ...password };
      },
      options,
    ),
  );
}
