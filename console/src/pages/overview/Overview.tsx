/** Is all well? A sentence; if not, the worst things first with the page that mends each; then what goes through. */
import { ChevronRight, CircleAlert, CircleCheck, LoaderCircle, TriangleAlert } from "lucide";
import { api } from "../../api.ts";
import { useView } from "../../live.ts";
import { Button } from "../../parts/Button.tsx";
import { Chart } from "../../parts/Chart.tsx";
import { useAction } from "../../parts/Dialog.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy } from "../../parts/Status.tsx";
import { duration, Time } from "../../parts/Time.tsx";
import { setQuery, useLocation } from "../../router.ts";
import { shortMs } from "../carriers/carrier.tsx";
import { type Finding, type Overview, type Reason, useOverview } from "./health.ts";
import "./overview.css";

const SIGNS = { well: CircleCheck, warning: TriangleAlert, wrong: CircleAlert, looking: LoaderCircle } as const;
const RANGES = [
  { id: "15m", words: "15 minutes" },
  { id: "1h", words: "1 hour" },
  { id: "2h", words: "2 hours" },
] as const;
/** The worst, above everything else. */
const FIRST = 3;

export default function OverviewPage() {
  const { data, problem } = useOverview();
  const look = useAction(() => api.post("/console/1/overview/check"));
  return (
    <Page
      title="Overview"
      live
      actions={
        <Button busy={look.busy} onClick={look.run}>
          Look at everything now
        </Button>
      }
    >
      <ProblemBox of={problem ?? look.problem} />
      {data === null ? problem === null && <Busy /> : <Sight of={data} />}
    </Page>
  );
}

function Sight({ of }: { of: Overview }) {
  const [first, rest] = [of.findings.slice(0, FIRST), of.findings.slice(FIRST)];
  return (
    <>
      <div class={`overview-sentence ${of.state}`} role="status">
        <Icon of={SIGNS[of.state]} size={22} />
        <span>{of.sentence}</span>
      </div>
      {first.length > 0 && (
        <ul class="overview-findings" aria-label="What to look at first">
          {first.map((finding) => (
            <li key={keyOf(finding)}>
              <FindingCard of={finding} />
            </li>
          ))}
        </ul>
      )}
      {rest.length > 0 && (
        <details class="overview-rest">
          <summary>{rest.length + of.moreFindings} more to look at</summary>
          <ul class="overview-findings">
            {rest.map((finding) => (
              <li key={keyOf(finding)}>
                <FindingCard of={finding} />
              </li>
            ))}
          </ul>
        </details>
      )}
      <Figures of={of} />
      <History />
      <div class="overview-columns">
        <Waiting of={of} />
        <Failures of={of.reasons} />
        <Checks of={of.checks} />
      </div>
    </>
  );
}

const keyOf = ({ area, about, says }: Finding): string => `${area} ${about} ${says}`;

function FindingCard({ of: { state, says, mend, page } }: { of: Finding }) {
  const words = (
    <>
      <Icon of={state === "wrong" ? CircleAlert : TriangleAlert} size={18} class="overview-sign" />
      <span class="overview-words">
        <b>
          <span class="visually-hidden">{state === "wrong" ? "Wrong: " : "Warning: "}</span>
          {capital(says)}
        </b>
        {mend !== null && <span class="soft">{capital(mend)}</span>}
      </span>
      {page !== null && <Icon of={ChevronRight} size={18} class="overview-go" />}
    </>
  );
  return page === null ? (
    <div class={`overview-finding ${state}`}>{words}</div>
  ) : (
    <a class={`overview-finding ${state}`} href={page}>
      {words}
    </a>
  );
}

const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

export function rate(perSecond: number | null): string {
  if (perSecond === null) return "–";
  if (perSecond === 0) return "0";
  return perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond).toLocaleString();
}

function Figures({ of: { now, carriers } }: { of: Overview }) {
  const figures = [
    { name: "accepted", value: rate(now.accepted), unit: "a second" },
    { name: "submitted", value: rate(now.submitted), unit: "a second" },
    { name: "delivered", value: rate(now.delivered), unit: "a second" },
    { name: "failed", value: rate(now.failed), unit: "a second" },
    { name: "accept answer", value: now.answerMs === null ? "–" : shortMs(now.answerMs), unit: "median" },
    { name: "submit to receipt", value: now.receiptMs === null ? "–" : shortMs(now.receiptMs), unit: "median" },
  ];
  return (
    <dl class="overview-figures" aria-label="In the last five seconds">
      {figures.map(({ name, value, unit }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <b>{value}</b> <span class="soft">{unit}</span>
          </dd>
        </div>
      ))}
      <div>
        <dt>carriers</dt>
        <dd>
          <a href="/carriers">
            <b>{carriers.up}</b> of {carriers.all} up
          </a>
        </dd>
      </div>
    </dl>
  );
}

interface HistoryAnswer {
  readonly at: readonly string[];
  readonly series: Readonly<
    Record<"accepted" | "submitted" | "delivered" | "failed" | "answerMs" | "receiptMs" | "waiting", (number | null)[]>
  >;
}

function History() {
  const { range = "15m" } = useLocation().query;
  const { data, problem } = useView<HistoryAnswer>("history", { range });
  const times = data?.at.map((at) => Date.parse(at) / 1_000) ?? [];
  const { series } = data ?? {};
  return (
    <section class="stack" aria-label="What went through">
      <div class="row spread">
        <h2>What went through</h2>
        <div class="chips" role="group" aria-label="How far back">
          {RANGES.map(({ id, words }) => (
            <button
              key={id}
              type="button"
              class="chip"
              aria-pressed={range === id}
              onClick={() => setQuery({ range: id === "15m" ? null : id })}
            >
              {words}
            </button>
          ))}
        </div>
      </div>
      <ProblemBox of={problem} />
      {series === undefined || times.length < 2 ? (
        <p class="soft panel">The first figures are there in some seconds: they are taken every five.</p>
      ) : (
        <div class="overview-charts">
          <div class="panel overview-wide">
            <h3>Messages a second</h3>
            <Chart
              label="Messages a second"
              times={times}
              format={rate}
              series={[
                { label: "accepted", colour: "--waiting", values: series.accepted },
                { label: "submitted", colour: "--moving", values: series.submitted },
                { label: "delivered", colour: "--done", values: series.delivered },
                { label: "failed", colour: "--failed", values: series.failed },
              ]}
            />
          </div>
          <div class="panel">
            <h3>Accept answer</h3>
            <Chart
              label="How long a request that sends takes, median"
              times={times}
              height={140}
              format={shortMs}
              series={[{ label: "median", colour: "--moving", values: series.answerMs }]}
            />
          </div>
          <div class="panel">
            <h3>Submit to receipt</h3>
            <Chart
              label="From the carrier's answer to its receipt, median"
              times={times}
              height={140}
              format={shortMs}
              series={[{ label: "median", colour: "--done", values: series.receiptMs }]}
            />
          </div>
          <div class="panel">
            <h3>Waiting in memory</h3>
            <Chart
              label="Messages that wait in memory for a carrier"
              times={times}
              height={140}
              format={rate}
              series={[{ label: "messages", colour: "--retrying", values: series.waiting }]}
            />
          </div>
        </div>
      )}
    </section>
  );
}

function Waiting({ of: { backlog, reports } }: { of: Overview }) {
  const upTo = (count: number): string =>
    count >= backlog.most ? `${backlog.most.toLocaleString()} or more` : count.toLocaleString();
  return (
    <section class="panel stack" aria-label="What waits">
      <h2>What waits</h2>
      <dl class="facts">
        <dt>for a carrier, in memory</dt>
        <dd>{backlog.inMemory.toLocaleString()}</dd>
        <dt>for a carrier, in the store</dt>
        <dd>{upTo(backlog.queued)}</dd>
        <dt>for its time</dt>
        <dd>
          {upTo(backlog.scheduled)}
          {backlog.due > 0 && <span class="soft">, {upTo(backlog.due)} of them due</span>}
        </dd>
        <dt>lanes</dt>
        <dd>
          {backlog.lanes.toLocaleString()}
          {backlog.overflowedLanes > 0 && <span class="soft">, {backlog.overflowedLanes} go on in the store</span>}
        </dd>
        <dt>reports</dt>
        <dd>
          <a href="/reports">{upTo(reports.waiting + reports.inMemory)} waiting</a>
          {reports.failingHosts > 0 && (
            <span class="soft">
              , {reports.failingHosts} {reports.failingHosts === 1 ? "host fails" : "hosts fail"}
            </span>
          )}
        </dd>
        <dt>dead letters</dt>
        <dd>{upTo(reports.dead)}</dd>
      </dl>
    </section>
  );
}

export function Failures({ of }: { of: readonly Reason[] }) {
  const most = Math.max(1, ...of.map(({ count }) => count));
  return (
    <section class="panel stack" aria-label="Failures by reason">
      <h2>Failures by reason</h2>
      {of.length === 0 ? (
        <p class="soft">None since the start of this node.</p>
      ) : (
        <ul class="overview-reasons">
          {of.map(({ errorId, name, description, count }) => (
            <li key={errorId} title={name}>
              <span>{description}</span>
              <span>{count.toLocaleString()}</span>
              <meter min={0} max={most} value={count} aria-label={`${description}: ${count}`} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Checks({ of }: { of: Overview["checks"] }) {
  return (
    <section class="panel stack" aria-label="What was looked at">
      <h2>What was looked at</h2>
      <dl class="facts">
        {of.map(({ name, findings, at, tookMs, beyond }) => (
          <div key={name} class="overview-check">
            <dt>{name}</dt>
            <dd>
              {at === null ? (
                <span class="soft">being looked at…</span>
              ) : (
                <>
                  {findings === 0 ? "well" : <b>{findings} found</b>}
                  <span class="soft">
                    , <Time at={at} /> in {duration(tookMs ?? 0)}
                  </span>
                </>
              )}
              {beyond === null ? null : <div class="soft">{beyond}</div>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
