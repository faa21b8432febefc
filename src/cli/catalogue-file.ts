/** The catalogue as a file again: the form that `heliograph apply` reads, with or without the carriers' passwords. */
import { parse } from "smol-toml";
import { CatalogueFault, readCatalogueFile } from "../catalogue/file.ts";
import type { CatalogueItem } from "../store/port.ts";
import { isSame } from "./show.ts";
import { CommandFault } from "./support.ts";

/** In place of a carrier's password: keep the one that is in force. It is longer than any password of SMPP, so it is never one itself. */
export const KEEP = "(unchanged)";

type Body = Readonly<Record<string, unknown>>;

/** The order of a file: what others refer to stands first. */
export const KINDS = ["carrier", "route", "ratePlan", "exchangeRate", "number"] as const;

export function bodyOf({ body }: Pick<CatalogueItem, "body">): Body {
  return JSON.parse(body);
}

/** Without secrets. */
export function shownBody(item: Pick<CatalogueItem, "body">): Body {
  const body = bodyOf(item);
  return "password" in body ? { ...body, password: KEEP } : body;
}

export function writeCatalogueFile(
  items: readonly CatalogueItem[],
  bodyFor: (item: CatalogueItem) => Body = bodyOf,
): string {
  const tables = KINDS.flatMap((kind) => items.filter((item) => item.kind === kind)).map(
    (item) => `[[${item.kind}]]\n${fieldsOf(bodyFor(item))}\n`,
  );
  return tables.join("\n");
}

function fieldsOf(body: Body): string {
  return Object.entries(body)
    .map(([name, value]) => `${name} = ${longList(value) ?? tomlOf(value)}`)
    .join("\n");
}

/** A rate plan has a line for each price. */
function longList(value: unknown): string | null {
  if (!Array.isArray(value) || value.length < 2 || typeof value[0] !== "object") return null;
  return `[\n${value.map((one) => `  ${tomlOf(one)},\n`).join("")}]`;
}

function tomlOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlOf).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    return `{ ${Object.entries(value)
      .map(([name, part]) => `${name} = ${tomlOf(part)}`)
      .join(", ")} }`;
  }
  // JSON's strings are TOML's, but for one character that TOML wants written out.
  return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
}

/** Reads a file for `apply`. Carriers whose password is to be kept have that of the catalogue in force. */
export function readForApply(text: string, inForce: readonly CatalogueItem[]): CatalogueItem[] {
  if (!text.includes(KEEP)) return readCatalogueFile(text);
  let file: { carrier?: unknown };
  try {
    file = parse(text) as typeof file;
  } catch {
    return readCatalogueFile(text); // which says what is wrong
  }
  if (!Array.isArray(file.carrier)) return readCatalogueFile(text);
  const carriers = (file.carrier as Body[]).map((carrier) => {
    if (carrier.password !== KEEP) return carrier;
    const known = inForce.find(({ kind, id }) => kind === "carrier" && id === carrier.id);
    const password = known === undefined ? undefined : bodyOf(known).password;
    if (password === undefined) {
      throw new CommandFault(
        `carrier "${carrier.id}" has the password "${KEEP}", and there is none in force to keep: write its password in the file`,
      );
    }
    return { ...carrier, password };
  });
  const others = Object.entries(file).filter(([name]) => name !== "carrier");
  const items = carriers.map((body) => ({ kind: "carrier" as const, id: String(body.id), body: JSON.stringify(body) }));
  return readCatalogueFile([writeCatalogueFile(items), ...others.map(otherOf)].join("\n"));
}

function otherOf([name, value]: [string, unknown]): string {
  if (!Array.isArray(value)) return `${name} = ${tomlOf(value)}`;
  return value.map((body) => `[[${name}]]\n${fieldsOf(body)}\n`).join("\n");
}

/** The items as they would stand in a file: whatever cannot be is told, by the item's name. */
export function checkedItems(items: readonly CatalogueItem[]): CatalogueItem[] {
  try {
    return readCatalogueFile(writeCatalogueFile(items));
  } catch (error) {
    if (!(error instanceof CatalogueFault)) throw error;
    const place = /^(\w+)\.(\d+)\.?/.exec(error.message);
    const item = place === null ? undefined : items.filter(({ kind }) => kind === place[1])[Number(place[2])];
    if (item === undefined) throw new CommandFault(error.message.replace("is not in the file", "does not exist"));
    throw new CommandFault(`${item.kind} "${item.id}": ${error.message.slice(place![0].length)}`);
  }
}

/** What putting `wanted` in force would do. */
export interface Plan {
  readonly created: readonly CatalogueItem[];
  readonly changed: readonly { readonly before: CatalogueItem; readonly after: CatalogueItem }[];
  readonly deleted: readonly CatalogueItem[];
}

export function planOf(inForce: readonly CatalogueItem[], wanted: readonly CatalogueItem[]): Plan {
  const nameOf = ({ kind, id }: CatalogueItem): string => `${kind} ${id}`;
  const before = new Map(inForce.map((item) => [nameOf(item), item]));
  const names = new Set(wanted.map(nameOf));
  return {
    created: wanted.filter((item) => !before.has(nameOf(item))),
    changed: wanted.flatMap((after) => {
      const old = before.get(nameOf(after));
      return old === undefined || isSame(bodyOf(old), bodyOf(after)) ? [] : [{ before: old, after }];
    }),
    deleted: inForce.filter((item) => !names.has(nameOf(item))),
  };
}
