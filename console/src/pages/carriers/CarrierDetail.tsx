/** One carrier: each of its connections, its pace, its last two hours, and why it said no. */
import { useState } from "preact/hooks";
import { api } from "../../api.ts";
import { useView } from "../../live.ts";
import { Button } from "../../parts/Button.tsx";
import { Chart } from "../../parts/Chart.tsx";
import { type Column, DataTable } from "../../parts/DataTable.tsx";
import { Confirm, useAction } from "../../parts/Dialog.tsx";
import { Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy, Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { say } from "../../parts/Toast.tsx";
import { navigate } from "../../router.ts";
import type { Reason } from "../overview/health.ts";
import { Failures, rate } from "../overview/Overview.tsx";
import { CarrierForm } from "./CarrierForm.tsx";
import { type CarrierRow, CarrierState, latest, timesWords } from "./carrier.tsx";
import { TryCarrier } from "./TryCarrier.tsx";

interface Link {
  readonly kind: string;
  readonly host: string;
  readonly isBound: boolean;
  readonly since: string;
  readonly problem: string | null;
  readonly problemAt: string | null;
  readonly nextTryAt: string | null;
  readonly inFlight: number;
}

interface CarrierAnswer extends CarrierRow {
  readonly links: readonly Link[];
  readonly reasons: readonly Reason[];
  readonly history: { readonly at: readonly string[]; readonly parts: readonly (number | null)[] };
}

const LINKS: readonly Column<Link>[] = [
  { head: "Host", width: "minmax(150px, 1.2fr)", cell: ({ host }) => <span class="mono">{host}</span> },
  { head: "Bind", width: "104px", cell: ({ kind }) => kind },
  {
    head: "State",
    width: "minmax(170px, 1.2fr)",
    cell: ({ kind, isBound, since, nextTryAt }) => (
      <span class="row">
        <Status is={isBound ? "done" : nextTryAt === null ? "moving" : "retrying"}>
          {isBound ? (kind === "http" ? "ready" : "bound") : nextTryAt === null ? "connecting" : "not connected"}
        </Status>
        <span class="soft">
          since <Time at={since} as="clock" />
        </span>
      </span>
    ),
  },
  { head: "Unanswered", width: "98px", number: true, cell: ({ inFlight }) => inFlight },
  {
    head: "Next try",
    width: "92px",
    number: true,
    cell: ({ nextTryAt }) => (nextTryAt === null ? "–" : <Time at={nextTryAt} />),
  },
  {
    head: "Last went wrong",
    width: "minmax(180px, 2fr)",
    cell: ({ problem, problemAt }) =>
      problem === null ? (
        <span class="soft">nothing since the start</span>
      ) : (
        <span title={problem}>
          <Time at={problemAt} />: {problem}
        </span>
      ),
  },
];

export function CarrierDetail({ id }: { id: string }) {
  const { data, problem } = useView<CarrierAnswer>("carrier", { id });
  const [open, setOpen] = useState<"try" | "change" | "delete" | null>(null);
  const path = `/operator/1/carriers/${encodeURIComponent(id)}`;
  const connect = useAction(
    () => api.post(`/operator/1/carriers/${encodeURIComponent(id)}/reconnect`),
    () => say(`The connections of ${id} that waited are tried now.`),
  );
  const canConnect = data?.links.some(({ isBound }) => !isBound) === true;
  return (
    <Page
      title={`Carrier ${id}`}
      heading={
        <>
          <a href="/carriers">Carriers</a> / {id}
        </>
      }
      live
      actions={
        <>
          {canConnect && (
            <Button kind="primary" busy={connect.busy} onClick={connect.run}>
              Connect now
            </Button>
          )}
          {data?.kind !== "simulator" && <Button onClick={() => setOpen("try")}>Try</Button>}
          <Button onClick={() => setOpen("change")}>Change</Button>
          <Button kind="danger" onClick={() => setOpen("delete")}>
            Delete
          </Button>
        </>
      }
    >
      <ProblemBox of={problem ?? connect.problem} />
      {data === null ? problem === null && <Busy /> : <Sight of={data} />}
      {open === "try" && <TryCarrier id={id} onClose={() => setOpen(null)} />}
      {open === "change" && <CarrierForm id={id} onClose={() => setOpen(null)} />}
      {open === "delete" && (
        <Confirm
          title={`Delete the carrier ${id}`}
          action="Delete"
          danger
          onClose={() => setOpen(null)}
          onConfirm={async () => {
            const { version } = await api.get<{ version: number }>(path);
            await api.delete(`${path}?version=${version}`);
            say(`The carrier ${id} is deleted.`);
            navigate("/carriers");
          }}
        >
          What waits for it goes to another carrier of its route. A carrier that a route leads to cannot be deleted:
          change the route first.
        </Confirm>
      )}
    </Page>
  );
}

function Sight({ of }: { of: CarrierAnswer }) {
  const times = of.history.at.map((at) => Date.parse(at) / 1_000);
  return (
    <>
      <div class="panel carriers-banner">
        <CarrierState of={of} />
      </div>
      <div class="carriers-columns">
        <section class="panel stack" aria-label="Now">
          <h2>Now</h2>
          <dl class="facts">
            <dt>parts a second</dt>
            <dd>{latest(of.partsPerSecond)}</dd>
            <dt>window</dt>
            <dd class="carriers-window">
              <progress max={Math.max(1, of.window)} value={of.windowUsed} aria-label="Window used" />
              {of.windowUsed} of {of.window} parts
            </dd>
            <dt>pace</dt>
            <dd>{paceWords(of)}</dd>
            <dt>answer</dt>
            <dd>
              {timesWords(of.answerTimes)} <span class="soft">median · 95 of 100</span>
            </dd>
            <dt>to the receipt</dt>
            <dd>
              {timesWords(of.receiptTimes)} <span class="soft">median · 95 of 100</span>
            </dd>
            <dt>last receipt</dt>
            <dd>
              <Time at={of.lastReceiptAt} />
            </dd>
          </dl>
        </section>
        <section class="panel stack" aria-label="Waiting and counted">
          <h2>Waiting and counted</h2>
          <dl class="facts">
            <dt>waiting</dt>
            <dd>
              {of.waiting.toLocaleString()} in {of.lanes} {of.lanes === 1 ? "lane" : "lanes"}
              {of.overflowedLanes > 0 && <span class="soft">, and more in the store</span>}
              {of.isPaused && <span class="soft">; it asked for a pause</span>}
            </dd>
            <dt>put off</dt>
            <dd>{of.putOff.toLocaleString()}</dd>
            <dt>parts taken</dt>
            <dd>{of.parts.toLocaleString()}</dd>
            <dt>delivered, failed</dt>
            <dd>
              {of.delivered.toLocaleString()}, {of.failed.toLocaleString()}
            </dd>
            <dt>refused</dt>
            <dd>{of.refused.toLocaleString()}</dd>
            <dt>throttled, later</dt>
            <dd>
              {of.throttled.toLocaleString()}, {of.later.toLocaleString()}
            </dd>
            <dt>not answered</dt>
            <dd>{of.unknown.toLocaleString()}</dd>
          </dl>
        </section>
      </div>
      {of.links.length > 0 && (
        <section class="stack" aria-label="Connections">
          <h2>
            Connections{" "}
            <span class="soft carriers-soft">
              {of.bound} of {of.connections} bound here; {of.binds} are allowed for all nodes
            </span>
          </h2>
          <DataTable
            label="Connections"
            columns={LINKS}
            rows={of.links}
            keyOf={(link) => String(of.links.indexOf(link))}
          />
          {of.nodes.length > 1 && (
            <p class="soft">
              Shared by the nodes: {of.nodes.map(({ name, binds }) => `${name} (${binds})`).join(", ")}.
            </p>
          )}
        </section>
      )}
      <div class="carriers-columns">
        <section class="panel" aria-label="The last two hours">
          <h2>Parts a second</h2>
          {times.length < 2 ? (
            <p class="soft">The first figures are there in some seconds.</p>
          ) : (
            <Chart
              label="Parts a second in the last two hours"
              times={times}
              height={160}
              format={rate}
              series={[{ label: "parts a second", colour: "--moving", values: of.history.parts }]}
            />
          )}
        </section>
        <Failures of={of.reasons} />
      </div>
    </>
  );
}

function paceWords({ paceLimit, paceFound }: CarrierRow): string {
  const limit = paceLimit === null ? "no limit set" : `${paceLimit.toLocaleString()} a second allowed`;
  return paceFound === null ? limit : `${limit}, ${paceFound.toLocaleString()} a second found`;
}
