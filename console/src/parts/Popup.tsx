/** A button that opens a small menu below it. It closes with Escape and when something else is pressed. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export interface PopupProps {
  readonly label: string;
  readonly button: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Popup({ label, button, children }: PopupProps) {
  const [open, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const close = (event: Event): void => {
      if (!(event instanceof KeyboardEvent)) {
        if (!place.current?.contains(event.target as Node)) setOpen(false);
        return;
      }
      if (event.key !== "Escape") return;
      // It closes this and nothing else.
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
      place.current?.querySelector("button")?.focus();
    };
    document.addEventListener("pointerdown", close);
    document.addEventListener("keydown", close, true);
    return () => {
      document.removeEventListener("pointerdown", close);
      document.removeEventListener("keydown", close, true);
    };
  }, [open]);
  return (
    <div class="menu-pop" ref={place}>
      <button type="button" class="button small" aria-label={label} aria-expanded={open} onClick={() => setOpen(!open)}>
        {button}
      </button>
      {open && <div>{children}</div>}
    </div>
  );
}
