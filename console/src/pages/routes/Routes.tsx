/** Routes and prices: the question about one number, and below it all that the answer is made of. */
import { useView } from "../../live.ts";
import { Page } from "../../parts/Page.tsx";
import { Tabs } from "../../parts/Tabs.tsx";
import { setQuery, useLocation } from "../../router.ts";
import type { QuoteAnswer } from "../compose/quote.ts";
import { Question } from "./Question.tsx";
import { RatePlans } from "./RatePlans.tsx";
import { ExchangeTable, NumbersTable, RoutesTable } from "./Tables.tsx";
import "../compose/compose.css";
import "./routes.css";

const TABS = [
  { id: "routes", label: "Routes" },
  { id: "prices", label: "Rate plans" },
  { id: "exchange", label: "Exchange rates" },
  { id: "numbers", label: "Numbers" },
];

export default function Routes() {
  const { query } = useLocation();
  const tab = TABS.find(({ id }) => id === query.tab)?.id ?? "routes";
  const { to = "", from = "", account = "", parts = "" } = query;
  const view = useView<QuoteAnswer>(to === "" ? null : "quote", {
    to,
    from,
    account,
    parts,
    anySender: "true",
  });
  const first = view.data?.numbers[0];
  return (
    <Page title="Routes and prices">
      <Question view={view} />
      <Tabs
        label="Catalogue"
        tabs={TABS}
        chosen={tab}
        onChoose={(id) => setQuery({ tab: id === "routes" ? null : id, q: null })}
      >
        {tab === "routes" && <RoutesTable fits={first?.route ?? null} />}
        {tab === "prices" && <RatePlans fits={first?.pricePrefix ?? null} ratePlan={view.data?.ratePlan ?? null} />}
        {tab === "exchange" && <ExchangeTable />}
        {tab === "numbers" && <NumbersTable />}
      </Tabs>
    </Page>
  );
}
