/** Copying, with a word that it was done. */
import { Check, Copy as CopyIcon } from "lucide";
import { useState } from "preact/hooks";
import { Icon } from "./Icon.tsx";
import { say } from "./Toast.tsx";

/** Copies also where the page came over plain HTTP from another machine, and the browser has no clipboard for it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "visually-hidden";
    // Inside an open dialog nothing outside of it can be selected.
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

export function useCopy(): { copied: boolean; copy: (text: string) => void } {
  const [copied, setCopied] = useState(false);
  const copy = async (text: string): Promise<void> => {
    if (!(await copyText(text))) {
      say("The browser did not let it be copied: select it and copy it by hand.");
      return;
    }
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return { copied, copy: (text) => void copy(text) };
}

export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const { copied, copy } = useCopy();
  return (
    <button type="button" class="copy" aria-label={copied ? "Copied" : label} title={label} onClick={() => copy(text)}>
      <Icon of={copied ? Check : CopyIcon} size={14} />
    </button>
  );
}

/** An id or a number, in the monospaced face, with a button that copies it. */
export function Id({ of, href }: { of: string; href?: string }) {
  return (
    <span class="copy-id">
      {href === undefined ? <span>{of}</span> : <a href={href}>{of}</a>}
      <Copy text={of} label={`Copy ${of}`} />
    </span>
  );
}

export function Code({ text, label }: { text: string; label: string }) {
  return (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <pre tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <Copy text={text} label={`Copy ${label}`} />
    </div>
  );
}
