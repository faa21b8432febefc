/**
 * The text of a message. The characters that force it into Unicode are marked where they stand: the same text lies below the field, with
 * nothing but its marks to be seen.
 */
import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import type { LackingCharacter } from "../../../../src/sms/lacking.ts";

export interface TextEditorProps {
  readonly id?: string;
  readonly value: string;
  readonly lacking: readonly LackingCharacter[];
  readonly rows?: number;
  readonly onInput: (text: string) => void;
  readonly "aria-describedby"?: string;
  readonly "aria-invalid"?: "true";
}

function marked(text: string, lacking: readonly LackingCharacter[]): (string | VNode)[] {
  const pieces: (string | VNode)[] = [];
  let at = 0;
  for (const { index, character } of lacking) {
    pieces.push(text.slice(at, index), <mark key={index}>{character}</mark>);
    at = index + character.length;
  }
  // A line's end that nothing follows would have no height.
  pieces.push(`${text.slice(at)}\n`);
  return pieces;
}

export function TextEditor({ value, lacking, rows = 5, onInput, ...rest }: TextEditorProps) {
  const below = useRef<HTMLDivElement>(null);
  return (
    <div class="compose-editor">
      <div ref={below} class="input compose-marks" aria-hidden="true">
        {marked(value, lacking)}
      </div>
      <textarea
        {...rest}
        class="input"
        rows={rows}
        value={value}
        spellcheck={true}
        onInput={(event) => onInput(event.currentTarget.value)}
        onScroll={(event) => {
          if (below.current !== null) below.current.scrollTop = event.currentTarget.scrollTop;
        }}
      />
    </div>
  );
}
