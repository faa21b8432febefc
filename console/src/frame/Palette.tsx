/** The palette (Ctrl-K or /): go to a page, or search messages. And the keys that work everywhere. */
import { signal } from "@preact/signals";
import { type IconNode, Search } from "lucide";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { withQuery } from "../api.ts";
import { pagesOf } from "../pages.ts";
import { Dialog } from "../parts/Dialog.tsx";
import { Icon } from "../parts/Icon.tsx";
import { hasMoved, navigate } from "../router.ts";
import type { Me } from "../session.ts";

export const isPaletteOpen = signal(false);
const areKeysShown = signal(false);

const KEYS: readonly (readonly [string, string])[] = [
  ["Ctrl K or /", "search, or go to a page"],
  ["c", "compose a message"],
  ["j and k", "down and up in a list"],
  ["Enter", "open what is chosen"],
  ["Esc", "close, or go back from a message to its list"],
  ["?", "show these keys"],
];

/** Keys that are not meant for a field. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}

/** From one thing back to the list that it is of: as it was, where one came from there. */
function toList(): void {
  const [, list] = /^(\/[\w-]+)\/./.exec(location.pathname) ?? [];
  if (list === undefined) return;
  if (hasMoved()) history.back();
  else navigate(list);
}

export function useShortcuts(): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        isPaletteOpen.value = !isPaletteOpen.value;
        return;
      }
      if (event.defaultPrevented || isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector("dialog[open]") !== null) return;
      if (event.key === "/") {
        event.preventDefault();
        isPaletteOpen.value = true;
      } else if (event.key === "c") {
        event.preventDefault();
        navigate("/compose");
      } else if (event.key === "?") areKeysShown.value = true;
      else if (event.key === "Escape") toList();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

interface Choice {
  readonly title: string;
  readonly hint: string;
  readonly icon: IconNode;
  readonly place: string;
}

const FILTERS: readonly (readonly [string, string])[] = [
  ["failed", "messages that went wrong"],
  ["retrying", "messages that are tried again"],
  ["stuck", "messages that should have moved"],
  ["scheduled", "messages that wait for their time"],
];

function choicesFor(text: string, who: Me): Choice[] {
  const wanted = text.trim().toLowerCase();
  const search = (q: string) => withQuery("/messages", { q });
  const pages = pagesOf(who)
    .filter(({ title }) => title.toLowerCase().includes(wanted))
    .map(({ title, icon, path }) => ({ title, icon, place: path, hint: "page" }));
  const filters = FILTERS.filter(([word]) => word.includes(wanted)).map(([word, hint]) => ({
    title: word,
    hint,
    icon: Search,
    place: search(word),
  }));
  if (wanted === "") return [...pages, ...filters];
  const digits = wanted.replace(/^\+/, "");
  const query = /^\d{4,15}$/.test(digits) ? `to:${digits}` : /^[\w-]{16,}$/.test(wanted) ? null : text.trim();
  const found: Choice[] =
    query === null
      ? [
          {
            title: `Message ${text.trim()}`,
            hint: "open",
            icon: Search,
            place: `/messages/${encodeURIComponent(text.trim())}`,
          },
        ]
      : [
          {
            title: `Messages: ${query}`,
            hint: "search",
            icon: Search,
            place: search(
              /^\w+:|^(failed|retrying|stuck|scheduled)\b/.test(query) ? query : `text:"${query.replaceAll('"', "")}"`,
            ),
          },
        ];
  return [...pages, ...filters, ...found];
}

const MOVES: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

export function Palette({ who }: { who: Me }) {
  return (
    <>
      {isPaletteOpen.value && <OpenPalette who={who} />}
      {areKeysShown.value && (
        <Dialog title="Keys" onClose={() => (areKeysShown.value = false)}>
          <dl class="facts">
            {KEYS.map(([key, words]) => (
              <>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{words}</dd>
              </>
            ))}
          </dl>
        </Dialog>
      )}
    </>
  );
}

function OpenPalette({ who }: { who: Me }) {
  const ref = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const choices = choicesFor(text, who);
  const chosen = Math.min(at, choices.length - 1);
  const close = (): void => {
    isPaletteOpen.value = false;
  };
  const go = (choice: Choice | undefined): void => {
    close();
    if (choice !== undefined) navigate(choice.place);
  };
  // Before the next key: whoever types fast types into it.
  useLayoutEffect(() => ref.current?.showModal(), []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it too
    <dialog
      ref={ref}
      class="palette"
      aria-label="Search or go to a page"
      onClose={close}
      onClick={(event) => {
        if (event.target === ref.current) close();
      }}
    >
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${chosen}`}
        aria-label="A page, a number, an id, or words of a text"
        placeholder="A page, a number, an id, or words of a text"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const step = MOVES[event.key];
          if (step !== undefined) {
            event.preventDefault();
            setAt((chosen + step + choices.length) % choices.length);
          } else if (event.key === "Enter") go(choices[chosen]);
        }}
      />
      <div role="listbox" id="palette-list" aria-label="Choices">
        {choices.map(({ title, hint, icon, place }, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
          <div
            key={`${place} ${title}`}
            role="option"
            id={`palette-${index}`}
            aria-selected={index === chosen}
            onClick={() => go(choices[index])}
          >
            <Icon of={icon} />
            {title}
            <span class="soft">{hint}</span>
          </div>
        ))}
      </div>
    </dialog>
  );
}
