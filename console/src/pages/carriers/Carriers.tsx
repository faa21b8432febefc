/** The carriers, a row each as it is now; and one of them with its connections. */
import { Radio } from "lucide";
import { useState } from "preact/hooks";
import { useView } from "../../live.ts";
import { Button } from "../../parts/Button.tsx";
import { Spark } from "../../parts/Chart.tsx";
import { type Column, DataTable } from "../../parts/DataTable.tsx";
import { Empty, Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { useLocation } from "../../router.ts";
import { CarrierDetail } from "./CarrierDetail.tsx";
import { CarrierForm } from "./CarrierForm.tsx";
import { type CarrierRow, CarrierState, latest, shortMs } from "./carrier.tsx";
import "./carriers.css";

interface CarriersAnswer {
  readonly node: string;
  readonly count: number;
  readonly results: readonly CarrierRow[];
}

export default function Carriers() {
  const [, , id] = useLocation().path.split("/");
  return id === undefined || id === "" ? <CarrierList /> : <CarrierDetail id={decodeURIComponent(id)} />;
}

const COLUMNS: readonly Column<CarrierRow>[] = [
  {
    head: "Carrier",
    width: "minmax(76px, 1fr)",
    plain: true,
    cell: ({ id, kind }) => (
      <span class="carriers-name">
        <b>{id}</b> <span class="soft">{kind}</span>
      </span>
    ),
  },
  { head: "State", width: "minmax(150px, 2.4fr)", cell: (row) => <CarrierState of={row} /> },
  {
    head: "Binds",
    width: "124px",
    number: true,
    cell: (row) => (
      <span class="carriers-two">
        <span>{bindsOf(row)}</span>
        {row.window > 0 && (
          <span class="soft">
            window {row.windowUsed} of {row.window}
          </span>
        )}
      </span>
    ),
  },
  {
    head: "Parts a second",
    width: "118px",
    cell: (row) => {
      const now = latest(row.partsPerSecond);
      return (
        <span class="carriers-spark">
          <Spark
            width={72}
            values={row.partsPerSecond.map((value) => value ?? 0)}
            label={`${now} parts a second; the last five minutes as a line`}
          />
          {now}
        </span>
      );
    },
  },
  {
    head: "Answer",
    width: "86px",
    number: true,
    cell: ({ answerTimes }) =>
      answerTimes === null ? (
        "–"
      ) : (
        <span class="carriers-two">
          <span>{shortMs(answerTimes.medianMs)}</span>
          <span class="soft">95 %: {shortMs(answerTimes.slowMs)}</span>
        </span>
      ),
  },
  { head: "Throttled", width: "76px", number: true, cell: ({ throttled }) => throttled.toLocaleString() },
  { head: "Refused", width: "66px", number: true, cell: ({ refused }) => refused.toLocaleString() },
  {
    head: "Waiting",
    width: "62px",
    number: true,
    cell: ({ waiting, putOff, overflowedLanes }) =>
      `${(waiting + putOff).toLocaleString()}${overflowedLanes > 0 ? "+" : ""}`,
  },
  { head: "Last receipt", width: "92px", number: true, cell: ({ lastReceiptAt }) => <Time at={lastReceiptAt} /> },
];

function bindsOf({ kind, bound, connections, state }: CarrierRow): string {
  if (kind === "simulator" || state === "elsewhere") return "–";
  return `${bound} of ${connections}`;
}

function CarrierList() {
  const { data, problem } = useView<CarriersAnswer>("carriers");
  const [adding, setAdding] = useState(false);
  return (
    <Page title="Carriers" live actions={<Button onClick={() => setAdding(true)}>Add a carrier</Button>}>
      <ProblemBox of={problem} />
      {data === null && problem === null && <Busy />}
      {data !== null &&
        (data.count === 0 ? (
          <Empty title="No carrier yet" icon={Radio}>
            Without one no message can go. Add the carrier that you have an SMPP account with, and then a route that
            leads to it.
          </Empty>
        ) : (
          <>
            <div class="carriers-table">
              <DataTable
                label="Carriers"
                columns={COLUMNS}
                rows={data.results}
                keyOf={({ id }) => id}
                href={({ id }) => `/carriers/${encodeURIComponent(id)}`}
              />
            </div>
            <p class="soft">
              Counted by the node <span class="mono">{data.node}</span> since its start.
              {data.count > data.results.length && ` The first ${data.results.length} of ${data.count} are shown.`}
            </p>
          </>
        ))}
      {adding && <CarrierForm id={null} onClose={() => setAdding(false)} />}
    </Page>
  );
}
