/** The tables of the catalogue: routes, exchange rates and numbers, each with its dialogs. */
import { Pencil, Trash2 } from "lucide";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { api } from "../../api.ts";
import { count as figure } from "../../parts/Amount.tsx";
import { Button } from "../../parts/Button.tsx";
import { type Column, DataTable } from "../../parts/DataTable.tsx";
import { Confirm } from "../../parts/Dialog.tsx";
import { Input } from "../../parts/Field.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Empty, ProblemBox } from "../../parts/Page.tsx";
import { Busy } from "../../parts/Status.tsx";
import { say } from "../../parts/Toast.tsx";
import { setQuery, useLocation } from "../../router.ts";
import { useItems } from "./catalogue.ts";
import { ItemDialog, type ItemField, type Values } from "./ItemDialog.tsx";
import {
  countryName,
  type ExchangeRate,
  groupsOf,
  groupText,
  isFound,
  type OwnNumber,
  type Route,
  readGroups,
  routePath,
  shownPrefix,
} from "./items.ts";

/** A field that filters, kept in the address. */
export function Search({ label }: { label: string }) {
  const { query } = useLocation();
  return (
    <Input
      type="search"
      aria-label={label}
      placeholder={label}
      value={query.q ?? ""}
      onInput={(event) => setQuery({ q: event.currentTarget.value })}
    />
  );
}

export function RowActions({ name, onEdit, onDelete }: { name: string; onEdit: () => void; onDelete: () => void }) {
  return (
    <span class="routes-actions">
      <button type="button" class="copy" aria-label={`Change ${name}`} title="Change" onClick={onEdit}>
        <Icon of={Pencil} size={14} />
      </button>
      <button type="button" class="copy" aria-label={`Delete ${name}`} title="Delete" onClick={onDelete}>
        <Icon of={Trash2} size={14} />
      </button>
    </span>
  );
}

/** How one kind of item is listed, written and named. */
interface Kind<Item> {
  readonly path: string;
  /** "route", with its article. */
  readonly one: string;
  readonly search: string;
  readonly columns: readonly Column<Item>[];
  readonly fields: readonly ItemField[];
  readonly nameOf: (item: Item) => string;
  readonly wordsOf: (item: Item) => readonly string[];
  readonly valuesOf: (item: Item) => Values;
  readonly placeOf: (values: Values) => string;
  readonly bodyOf: (values: Values) => object;
  readonly empty: ComponentChildren;
}

type Open<Item> = { readonly kind: "new" } | { readonly kind: "edit" | "delete"; readonly item: Item };

function ItemTable<Item extends { readonly version: number }>({
  kind,
  fits,
}: {
  kind: Kind<Item>;
  fits?: string | null;
}) {
  const { items, problem, again } = useItems<Item>(kind.path);
  const { query } = useLocation();
  const [open, setOpen] = useState<Open<Item> | null>(null);
  const close = (): void => setOpen(null);
  const rows = items?.filter((item) => isFound(query.q ?? "", ...kind.wordsOf(item))) ?? [];
  const columns: readonly Column<Item>[] = [
    ...kind.columns.map((column, index) =>
      index > 0 || fits === undefined || fits === null
        ? column
        : {
            ...column,
            cell: (item: Item) => (
              <span class={kind.nameOf(item) === shownPrefix(fits) ? "routes-fits" : ""}>{column.cell(item)}</span>
            ),
          },
    ),
    {
      head: "Actions",
      width: "72px",
      plain: true,
      cell: (item) => (
        <RowActions
          name={kind.nameOf(item)}
          onEdit={() => setOpen({ kind: "edit", item })}
          onDelete={() => setOpen({ kind: "delete", item })}
        />
      ),
    },
  ];
  const save = (values: Values, version: number): Promise<unknown> =>
    api.put(kind.placeOf(values), { ...kind.bodyOf(values), version });
  return (
    <div class="stack">
      <div class="row routes-tools">
        <Search label={kind.search} />
        <span class="soft">{items === null ? "" : `${figure(rows.length)} of ${figure(items.length)}`}</span>
        <Button onClick={() => setOpen({ kind: "new" })}>Add {kind.one}</Button>
      </div>
      <ProblemBox of={problem} />
      {items === null ? (
        problem === null && <Busy />
      ) : rows.length === 0 ? (
        <Empty title={items.length === 0 ? "There are none yet" : "Nothing is found"}>
          {items.length === 0 ? kind.empty : "Search for fewer words."}
        </Empty>
      ) : (
        <DataTable label={kind.search} columns={columns} rows={rows} keyOf={kind.nameOf} />
      )}
      {open?.kind === "new" && (
        <ItemDialog
          title={`Add ${kind.one}`}
          fields={kind.fields.map((field) => ({ ...field, fixed: false }))}
          initial={{}}
          onSave={(values) => save(values, 0)}
          onDone={again}
          onClose={close}
        />
      )}
      {open?.kind === "edit" && (
        <ItemDialog
          title={`Change ${kind.nameOf(open.item)}`}
          fields={kind.fields}
          initial={kind.valuesOf(open.item)}
          onSave={(values) => save(values, open.item.version)}
          onDone={again}
          onClose={close}
        />
      )}
      {open?.kind === "delete" && (
        <Confirm
          title={`Delete ${kind.nameOf(open.item)}?`}
          action="Delete"
          danger
          onClose={close}
          onConfirm={async () => {
            await api.delete(`${kind.placeOf(kind.valuesOf(open.item))}?version=${open.item.version}`);
            say(`${kind.nameOf(open.item)} is deleted.`);
            again();
          }}
        >
          What was accepted before stays as it is.
        </Confirm>
      )}
    </div>
  );
}

const words = (typed: string | undefined): string[] => (typed ?? "").split(/[\s,]+/).filter((word) => word !== "");
const listed = (name: string, typed: string | undefined): object =>
  words(typed).length === 0 ? {} : { [name]: words(typed) };
const prefixTyped = (typed: string | undefined): string => (typed ?? "").trim().replace(/^\*$|^all numbers$/, "");

const ROUTES: Kind<Route> = {
  path: "/operator/1/routes",
  one: "a route",
  search: "Search routes",
  columns: [
    {
      head: "Prefix",
      width: "minmax(96px, 140px)",
      cell: ({ prefix }) => <span class="mono">{shownPrefix(prefix)}</span>,
    },
    { head: "Country", width: "minmax(0, 1fr)", cell: ({ prefix }) => countryName(prefix) || "–" },
    {
      head: "Carriers, group by group",
      width: "minmax(0, 2fr)",
      cell: (route) => (
        <span class="routes-groups">
          {groupsOf(route).map((group) => (
            <span key={groupText(group)} class="mono">
              {groupText(group)}
            </span>
          ))}
        </span>
      ),
    },
  ],
  fields: [
    {
      name: "prefix",
      label: "Prefix",
      hint: "Digits; empty for all numbers. The longest that fits a number decides.",
      fixed: true,
    },
    {
      name: "groups",
      label: "Carriers",
      hint: "A line is a group: acme=3, other shares three to one. The next line is used while none of it is up.",
      also: ["carrier"],
      lines: 4,
    },
  ],
  nameOf: ({ prefix }) => shownPrefix(prefix),
  wordsOf: (route) => [shownPrefix(route.prefix), countryName(route.prefix), ...groupsOf(route).map(groupText)],
  valuesOf: (route) => ({ prefix: route.prefix, groups: groupsOf(route).map(groupText).join("\n") }),
  placeOf: ({ prefix }) => routePath(encodeURIComponent(prefixTyped(prefix))),
  bodyOf: ({ groups }) => {
    const read = readGroups(groups ?? "");
    const [only, ...others] = read;
    const single = others.length === 0 && only?.length === 1 && only[0]!.weight === undefined;
    return single ? { carrier: only[0]!.carrier } : { groups: read };
  },
  empty:
    "Without a route every message is rejected. Add one for all numbers: leave its prefix empty, and name a carrier.",
};

const EXCHANGE_RATES: Kind<ExchangeRate> = {
  path: "/operator/1/exchange-rates",
  one: "an exchange rate",
  search: "Search exchange rates",
  columns: [
    { head: "From", width: "96px", cell: ({ from }) => <span class="mono">{from}</span> },
    { head: "To", width: "96px", cell: ({ to }) => <span class="mono">{to}</span> },
    { head: "Rate", width: "minmax(0, 1fr)", cell: ({ from, to, rate }) => `1 ${from} is ${rate} ${to}` },
  ],
  fields: [
    { name: "from", label: "From", hint: "ISO 4217, such as USD", fixed: true },
    { name: "to", label: "To", hint: "ISO 4217, such as EUR", fixed: true },
    { name: "rate", label: "Rate", hint: "Units of the second for one of the first" },
  ],
  nameOf: ({ from, to }) => `${from} to ${to}`,
  wordsOf: ({ from, to, rate }) => [from, to, rate],
  valuesOf: ({ from, to, rate }) => ({ from, to, rate }),
  placeOf: ({ from = "", to = "" }) =>
    `/operator/1/exchange-rates/${encodeURIComponent(from.trim())}/${encodeURIComponent(to.trim())}`,
  bodyOf: ({ rate = "" }) => ({ rate: rate.trim() }),
  empty: "Resellers add funds in other currencies by these rates.",
};

const NUMBERS: Kind<OwnNumber> = {
  path: "/operator/1/numbers",
  one: "a number",
  search: "Search numbers",
  columns: [
    { head: "Number", width: "minmax(96px, 150px)", cell: ({ number }) => <span class="mono">{number}</span> },
    { head: "Account", width: "minmax(96px, 150px)", cell: ({ account }) => <span class="mono">{account}</span> },
    {
      head: "Where messages go",
      width: "minmax(0, 2fr)",
      cell: ({ forwardUrl }) => forwardUrl ?? <span class="soft">they wait to be fetched</span>,
    },
    {
      head: "Keywords",
      width: "minmax(0, 1fr)",
      cell: ({ keywords = [], stopKeywords = [], startKeywords = [] }) =>
        [...keywords, ...stopKeywords, ...startKeywords].join(", ") || "–",
    },
  ],
  fields: [
    { name: "number", label: "Number", hint: "3 to 15 digits", fixed: true },
    { name: "account", label: "Account", hint: "Whose messages they are" },
    { name: "forwardUrl", label: "Push to", hint: "Without it they wait to be fetched" },
    { name: "contentType", label: "As", hint: "application/json or application/xml" },
    { name: "keywords", label: "Keywords", hint: "First words that the client is told of" },
    { name: "stopKeywords", label: "Words that opt out", hint: "STOP, UNSUBSCRIBE" },
    { name: "startKeywords", label: "Words that opt in again", hint: "START" },
  ],
  nameOf: ({ number }) => number,
  wordsOf: ({ number, account, forwardUrl = "", keywords = [] }) => [number, account, forwardUrl, ...keywords],
  valuesOf: ({ number, account, forwardUrl = "", contentType = "", ...lists }) => ({
    number,
    account,
    forwardUrl,
    contentType,
    keywords: (lists.keywords ?? []).join(", "),
    stopKeywords: (lists.stopKeywords ?? []).join(", "),
    startKeywords: (lists.startKeywords ?? []).join(", "),
  }),
  placeOf: ({ number = "" }) => `/operator/1/numbers/${encodeURIComponent(number.trim())}`,
  bodyOf: ({ account = "", forwardUrl = "", contentType = "", keywords, stopKeywords, startKeywords }) => ({
    account: account.trim(),
    ...(forwardUrl.trim() === "" ? {} : { forwardUrl: forwardUrl.trim() }),
    ...(contentType.trim() === "" ? {} : { contentType: contentType.trim() }),
    ...listed("keywords", keywords),
    ...listed("stopKeywords", stopKeywords),
    ...listed("startKeywords", startKeywords),
  }),
  empty: "Add a number of yours, and phones can write to its account.",
};

export const RoutesTable = ({ fits }: { fits: string | null }) => <ItemTable kind={ROUTES} fits={fits} />;
export const ExchangeTable = () => <ItemTable kind={EXCHANGE_RATES} />;
export const NumbersTable = () => <ItemTable kind={NUMBERS} />;
