/** The frame of a page: its title, what can be done, and whether it is live. */
import { CircleAlert, type IconNode, Inbox } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Problem } from "../api.ts";
import { connected } from "../live.ts";
import { Icon } from "./Icon.tsx";

export interface PageProps {
  readonly title: string;
  /** What the title says, where it is more than a text. */
  readonly heading?: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** It follows what happens, and says so. */
  readonly live?: boolean;
  readonly children: ComponentChildren;
}

/** The first page is read from its top; those after it from their title. */
let isFirst = true;

export function Page({ title, heading, actions, live = false, children }: PageProps) {
  const top = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const isBusy = document.activeElement?.closest("main input, main textarea, dialog") ?? null;
    if (!isFirst && isBusy === null) top.current?.focus({ preventScroll: true });
    isFirst = false;
  }, []);
  useEffect(() => {
    document.title = `${title} · Heliograph`;
  }, [title]);
  return (
    <>
      <div class="page-head">
        <h1 ref={top} tabIndex={-1}>
          {heading ?? title}
        </h1>
        {live && (
          <span class={connected.value ? "live-dot" : "live-dot broken"}>
            {connected.value ? "live" : "reconnecting"}
          </span>
        )}
        {actions && <div class="actions">{actions}</div>}
      </div>
      <div class="stack">{children}</div>
    </>
  );
}

/** Nothing is there; the words say what to do next. */
export function Empty({
  title,
  icon = Inbox,
  children,
}: {
  title: string;
  icon?: IconNode;
  children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <Icon of={icon} size={28} />
      <h2>{title}</h2>
      {children && <p>{children}</p>}
    </div>
  );
}

export function ProblemBox({ of }: { of: Problem | Error | string | null | undefined }) {
  if (of === null || of === undefined || of === "") return null;
  return (
    <div class="problem" role="alert">
      <Icon of={CircleAlert} />
      <span>{typeof of === "string" ? of : of.message}</span>
    </div>
  );
}
