/** Who changed what, newest first; the filters are in the address. */
import { History } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api.ts";
import { useFetched } from "../../fetched.ts";
import { count } from "../../parts/Amount.tsx";
import { Button } from "../../parts/Button.tsx";
import { type Column, DataTable } from "../../parts/DataTable.tsx";
import { Dialog, useAction } from "../../parts/Dialog.tsx";
import { Field, Input, Select } from "../../parts/Field.tsx";
import { Empty, Page, ProblemBox } from "../../parts/Page.tsx";
import { Busy } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { setQuery, useLocation } from "../../router.ts";
import "./audit.css";

type Facts = Readonly<Record<string, unknown>> | null;

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly address: string | null;
  readonly action: string;
  readonly kind: string;
  readonly subject: string;
  readonly before: Facts;
  readonly after: Facts;
}

interface AuditPage {
  readonly results: readonly Entry[];
  readonly next: string | null;
}

const KINDS: readonly { readonly value: string; readonly label: string }[] = [
  { value: "", label: "any change" },
  { value: "account", label: "accounts" },
  { value: "funds", label: "funds" },
  { value: "apiKey", label: "API keys" },
  { value: "password", label: "passwords" },
  { value: "secondFactor", label: "second factors" },
  { value: "sessions", label: "sessions ended" },
  { value: "callbackSecret", label: "callback secrets" },
  { value: "optOut", label: "opt-outs" },
  { value: "carrier", label: "carriers" },
  { value: "route", label: "routes" },
  { value: "ratePlan", label: "rate plans" },
  { value: "exchangeRate", label: "exchange rates" },
  { value: "number", label: "numbers" },
  { value: "login", label: "logins" },
];
const LIMIT = 50;
/** Of a value or a summary so many characters are shown, and so many fields. */
const MAX_SHOWN = 200;
const MAX_FIELDS = 100;

export default function Audit() {
  const { query } = useLocation();
  const { kind = null, subject = null, actor = null } = query;
  const isNarrowed = kind !== null || subject !== null || actor !== null;
  const asked = { kind, subject, actor, limit: LIMIT };
  const page = useFetched<AuditPage>("/operator/1/audit", asked);
  const [older, setOlder] = useState<AuditPage | null>(null);
  const [open, setOpen] = useState<Entry | null>(null);
  useEffect(() => setOlder(null), [page.data]);
  const next = older === null ? (page.data?.next ?? null) : older.next;
  const more = useAction(
    () => api.get<AuditPage>("/operator/1/audit", { ...asked, after: next }),
    (found) => setOlder({ results: [...(older?.results ?? []), ...found.results], next: found.next }),
  );
  const rows = page.data === null ? null : [...page.data.results, ...(older?.results ?? [])];
  const columns: Column<Entry>[] = [
    { head: "Time", width: "112px", cell: ({ at }) => <Time at={at} /> },
    { head: "Who", width: "minmax(0, 0.9fr)", cell: (entry) => <span title={entry.actor}>{entry.actor}</span> },
    { head: "From", width: "112px", cell: ({ address }) => <span class="mono">{address ?? "–"}</span> },
    { head: "Did", width: "128px", cell: deedOf },
    {
      head: "Which",
      width: "minmax(0, 1fr)",
      cell: (entry) => (
        <span class="mono" title={entry.subject}>
          {entry.subject}
        </span>
      ),
    },
    { head: "What", width: "minmax(0, 3fr)", cell: (entry) => <span class="soft audit-what">{summaryOf(entry)}</span> },
    {
      head: "Details",
      width: "72px",
      number: true,
      plain: true,
      cell: (entry) => (
        <Button small aria-label={`Show ${deedOf(entry)} ${entry.subject}`} onClick={() => setOpen(entry)}>
          Show
        </Button>
      ),
    },
  ];
  const filter = (name: string) => ({
    value: query[name] ?? "",
    onChange: (event: { currentTarget: { value: string } }) => setQuery({ [name]: event.currentTarget.value || null }),
  });
  return (
    <Page title="Audit" actions={<Button onClick={page.reload}>Look again</Button>}>
      <div class="audit-filters">
        <Field label="What was changed">
          <Select value={kind ?? ""} options={KINDS} onChoose={(value) => setQuery({ kind: value || null })} />
        </Field>
        <Field label="Which one">
          <Input type="search" placeholder="such as an account's key" {...filter("subject")} />
        </Field>
        <Field label="By whom">
          <Input type="search" placeholder="an account's key" {...filter("actor")} />
        </Field>
      </div>
      <ProblemBox of={page.problem ?? more.problem} />
      {rows === null && page.problem === null && <Busy />}
      {rows?.length === 0 && (
        <Empty title={isNarrowed ? "Nothing was changed like that" : "Nothing was changed yet"} icon={History}>
          {isNarrowed
            ? "Take a filter away: names are compared whole, letter by letter."
            : "Every change of accounts, keys, carriers, routes and prices stands here, with who made it. Logins have a kind of their own."}
        </Empty>
      )}
      {rows !== null && rows.length > 0 && (
        <DataTable label="Audit" columns={columns} rows={rows} keyOf={({ id }) => id}>
          {next !== null && (
            <Button busy={more.busy} onClick={more.run}>
              Older
            </Button>
          )}
        </DataTable>
      )}
      {open !== null && <EntryDialog entry={open} onClose={() => setOpen(null)} />}
    </Page>
  );
}

/** "topUp" → "top up", "apiKey" → "API key" */
const spaced = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/^api /, "API ");
const deedOf = ({ action, kind }: Entry): string => `${spaced(action)} ${spaced(kind)}`;

/** A value without the signs of JSON. */
function worded(value: unknown): string {
  if (value === undefined || value === null || value === "") return "–";
  if (Array.isArray(value)) return value.map(worded).join(", ") || "–";
  if (typeof value === "object")
    return Object.entries(value)
      .map(([name, inner]) => `${name} ${worded(inner)}`)
      .join(", ");
  return String(value);
}
const clipped = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

/** The prices of a plan are fields of their own: of thousands a few change. */
function flat(facts: Facts): ReadonlyMap<string, unknown> {
  const fields = new Map<string, unknown>();
  for (const [name, value] of Object.entries(facts ?? {})) {
    if (name !== "rate" || !Array.isArray(value)) fields.set(name, value);
    else for (const { prefix, price } of value) fields.set(`price of ${prefix || "*"}`, price);
  }
  return fields;
}

/** The fields that are others than before. */
function differences(entry: Entry): { name: string; before: string; after: string }[] {
  const [before, after] = [flat(entry.before), flat(entry.after)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((name) => ({ name, before: worded(before.get(name)), after: worded(after.get(name)) }))
    .filter((field) => field.before !== field.after);
}

/** Of what was not there before, or is no more, the fields as they are. */
function summaryOf(entry: Entry): string {
  const fields = differences(entry);
  const isWhole = entry.before === null || entry.after === null;
  const lines = fields.map(({ name, before, after }) => {
    if (before === "–" || after === "–") return `${name} ${before === "–" ? after : `${before} → none`}`;
    return `${name} ${before} → ${after}`;
  });
  const told = isWhole ? fields.map(({ name, before, after }) => `${name} ${after === "–" ? before : after}`) : lines;
  return clipped(told.slice(0, MAX_FIELDS).join(", "));
}

function EntryDialog({ entry, onClose }: { entry: Entry; onClose: () => void }) {
  const fields = differences(entry);
  return (
    <Dialog title={`${deedOf(entry)} ${entry.subject}`} wide onClose={onClose}>
      <dl class="facts">
        <dt>Who</dt>
        <dd>
          {entry.actor}
          {entry.address !== null && (
            <>
              {" "}
              from <span class="mono">{entry.address}</span>
            </>
          )}
        </dd>
        <dt>When</dt>
        <dd>
          <Time at={entry.at} as="clock" />
        </dd>
        {entry.kind === "account" && (
          <>
            <dt>Account</dt>
            <dd>
              <a href={`/accounts/${encodeURIComponent(entry.subject)}`}>{entry.subject}</a>
            </dd>
          </>
        )}
      </dl>
      {fields.length > 0 && (
        <table class="audit-fields">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            {fields.slice(0, MAX_FIELDS).map(({ name, before, after }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="mono">{clipped(before)}</td>
                <td class="mono">{clipped(after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {fields.length > MAX_FIELDS && <p class="soft">And {count(fields.length - MAX_FIELDS)} more fields.</p>}
    </Dialog>
  );
}
