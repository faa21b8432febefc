import type { ButtonHTMLAttributes, ComponentChildren } from "preact";

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "size" | "icon"> {
  readonly kind?: "plain" | "primary" | "danger" | "quiet";
  readonly small?: boolean;
  /** Something is under way: it cannot be pressed again. */
  readonly busy?: boolean;
  readonly children: ComponentChildren;
}

/** A button that is busy stays where it is and keeps the focus; pressing it again does nothing. */
export function Button({ kind = "plain", small = false, busy = false, onClick, class: name, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      class={`button ${kind} ${small ? "small" : ""} ${name ?? ""}`}
      aria-busy={busy}
      aria-disabled={busy}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else if (typeof onClick === "function") onClick.call(event.currentTarget, event);
      }}
    />
  );
}
