/** Rate plans: the prices of one of them, by prefix. A plan may have tens of thousands. */
import { useMemo, useState } from "preact/hooks";
import { api } from "../../api.ts";
import { count as figure } from "../../parts/Amount.tsx";
import { Button } from "../../parts/Button.tsx";
import { type Column, DataTable } from "../../parts/DataTable.tsx";
import { Confirm } from "../../parts/Dialog.tsx";
import { Empty, ProblemBox } from "../../parts/Page.tsx";
import { Busy } from "../../parts/Status.tsx";
import { setQuery, useLocation } from "../../router.ts";
import { useItems } from "./catalogue.ts";
import { ItemDialog, type ItemField, type Values } from "./ItemDialog.tsx";
import { countryName, isFound, type Rate, type RatePlan, shownPrefix } from "./items.ts";
import { RowActions, Search } from "./Tables.tsx";

type Open =
  | { readonly kind: "new plan" | "delete plan" | "new rate" }
  | { readonly kind: "edit rate" | "delete rate"; readonly rate: Rate };

const PATH = "/operator/1/rate-plans";
const pathOf = (id: string): string => `${PATH}/${encodeURIComponent(id.trim())}`;

const RATE_FIELDS: readonly ItemField[] = [
  {
    name: "prefix",
    label: "Prefix",
    hint: "Digits; empty for all numbers. The longest that fits a number decides.",
    fixed: true,
  },
  { name: "price", label: "Price of a part", hint: "A decimal number with at most 6 places", also: ["rate"] },
];
const PLAN_FIELDS: readonly ItemField[] = [
  { name: "id", label: "Name", hint: "Letters, digits, dots and dashes" },
  { name: "currency", label: "Currency", hint: "ISO 4217, such as EUR" },
  { name: "price", label: "Price of a part to all numbers", hint: "More prices are added later", also: ["rate"] },
];

const prefixOf = ({ prefix = "" }: Values): string => prefix.trim();

export function RatePlans({ fits, ratePlan }: { fits: string | null; ratePlan: string | null }) {
  const { items, problem, again } = useItems<RatePlan>(PATH);
  const { query } = useLocation();
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const plan = items?.find(({ id }) => id === query.plan) ?? items?.find(({ id }) => id === ratePlan) ?? items?.[0];
  const found = useMemo(
    () =>
      (plan?.rate ?? [])
        .filter(({ prefix, price }) => isFound(query.q ?? "", shownPrefix(prefix), countryName(prefix), price))
        .toSorted((first, second) => (first.prefix < second.prefix ? -1 : 1)),
    [plan, query.q],
  );
  const write = (rate: readonly Rate[]): Promise<unknown> =>
    api.put(pathOf(plan!.id), { currency: plan!.currency, rate, version: plan!.version });
  const without = (prefix: string): Rate[] => plan!.rate.filter((rate) => rate.prefix !== prefix);
  const columns: readonly Column<Rate>[] = [
    {
      head: "Prefix",
      width: "minmax(96px, 160px)",
      cell: ({ prefix }) => (
        <span class={fits === prefix && plan?.id === ratePlan ? "mono routes-fits" : "mono"}>
          {shownPrefix(prefix)}
        </span>
      ),
    },
    { head: "Country", width: "minmax(0, 1fr)", cell: ({ prefix }) => countryName(prefix) || "–" },
    {
      head: "Price of a part",
      width: "minmax(120px, 180px)",
      number: true,
      cell: ({ price }) => (
        <span class="amount">
          {price} {plan?.currency}
        </span>
      ),
    },
    {
      head: "Actions",
      width: "72px",
      plain: true,
      cell: (rate) => (
        <RowActions
          name={`the price of ${shownPrefix(rate.prefix)}`}
          onEdit={() => setOpen({ kind: "edit rate", rate })}
          onDelete={() => setOpen({ kind: "delete rate", rate })}
        />
      ),
    },
  ];
  return (
    <div class="stack">
      <ProblemBox of={problem} />
      {items === null && problem === null && <Busy />}
      <div class="row spread">
        <div class="chips" role="group" aria-label="Rate plans">
          {items?.map(({ id, currency }) => (
            <button
              key={id}
              type="button"
              class="chip"
              aria-pressed={id === plan?.id}
              onClick={() => setQuery({ plan: id })}
            >
              {id} <span class="soft">{currency}</span>
            </button>
          ))}
        </div>
        <Button onClick={() => setOpen({ kind: "new plan" })}>Add a rate plan</Button>
      </div>
      {items?.length === 0 && (
        <Empty title="There is no rate plan yet">Accounts pay by one: without it every message is rejected.</Empty>
      )}
      {plan !== undefined && (
        <>
          <div class="row routes-tools">
            <Search label="Search prices" />
            <span class="soft">
              {figure(found.length)} of {figure(plan.rate.length)}
            </span>
            <Button kind="quiet" onClick={() => setOpen({ kind: "delete plan" })}>
              Delete {plan.id}
            </Button>
            <Button onClick={() => setOpen({ kind: "new rate" })}>Add a price</Button>
          </div>
          {found.length === 0 ? (
            <Empty title="Nothing is found">Search for fewer words, or for the beginning of a number.</Empty>
          ) : (
            <DataTable
              label={`Prices of ${plan.id}`}
              columns={columns}
              rows={found}
              keyOf={({ prefix }) => `prefix-${prefix}`}
            />
          )}
        </>
      )}
      {open?.kind === "new plan" && (
        <ItemDialog
          title="Add a rate plan"
          fields={PLAN_FIELDS}
          initial={{ currency: plan?.currency ?? "" }}
          onSave={({ id = "", currency = "", price = "" }) =>
            api.put(pathOf(id), {
              currency: currency.trim(),
              rate: [{ prefix: "", price: price.trim() }],
              version: 0,
            })
          }
          onDone={again}
          onClose={close}
        />
      )}
      {open?.kind === "new rate" && (
        <ItemDialog
          title={`Add a price to ${plan!.id}`}
          fields={RATE_FIELDS.map((field) => ({ ...field, fixed: false }))}
          initial={{}}
          onSave={(values) => write([...plan!.rate, { prefix: prefixOf(values), price: (values.price ?? "").trim() }])}
          onDone={again}
          onClose={close}
        />
      )}
      {open?.kind === "edit rate" && (
        <ItemDialog
          title={`Change the price of ${shownPrefix(open.rate.prefix)}`}
          fields={RATE_FIELDS}
          initial={{ ...open.rate }}
          onSave={({ price = "" }) =>
            write(
              plan!.rate.map((rate) => (rate.prefix === open.rate.prefix ? { ...rate, price: price.trim() } : rate)),
            )
          }
          onDone={again}
          onClose={close}
        />
      )}
      {open?.kind === "delete rate" && (
        <Confirm
          title={`Delete the price of ${shownPrefix(open.rate.prefix)}?`}
          action="Delete"
          danger
          onClose={close}
          onConfirm={async () => {
            await write(without(open.rate.prefix));
            again();
          }}
        >
          Its numbers take the price of the next shorter prefix. Where there is none, messages to them are rejected.
        </Confirm>
      )}
      {open?.kind === "delete plan" && (
        <Confirm
          title={`Delete the rate plan ${plan!.id}?`}
          action="Delete"
          danger
          onClose={close}
          onConfirm={async () => {
            await api.delete(`${pathOf(plan!.id)}?version=${plan!.version}`);
            again();
          }}
        >
          All its {figure(plan!.rate.length)} prices go with it.
        </Confirm>
      )}
    </div>
  );
}
