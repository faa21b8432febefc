/**
 * Why does my server not get reports? A row for each host that does not take them, with a sentence; below it the reports themselves: dead letters, and
 * those that are tried again.
 */
import { Webhook } from "lucide";
import { useState } from "preact/hooks";
import { useView } from "../../live.ts";
import { count } from "../../parts/Amount.tsx";
import { Button } from "../../parts/Button.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { useAction } from "../../parts/Dialog.tsx";
import { Empty, Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy, Status } from "../../parts/Status.tsx";
import { Tabs } from "../../parts/Tabs.tsx";
import { Time } from "../../parts/Time.tsx";
import { say } from "../../parts/Toast.tsx";
import { setQuery, useLocation } from "../../router.ts";
import { me } from "../../session.ts";
import "./reports.css";
import { ReplayMany } from "./ReplayMany.tsx";
import { ReportDialog } from "./ReportDialog.tsx";
import {
  answerWords,
  counted,
  type Host,
  type HostList,
  type Report,
  type ReportList,
  reportsAt,
  reportsWord,
  retry,
} from "./report.ts";

export default function Reports() {
  const { query } = useLocation();
  const [replaying, setReplaying] = useState(false);
  const isOperator = me.value?.kind === "operator";
  const { data, problem } = useView<HostList>("reports");
  const hasDead = data?.hosts.some(({ dead }) => dead > 0) ?? false;
  return (
    <Page
      title="Reports"
      live
      actions={hasDead && <Button onClick={() => setReplaying(true)}>Replay dead letters…</Button>}
    >
      <ProblemBox of={problem} />
      {data === null ? problem === null && <Busy /> : <Hosts of={data} shows={isOperator} />}
      {(hasDead || query.host !== undefined) && <Untaken />}
      {query.id !== undefined && <ReportDialog id={query.id} onClose={() => setQuery({ id: null })} />}
      {replaying && data !== null && <ReplayMany hosts={data.hosts} onClose={() => setReplaying(false)} />}
    </Page>
  );
}

function Hosts({ of: { hosts, countedTo, more }, shows }: { of: HostList; shows: boolean }) {
  if (hosts.length === 0)
    return (
      <Empty title="Every report was taken" icon={Webhook}>
        A message with a <code>notifyUrl</code> has its reports posted there. A server that does not take them is shown
        here, with what it answered and when it is tried again. <a href="/compose">Write a message</a>
      </Empty>
    );
  return (
    <section class="stack" aria-label="Hosts that do not take reports">
      <ul class="reports-hosts">
        {hosts.map((host) => (
          <li key={`${host.accountKey} ${host.host}`} class="panel reports-host">
            <HostRow of={host} countedTo={countedTo} shows={shows} />
          </li>
        ))}
      </ul>
      {more && <p class="soft">There are more hosts; these are the first of them.</p>}
    </section>
  );
}

function HostRow({ of, countedTo, shows }: { of: Host; countedTo: number; shows: boolean }) {
  const { host, accountKey, waiting, dead, last, nextTryAt, failingSince } = of;
  const isFailing = waiting > 0;
  const tried = useAction(
    () => retry({ host, accountKey }),
    (sum) => say(sum === 0 ? "They are being tried already." : `${count(sum)} ${reportsWord(sum)} tried now.`),
  );
  return (
    <>
      <div class="row spread">
        <span class="row">
          <Status is={isFailing ? "retrying" : "failed"} badge>
            {isFailing ? "retrying" : "given up"}
          </Status>
          <h2 class="mono">{host === "-" ? "no http or https URL" : host}</h2>
          {shows && <a href={`/accounts/${encodeURIComponent(accountKey)}`}>{accountKey}</a>}
        </span>
        <span class="row">
          {isFailing && (
            <Button small kind="primary" busy={tried.busy} onClick={tried.run} aria-label={`Try now: ${host}`}>
              Try now
            </Button>
          )}
          <a
            class="button small"
            href={reportsAt({ host, account: shows ? accountKey : null, state: isFailing ? "waiting" : null })}
          >
            Show reports
          </a>
        </span>
      </div>
      <p class="reports-why">
        {last === null ? (
          "Its tries are not known any more. "
        ) : (
          <>
            The last try was <Time at={last.at} />: <b>{answerWords(last)}</b>.{" "}
          </>
        )}
        {failingSince !== null && last !== null && failingSince !== last.at && (
          <>
            It fails since <Time at={failingSince} />.{" "}
          </>
        )}
        {isFailing && (
          <>
            {counted(waiting, countedTo)} {reportsWord(waiting)} {waiting === 1 ? "waits" : "wait"}; the next try is{" "}
            <Time at={nextTryAt} />.{" "}
          </>
        )}
        {dead > 0 && (
          <>
            {counted(dead, countedTo)} {dead === 1 ? "was" : "were"} given up:{" "}
            <a href={reportsAt({ host, account: shows ? accountKey : null })}>dead letters</a>.
          </>
        )}
      </p>
      <ProblemBox of={tried.problem} />
    </>
  );
}

const urlColumn = {
  head: "To",
  width: "minmax(160px, 2fr)",
  plain: true,
  cell: ({ url }: Report) => <span class="mono">{url}</span>,
};
const middle = [
  { head: "Items", width: "60px", number: true, cell: ({ itemCount }: Report) => count(itemCount) },
  { head: "Tries", width: "60px", number: true, cell: ({ attempts }: Report) => count(attempts) },
  { head: "Last answer", width: "minmax(140px, 1.2fr)", cell: ({ reason }: Report) => reason },
  { head: "Made", width: "130px", cell: ({ madeAt }: Report) => <Time at={madeAt} /> },
];
const COLUMNS = {
  dead: [
    urlColumn,
    ...middle,
    { head: "Given up", width: "130px", cell: ({ deadAt }: Report) => <Time at={deadAt} /> },
  ],
  waiting: [
    urlColumn,
    ...middle,
    { head: "Next try", width: "130px", cell: ({ nextTryAt }: Report) => <Time at={nextTryAt} /> },
  ],
};

function Untaken() {
  const { query } = useLocation();
  const { host, account, before } = query;
  const state = query.state === "waiting" && host !== undefined ? "waiting" : "dead";
  const { data, problem } = useView<ReportList>("report-list", { state, host, accountKey: account, before });
  const list = (
    <>
      <ProblemBox of={problem} />
      {data === null ? (
        problem === null && <Busy />
      ) : data.reports.length === 0 ? (
        <p class="soft">{state === "dead" ? "No dead letters." : "Nothing waits for this host."}</p>
      ) : (
        <DataTable
          label={state === "dead" ? "Dead letters" : "Reports that are tried again"}
          columns={COLUMNS[state]}
          rows={data.reports}
          keyOf={({ id }) => id}
          href={({ id }) => reportsAt({ ...query, id })}
        >
          {(data.next !== null || before !== undefined) && (
            <span class="row">
              {before !== undefined && (
                <a class="button small" href={reportsAt({ ...query, before: null })}>
                  Newest
                </a>
              )}
              {data.next !== null && (
                <a class="button small" href={reportsAt({ ...query, before: data.next })}>
                  Older
                </a>
              )}
            </span>
          )}
        </DataTable>
      )}
    </>
  );
  if (host === undefined)
    return (
      <section class="stack" aria-label="Dead letters">
        <h2>Dead letters</h2>
        {list}
      </section>
    );
  return (
    <section class="stack" aria-label="Reports of the host">
      <div class="row spread">
        <h2>
          Reports for <span class="mono">{host}</span>
        </h2>
        <a href="/reports">all hosts</a>
      </div>
      <Tabs
        label="Which reports"
        tabs={[
          { id: "waiting", label: "Tried again" },
          { id: "dead", label: "Dead letters" },
        ]}
        chosen={state}
        onChoose={(id) => setQuery({ state: id === "dead" ? null : id, before: null })}
      >
        <div class="stack">{list}</div>
      </Tabs>
    </section>
  );
}
