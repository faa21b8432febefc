/** One report that was not taken: every try with what was answered, what is sent, which messages it is about; and it is tried again from here. */
import { useView } from "../../live.ts";
import { Button } from "../../parts/Button.tsx";
import { Code, Id } from "../../parts/Copy.tsx";
import { Dialog, useAction } from "../../parts/Dialog.tsx";
import { ProblemBox } from "../../parts/Page.tsx";
import { Busy, Status } from "../../parts/Status.tsx";
import { duration, Time } from "../../parts/Time.tsx";
import { say } from "../../parts/Toast.tsx";
import { type ReportDetail, replay, retry } from "./report.ts";

/** Of its messages so many are named. */
const MAX_NAMED = 20;

export function ReportDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, problem } = useView<ReportDetail>("report", { id });
  const isGone = problem?.status === 404;
  return (
    <Dialog title="Report" wide onClose={onClose}>
      {isGone ? (
        <p role="status">
          <Status is="done">It is not waiting any more: its receiver has taken it.</Status>
        </p>
      ) : (
        <ProblemBox of={problem} />
      )}
      {data === null ? problem === null && <Busy /> : !isGone && <Detail of={data} />}
    </Dialog>
  );
}

function Detail({ of }: { of: ReportDetail }) {
  const isDead = of.deadAt !== null;
  const again = useAction(
    () => (isDead ? replay({ ids: [of.id] }) : retry({ ids: [of.id] })),
    () => say(isDead ? "The report goes out again." : "The report is tried now."),
  );
  return (
    <>
      <div class="row spread">
        <Status is={isDead ? "failed" : "retrying"}>
          {isDead ? (
            <span>
              given up <Time at={of.deadAt} /> after {of.attempts} tries
            </span>
          ) : (
            <span>
              try {of.attempts + 1} <Time at={of.nextTryAt} />
            </span>
          )}
        </Status>
        <Button kind="primary" busy={again.busy} onClick={again.run}>
          {isDead ? "Replay" : "Try now"}
        </Button>
      </div>
      <ProblemBox of={again.problem} />
      <dl class="facts">
        <dt>webhook-id</dt>
        <dd>
          <Id of={of.id} />
        </dd>
        <dt>To</dt>
        <dd class="mono">{of.url}</dd>
        <dt>Made</dt>
        <dd>
          <Time at={of.madeAt} />
        </dd>
        <dt>About</dt>
        <dd>
          <Messages of={of} />
        </dd>
      </dl>
      <section class="stack" aria-label="Tries">
        <h3>Tries</h3>
        {of.history.length === 0 ? (
          <p class="soft">Another report's try to this host spoke for it: none of its own is recorded.</p>
        ) : (
          <ol class="reports-tries">
            {of.history.map((attempt) => (
              <li key={attempt.at}>
                <Time at={attempt.at} as="clock" />
                <span class="reports-answer">
                  <Status is={attempt.status !== null && attempt.status < 300 ? "done" : "failed"}>
                    {attempt.reason}
                  </Status>
                  {attempt.excerpt.trim() !== "" && <code>{attempt.excerpt}</code>}
                </span>
                <span class="soft">{duration(attempt.durationMs)}</span>
              </li>
            ))}
          </ol>
        )}
      </section>
      <section class="stack" aria-label="Request">
        <h3>Request</h3>
        <Code
          label="the request"
          text={`POST ${of.url}\ncontent-type: ${of.contentType}\nwebhook-id: ${of.id}\n\n${pretty(of)}`}
        />
      </section>
    </>
  );
}

function Messages({ of: { kind, messages, itemCount } }: { of: ReportDetail }) {
  if (kind === "alert") return <>an alert that the balance is low</>;
  const named = messages.slice(0, MAX_NAMED);
  return (
    <span class="reports-messages">
      {named.map(({ messageId, to }) => (
        <a key={messageId} href={kind === "incoming" ? "/incoming" : `/messages/${encodeURIComponent(messageId)}`}>
          {kind === "incoming" ? `a message to ${to}` : kind === "click" ? `a click by ${to}` : `message to ${to}`}
        </a>
      ))}
      {itemCount > named.length && <span class="soft">and {itemCount - named.length} more</span>}
    </span>
  );
}

/** As people read it; what was cut off is shown as it is. */
function pretty({ body, isCut, contentType }: ReportDetail): string {
  if (isCut) return `${body}…`;
  if (contentType !== "application/json") return body;
  return JSON.stringify(JSON.parse(body), null, 2);
}
