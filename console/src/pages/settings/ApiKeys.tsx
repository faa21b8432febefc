/** API keys: made, shown once, listed with when each was last used, and revoked. */
import { KeyRound } from "lucide";
import { useState } from "preact/hooks";
import { api } from "../../api.ts";
import { useFetched } from "../../fetched.ts";
import { Button } from "../../parts/Button.tsx";
import { type Column, DataTable } from "../../parts/DataTable.tsx";
import { Confirm, Dialog, useAction } from "../../parts/Dialog.tsx";
import { Check, Field, Input, TextArea } from "../../parts/Field.tsx";
import { Empty, ProblemBox } from "../../parts/Page.tsx";
import { Busy } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { say } from "../../parts/Toast.tsx";
import { Once } from "./Once.tsx";

interface ApiKey {
  readonly id: string;
  readonly name: string | null;
  readonly scopes: readonly string[] | null;
  readonly expiresAt: string | null;
  readonly allowedAddresses: readonly string[] | null;
  readonly createdAt: string;
  readonly usedAt: string | null;
}

const SCOPES: Readonly<Record<string, string>> = {
  send: "send, preview, change bulks and opt-outs",
  track: "read reports, logs and messages from phones",
  balance: "read the balance and the statement",
  manage: "manage accounts, for resellers and operators",
  credentials: "give passwords to accounts that it manages",
};

/** `path` is where keys are made and listed: one's own, or those of an account that one manages. */
export function ApiKeys({ path }: { path: string }) {
  const keys = useFetched<{ results: readonly ApiKey[] }>(path);
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<{ id: string; key: string } | null>(null);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const results = keys.data?.results ?? null;
  const columns: Column<ApiKey>[] = [
    { head: "Name", width: "minmax(0, 1.2fr)", cell: ({ name }) => name ?? <span class="soft">without a name</span> },
    { head: "Id", width: "128px", cell: ({ id }) => <span class="mono">{id}</span> },
    { head: "For", width: "minmax(0, 1fr)", cell: ({ scopes }) => scopes?.join(", ") ?? "everything" },
    {
      head: "From",
      width: "minmax(0, 0.8fr)",
      cell: ({ allowedAddresses }) => (
        <span title={allowedAddresses?.join(", ")}>{allowedAddresses?.join(", ") ?? "anywhere"}</span>
      ),
    },
    {
      head: "Ends",
      width: "104px",
      cell: ({ expiresAt }) =>
        expiresAt === null ? <span class="soft">never</span> : <Time at={expiresAt} as="clock" />,
    },
    {
      head: "Last used",
      width: "104px",
      cell: ({ usedAt }) => (usedAt === null ? <span class="soft">never</span> : <Time at={usedAt} />),
    },
    {
      head: "Action",
      width: "84px",
      number: true,
      plain: true,
      cell: (key) => (
        <Button small kind="danger" aria-label={`Revoke ${key.name ?? key.id}`} onClick={() => setRevoking(key)}>
          Revoke
        </Button>
      ),
    },
  ];
  return (
    <div class="stack">
      <div class="row spread">
        <p class="soft">A program calls the API with a key. Give each program its own, good for what it does.</p>
        <Button kind="primary" onClick={() => setMaking(true)}>
          Make a key
        </Button>
      </div>
      {made !== null && (
        <Once label="The new key." text={made.key}>
          <p class="soft">
            As a header: <code>Authorization: App {made.key.slice(0, 12)}…</code>
          </p>
        </Once>
      )}
      <ProblemBox of={keys.problem} />
      {results === null && keys.problem === null && <Busy />}
      {results?.length === 0 && (
        <Empty title="There are no keys yet" icon={KeyRound}>
          Make one for each program that sends messages.
        </Empty>
      )}
      {results !== null && results.length > 0 && (
        <DataTable label="API keys" columns={columns} rows={results} keyOf={({ id }) => id} />
      )}
      {making && (
        <NewKey
          path={path}
          onClose={() => setMaking(false)}
          onMade={(key) => {
            setMaking(false);
            setMade(key);
            keys.reload();
          }}
        />
      )}
      {revoking !== null && (
        <Confirm
          title="Revoke the key"
          action="Revoke"
          danger
          onClose={() => setRevoking(null)}
          onConfirm={async () => {
            await api.delete(`${path}/${revoking.id}`);
            if (made?.id === revoking.id) setMade(null);
            say(`The key ${revoking.name ?? revoking.id} is revoked.`);
            keys.reload();
          }}
        >
          <p>
            Programs that use <strong>{revoking.name ?? revoking.id}</strong> are refused from now on. That cannot be
            taken back.
          </p>
        </Confirm>
      )}
    </div>
  );
}

interface NewKeyProps {
  readonly path: string;
  readonly onClose: () => void;
  readonly onMade: (key: { id: string; key: string }) => void;
}

function NewKey({ path, onClose, onMade }: NewKeyProps) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly string[]>(["send", "track"]);
  const [ends, setEnds] = useState("");
  const [networks, setNetworks] = useState("");
  const make = useAction(() => {
    const lines = networks.split(/[\s,]+/).filter(Boolean);
    return api.post<{ id: string; key: string }>(path, {
      ...(name === "" ? {} : { name }),
      scopes,
      ...(ends === "" ? {} : { expiresAt: new Date(ends).toISOString() }),
      ...(lines.length === 0 ? {} : { allowedAddresses: lines }),
    });
  }, onMade);
  const wrong = (field: string) =>
    make.problem?.fields.some((named) => named.startsWith(field)) ? make.problem.message : null;
  return (
    <Dialog title="Make an API key" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          make.run();
        }}
      >
        <Field label="Name" hint="What it is for, such as the till." wrong={wrong("name")}>
          <Input value={name} maxLength={100} onInput={(event) => setName(event.currentTarget.value)} />
        </Field>
        <fieldset class="settings-set">
          <legend>Good for</legend>
          {Object.entries(SCOPES).map(([scope, words]) => (
            <Check
              key={scope}
              checked={scopes.includes(scope)}
              onChange={(on) => setScopes(on ? [...scopes, scope] : scopes.filter((other) => other !== scope))}
            >
              <strong>{scope}</strong> <span class="soft">{words}</span>
            </Check>
          ))}
        </fieldset>
        <Field label="Ends" hint="In your time zone. Empty for never." wrong={wrong("expiresAt")}>
          <Input type="datetime-local" value={ends} onInput={(event) => setEnds(event.currentTarget.value)} />
        </Field>
        <Field
          label="Networks"
          hint="From where it may be used, one a line, such as 192.0.2.0/24. Empty for anywhere."
          wrong={wrong("allowedAddresses")}
        >
          <TextArea
            class="settings-lines"
            value={networks}
            onInput={(event) => setNetworks(event.currentTarget.value)}
          />
        </Field>
        {make.problem?.fields.length === 0 && <ProblemBox of={make.problem} />}
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={make.busy} disabled={scopes.length === 0}>
            Make the key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
