/** A dialog: the browser's own, which keeps the focus and closes with Escape. */
import { X } from "lucide";
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Problem } from "../api.ts";
import { Button } from "./Button.tsx";
import { Icon } from "./Icon.tsx";
import { ProblemBox } from "./Page.tsx";

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly wide?: boolean;
  readonly children: ComponentChildren;
}

/** It is open as long as it is there. */
export function Dialog({ title, onClose, wide = false, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next key, which is meant for what has opened.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    ref.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class={wide ? "dialog wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="button quiet icon-only" aria-label="Close" onClick={onClose}>
          <Icon of={X} />
        </button>
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

export interface ConfirmProps {
  readonly title: string;
  /** What the button says: what is done. */
  readonly action: string;
  readonly danger?: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => Promise<unknown>;
  readonly children: ComponentChildren;
}

/** Asks before something that cannot be taken back; closes when it is done, and shows what went wrong. */
export function Confirm({ title, action, danger = false, onClose, onConfirm, children }: ConfirmProps) {
  const { busy, problem, run } = useAction(onConfirm, onClose);
  return (
    <Dialog title={title} onClose={onClose}>
      <div>{children}</div>
      <ProblemBox of={problem} />
      <div class="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind={danger ? "danger" : "primary"} busy={busy} onClick={run}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}

/** Something that is done by a press: whether it is under way, and what went wrong with it. */
export function useAction<Result>(
  act: () => Promise<Result>,
  done: (result: Result) => void = () => {},
): { busy: boolean; problem: Problem | null; run: () => void } {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const run = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      const result = await act();
      setBusy(false);
      done(result);
    } catch (error) {
      setBusy(false);
      setProblem(error instanceof Problem ? error : new Problem((error as Error).message));
    }
  };
  return { busy, problem, run: () => void run() };
}
