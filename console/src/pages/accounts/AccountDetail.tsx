/** One account: what it has and may do, its keys and opt-outs, its statement; and what is changed of it. */
import { Download } from "lucide";
import { useState } from "preact/hooks";
import { api, download, withQuery } from "../../api.ts";
import { useFetched } from "../../fetched.ts";
import { useView } from "../../live.ts";
import { Amount } from "../../parts/Amount.tsx";
import { Button } from "../../parts/Button.tsx";
import { Id } from "../../parts/Copy.tsx";
import { Confirm, Dialog, useAction } from "../../parts/Dialog.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy } from "../../parts/Status.tsx";
import { Tabs } from "../../parts/Tabs.tsx";
import { now, Time } from "../../parts/Time.tsx";
import { say } from "../../parts/Toast.tsx";
import { navigate, setQuery, useLocation } from "../../router.ts";
import { me } from "../../session.ts";
import { Statement } from "../money/Statement.tsx";
import { ApiKeys } from "../settings/ApiKeys.tsx";
import { Once } from "../settings/Once.tsx";
import { OptOuts } from "../settings/OptOuts.tsx";
import { AccountState } from "./AccountList.tsx";
import { type Account, changesOf, textsOf } from "./account.ts";
import { Failures } from "./Failures.tsx";
import { Funds } from "./Funds.tsx";
import { Retire } from "./Retire.tsx";
import { isPlaced, SettingFields } from "./SettingFields.tsx";

type Asked = "funds" | "change" | "suspend" | "release" | "retire" | "password" | "sessions" | null;
interface Tab {
  readonly id: string;
  readonly label: string;
  readonly show: () => preact.JSX.Element;
}
const DAY_MS = 86_400_000;
const STATEMENT_DAYS = 366;

export function AccountDetail({ base, accountKey }: { base: string; accountKey: string }) {
  const path = `/operator/1/accounts/${encodeURIComponent(accountKey)}`;
  const fetched = useFetched<Account>(path);
  const live = useView<{ balance: string }>("statement", { account: accountKey });
  const [asked, setAsked] = useState<Asked>(null);
  const [password, setPassword] = useState<{ username: string; password: string } | null>(null);
  const { query } = useLocation();
  const csv = useAction(() => {
    const from = new Date(now.peek() - STATEMENT_DAYS * DAY_MS).toISOString();
    return download(withQuery(`${path}/statement`, { from, format: "csv" }), `statement-${accountKey}.csv`);
  });
  const account = fetched.data;
  if (account === null)
    return (
      <Page title={accountKey}>
        {fetched.problem === null ? <Busy /> : <ProblemBox of={fetched.problem} />}
        <p>
          <a href={base}>All accounts</a>
        </p>
      </Page>
    );
  const balance = live.data?.balance ?? String(account.balance);
  const isRetired = account.retiredAt !== null;
  const close = () => setAsked(null);
  const reload = () => {
    close();
    fetched.reload();
  };
  const change = (body: object) => api.patch<Account>(path, { version: account.version, ...body });
  const tabs: Tab[] = [
    { id: "statement", label: "Statement", show: () => <Statement account={accountKey} /> },
    { id: "failures", label: "Failures", show: () => <Failures path={path} /> },
    { id: "keys", label: "API keys", show: () => <ApiKeys path={`${path}/api-keys`} /> },
    { id: "opt-outs", label: "Opt-outs", show: () => <OptOuts path={`${path}/opt-outs`} /> },
  ];
  const chosen = tabs.find(({ id }) => id === query.tab) ?? tabs[0]!;
  const [username = ""] = account.usernames;
  return (
    <Page
      title={accountKey}
      live
      actions={
        !isRetired && (
          <>
            <Button kind="primary" onClick={() => setAsked("funds")}>
              Funds
            </Button>
            <Button onClick={() => setAsked("change")}>Change</Button>
            <Button onClick={() => setAsked(account.suspended ? "release" : "suspend")}>
              {account.suspended ? "Let it go on" : "Suspend"}
            </Button>
          </>
        )
      }
    >
      {password !== null && <Once label={`The new password of ${password.username}.`} text={password.password} />}
      <section class="panel accounts-facts" aria-label="Account">
        <Facts account={account} balance={balance} base={base} />
        {!isRetired && (
          <div class="row">
            <Button small disabled={username === ""} onClick={() => setAsked("password")}>
              New password
            </Button>
            <Button small onClick={() => setAsked("sessions")}>
              End its sessions
            </Button>
            <Button small busy={csv.busy} onClick={csv.run}>
              <Icon of={Download} size={14} /> Statement as CSV
            </Button>
            <Button small kind="danger" onClick={() => setAsked("retire")}>
              Retire
            </Button>
          </div>
        )}
        <ProblemBox of={csv.problem} />
      </section>
      <Tabs
        label={`About ${accountKey}`}
        tabs={tabs}
        chosen={chosen.id}
        onChoose={(id) => setQuery({ tab: id === tabs[0]!.id ? null : id, number: null })}
      >
        {chosen.show()}
      </Tabs>
      {asked === "funds" && (
        <Funds accountKey={accountKey} balance={balance} currency={account.currency} onClose={close} onDone={reload} />
      )}
      {asked === "change" && <ChangeAccount account={account} change={change} onClose={close} onDone={reload} />}
      {(asked === "suspend" || asked === "release") && (
        <Confirm
          title={asked === "suspend" ? `Suspend ${accountKey}` : `Let ${accountKey} go on`}
          action={asked === "suspend" ? "Suspend" : "Let it go on"}
          danger={asked === "suspend"}
          onClose={close}
          onConfirm={async () => {
            await change({ suspended: asked === "suspend" });
            fetched.reload();
          }}
        >
          <p>
            {asked === "suspend"
              ? "It can neither sign in nor send until it is let go on. What it has sent before goes out."
              : "It can sign in and send again."}
          </p>
        </Confirm>
      )}
      {asked === "password" && (
        <Confirm
          title={`New password for ${username}`}
          action="Make a new one"
          onClose={close}
          onConfirm={async () => setPassword(await api.put(`${path}/users/${encodeURIComponent(username)}/password`))}
        >
          <p>A password is made up and shown once. The one before no longer counts, and the account's sessions end.</p>
        </Confirm>
      )}
      {asked === "sessions" && (
        <Confirm
          title={`End the sessions of ${accountKey}`}
          action="End them"
          onClose={close}
          onConfirm={async () => {
            const { ended } = await api.delete<{ ended: number }>(`${path}/sessions`);
            say(`${ended} ${ended === 1 ? "session has" : "sessions have"} ended.`);
          }}
        >
          <p>Whoever is signed in has to sign in again. API keys go on.</p>
        </Confirm>
      )}
      {asked === "retire" && (
        <Retire
          path={path}
          account={account}
          balance={balance}
          onClose={close}
          onDone={() => {
            say(`${accountKey} is retired.`);
            navigate(base);
          }}
        />
      )}
    </Page>
  );
}

function Facts({ account, balance, base }: { account: Account; balance: string; base: string }) {
  const { currency, limits, alert } = account;
  const own = Object.entries(limits).map(([name, most]) => `${name} ${most}`);
  return (
    <dl class="facts accounts-columns">
      <dt>Balance</dt>
      <dd>
        <strong class="accounts-balance">
          <Amount of={balance} currency={currency} />
        </strong>
      </dd>
      <dt>State</dt>
      <dd>
        <AccountState suspended={account.suspended} retired={account.retiredAt !== null} />
      </dd>
      <dt>Credit limit</dt>
      <dd>
        <Amount of={String(account.creditLimit)} currency={currency} />
      </dd>
      <dt>Kind</dt>
      <dd>
        {account.kind}
        {account.kind === "reseller" && (
          <>
            {" "}
            · <a href={withQuery(base, { parent: account.key })}>its clients</a>
          </>
        )}
      </dd>
      {account.parent !== null && (
        <>
          <dt>Reseller</dt>
          <dd>
            {me.value?.kind === "operator" ? (
              <a href={`${base}/${account.parent}`}>{account.parent}</a>
            ) : (
              account.parent
            )}
          </dd>
        </>
      )}
      <dt>Users</dt>
      <dd>
        {account.usernames.map((name) => (
          <Id key={name} of={name} />
        ))}
      </dd>
      <dt>Rate plan</dt>
      <dd>{account.ratePlan}</dd>
      <dt>Default sender</dt>
      <dd>{account.defaultSender ?? <span class="soft">none</span>}</dd>
      <dt>Allowed senders</dt>
      <dd>{clipped(account.allowedSenders) ?? <span class="soft">any</span>}</dd>
      <dt>Allowed networks</dt>
      <dd>{clipped(account.allowedAddresses) ?? <span class="soft">anywhere</span>}</dd>
      <dt>Own limits</dt>
      <dd>{own.length === 0 ? <span class="soft">none, the service's hold</span> : own.join(", ")}</dd>
      <dt>Alert</dt>
      <dd>{alert === null ? <span class="soft">none</span> : `below ${alert.below} to ${alert.url}`}</dd>
      <dt>Retries of reports</dt>
      <dd>
        {account.retryMinutes === null ? (
          <span class="soft">the service's</span>
        ) : (
          `after ${account.retryMinutes.join(", ")} minutes`
        )}
      </dd>
      <dt>Since</dt>
      <dd>
        <Time at={account.createdAt} />
      </dd>
    </dl>
  );
}

const SHOWN_ENTRIES = 10;

function clipped(list: readonly string[] | null): string | null {
  if (list === null) return null;
  const rest = list.length - SHOWN_ENTRIES;
  return `${list.slice(0, SHOWN_ENTRIES).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

interface ChangeProps {
  readonly account: Account;
  readonly change: (body: object) => Promise<Account>;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function ChangeAccount({ account, change, onClose, onDone }: ChangeProps) {
  const before = textsOf(account);
  const [texts, setTexts] = useState(before);
  const changes = changesOf(before, texts);
  const save = useAction(() => change(changes), onDone);
  return (
    <Dialog title={`Change ${account.key}`} wide onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save.run();
        }}
      >
        <SettingFields
          texts={texts}
          onChange={(changed) => setTexts((now) => ({ ...now, ...changed }))}
          problem={save.problem}
          currency={account.currency}
        />
        {!isPlaced(save.problem) && <ProblemBox of={save.problem} />}
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={save.busy} disabled={Object.keys(changes).length === 0}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
