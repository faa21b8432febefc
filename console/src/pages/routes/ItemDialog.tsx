/** A dialog that sets one item of the catalogue. What the service finds wrong stands at its field. */
import { useState } from "preact/hooks";
import { Button } from "../../parts/Button.tsx";
import { Dialog, useAction } from "../../parts/Dialog.tsx";
import { Field, Input, TextArea } from "../../parts/Field.tsx";
import { ProblemBox } from "../../parts/Page.tsx";

export interface ItemField {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** The names that the service gives it, where they are others. */
  readonly also?: readonly string[];
  readonly lines?: number;
  /** It names the item, and so cannot be changed. */
  readonly fixed?: boolean;
}

export type Values = Readonly<Record<string, string>>;

export interface ItemDialogProps {
  readonly title: string;
  readonly fields: readonly ItemField[];
  readonly initial: Values;
  readonly onSave: (values: Values) => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function ItemDialog({ title, fields, initial, onSave, onDone, onClose }: ItemDialogProps) {
  const [values, setValues] = useState<Values>(initial);
  const { busy, problem, run } = useAction(
    () => onSave(values),
    () => {
      onDone();
      onClose();
    },
  );
  /** A field is meant by its name, or by what stands below it: "groups.0.1.weight". */
  const isAbout = ({ name, also = [] }: ItemField): boolean =>
    problem?.fields.some((field) =>
      [name, ...also].some((known) => field === known || field.startsWith(`${known}.`)),
    ) ?? false;
  const placed = fields.some(isAbout);
  const set =
    (name: string) =>
    ({ currentTarget: { value } }: { currentTarget: { value: string } }): void =>
      setValues((now) => ({ ...now, [name]: value }));
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        {fields.map((field) => (
          <Field
            key={field.name}
            label={field.label}
            hint={field.hint}
            wrong={isAbout(field) ? problem?.message : null}
          >
            {field.lines === undefined ? (
              <Input value={values[field.name] ?? ""} disabled={field.fixed === true} onInput={set(field.name)} />
            ) : (
              <TextArea
                class="mono"
                rows={field.lines}
                spellcheck={false}
                value={values[field.name] ?? ""}
                onInput={set(field.name)}
              />
            )}
          </Field>
        ))}
        {!placed && <ProblemBox of={problem} />}
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={busy}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
