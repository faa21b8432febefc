/** How one signs in: the password, and the second factor. */
import { useState } from "preact/hooks";
import { api } from "../../api.ts";
import { useFetched } from "../../fetched.ts";
import { Button } from "../../parts/Button.tsx";
import { Code } from "../../parts/Copy.tsx";
import { useAction } from "../../parts/Dialog.tsx";
import { Field, Input } from "../../parts/Field.tsx";
import { ProblemBox } from "../../parts/Page.tsx";
import { Busy, Status } from "../../parts/Status.tsx";
import { say } from "../../parts/Toast.tsx";
import { Once } from "./Once.tsx";

export function Access() {
  return (
    <div class="settings-access">
      <Password />
      <SecondFactor />
    </div>
  );
}

function Password() {
  const [currentPassword, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const change = useAction(
    () => api.put("/account/1/password", { currentPassword, password }),
    () => {
      setCurrent("");
      setPassword("");
      say("Your password is changed. Sign in with the new one.");
    },
  );
  const wrong = (field: string) => (change.problem?.fields.includes(field) ? change.problem.message : null);
  return (
    <section class="panel" aria-label="Password">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          change.run();
        }}
      >
        <h2>Password</h2>
        <p class="soft">All sessions of the account end with it, this one too. API keys go on.</p>
        <Field label="Current password" wrong={wrong("currentPassword")}>
          <Input
            type="password"
            required
            autocomplete="current-password"
            value={currentPassword}
            onInput={(event) => setCurrent(event.currentTarget.value)}
          />
        </Field>
        <Field label="New password" wrong={wrong("password")}>
          <Input
            type="password"
            required
            autocomplete="new-password"
            value={password}
            onInput={(event) => setPassword(event.currentTarget.value)}
          />
        </Field>
        {change.problem !== null && change.problem.fields.length === 0 && <ProblemBox of={change.problem} />}
        <div>
          <Button kind="primary" type="submit" busy={change.busy}>
            Change the password
          </Button>
        </div>
      </form>
    </section>
  );
}

interface Factor {
  readonly enabled: boolean;
  readonly required: boolean;
  readonly recoveryCodes: number;
}

const PATH = "/account/1/second-factor";

function SecondFactor() {
  const factor = useFetched<Factor>(PATH);
  const [begun, setBegun] = useState<{ secret: string; uri: string } | null>(null);
  const [recovery, setRecovery] = useState<readonly string[] | null>(null);
  const { data } = factor;
  return (
    <section class="panel stack" aria-label="Second factor">
      <h2>Second factor</h2>
      <p class="soft">
        Six digits that an app on your phone shows, beside the password. With it, a password alone opens nothing:
        programs use API keys.
      </p>
      <ProblemBox of={factor.problem} />
      {data === null && factor.problem === null && <Busy />}
      {data?.enabled && (
        <p>
          <Status is="done">In force</Status>{" "}
          <span class="soft">
            {data.recoveryCodes} recovery {data.recoveryCodes === 1 ? "code is" : "codes are"} left.
          </span>
        </p>
      )}
      {data !== null && !data.enabled && (
        <Status is="waiting">{data.required ? "Required, not set up" : "Not set up"}</Status>
      )}
      {recovery !== null && (
        <Once label="Recovery codes." text={recovery.join("\n")}>
          <p class="soft">Each is good once, in place of the six digits, when the phone is lost.</p>
        </Once>
      )}
      {data !== null && !data.enabled && begun === null && <Begin onBegun={setBegun} />}
      {begun !== null && (
        <Finish
          {...begun}
          onDone={(codes) => {
            setBegun(null);
            setRecovery(codes);
            factor.reload();
          }}
        />
      )}
      {data?.enabled && (
        <Remove
          onDone={() => {
            setRecovery(null);
            say("The second factor is taken away.");
            factor.reload();
          }}
        />
      )}
    </section>
  );
}

function Begin({ onBegun }: { onBegun: (begun: { secret: string; uri: string }) => void }) {
  const [password, setPassword] = useState("");
  const begin = useAction(() => api.post<{ secret: string; uri: string }>(PATH, { password }), onBegun);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        begin.run();
      }}
    >
      <Field label="Your password" hint="Once more, as this changes how you sign in.">
        <Input
          type="password"
          required
          autocomplete="current-password"
          value={password}
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
      </Field>
      <ProblemBox of={begin.problem} />
      <div>
        <Button type="submit" busy={begin.busy}>
          Set it up
        </Button>
      </div>
    </form>
  );
}

interface FinishProps {
  readonly secret: string;
  readonly uri: string;
  readonly onDone: (recoveryCodes: readonly string[]) => void;
}

function Finish({ secret, uri, onDone }: FinishProps) {
  const confirm = (code: string) => api.post<{ recoveryCodes: readonly string[] }>(`${PATH}/confirm`, { code });
  return (
    <div class="stack">
      <p>Add this to an authenticator app, by its secret or by the link. Both are shown only now.</p>
      <Code label="Secret" text={secret} />
      <Code label="Link" text={uri} />
      <CodeForm action="Put it in force" send={confirm} onDone={({ recoveryCodes }) => onDone(recoveryCodes)} />
    </div>
  );
}

function Remove({ onDone }: { onDone: () => void }) {
  return (
    <CodeForm
      action="Take it away"
      danger
      send={(code) => api.delete<undefined>(PATH, { code })}
      onDone={() => onDone()}
    />
  );
}

interface CodeFormProps<Result> {
  readonly action: string;
  readonly danger?: boolean;
  readonly send: (code: string) => Promise<Result>;
  readonly onDone: (result: Result) => void;
}

function CodeForm<Result>({ action, danger = false, send, onDone }: CodeFormProps<Result>) {
  const [code, setCode] = useState("");
  const go = useAction(() => send(code.trim()), onDone);
  return (
    <form
      class="settings-code"
      onSubmit={(event) => {
        event.preventDefault();
        go.run();
      }}
    >
      <Field label="Code of the app" hint={danger ? "Or a recovery code." : "Six digits."}>
        <Input
          required
          autocomplete="one-time-code"
          value={code}
          onInput={(event) => setCode(event.currentTarget.value)}
        />
      </Field>
      <Button type="submit" kind={danger ? "danger" : "primary"} busy={go.busy}>
        {action}
      </Button>
      <ProblemBox of={go.problem} />
    </form>
  );
}
