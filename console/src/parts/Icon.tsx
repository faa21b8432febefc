/** An icon of lucide's set, as SVG in the page. It is a picture for the eye only: the words beside it say the same. */
import type { IconNode } from "lucide";
import { createElement } from "preact";

export function Icon({ of, size = 16, class: name = "" }: { of: IconNode; size?: number; class?: string }) {
  return (
    <svg
      class={name}
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {of.map(([tag, attributes], index) => createElement(tag, { ...attributes, key: index }))}
    </svg>
  );
}
