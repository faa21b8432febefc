/** Short words on what was just done. They are read out, and go by themselves. */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

const SHOWN_MS = 6_000;
const MAX_SHOWN = 4;

const said = signal<readonly { readonly id: number; readonly text: string }[]>([]);
let last = 0;

export function say(text: string): void {
  const id = ++last;
  said.value = [...said.value, { id, text }].slice(-MAX_SHOWN);
  setTimeout(() => {
    said.value = said.value.filter((toast) => toast.id !== id);
  }, SHOWN_MS);
}

export function Toasts() {
  const place = useRef<HTMLDivElement>(null);
  const shown = said.value;
  useEffect(() => {
    place.current?.hidePopover();
    // Shown anew it lies above a dialog that was opened meanwhile.
    if (shown.length > 0) place.current?.showPopover();
  }, [shown]);
  return (
    <div class="toasts" role="status" aria-live="polite" popover="manual" ref={place}>
      {shown.map(({ id, text }) => (
        <div key={id}>{text}</div>
      ))}
    </div>
  );
}
