/** The secret that signs reports, and a test callback: what was sent to a URL, and what it answered. */
import { Send } from "lucide";
import { useState } from "preact/hooks";
import { api } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import { Code } from "../../parts/Copy.tsx";
import { Confirm, useAction } from "../../parts/Dialog.tsx";
import { Field, Input, Select } from "../../parts/Field.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { ProblemBox } from "../../parts/Page.tsx";
import { Status } from "../../parts/Status.tsx";
import { duration } from "../../parts/Time.tsx";
import { say } from "../../parts/Toast.tsx";
import { Once } from "./Once.tsx";

interface TestAnswer {
  readonly request: { readonly headers: Readonly<Record<string, string>>; readonly body: string };
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  } | null;
  readonly reason: string | null;
  readonly durationMs: number;
}

type Asked = "rotate" | "drop" | null;

export function Callbacks() {
  return (
    <div class="stack">
      <TestCallback />
      <Secret />
    </div>
  );
}

function TestCallback() {
  const [url, setUrl] = useState("");
  const [contentType, setContentType] = useState("application/json");
  const [outcome, setOutcome] = useState<TestAnswer | null>(null);
  const test = useAction(() => api.post<TestAnswer>("/account/1/callback-test", { url, contentType }), setOutcome);
  return (
    <section class="panel stack" aria-label="Test callback">
      <h2>Test callback</h2>
      <p class="soft">
        A report of a message that never was is posted to your URL, signed with your secret, as real ones are. Nothing
        is sent to a phone.
      </p>
      <form
        class="settings-test"
        onSubmit={(event) => {
          event.preventDefault();
          setOutcome(null);
          test.run();
        }}
      >
        <Field label="URL">
          <Input
            type="url"
            required
            placeholder="https://example.org/reports"
            value={url}
            onInput={(event) => setUrl(event.currentTarget.value)}
          />
        </Field>
        <Field label="As">
          <Select
            value={contentType}
            options={[
              { value: "application/json", label: "JSON" },
              { value: "application/xml", label: "XML" },
            ]}
            onChoose={setContentType}
          />
        </Field>
        <Button kind="primary" type="submit" busy={test.busy}>
          <Icon of={Send} /> Send the test
        </Button>
      </form>
      <ProblemBox of={test.problem} />
      {outcome !== null && <Outcome {...outcome} />}
    </section>
  );
}

function Outcome({ request, answer, reason, durationMs }: TestAnswer) {
  const taken = answer !== null && answer.status >= 200 && answer.status < 300;
  return (
    <div class="stack" role="status">
      <p>
        {answer === null ? (
          <Status is="failed">No answer: {reason}</Status>
        ) : (
          <Status is={taken ? "done" : "failed"}>
            {taken ? "Taken" : "Not taken"}: it answered {answer.status}
          </Status>
        )}{" "}
        <span class="soft">after {duration(durationMs)}</span>
      </p>
      {answer !== null && !taken && (
        <p class="soft">A report is taken when the answer is 2xx. A real one would be tried again later.</p>
      )}
      <div class="settings-pair">
        <div class="stack">
          <h3>What was sent</h3>
          <Code label="What was sent" text={`${lines(request.headers)}\n\n${request.body}`} />
        </div>
        {answer !== null && (
          <div class="stack">
            <h3>What came back</h3>
            <Code label="What came back" text={`${answer.status}\n${lines(answer.headers)}\n\n${answer.body}`} />
          </div>
        )}
      </div>
    </div>
  );
}

function lines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}

function Secret() {
  const [asked, setAsked] = useState<Asked>(null);
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <section class="panel stack" aria-label="Callback secret">
      <h2>Callback secret</h2>
      <p class="soft">
        Reports are signed with it (Standard Webhooks), so that your server knows them for ours. A new one counts beside
        the one before, until you drop that: meanwhile each report has both signatures.
      </p>
      {secret !== null && <Once label="The new secret." text={secret} />}
      <div class="row">
        <Button onClick={() => setAsked("rotate")}>Get a new secret</Button>
        <Button kind="danger" onClick={() => setAsked("drop")}>
          Drop the one before
        </Button>
      </div>
      {asked === "rotate" && (
        <Confirm
          title="Get a new secret"
          action="Get a new one"
          onClose={() => setAsked(null)}
          onConfirm={async () => {
            const { callbackSecret } = await api.post<{ callbackSecret: string }>("/account/1/callback-secret");
            setSecret(callbackSecret);
          }}
        >
          <p>The secret of now becomes the one before. If there is one before that, it is good for nothing any more.</p>
        </Confirm>
      )}
      {asked === "drop" && (
        <Confirm
          title="Drop the secret before"
          action="Drop it"
          danger
          onClose={() => setAsked(null)}
          onConfirm={async () => {
            await api.delete("/account/1/callback-secret/old");
            say("Reports are signed with the newest secret alone.");
          }}
        >
          <p>A server that knows only the secret before no longer recognises your reports.</p>
        </Confirm>
      )}
    </section>
  );
}
