/** Where the money went: the balance over time, what messages cost by country, carrier and day, and every posting. */
import { Coins, Download } from "lucide";
import { useMemo } from "preact/hooks";
import { download, withQuery } from "../../api.ts";
import { useView } from "../../live.ts";
import { Amount, count } from "../../parts/Amount.tsx";
import { Button } from "../../parts/Button.tsx";
import { Chart } from "../../parts/Chart.tsx";
import { useAction } from "../../parts/Dialog.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Empty, Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy } from "../../parts/Status.tsx";
import { now, Time } from "../../parts/Time.tsx";
import { setQuery, useLocation } from "../../router.ts";
import { me } from "../../session.ts";
import { Bars } from "./Bars.tsx";
import { placed, Statement } from "./Statement.tsx";
import "./money.css";

interface History {
  readonly currency: string;
  readonly balance: string;
  readonly complete: boolean;
  readonly points: readonly {
    readonly at: string;
    readonly balance: string;
    readonly charged: string;
    readonly refunded: string;
    readonly funded: string;
  }[];
}

interface Counted {
  readonly messages: number;
  readonly parts: number;
  readonly amount: string;
}

interface Costs extends Counted {
  readonly currency: string;
  readonly since: string;
  readonly complete: boolean;
  readonly keptDays: number;
  readonly countries: readonly (Counted & { readonly country: string | null })[];
  readonly carriers: readonly (Counted & { readonly carrier: string })[];
  readonly days: readonly (Counted & { readonly day: string })[];
}

const PERIODS: readonly { readonly days: string; readonly label: string }[] = [
  { days: "1", label: "24 hours" },
  { days: "7", label: "7 days" },
  { days: "30", label: "30 days" },
  { days: "90", label: "90 days" },
  { days: "366", label: "a year" },
];
const DEFAULT_DAYS = "30";
const DAY_MS = 86_400_000;

const countries = new Intl.DisplayNames(undefined, { type: "region", fallback: "code" });
const figure = new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 });
const format = (value: number): string => figure.format(value);

export default function Money() {
  const { query } = useLocation();
  const days = PERIODS.some((period) => period.days === query.days) ? query.days! : DEFAULT_DAYS;
  const history = useView<History>("balance-history", { days });
  const costs = useView<Costs>("costs", { days });
  const csv = useAction(() => {
    const from = new Date(now.peek() - Number(days) * DAY_MS).toISOString();
    const path = withQuery("/account/1/statement", { from, format: "csv" });
    return download(path, `statement-${me.peek()?.accountKey ?? "account"}.csv`);
  });
  const { data } = history;
  return (
    <Page
      title="Money"
      live
      actions={
        <Button busy={csv.busy} onClick={csv.run}>
          <Icon of={Download} /> Statement as CSV
        </Button>
      }
    >
      <ProblemBox of={csv.problem} />
      <fieldset class="chips money-periods">
        <legend class="visually-hidden">Period</legend>
        {PERIODS.map((period) => (
          <button
            key={period.days}
            type="button"
            class="chip"
            aria-pressed={period.days === days}
            onClick={() => setQuery({ days: period.days === DEFAULT_DAYS ? null : period.days })}
          >
            {period.label}
          </button>
        ))}
      </fieldset>
      <section class="panel money-balance" aria-label="Balance">
        <div class="money-figures">
          <div>
            <div class="soft">Balance</div>
            <div class="money-large">{data === null ? "–" : <Amount of={data.balance} currency={data.currency} />}</div>
          </div>
          {data !== null && <Moved points={data.points} />}
        </div>
        {data === null ? history.problem === null && <Busy /> : <Line history={data} />}
        <ProblemBox of={history.problem} />
        {data !== null && !data.complete && <StillAdding />}
      </section>
      <CostPanels costs={costs.data} history={data} />
      <ProblemBox of={costs.problem} />
      <h2>Statement</h2>
      <Statement linked />
    </Page>
  );
}

function StillAdding() {
  return <p class="soft">There is a lot to add up: older figures follow.</p>;
}

/** What came in and what went out in the period. */
function Moved({ points }: { points: History["points"] }) {
  const sum = (name: "charged" | "refunded" | "funded") =>
    points.reduce((total, point) => total + Number(point[name]), 0);
  const figures = [
    { words: "Messages", value: -sum("charged") },
    { words: "Given back", value: sum("refunded") },
    { words: "Funds", value: sum("funded") },
  ];
  return (
    <>
      {figures.map(({ words, value }) => (
        <div key={words}>
          <div class="soft">{words}</div>
          <div class="money-middle">
            <Amount of={String(Number(value.toFixed(6)))} sign />
          </div>
        </div>
      ))}
    </>
  );
}

function Line({ history: { points, balance } }: { history: History }) {
  const { times, series } = useMemo(() => {
    const at = points.map((point) => Date.parse(point.at) / 1_000);
    const values = points.map((point) => Number(point.balance));
    return {
      // The last one is what there is now.
      times: [...at, Math.max(now.peek() / 1_000, at.at(-1) ?? 0)],
      series: [{ label: "Balance", colour: "--moving", values: [...values, Number(balance)], filled: true }],
    };
  }, [points, balance]);
  return <Chart label="Balance over time" times={times} series={series} format={format} />;
}

function CostPanels({ costs, history }: { costs: Costs | null; history: History | null }) {
  if (costs === null) return null;
  const { currency, keptDays } = costs;
  if (costs.messages === 0 && !costs.complete)
    return (
      <section class="panel" aria-label="Costs">
        <Busy>Adding up what messages cost</Busy>
      </section>
    );
  if (costs.messages === 0)
    return (
      <section class="panel" aria-label="Costs">
        <Empty title="No message was sent in this period" icon={Coins}>
          <a href="/compose">Send one</a>, and what it costs stands here, by country and carrier.
        </Empty>
        {history?.complete && <NotSent costs={costs} points={history.points} />}
      </section>
    );
  return (
    <div class="money-costs">
      <section class="panel stack" aria-label="Costs by country">
        <h2>By country</h2>
        <Bars
          label="Costs by country"
          currency={currency}
          bars={costs.countries.map(({ country, ...cost }) => ({
            ...cost,
            name: country ?? "",
            words: country === null ? "Not known" : (countries.of(country) ?? country),
          }))}
        />
      </section>
      <section class="panel stack" aria-label="Costs by carrier">
        <h2>By carrier</h2>
        <Bars
          label="Costs by carrier"
          currency={currency}
          bars={costs.carriers.map(({ carrier, ...cost }) => ({ ...cost, name: carrier, words: carrier }))}
        />
        <p class="soft money-sum">
          Since <Time at={costs.since} as="clock" />, {count(costs.messages)}{" "}
          {costs.messages === 1 ? "message" : "messages"} in {count(costs.parts)} {costs.parts === 1 ? "part" : "parts"}{" "}
          cost <Amount of={costs.amount} currency={currency} />.
          {keptDays > 0 && ` Messages are kept for ${keptDays} days; of earlier ones the statement knows.`}
        </p>
        {!costs.complete && <StillAdding />}
        {history?.complete && costs.complete && <NotSent costs={costs} points={history.points} />}
      </section>
      {costs.days.length > 1 && (
        <section class="panel stack money-days" aria-label="Costs by day">
          <h2>By day, in UTC</h2>
          <Days days={costs.days} />
        </section>
      )}
    </div>
  );
}

/** Why the two figures differ: charged is what is accepted, and what is sent costs. */
function NotSent({ costs: { amount, currency }, points }: { costs: Costs; points: History["points"] }) {
  const kept = points.reduce((total, { charged, refunded }) => total + Number(charged) - Number(refunded), 0);
  const more = Number((kept - Number(amount)).toFixed(6));
  if (more === 0) return null;
  const figure = <Amount of={placed(String(Math.abs(more)))} currency={currency} />;
  return (
    <p class="soft money-sum">
      {more > 0 ? (
        <>{figure} is charged for messages that are not sent yet.</>
      ) : (
        <>{figure} of it was charged before this period, when the messages were accepted.</>
      )}
    </p>
  );
}

function Days({ days }: { days: Costs["days"] }) {
  const { times, series } = useMemo(
    () => ({
      times: days.map(({ day }) => Date.parse(`${day}T00:00:00Z`) / 1_000),
      series: [{ label: "Cost", colour: "--moving", values: days.map(({ amount }) => Number(amount)), filled: true }],
    }),
    [days],
  );
  return <Chart label="Costs by day" times={times} series={series} height={140} format={format} />;
}
