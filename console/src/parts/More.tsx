/** Fields that few people need, folded away. What is wrong with one of them is seen: then it opens. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface MoreProps {
  readonly title: string;
  /** Something in it is wrong. */
  readonly wrong?: boolean;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function More({ title, wrong = false, class: name, children }: MoreProps) {
  const ref = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => {
    if (wrong && ref.current !== null) ref.current.open = true;
  }, [wrong]);
  return (
    <details ref={ref} class={name}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}
