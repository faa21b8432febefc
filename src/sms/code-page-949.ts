/**
 * Code page 949, in which Korean phones write: KS X 1001 as EUC-KR has it, of two octets from A1 on, and the 8,822 syllables of Hangul that the standard
 * lacks, and two signs. Node's own decoder knows the former only. The latter stand in the order of Unicode at the pairs that were left, so that no table is needed.
 */
const FIRST_SYLLABLE = 0xac00;
const LAST_SYLLABLE = 0xd7a3;
/** Both octets of a pair of KS X 1001 are from here on. */
const MIN_STANDARD = 0xa1;
const MIN_LEAD = 0x81;
const MAX_LEAD = 0xfe;
/** From this lead on, the trails that KS X 1001 has are taken. */
const LAST_TRAILS = { before: 0xfe, from: 0xa0 };
/** Later than the decoder's edition of KS X 1001, and in use. */
const SIGNS: readonly (readonly [pair: number, sign: string])[] = [
  [0xa2e6, "€"],
  [0xa2e7, "®"],
];
const REPLACEMENT = "\ufffd";

const standard = new TextDecoder("euc-kr");

/** By pair, as one number. Made when it is first needed: it takes a millisecond. */
let added: ReadonlyMap<number, string> | undefined;

export function textOfCodePage949(octets: Uint8Array): string {
  let text = "";
  let from = 0; // what stands from here on is the standard's
  let at = 0;
  while (at < octets.length) {
    const lead = octets[at]!;
    const trail = octets[at + 1];
    if (lead < MIN_LEAD || lead > MAX_LEAD || trail === undefined) {
      at++;
      continue;
    }
    added ??= addedCharacters();
    const character = added.get((lead << 8) | trail);
    if (character === undefined && lead >= MIN_STANDARD && trail >= MIN_STANDARD) {
      at += 2;
      continue;
    }
    text += standard.decode(octets.subarray(from, at)) + (character ?? REPLACEMENT);
    // A trail that makes no pair and is of ASCII is a character of its own.
    at += character === undefined && trail < 0x80 ? 1 : 2;
    from = at;
  }
  return text + standard.decode(octets.subarray(from));
}

function addedCharacters(): ReadonlyMap<number, string> {
  const known = standardSyllables();
  const characters = new Map<number, string>(SIGNS);
  let code = FIRST_SYLLABLE;
  for (let lead = MIN_LEAD; code <= LAST_SYLLABLE; lead++) {
    const lastTrail = lead < MIN_STANDARD ? LAST_TRAILS.before : LAST_TRAILS.from;
    for (let trail = 0x41; trail <= lastTrail; trail++) {
      if (!isTrail(trail)) continue;
      while (known.has(code)) code++;
      if (code > LAST_SYLLABLE) break;
      characters.set((lead << 8) | trail, String.fromCharCode(code++));
    }
  }
  return characters;
}

/** Letters of ASCII, and all from 81 on. */
function isTrail(octet: number): boolean {
  return (octet >= 0x41 && octet <= 0x5a) || (octet >= 0x61 && octet <= 0x7a) || octet >= 0x81;
}

/** The 2,350 of KS X 1001: its rows from B0 to C8. */
function standardSyllables(): ReadonlySet<number> {
  const octets: number[] = [];
  for (let lead = 0xb0; lead <= 0xc8; lead++)
    for (let trail = MIN_STANDARD; trail <= MAX_LEAD; trail++) octets.push(lead, trail);
  return new Set(Array.from(standard.decode(Uint8Array.from(octets)), (syllable) => syllable.charCodeAt(0)));
}
