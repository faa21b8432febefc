/** One bulk: a sentence on how far it is and what comes next, its bar, and what can be done to it. */
import { useState } from "preact/hooks";
import { searchOf } from "../../../../src/api/console/message-search.ts";
import { api, withQuery } from "../../api.ts";
import { useView } from "../../live.ts";
import { count } from "../../parts/Amount.tsx";
import { Button } from "../../parts/Button.tsx";
import { Id } from "../../parts/Copy.tsx";
import { Confirm, Dialog, useAction } from "../../parts/Dialog.tsx";
import { Field, Input } from "../../parts/Field.tsx";
import { Empty, Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy, Status } from "../../parts/Status.tsx";
import { clockTime, duration, now, Time } from "../../parts/Time.tsx";
import { say } from "../../parts/Toast.tsx";
import { useLocation } from "../../router.ts";
import "../bulks/bulks.css";
import { BulkBar, BulkShares } from "../bulks/BulkBar.tsx";
import { type Bulk, canBeChanged, lastGoesAt, STATUSES, speedWords, totalOf, useSpeed } from "../bulks/bulk.ts";

export default function BulkPage() {
  const { path } = useLocation();
  const id = decodeURIComponent(path.slice("/bulks/".length));
  const { data, problem } = useView<Bulk>("bulk", { id });
  return (
    <Page
      title={`Bulk ${id}`}
      heading={
        <>
          Bulk <span class="bulks-name">{id}</span>
        </>
      }
      live
      actions={data === null ? null : <Actions of={data} />}
    >
      {problem?.status === 404 && data === null ? (
        <Empty title="There is no such bulk">
          Your account has no messages of a bulk with this id. <a href="/bulks">All bulks</a>
        </Empty>
      ) : (
        <ProblemBox of={problem} />
      )}
      {data === null ? problem === null && <Busy /> : <Facts of={data} />}
    </Page>
  );
}

function Facts({ of }: { of: Bulk }) {
  const speed = useSpeed(of);
  const lastAt = lastGoesAt(of, speed);
  const { is, word } = STATUSES[of.status];
  return (
    <>
      <section class="panel stack bulks-large" aria-label="Progress">
        <div class="row spread">
          <p class="bulks-sentence">{sentence(of, lastAt)}</p>
          <Status is={is} badge>
            {word}
          </Status>
        </div>
        <div>
          <BulkBar of={of} />
          <BulkShares of={of} />
        </div>
      </section>
      <section class="panel" aria-label="Facts">
        <dl class="facts">
          <dt>Id</dt>
          <dd>
            <Id of={of.bulkId} />
          </dd>
          <dt>Messages</dt>
          <dd>
            {totalOf(of)}
            {" · "}
            <a href={withQuery("/messages", { q: searchOf({ bulk: of.bulkId }) })}>which messages</a>
            {of.failed > 0 && (
              <>
                {" · "}
                <a href={withQuery("/messages", { q: searchOf({ bulk: of.bulkId }, "failed") })}>which failed</a>
              </>
            )}
          </dd>
          <dt>Made</dt>
          <dd>
            <Time at={of.madeAt} />
          </dd>
          <dt>To be sent</dt>
          <dd>{of.atOnce ? "at once" : <Time at={of.sendAt} as="clock" />}</dd>
          <dt>Speed</dt>
          <dd>{speed === null || of.status !== "PROCESSING" ? <span class="soft">–</span> : speedWords(speed)}</dd>
          <dt>The last goes</dt>
          <dd>
            <Time at={lastAt} />
          </dd>
        </dl>
      </section>
    </>
  );
}

/** What is so, and what comes next. */
function sentence(of: Bulk, lastAt: number | null): string {
  const waiting = of.scheduled + of.queued;
  const rest = `${count(waiting)} ${waiting === 1 ? "message waits" : "messages wait"}`;
  if (of.total === 0) return "Its messages are being counted.";
  if (of.status === "PAUSED") return `Paused: ${rest} until you resume it. Their validity runs on.`;
  if (of.status === "PENDING") return `${rest} until ${clockTime(of.sendAt)}.`;
  if (of.status === "CANCELED")
    return waiting > 0
      ? `Canceled: ${count(waiting)} messages are being called off and paid back.`
      : "Canceled: what had not gone was paid back.";
  if (of.status === "FAILED") return "None of its messages was sent.";
  if (of.status === "FINISHED") return `All is done: ${count(of.delivered)} of ${totalOf(of)} were delivered.`;
  if (waiting === 0) return `All have gone; ${count(of.submitted)} receipts are awaited.`;
  if (lastAt === null) return `It is being sent: ${rest}.`;
  return `It is being sent: ${rest}; the last goes in about ${duration(Math.max(0, lastAt - now.value))}.`;
}

type Asked = "cancel" | "move" | null;

function Actions({ of }: { of: Bulk }) {
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => setAsked(null);
  const set = (status: string) => api.put(withQuery("/sms/1/bulks/status", { bulkId: of.bulkId }), { status });
  const isPaused = of.status === "PAUSED";
  const turn = useAction(
    () => set(isPaused ? "PENDING" : "PAUSED"),
    () => say(isPaused ? "The bulk goes on." : "The bulk is paused."),
  );
  if (!canBeChanged(of)) return null;
  return (
    <>
      <ProblemBox of={turn.problem} />
      <Button kind={isPaused ? "primary" : "plain"} busy={turn.busy} onClick={turn.run}>
        {isPaused ? "Resume" : "Pause"}
      </Button>
      <Button onClick={() => setAsked("move")}>Move</Button>
      <Button kind="danger" onClick={() => setAsked("cancel")}>
        Cancel bulk
      </Button>
      {asked === "cancel" && (
        <Confirm
          title="Cancel this bulk?"
          action="Cancel the bulk"
          danger
          onClose={close}
          onConfirm={async () => {
            await set("CANCELED");
            say("The bulk is canceled.");
          }}
        >
          {count(of.scheduled)} messages that wait are not sent, and what they cost is paid back. This cannot be undone.
        </Confirm>
      )}
      {asked === "move" && <Move of={of} onClose={close} />}
    </>
  );
}

/** As the field for a date and time has it, in the reader's zone. */
function localOf(atMs: number): string {
  const offsetMs = new Date(atMs).getTimezoneOffset() * 60_000;
  return new Date(atMs - offsetMs).toISOString().slice(0, 16);
}

function Move({ of, onClose }: { of: Bulk; onClose: () => void }) {
  const [at, setAt] = useState(localOf(Date.parse(of.sendAt)));
  const atMs = new Date(at).getTime();
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const move = useAction(
    () => api.put(withQuery("/sms/1/bulks", { bulkId: of.bulkId }), { sendAt: new Date(atMs).toISOString() }),
    () => {
      say("The bulk was moved.");
      onClose();
    },
  );
  return (
    <Dialog title="Move this bulk" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          move.run();
        }}
      >
        <Field
          label="Send at"
          hint={`In your time zone, ${zone}. A time that is past sends it now; a delivery window still holds.`}
          wrong={Number.isNaN(atMs) ? "Choose a date and a time." : null}
        >
          <Input type="datetime-local" value={at} onInput={(event) => setAt(event.currentTarget.value)} />
        </Field>
        <ProblemBox of={move.problem} />
        <div class="dialog-foot">
          <Button onClick={onClose}>Close</Button>
          <Button kind="primary" type="submit" busy={move.busy} disabled={Number.isNaN(atMs)}>
            Move
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
