/** A new account: what it is called, what it may do, and with what it starts. Its password and its callback secret are shown once. */
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api.ts";
import { useView } from "../../live.ts";
import { Button } from "../../parts/Button.tsx";
import { Code } from "../../parts/Copy.tsx";
import { Dialog, useAction } from "../../parts/Dialog.tsx";
import { Field, Input, Select } from "../../parts/Field.tsx";
import { More } from "../../parts/More.tsx";
import { ProblemBox } from "../../parts/Page.tsx";
import { me } from "../../session.ts";
import { type Account, NO_SETTINGS, type SettingTexts, settingsOf } from "./account.ts";
import { isPlaced, isSetting, SettingFields, wrongIn } from "./SettingFields.tsx";

interface Created extends Account {
  readonly password?: string;
  readonly callbackSecret: string;
}

const KINDS = [
  { value: "client", label: "client: sends messages" },
  { value: "reseller", label: "reseller: has clients" },
  { value: "operator", label: "operator: runs the service" },
];

export function NewAccount({ base, onClose }: { base: string; onClose: () => void }) {
  const [created, setCreated] = useState<Created | null>(null);
  return (
    <Dialog title={created === null ? "New account" : `Account ${created.key}`} wide onClose={onClose}>
      {created === null ? (
        <NewAccountForm onClose={onClose} onCreated={setCreated} />
      ) : (
        <>
          <p>The account is made. What follows is shown only now: copy it to where it is used.</p>
          <h3>Username</h3>
          <Code label="Username" text={created.usernames[0] ?? ""} />
          {created.password !== undefined && (
            <>
              <h3>Password</h3>
              <Code label="Password" text={created.password} />
            </>
          )}
          <h3>Callback secret</h3>
          <Code label="Callback secret" text={created.callbackSecret} />
          <div class="dialog-foot">
            <a class="button primary" href={`${base}/${created.key}`}>
              Open the account
            </a>
          </div>
        </>
      )}
    </Dialog>
  );
}

function NewAccountForm({ onClose, onCreated }: { onClose: () => void; onCreated: (created: Created) => void }) {
  const isReseller = me.value?.kind === "reseller";
  const own = me.value?.accountKey ?? "";
  const known = useView<{ results: readonly { id: string; currency: string }[] }>("rate-plans");
  const plans = known.data?.results;
  const [names, setNames] = useState({
    key: isReseller ? `${own}-` : "",
    kind: "client",
    parent: "",
    username: isReseller ? `${own.toLowerCase()}-` : "",
    password: "",
    openingBalance: "",
  });
  const [texts, setTexts] = useState<SettingTexts>(NO_SETTINGS);
  useEffect(() => {
    const first = plans?.[0];
    if (first !== undefined) setTexts((now) => (now.ratePlan === "" ? { ...now, ratePlan: first.id } : now));
  }, [plans]);
  const currency = plans?.find(({ id }) => id === texts.ratePlan)?.currency ?? "";
  const create = useAction(() => {
    const settings = Object.entries({ ...names, ...settingsOf(texts) });
    const given = settings.filter(([, value]) => value !== null && value !== "");
    return api.post<Created>("/operator/1/accounts", Object.fromEntries(given));
  }, onCreated);
  const input = (name: keyof typeof names) => ({
    value: names[name],
    onInput: ({ currentTarget: { value } }: { currentTarget: { value: string } }) =>
      setNames((now) => ({ ...now, [name]: value })),
  });
  const { problem } = create;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        create.run();
      }}
    >
      <div class="accounts-fields">
        <Field
          label="Key"
          hint={isReseller ? `Its public name; it begins with ${own}-.` : "Its public name. Made up where it is empty."}
          wrong={wrongIn(problem, "key")}
        >
          <Input {...input("key")} />
        </Field>
        <Field label="Username" hint="For signing in." wrong={wrongIn(problem, "username")}>
          <Input required {...input("username")} />
        </Field>
        {!isReseller && (
          <Field label="Kind" wrong={wrongIn(problem, "kind")}>
            <Select value={names.kind} options={KINDS} onChoose={(kind) => setNames((now) => ({ ...now, kind }))} />
          </Field>
        )}
        {!isReseller && (
          <Field label="Reseller" hint="The key of the reseller whose client it is." wrong={wrongIn(problem, "parent")}>
            <Input disabled={names.kind !== "client"} {...input("parent")} />
          </Field>
        )}
        <Field label="Password" hint="Made up, and shown once, where it is empty." wrong={wrongIn(problem, "password")}>
          <Input type="password" autocomplete="new-password" {...input("password")} />
        </Field>
        <Field
          label={`Opening balance${currency === "" ? "" : `, ${currency}`}`}
          wrong={wrongIn(problem, "openingBalance")}
        >
          <Input inputMode="decimal" placeholder="0" {...input("openingBalance")} />
        </Field>
      </div>
      <More class="accounts-more" title="Prices, limits and more" wrong={isSetting(problem)}>
        <SettingFields
          texts={texts}
          onChange={(change) => setTexts((now) => ({ ...now, ...change }))}
          problem={problem}
          currency={currency}
        />
      </More>
      {!isPlaced(problem) && <ProblemBox of={problem} />}
      <ProblemBox of={known.problem} />
      <div class="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        {/* An account has a rate plan: until it is known which there are, the first of them cannot be its. */}
        <Button kind="primary" type="submit" busy={create.busy || plans === undefined}>
          Make the account
        </Button>
      </div>
    </form>
  );
}
