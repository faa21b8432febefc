/** A secret that is shown this once. */
import { KeyRound } from "lucide";
import type { ComponentChildren } from "preact";
import { Code } from "../../parts/Copy.tsx";
import { Icon } from "../../parts/Icon.tsx";

export function Once({ label, text, children }: { label: string; text: string; children?: ComponentChildren }) {
  return (
    <section class="settings-once" aria-label={label}>
      <p>
        <Icon of={KeyRound} /> <strong>{label}</strong> It is shown only now: copy it to where it is used.
      </p>
      <Code text={text} label={`${label.replace(/\.$/, "")}, to copy`} />
      {children}
    </section>
  );
}
