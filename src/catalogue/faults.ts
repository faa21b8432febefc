/** How an operator is told what is wrong with a catalogue: file, line, column, the item, and a sentence. All faults are told at once, up to a bound. */
import { OCTETS_PATTERN, PEM_PATTERN } from "../carriers/smpp/profile.ts";
import { patternOf, type SchemaFault, type SchemaWords } from "../runtime/schema-faults.ts";
import { shownPlace, type TomlPath, TomlPlaces } from "../runtime/toml.ts";
import { Type } from "../runtime/type.ts";
import { visibleLine } from "../runtime/visible.ts";
import { ACCOUNT_KEY, ACCOUNT_KEY_SAYS } from "../store/names.ts";
import { CARRIER_SECRETS } from "../store/port/secrets.ts";

/** Faults that are told of one file. */
export const MAX_FAULTS = 20;

/** The texts of the catalogue, by what they are of. */
export const FORMS = {
  id: Type.String({ pattern: "^[A-Za-z0-9_.-]{1,64}$" }),
  currency: Type.String({ pattern: "^[A-Z]{3}$" }),
  prefix: Type.String({ pattern: "^[0-9]{0,15}$" }),
  price: Type.String({ pattern: "^[0-9]{1,9}(\\.[0-9]{1,6})?$" }),
};
/** As numbers, suffixes and hosts have them. */
const DIGITS = "^[0-9]{3,15}$";
const HOST = "^(\\[[0-9a-fA-F:.]+\\]|[^\\s:]+):[0-9]{1,5}$";
/** As carriers over HTTP have them. */
const SECRET = "^(?!\\(unchanged\\)$)";
const ADDRESS = "^https?://[^\\s/?#@]+(/[^\\s?#]*)?$";
const STATUS = "^[1-5]([0-9][0-9]|xx)$";

/** What a text is told that has another form. */
export const WORDS: SchemaWords = {
  patterns: new Map<string, string>([
    [patternOf(FORMS.id), "must be 1 to 64 letters, digits, dots, dashes and underscores"],
    [patternOf(FORMS.currency), "must be the three capital letters of a currency, such as EUR"],
    [patternOf(FORMS.prefix), "must be the first digits of numbers, 15 at most and in quotes, or empty for all"],
    [
      patternOf(FORMS.price),
      'must be a decimal number of 0 or more, below 1,000,000,000, with at most 6 places, in quotes such as "0.0065"',
    ],
    [DIGITS, "must be 3 to 15 digits in quotes"],
    [HOST, "must be a host and a port, such as smpp.example.com:2775"],
    [OCTETS_PATTERN, "must have characters of Latin-1 only"],
    [PEM_PATTERN, "must be a certificate in PEM, which begins with -----BEGIN CERTIFICATE-----"],
    [STATUS, "must be a status of HTTP such as 429, or 5xx for all of its kind"],
    [SECRET, "must be another text: this one stands for a secret that is kept"],
    [ADDRESS, "must be a URL such as https://api.example.com/v1, without a name, a password or a query"],
    [ACCOUNT_KEY, ACCOUNT_KEY_SAYS],
  ]),
  secrets: new Set(CARRIER_SECRETS),
};

/** What is wrong with one field. `says` goes on after its name. */
export interface ItemFault {
  readonly field: string;
  readonly says: string;
  /** Where in the item it stands, if that is deeper than the field. */
  readonly at?: TomlPath;
}

/** The file, or an item, says something that cannot be. The message names the place. */
export class CatalogueFault extends Error {
  /** The field and what is wrong with it, of an item that came alone. */
  readonly where: ItemFault | null;

  constructor(message: string, where: ItemFault | null = null) {
    super(message);
    this.where = where;
  }
}

/** "tlvs.title" */
export function fieldOf({ path }: Pick<SchemaFault, "path">): string {
  return path.join(".");
}

interface WrittenFault {
  readonly path: TomlPath;
  readonly sentence: string;
}

/** Gathers what is wrong with a file. */
export class FileFaults {
  readonly #name: string;
  readonly #places: TomlPlaces;
  readonly #found: WrittenFault[] = [];
  #isCut = false;

  constructor(name: string, text: string) {
    this.#name = name;
    this.#places = new TomlPlaces(text);
  }

  /** `path` leads to it from the file's beginning, `sentence` names the item. */
  add(path: TomlPath, sentence: string): void {
    if (this.#found.length < MAX_FAULTS) this.#found.push({ path, sentence });
    else this.#isCut = true;
  }

  get isFull(): boolean {
    return this.#isCut;
  }

  get any(): boolean {
    return this.#found.length > 0;
  }

  lineOf(path: TomlPath): number {
    return this.#places.of(path).line;
  }

  /** In the order of the file's lines. */
  fault(): CatalogueFault {
    const placed = this.#found.map(({ path, sentence }) => ({ place: this.#places.of(path), sentence }));
    placed.sort((one, other) => one.place.line - other.place.line || one.place.column - other.place.column);
    const lines = placed.map(({ place, sentence }) => `${shownPlace(this.#name, place)}: ${visibleLine(sentence)}`);
    if (lines.length === 1) return new CatalogueFault(lines[0]!);
    const count = `${this.#isCut ? "more than " : ""}${lines.length} faults in ${this.#name}, and nothing is changed:`;
    return new CatalogueFault([count, ...lines.map((line) => `  ${line}`)].join("\n"));
  }
}
