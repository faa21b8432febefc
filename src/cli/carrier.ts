/** `heliograph carrier list|show|set|try|reconnect|delete`: carriers one by one; `heliograph apply` takes them all from a file. */
import { Command } from "commander";
import { type NodeCarrierState, reconnectCarrier } from "../admin/carriers.ts";
import { itemNamed, listItems } from "../admin/catalogue.ts";
import { fieldsOf, shownFields } from "../admin/items.ts";
import { callbackUrls } from "../carriers/http/callbacks.ts";
import type { Values } from "../carriers/http/template.ts";
import { CARRIER_KINDS, type CarrierProfile, kindNamed, kindOf } from "../catalogue/carrier-kinds.ts";
import { carriersOf, type ItemFields, type Route } from "../catalogue/file.ts";
import { servingOf } from "../doctor/serving.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { Settings } from "../settings/settings.ts";
import { storeName } from "../store/open.ts";
import { CARRIER_SECRETS, type CarrierSecret } from "../store/port/secrets.ts";
import type { Store } from "../store/port/store.ts";
import { liveCarrierStates } from "./carrier-states.ts";
import { carrierTryCommand } from "./carrier-try.ts";
import { deleteItem, forPeople, itemsOf, putItem, withFields } from "./catalogue-items.ts";
import { readSecrets } from "./console.ts";
import {
  type Column,
  howMany,
  type JsonOption,
  printable,
  showFields,
  showList,
  shownAsJson,
  written,
} from "./show.ts";
import {
  byCommandLine,
  CommandFault,
  type CommonOptions,
  jsonCommand,
  onStore,
  say,
  storeCommand,
  UsageFault,
} from "./support.ts";

/** How a node stands with a carrier. */
function shownState({ node, state, sinceMs, reason, nextTryMs, bound, connections }: NodeCarrierState) {
  const nextTryAt = nextTryMs === null ? null : formatDateTime(nextTryMs);
  return { node, state, since: formatDateTime(sinceMs), reason, nextTryAt, bound, connections };
}

type ShownState = ReturnType<typeof shownState>;

/** "waiting until 2026-11-16T15:04:05.000+0000, 0 of 2 connections" */
function stateWords({ state, nextTryAt, bound, connections }: ShownState): string {
  const until = nextTryAt === null ? "" : ` until ${nextTryAt}`;
  return `${state}${until}${connections > 1 ? `, ${bound} of ${connections} connections` : ""}`;
}

/** A row for each node that serves the carrier; one without a node where none does. */
type Row = CarrierProfile & { readonly routes: readonly string[]; readonly now: ShownState | null };

const COLUMNS: readonly Column<Row>[] = [
  { title: "CARRIER", of: ({ id }) => id },
  { title: "KIND", of: ({ kind }) => kind },
  { title: "HOSTS", of: (carrier) => kindOf(carrier).hosts(carrier).join(", ") || null },
  { title: "SYSTEM ID", of: (carrier) => kindOf(carrier).login(carrier) },
  { title: "BINDS", of: (carrier) => kindOf(carrier).binds(carrier), right: true },
  {
    title: "PARTS/S",
    of: (carrier) => ("partsPerSecond" in carrier ? (carrier.partsPerSecond ?? null) : null),
    right: true,
  },
  { title: "ROUTES", of: ({ routes }) => routes.map((prefix) => (prefix === "" ? "*" : prefix)).join(", ") || "none" },
];
const NODE: Column<Row> = { title: "NODE", of: ({ now }) => now?.node ?? null };
const STATE: readonly Column<Row>[] = [
  { title: "STATE", of: ({ now }) => (now === null ? "not served" : stateWords(now)) },
  { title: "SINCE", of: ({ now }) => now?.since ?? null },
  { title: "REASON", of: ({ now }) => (now === null ? "no running service serves it" : now.reason) },
];

type SetOptions = CommonOptions & JsonOption & { readonly [Secret in CarrierSecret as `${Secret}Stdin`]?: boolean };

/** How a secret is given: others can see a command line. */
const SECRET_OPTIONS: Readonly<Record<CarrierSecret, { readonly flag: string; readonly noun: string }>> = {
  password: { flag: "--password-stdin", noun: "password" },
  apiKey: { flag: "--api-key-stdin", noun: "API key" },
  callbackSecret: { flag: "--callback-secret-stdin", noun: "callback secret" },
};

export function carrierCommand(): Command {
  const list = jsonCommand(
    "list",
    "Show the carriers, which routes lead to them, and how each node that runs stands with them.",
    "heliograph carrier list",
  ).action(listCarriers);

  const show = jsonCommand(
    "show",
    "Show one carrier's profile, without its secrets, where a provider over HTTP calls us, and how each node that runs stands with it.",
    "heliograph carrier show acme",
  )
    .argument("<id>", "the carrier's")
    .action(async (id: string, options: CommonOptions & JsonOption) => {
      const { item, states, publicUrl } = await onStore(options, async (store, settings) => ({
        item: await itemNamed(store, { kind: "carrier", id }),
        states: await statesOf(store, settings, id),
        publicUrl: settings.server.publicUrl,
      }));
      const fields = shownFields(item);
      const profile = fieldsOf<CarrierProfile>(item);
      const called = kindOf(profile).called(profile);
      const callbacks = called === null ? null : callbackUrls(called, publicUrl);
      if (shownAsJson(options, { ...fields, ...(callbacks === null ? {} : { callbacks }), states })) return;
      showFields(Object.fromEntries(Object.entries(forPeople(fields)).map(([name, value]) => [name, written(value)])));
      if (callbacks !== null) for (const line of callbackLines(callbacks, publicUrl)) say(printable(line));
      if (states.length === 0) say("No running service serves it.");
      for (const one of states) {
        const why = one.reason === null ? "" : `: ${one.reason}`;
        say(printable(`On ${one.node}: ${stateWords(one)}, since ${one.since}${why}`));
      }
    });

  const set = jsonCommand(
    "set",
    "Make a carrier, or change fields of one. docs/carriers.md lists the fields; name= takes one away. A connection whose profile changes is made anew.",
    "heliograph carrier set acme kind=smpp hosts=smpp1.acme.example:2775,smpp2.acme.example:2775 systemId=heliograph --password-stdin",
    "heliograph carrier set acme partsPerSecond=200 destinationType=1/1",
    "heliograph carrier set acme tlvs=principalEntityId:0x1400,contentTemplateId:0x1401",
  )
    .argument("<id>", "the carrier's")
    .argument("[fields...]", "name=value; a list has commas")
    .option("--password-stdin", "take a line of standard input for the password")
    .option("--api-key-stdin", "take a line of standard input for the API key; the next one, behind a password")
    .option(
      "--callback-secret-stdin",
      "take a line of standard input for the callback secret; the next one, behind the others",
    )
    .action(setCarrier);

  const reconnect = storeCommand(
    "reconnect",
    "Have a running service, all its nodes, try those connections of a carrier that are not bound, at once; those that are bound stay.",
    "heliograph carrier reconnect acme",
  )
    .argument("<id>", "the carrier's")
    .action(async (id: string, options: CommonOptions) => {
      await onStore(options, async (store, settings) => {
        await itemNamed(store, { kind: "carrier", id });
        if (!(await servingOf(store, settings)).runs)
          throw new CommandFault(
            `no service runs on ${storeName(settings)}, so nobody tries the carrier ${id}: start it ("heliograph serve"); it connects to its carriers by itself then`,
          );
        await reconnectCarrier(store, { id, ...byCommandLine() });
      });
      say(printable(`Every node that runs and serves the carrier ${id} tries its connections within a second.`));
    });

  const remove = storeCommand(
    "delete",
    "Delete a carrier to which no route leads. What waits for it goes elsewhere.",
    "heliograph carrier delete acme",
  )
    .argument("<id>", "the carrier's")
    .action((id: string, options: CommonOptions) => deleteItem(options, { kind: "carrier", id }));

  return new Command("carrier")
    .description("Carriers, one by one. A running service follows a change within a second.")
    .addCommand(list)
    .addCommand(show)
    .addCommand(set)
    .addCommand(carrierTryCommand())
    .addCommand(reconnect)
    .addCommand(remove);
}

async function listCarriers(options: CommonOptions & JsonOption): Promise<void> {
  const { carriers, routes, states } = await onStore(options, async (store, settings) => ({
    states: await liveCarrierStates(store, settings),
    carriers: (await listItems(store, "carrier")).map((item) => shownFields(item) as CarrierProfile),
    routes: await itemsOf<Route>(store, "route"),
  }));
  const rows = carriers.map((carrier) => ({
    ...carrier,
    routes: routes.filter((route) => carriersOf(route).includes(carrier.id)).map(({ prefix }) => prefix),
    states: states.filter(({ carrierId }) => carrierId === carrier.id).map(shownState),
  }));
  const byNode = rows.flatMap((row): Row[] =>
    row.states.length === 0 ? [{ ...row, now: null }] : row.states.map((now) => ({ ...row, now })),
  );
  if (shownAsJson(options, rows)) return;
  const isShared = new Set(states.map(({ node }) => node)).size > 1;
  showList(options, [...COLUMNS, ...(isShared ? [NODE] : []), ...STATE], byNode, howMany(rows.length, "carrier"));
}

async function statesOf(store: Store, settings: Settings, id: string): Promise<ShownState[]> {
  const states = await liveCarrierStates(store, settings);
  return states.filter(({ carrierId }) => carrierId === id).map(shownState);
}

/** Where the provider calls us: whoever knows these addresses can say what became of messages. */
function callbackLines({ receiptsUrl, incomingUrl, eventsUrl }: Values, publicUrl: string): string[] {
  if (publicUrl === "") return ["It cannot call us: [server] publicUrl is not set. It is asked, where it can be."];
  if (receiptsUrl === undefined)
    return ["It cannot call us: it has no secret (password, API key or callback secret) to know it by."];
  return [
    `It calls us with receipts at ${receiptsUrl}`,
    `with what phones write at    ${incomingUrl}`,
    `or with both at              ${eventsUrl}`,
  ];
}

/** One line of standard input for each, in the order of CARRIER_SECRETS. */
async function secretsFromInput(given: readonly CarrierSecret[]): Promise<Partial<Record<CarrierSecret, string>>> {
  if (given.length === 0) return {};
  const lines = await readSecrets();
  return Object.fromEntries(
    given.map((secret, index) => {
      const line = lines[index] ?? "";
      // A password may be none; any other secret that is empty was forgotten.
      if (line === "" && (secret !== "password" || index > 0))
        throw new UsageFault(`standard input has no line for the ${SECRET_OPTIONS[secret].noun}`);
      return [secret, line];
    }),
  );
}

async function setCarrier(id: string, pairs: readonly string[], options: SetOptions): Promise<void> {
  for (const secret of CARRIER_SECRETS) {
    const { flag, noun } = SECRET_OPTIONS[secret];
    // Nothing behind the sign takes it away, which is no secret.
    if (pairs.some((pair) => pair.startsWith(`${secret}=`) && (secret === "password" || pair !== `${secret}=`)))
      throw new UsageFault(`others can see the command line: say ${flag}, and give the ${noun} there`);
  }
  if (pairs.some((pair) => /^id=/.test(pair))) throw new UsageFault("a carrier's id stays: make another carrier");
  const given = CARRIER_SECRETS.filter((secret) => options[`${secret}Stdin`] === true);
  const secrets = await secretsFromInput(given);
  if (pairs.length === 0 && given.length === 0)
    throw new UsageFault("say what to set, such as partsPerSecond=200: docs/carriers.md lists the fields");
  await putItem(options, { kind: "carrier", id }, (before) => {
    const kind = pairs.find((pair) => pair.startsWith("kind="))?.slice("kind=".length) ?? before?.kind ?? "smpp";
    const { schema } = kindNamed(kind) ?? {};
    if (schema === undefined)
      throw new UsageFault(`kind must be one of ${Object.keys(CARRIER_KINDS).join(", ")}, not "${kind}"`);
    const old: ItemFields = before ?? { id, kind };
    const foreign = given.find((secret) => !Object.hasOwn(schema.properties, secret));
    if (foreign !== undefined)
      throw new UsageFault(`a carrier of the kind ${kind} has no ${SECRET_OPTIONS[foreign].noun}`);
    return { ...withFields(old, pairs, schema), ...secrets };
  });
}
