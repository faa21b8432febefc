import "./magic.css";
import { MAGIC_NUMBERS, magicNumber } from "./magic.ts";

/** The list of numbers that answer differently; a press chooses one. */
export function MagicNumbers({ onChoose, verb }: { onChoose: (number: string) => void; verb: string }) {
  return (
    <section class="panel magic" aria-labelledby="magic-title">
      <h2 id="magic-title">Numbers that answer differently</h2>
      <p class="soft">Whatever comes before these endings.</p>
      <ul>
        {MAGIC_NUMBERS.map(({ suffix, does, comes }) => (
          <li key={suffix}>
            <button
              type="button"
              onClick={() => onChoose(magicNumber(suffix))}
              title={`${verb} ${magicNumber(suffix)}`}
            >
              <span class="mono">…{suffix}</span>
              <span>{does}</span>
              <span class="soft">{comes}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
