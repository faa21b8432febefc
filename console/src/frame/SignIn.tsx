/** Signing in: with an account's name and password, and in the sandbox by one click. */
import { useState } from "preact/hooks";
import { Problem } from "../api.ts";
import { Button } from "../parts/Button.tsx";
import { useAction } from "../parts/Dialog.tsx";
import { Field, Input } from "../parts/Field.tsx";
import { ProblemBox } from "../parts/Page.tsx";
import { type AccountKind, about, signIn, signInDemo, signInReason } from "../session.ts";
import { Brand } from "./Brand.tsx";

const WHAT_FOR: Readonly<Record<AccountKind, string>> = {
  client: "sends messages",
  reseller: "has clients",
  operator: "runs the service",
};

export function SignIn() {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [needsCode, setNeedsCode] = useState(false);
  const enter = useAction(async () => {
    try {
      await signIn({ username, password, ...(code === "" ? {} : { code }) });
    } catch (error) {
      if (error instanceof Problem && /\bcode\b/.test(error.message)) setNeedsCode(true);
      throw error;
    }
  });
  const demoAccounts = about.value?.demoAccounts ?? [];
  return (
    <div class="sign-in">
      <main>
        <Brand />
        <h1 class="visually-hidden">Sign in</h1>
        {signInReason.value !== "" && <p role="status">{signInReason.value}</p>}
        {demoAccounts.length > 0 && (
          <section class="panel demo" aria-label="Accounts of the sandbox">
            <p class="soft">This is a sandbox: nothing leaves this machine, and no phone rings. Go in as</p>
            {demoAccounts.map((account) => (
              <DemoButton key={account.username} {...account} />
            ))}
          </section>
        )}
        <form
          class="panel"
          onSubmit={(event) => {
            event.preventDefault();
            enter.run();
          }}
        >
          <Field label="Username">
            <Input
              name="username"
              autocomplete="username"
              required
              value={username}
              onInput={(event) => setUsername(event.currentTarget.value)}
            />
          </Field>
          <Field label="Password">
            <Input
              name="password"
              type="password"
              autocomplete="current-password"
              required
              value={password}
              onInput={(event) => setPassword(event.currentTarget.value)}
            />
          </Field>
          {needsCode && (
            <Field label="Code" hint="Six digits from your authenticator app, or a recovery code.">
              <Input
                name="code"
                autocomplete="one-time-code"
                inputMode="numeric"
                value={code}
                onInput={(event) => setCode(event.currentTarget.value)}
              />
            </Field>
          )}
          <ProblemBox of={enter.problem} />
          <Button kind="primary" type="submit" busy={enter.busy}>
            Sign in
          </Button>
        </form>
      </main>
    </div>
  );
}

function DemoButton({ username, kind }: { username: string; kind: AccountKind }) {
  const { busy, problem, run } = useAction(() => signInDemo(username));
  return (
    <>
      <Button busy={busy} onClick={run}>
        {username}
        <span class="soft">{WHAT_FOR[kind]}</span>
      </Button>
      <ProblemBox of={problem} />
    </>
  );
}
