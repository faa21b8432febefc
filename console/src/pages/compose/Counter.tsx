/** The line below the text: how much of how much, in what encoding, how many parts, what it costs; and what makes it dearer than it need be. */
import { formatMicros, parseMicros } from "../../../../src/money/amounts.ts";
import { MAX_PARTS } from "../../../../src/sms/prepared-text.ts";
import { count as figure } from "../../parts/Amount.tsx";
import { Button } from "../../parts/Button.tsx";
import { Status } from "../../parts/Status.tsx";
import {
  betterLanguage,
  type Count,
  codePoints,
  eachOnce,
  encodingWords,
  languageName,
  type OctetsCount,
  replaceLacking,
  type Transliterate,
} from "./counting.ts";
import { type Draft, textOptions } from "./draft.ts";
import { QUOTED_NUMBERS, type QuoteAnswer } from "./quote.ts";

export interface CounterProps {
  readonly draft: Draft;
  readonly counted: Count;
  readonly octets: OctetsCount;
  /** The carrier that would send it in another number of parts, because its alphabet has less than GSM. */
  readonly over: { readonly id: string; readonly alphabet: string; readonly parts: number } | null;
  readonly transliterate: Transliterate | null;
  readonly quote: QuoteAnswer | null;
  readonly numbers: number;
  readonly change: (changes: Partial<Draft>) => void;
}

export const partsWords = (parts: number): string => `${parts} ${parts === 1 ? "part" : "parts"}`;

export function Counter({ draft, counted, octets, over, transliterate, quote, numbers, change }: CounterProps) {
  if (draft.kind === "binary") {
    return "problem" in octets ? (
      <p class="compose-count">
        <Status is="failed">{octets.problem}</Status>
      </p>
    ) : (
      <p class="compose-count" role="status">
        {figure(octets.octets)} octets · {partsWords(octets.parts)}
        <Cost quote={quote} numbers={numbers} />
      </p>
    );
  }
  const { charactersRemaining, room, partCount, encoding, tooLong, text } = counted;
  const isChanged = text !== draft.text;
  return (
    <div class="compose-below">
      <p class="compose-count" role="status">
        <span>
          <b>{figure(room - charactersRemaining)}</b> of {figure(room)}
        </span>
        <span>{encodingWords(encoding)}</span>
        <span>{partsWords(partCount)}</span>
        <span>{figure(charactersRemaining)} left in this part</span>
        <Cost quote={quote} numbers={numbers} />
      </p>
      {tooLong && <Status is="failed">It is too long: at most {MAX_PARTS} parts are sent.</Status>}
      {over !== null && (
        <Status is="retrying">
          {over.id} takes {over.alphabet} and not GSM: over it this text takes {partsWords(over.parts)}.
        </Status>
      )}
      {isChanged && (
        <p class="compose-preview">
          <span class="soft">The phone shows:</span> {text}
        </p>
      )}
      <Guilty draft={draft} counted={counted} transliterate={transliterate} change={change} />
    </div>
  );
}

/** The price of all, and whether the money is there. */
function Cost({ quote, numbers }: Pick<CounterProps, "quote" | "numbers">) {
  if (quote === null || numbers === 0) return null;
  const looked = Math.min(numbers, QUOTED_NUMBERS);
  const amount = ((parseMicros(quote.amount) ?? 0n) * BigInt(numbers)) / BigInt(looked);
  const available = quote.available === null ? null : parseMicros(quote.available);
  const words = `${numbers > looked ? "about " : ""}${formatMicros(amount)} ${quote.currency}`;
  return (
    <>
      <span class="amount">{words}</span>
      {available !== null && amount > available && (
        <Status is="failed">
          more than the {formatMicros(available)} {quote.currency} that you have
        </Status>
      )}
    </>
  );
}

/** The characters that force the text into Unicode, and what to put in their place. */
function Guilty({
  draft,
  counted,
  transliterate,
  change,
}: Omit<CounterProps, "octets" | "over" | "quote" | "numbers">) {
  const { lacking, partCount } = counted;
  if (lacking.length === 0) return null;
  const better = betterLanguage(draft.text, counted, textOptions(draft));
  const each = eachOnce(lacking);
  const replaceOne = (character: string): void => {
    if (transliterate === null) return;
    const these = lacking.filter((found) => found.character === character);
    change({ text: replaceLacking(draft.text, these, transliterate) });
  };
  return (
    <section class="compose-guilty" aria-label="Characters that make it Unicode">
      <p>
        <Status is="retrying">
          {each.length === 1 ? "One character makes" : `${each.length} characters make`} it Unicode: a part holds 70 and
          not 160.
        </Status>
      </p>
      <ul>
        {each.slice(0, SHOWN).map(({ character, times }) => {
          const instead = transliterate?.(character, "NON_UNICODE");
          return (
            <li key={character}>
              <mark>{character}</mark>
              <code>{codePoints(character)}</code>
              {times > 1 && <span class="soft">{times} times</span>}
              {instead !== undefined && (
                <Button small kind="quiet" onClick={() => replaceOne(character)}>
                  {instead === "" ? "Leave it out" : `Replace it by ${instead}`}
                </Button>
              )}
            </li>
          );
        })}
        {each.length > SHOWN && <li class="soft">and {each.length - SHOWN} more</li>}
      </ul>
      <div class="row">
        {transliterate !== null && (
          <Button small onClick={() => change({ text: replaceLacking(draft.text, lacking, transliterate) })}>
            Replace all
          </Button>
        )}
        {better !== null && (
          <Button small onClick={() => change({ languageCode: better.languageCode })}>
            Use {languageName(better.languageCode)} letters: {partsWords(better.partCount)}
            {better.partCount < partCount ? ` instead of ${partCount}` : ""}
          </Button>
        )}
      </div>
    </section>
  );
}

/** Characters that are listed. */
const SHOWN = 8;
