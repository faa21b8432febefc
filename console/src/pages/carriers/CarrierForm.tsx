/** The form in which a carrier is set: its fields are those of the schema of its kind. */
import { useEffect, useState } from "preact/hooks";
import { api, Problem } from "../../api.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog, useAction } from "../../parts/Dialog.tsx";
import { Check, Field, Input, Select, TextArea } from "../../parts/Field.tsx";
import { More } from "../../parts/More.tsx";
import { ProblemBox } from "../../parts/Page.tsx";
import { Busy } from "../../parts/Status.tsx";
import { say } from "../../parts/Toast.tsx";
import { navigate } from "../../router.ts";
import { HINTS, labelOf, MAIN, PLACEHOLDERS } from "./fields.ts";

interface FieldOfKind {
  readonly name: string;
  readonly input: "text" | "secret" | "number" | "switch" | "choice" | "lines" | "json";
  readonly choices: readonly (string | number)[];
  readonly min: number | null;
  readonly max: number | null;
  readonly isRequired: boolean;
}

interface Kind {
  readonly kind: string;
  readonly fields: readonly FieldOfKind[];
}

type Profile = Readonly<Record<string, unknown>> & { readonly kind: string; readonly version: number };

const pathOf = (id: string): string => `/operator/1/carriers/${encodeURIComponent(id)}`;

/** What is written in the form for a value. */
function written({ input }: FieldOfKind, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (input === "lines") return (value as string[]).join("\n");
  return input === "json" ? JSON.stringify(value) : String(value);
}

/** The value of what is written; undefined for nothing. */
function read(field: FieldOfKind, text: string): unknown {
  const { name, input, choices } = field;
  if (text.trim() === "") return undefined;
  if (input === "lines")
    return text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
  if (input === "switch") return text === "true";
  if (input === "number" || (input === "choice" && typeof choices[0] === "number")) return Number(text);
  if (input !== "json") return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Problem(`${name} is not JSON.`, 0, [name]);
  }
}

/** With null as its id a new carrier is made. */
export function CarrierForm({ id, onClose }: { id: string | null; onClose: () => void }) {
  const [kinds, setKinds] = useState<readonly Kind[] | null>(null);
  const [kind, setKind] = useState("smpp");
  const [name, setName] = useState(id ?? "");
  const [before, setBefore] = useState<Profile | null>(null);
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const loading = useAction(async () => {
    const [known, profile] = await Promise.all([
      api.get<{ kinds: Kind[] }>("/console/1/carrier-kinds"),
      id === null ? null : api.get<Profile>(pathOf(id)),
    ]);
    setKinds(known.kinds);
    if (profile === null) return;
    setBefore(profile);
    setKind(profile.kind);
    const fields = known.kinds.find((one) => one.kind === profile.kind)?.fields ?? [];
    setTexts(Object.fromEntries(fields.map((field) => [field.name, written(field, profile[field.name])])));
  });
  useEffect(loading.run, []);

  const fields = kinds?.find((one) => one.kind === kind)?.fields ?? [];
  const save = useAction(
    async () => {
      if (!/^[A-Za-z0-9_.-]{1,64}$/.test(name))
        throw new Problem("A carrier's name has 1 to 64 letters, digits, dots, dashes and underscores.", 0, ["id"]);
      const values = fields.map((field) => [field.name, read(field, texts[field.name] ?? "")] as const);
      // What the form does not show stays as it is.
      const { version = 0, ...kept } = before ?? { version: 0 };
      const shown = new Set(fields.map((field) => field.name));
      const rest = Object.fromEntries(Object.entries(kept).filter(([field]) => !shown.has(field)));
      await api.put(pathOf(name), { ...rest, kind, ...Object.fromEntries(values), version });
    },
    () => {
      say(id === null ? `The carrier ${name} is there. Lead a route to it.` : `The carrier ${name} is changed.`);
      onClose();
      if (id === null) navigate(`/carriers/${encodeURIComponent(name)}`);
    },
  );
  const set = (field: string, text: string): void => setTexts((now) => ({ ...now, [field]: text }));
  const wrong = (field: string): string | null =>
    save.problem?.fields.some((one) => one.includes(field)) ? save.problem.message : null;
  const draw = (field: FieldOfKind) => (
    <FieldInput key={field.name} of={field} text={texts[field.name] ?? ""} wrong={wrong(field.name)} onText={set} />
  );
  const others = fields.filter((field) => !MAIN.has(field.name));

  return (
    <Dialog title={id === null ? "Add a carrier" : `Change ${id}`} wide onClose={onClose}>
      {kinds === null ? (
        loading.problem === null && <Busy />
      ) : (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            save.run();
          }}
        >
          <div class="carriers-form">
            {id === null && (
              <>
                <Field label="Name" wrong={wrong("id")}>
                  <Input value={name} required onInput={(event) => setName(event.currentTarget.value)} />
                </Field>
                <Field label="Kind">
                  <Select value={kind} options={kinds.map((one) => one.kind)} onChoose={setKind} />
                </Field>
              </>
            )}
            {fields.filter((field) => MAIN.has(field.name)).map(draw)}
          </div>
          {others.length > 0 && (
            <More class="carriers-more" title="More fields" wrong={others.some((field) => wrong(field.name) !== null)}>
              <div class="carriers-form">{others.map(draw)}</div>
            </More>
          )}
          <ProblemBox of={save.problem} />
          <div class="dialog-foot">
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" type="submit" busy={save.busy}>
              {id === null ? "Add" : "Save"}
            </Button>
          </div>
        </form>
      )}
      <ProblemBox of={loading.problem} />
    </Dialog>
  );
}

interface FieldInputProps {
  readonly of: FieldOfKind;
  readonly text: string;
  readonly wrong: string | null;
  readonly onText: (name: string, text: string) => void;
}

function FieldInput({ of: { name, input, choices, min, max, isRequired }, text, wrong, onText }: FieldInputProps) {
  const hint = HINTS[name];
  const label = labelOf(name);
  if (input === "switch")
    return (
      <div class="field">
        <span class="label">{label}</span>
        <div>
          <Check checked={text === "true"} onChange={(checked) => onText(name, checked ? "true" : "")}>
            {hint ?? label}
          </Check>
        </div>
      </div>
    );
  const told = { wrong, ...(hint === undefined ? {} : { hint }) };
  const onInput = (event: { currentTarget: { value: string } }): void => onText(name, event.currentTarget.value);
  if (input === "choice")
    return (
      <Field label={label} {...told}>
        <Select
          value={text}
          options={[
            { value: "", label: "default" },
            ...choices.map((one) => ({ value: String(one), label: String(one) })),
          ]}
          onChoose={(value) => onText(name, value)}
        />
      </Field>
    );
  if (input === "lines" || input === "json" || name === "tlsCaPem")
    return (
      <Field label={label} {...told}>
        <TextArea class="mono" rows={2} value={text} placeholder={PLACEHOLDERS[name] ?? ""} onInput={onInput} />
      </Field>
    );
  const bounds =
    input === "number" ? { type: "number", ...(min === null ? {} : { min }), ...(max === null ? {} : { max }) } : {};
  return (
    <Field label={label} {...told}>
      <Input
        {...bounds}
        {...(input === "secret" ? { type: "password", autocomplete: "new-password" } : {})}
        {...(input !== "number" && max !== null ? { maxLength: max } : {})}
        value={text}
        required={isRequired && input !== "secret"}
        onInput={onInput}
      />
    </Field>
  );
}
