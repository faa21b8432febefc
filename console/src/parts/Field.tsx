/** A labelled field of a form: its words, a hint, and what is wrong with it. */
import {
  type ComponentChildren,
  cloneElement,
  type HTMLAttributes,
  type InputHTMLAttributes,
  type TextareaHTMLAttributes,
  type VNode,
} from "preact";
import { useId } from "preact/hooks";

export interface FieldProps {
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  /** What is wrong with it, in words. */
  readonly wrong?: string | null | undefined;
  /** One input, select or textarea. */
  readonly children: VNode<HTMLAttributes<HTMLElement>>;
}

export function Field({ label, hint, wrong, children }: FieldProps) {
  const id = useId();
  const described = [hint ? `${id}-hint` : "", wrong ? `${id}-wrong` : ""].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {cloneElement(children, {
        id,
        ...(described === "" ? {} : { "aria-describedby": described }),
        ...(wrong ? { "aria-invalid": "true" } : {}),
      })}
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {wrong && (
        <span class="wrong" id={`${id}-wrong`} role="alert">
          {wrong}
        </span>
      )}
    </div>
  );
}

export function Input(props: InputHTMLAttributes<HTMLInputElement>) {
  return <input autocomplete="off" spellcheck={false} {...props} class={`input ${props.class ?? ""}`} />;
}

export function TextArea(props: TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return <textarea {...props} class={`input ${props.class ?? ""}`} />;
}

export interface SelectProps {
  readonly id?: string;
  readonly class?: string;
  readonly name?: string;
  readonly value?: string;
  readonly disabled?: boolean;
  readonly "aria-label"?: string;
  readonly options: readonly (string | { readonly value: string; readonly label: string })[];
  readonly onChoose: (value: string) => void;
}

export function Select({ options, onChoose, ...rest }: SelectProps) {
  return (
    <select {...rest} class={`input ${rest.class ?? ""}`} onChange={(event) => onChoose(event.currentTarget.value)}>
      {options.map((option) => {
        const { value, label } = typeof option === "string" ? { value: option, label: option } : option;
        return (
          <option key={value} value={value}>
            {label}
          </option>
        );
      })}
    </select>
  );
}

export interface CheckProps {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly disabled?: boolean;
  readonly children: ComponentChildren;
}

export function Check({ checked, onChange, disabled = false, children }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{children}</span>
    </label>
  );
}
