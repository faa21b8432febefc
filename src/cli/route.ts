/** `heliograph route list|set|delete`: which numbers go to which carriers. */
import { Command } from "commander";
import { groupsOf, type Route } from "../catalogue/file.ts";
import { deleteItem, listing, prefixOf, putItem, shownPrefix } from "./catalogue-items.ts";
import type { Column, JsonOption } from "./show.ts";
import { type CommonOptions, jsonCommand, storeCommand, UsageFault } from "./support.ts";

const COLUMNS: readonly Column<Route>[] = [
  { title: "PREFIX", of: ({ prefix }) => shownPrefix(prefix) },
  { title: "CARRIERS", of: (route) => groupsOf(route).map(groupText).join(", then ") },
];

/** "acme=3 other" */
export function groupText(group: readonly { carrier: string; weight?: number | undefined }[]): string {
  return group.map(({ carrier, weight }) => (weight === undefined ? carrier : `${carrier}=${weight}`)).join(" ");
}

export function routeCommand(): Command {
  const list = jsonCommand(
    "list",
    "Show the routes. The longest prefix that fits a number decides; * fits all.",
    "heliograph route list",
  ).action(listing("route", COLUMNS, "route", "There are no routes, so every message is rejected."));

  const set = jsonCommand(
    "set",
    "Send numbers with a prefix to a carrier, or to groups of carriers. Each word is a group: its carriers share the messages by weight, and the next group gets them while none of it is up.",
    "heliograph route set 41 acme",
    "heliograph route set 41 acme=3,other backup     # three of four to acme; to backup when neither is up",
    "heliograph route set '*' acme                   # all other numbers",
  )
    .argument("<prefix>", "digits, or * for all numbers")
    .argument("<groups...>", "carriers with commas between them, each with =weight if it is not 1")
    .action(async (prefix: string, groups: readonly string[], options: CommonOptions & JsonOption) => {
      const route = routeOf(prefixOf(prefix), groups.map(readGroup));
      await putItem(options, { kind: "route", id: route.prefix }, () => route);
    });

  const remove = storeCommand(
    "delete",
    "Delete a route: its numbers take the next shorter prefix.",
    "heliograph route delete 41",
  )
    .argument("<prefix>", "digits, or * for all numbers")
    .action((prefix: string, options: CommonOptions) => deleteItem(options, { kind: "route", id: prefixOf(prefix) }));

  return new Command("route")
    .description('Which numbers go to which carriers; "heliograph rate quote" tells of one number.')
    .addCommand(list)
    .addCommand(set)
    .addCommand(remove);
}

type Group = { carrier: string; weight?: number }[];

function readGroup(text: string): Group {
  return text.split(",").map((piece) => {
    const found = /^([A-Za-z0-9_.-]+)(?:=(\d{1,4}))?$/.exec(piece.trim());
    if (found === null) throw new UsageFault(`"${piece}" is no carrier: write its id, or id=weight`);
    const [, carrier = "", weight] = found;
    return weight === undefined ? { carrier } : { carrier, weight: Number(weight) };
  });
}

/** A single carrier is written as one, and not as a group of one. */
function routeOf(prefix: string, groups: Group[]): Route {
  const [only] = groups[0]!;
  if (groups.flat().length === 1 && only!.weight === undefined) return { prefix, carrier: only!.carrier };
  return { prefix, groups };
}
