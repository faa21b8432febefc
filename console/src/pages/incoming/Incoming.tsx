/** What phones wrote to the account's numbers, newest first. Looking takes nothing: what waits to be fetched still does. */
import { ArrowDownToLine } from "lucide";
import { useState } from "preact/hooks";
import { api, withQuery } from "../../api.ts";
import { useView } from "../../live.ts";
import { Button } from "../../parts/Button.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { Dialog, useAction } from "../../parts/Dialog.tsx";
import { Field, Input, Select, TextArea } from "../../parts/Field.tsx";
import { Empty, Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy, type StateColour, Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { say } from "../../parts/Toast.tsx";
import { useLocation } from "../../router.ts";
import { me } from "../../session.ts";
import "./incoming.css";

interface Message {
  readonly messageId: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly isBinary: boolean;
  readonly keyword: string | null;
  readonly wish: "stop" | "start" | null;
  readonly receivedAt: string;
  readonly smsCount: number;
  readonly state: "waiting" | "fetched" | "forwarded";
  readonly forwardUrl: string | null;
}

interface MessageList {
  readonly messages: readonly Message[];
  readonly next: string | null;
  readonly numbers: readonly string[];
}

const STATES: Readonly<Record<Message["state"], { readonly is: StateColour; readonly word: string }>> = {
  waiting: { is: "waiting", word: "to be fetched" },
  fetched: { is: "done", word: "fetched" },
  forwarded: { is: "moving", word: "pushed" },
};

const WISHES = { stop: "opted out", start: "opted in" } as const;

const COLUMNS = [
  { head: "Received", width: "130px", cell: ({ receivedAt }: Message) => <Time at={receivedAt} /> },
  { head: "From", width: "140px", cell: ({ from }: Message) => <span class="mono">{from}</span> },
  { head: "To", width: "110px", cell: ({ to }: Message) => <span class="mono">{to}</span> },
  { head: "Text", width: "minmax(160px, 1fr)", plain: true, cell: (message: Message) => <Text of={message} /> },
  {
    head: "State",
    width: "130px",
    cell: ({ state, forwardUrl }: Message) => (
      <span title={forwardUrl ?? undefined}>
        <Status is={STATES[state].is}>{STATES[state].word}</Status>
      </span>
    ),
  },
  {
    head: "Answer",
    width: "100px",
    plain: true,
    cell: ({ from, to }: Message) => (
      <a class="button small" href={withQuery("/compose", { to: from, from: to })} aria-label={`Write back to ${from}`}>
        Write back
      </a>
    ),
  },
];

function Text({ of: { text, isBinary, wish, keyword } }: { of: Message }) {
  return (
    <span class="incoming-text">
      <span class={isBinary ? "mono" : ""}>{isBinary ? `octets ${text}` : text}</span>
      {wish !== null && <span class="incoming-wish">{WISHES[wish]}</span>}
      {wish === null && keyword !== null && <span class="incoming-wish">keyword {keyword}</span>}
    </span>
  );
}

export default function Incoming() {
  const { before } = useLocation().query;
  const { data, problem } = useView<MessageList>("incoming", { before });
  const [writing, setWriting] = useState(false);
  const isSandbox = me.value?.sandbox === true;
  return (
    <Page
      title="Incoming"
      live
      actions={isSandbox && data !== null && <Button onClick={() => setWriting(true)}>Let a phone write…</Button>}
    >
      <ProblemBox of={problem} />
      {data === null ? problem === null && <Busy /> : <Messages of={data} before={before} />}
      {writing && data !== null && <Write numbers={data.numbers} onClose={() => setWriting(false)} />}
    </Page>
  );
}

function Messages({ of: { messages, next, numbers }, before }: { of: MessageList; before: string | undefined }) {
  if (messages.length === 0 && before === undefined)
    return (
      <Empty title="No phone has written yet" icon={ArrowDownToLine}>
        {numbers.length === 0 ? (
          <>
            Your account has no number that phones can write to. An operator gives it one:{" "}
            <code>heliograph number set</code>.
          </>
        ) : (
          <>
            Phones write to {numbers.join(", ")}. What they write is shown here, and waits to be fetched or is pushed to
            your server.
          </>
        )}
      </Empty>
    );
  return (
    <div class="incoming stack">
      <DataTable label="Messages from phones" columns={COLUMNS} rows={messages} keyOf={({ messageId }) => messageId}>
        {(next !== null || before !== undefined) && (
          <span class="row">
            {before !== undefined && (
              <a class="button small" href="/incoming">
                Newest
              </a>
            )}
            {next !== null && (
              <a class="button small" href={withQuery("/incoming", { before: next })}>
                Older
              </a>
            )}
          </span>
        )}
      </DataTable>
      <p class="soft">
        Looking takes nothing: what waits is fetched with <code>GET /sms/1/inbox/reports</code>. What was fetched or
        pushed stays here for as long as messages are kept. A push that fails is under <a href="/reports">Reports</a>.
      </p>
    </div>
  );
}

function Write({ numbers, onClose }: { numbers: readonly string[]; onClose: () => void }) {
  const [from, setFrom] = useState("41793026727");
  const [to, setTo] = useState(numbers[0] ?? "");
  const [text, setText] = useState("");
  const { busy, problem, run } = useAction(
    () => api.post("/sandbox/1/incoming", { from, to, text }),
    () => {
      say(`${from} wrote to ${to}.`);
      onClose();
    },
  );
  return (
    <Dialog title="Let a phone write" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        <Field label="The phone">
          <Input inputMode="numeric" value={from} onInput={(event) => setFrom(event.currentTarget.value)} />
        </Field>
        <Field label="writes to">
          {numbers.length > 0 ? (
            <Select value={to} options={numbers} onChoose={setTo} />
          ) : (
            <Input inputMode="numeric" value={to} onInput={(event) => setTo(event.currentTarget.value)} />
          )}
        </Field>
        <Field label="Text">
          <TextArea value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </Field>
        <ProblemBox of={problem} />
        <div class="dialog-foot">
          <Button onClick={onClose}>Close</Button>
          <Button kind="primary" type="submit" busy={busy} disabled={text === ""}>
            Write
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
