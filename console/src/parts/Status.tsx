/** A state: a colour, a sign and a word, always the three together. */
import { Check, CircleDashed, LoaderCircle, RotateCw, Send, X } from "lucide";
import type { ComponentChildren } from "preact";
import { Icon } from "./Icon.tsx";

export type StateColour = "waiting" | "moving" | "done" | "retrying" | "failed";

const SIGNS = { waiting: CircleDashed, moving: Send, done: Check, retrying: RotateCw, failed: X } as const;

export interface StatusProps {
  readonly is: StateColour;
  readonly badge?: boolean;
  readonly children: ComponentChildren;
}

export function Status({ is, badge = false, children }: StatusProps) {
  return (
    <span class={`status ${is} ${badge ? "badge" : ""}`}>
      <Icon of={SIGNS[is]} size={14} class="sign" />
      {children}
    </span>
  );
}

export function Busy({ children = "Loading" }: { children?: ComponentChildren }) {
  return (
    <p class="status waiting" role="status">
      <Icon of={LoaderCircle} size={14} class="sign" />
      {children}…
    </p>
  );
}
