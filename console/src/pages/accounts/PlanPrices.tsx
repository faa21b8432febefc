/** What a rate plan costs, by prefix, beside what whoever looks pays himself. */
import { useFetched } from "../../fetched.ts";
import { Amount } from "../../parts/Amount.tsx";
import { type Column, DataTable } from "../../parts/DataTable.tsx";
import { ProblemBox } from "../../parts/Page.tsx";

interface Price {
  readonly prefix: string;
  readonly country: string | null;
  readonly price: number | null;
  readonly ownPrice: number | null;
}

interface Prices {
  readonly currency: string;
  readonly ownCurrency: string;
  readonly results: readonly Price[];
  readonly next: string | null;
}

const LIMIT = 1_000;

export function PlanPrices({ plan }: { plan: string }) {
  const path = plan === "" ? null : `/operator/1/plans/${encodeURIComponent(plan)}`;
  const { data, problem } = useFetched<Prices>(path, { limit: LIMIT });
  if (data === null) return <ProblemBox of={problem} />;
  const amount = (of: number | null, currency: string) =>
    of === null ? <span class="soft">not sold</span> : <Amount of={String(of)} currency={currency} />;
  const columns: Column<Price>[] = [
    { head: "Numbers", width: "minmax(0, 1fr)", cell: ({ prefix }) => (prefix === "" ? "all others" : `${prefix}…`) },
    { head: "Country", width: "80px", cell: ({ country }) => country ?? "–" },
    { head: "A part costs", width: "minmax(0, 1fr)", number: true, cell: ({ price }) => amount(price, data.currency) },
    { head: "You pay", width: "minmax(0, 1fr)", number: true, cell: (row) => amount(row.ownPrice, data.ownCurrency) },
  ];
  return (
    <details class="accounts-more">
      <summary>Prices of {plan}</summary>
      <DataTable label={`Prices of ${plan}`} columns={columns} rows={data.results} keyOf={({ prefix }) => prefix} />
      {data.next !== null && <p class="soft">These are the first {LIMIT}.</p>}
    </details>
  );
}
