/** Providers as they are known here: a description each, in a file of its own. What a profile says itself stands over it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { given } from "../../runtime/given.ts";
import { onceEach } from "../../runtime/lazy.ts";
import { readToml } from "../../runtime/toml.ts";
import { type Description, describing, type IncomingDescription } from "./description.ts";
import type { HttpProfile, PresetName } from "./profile.ts";
import { fillText } from "./template.ts";
import { carrierValues } from "./values.ts";

/** Requests under way at a time. */
export const WINDOW = 10;

/** A preset's file: a description, and what most of its users would set. */
interface Preset extends Description {
  readonly url?: string;
  readonly partsPerSecond?: number;
}

const presetOf = onceEach(
  new Map<PresetName, Preset>(),
  (name) => readToml(readFileSync(join(import.meta.dirname, "presets", `${name}.toml`), "utf8")) as Preset,
);

export interface DescribedProvider {
  readonly url: string;
  readonly description: Description;
  readonly partsPerSecond: number | undefined;
}

/**
 * Everything that is needed to speak with the provider of a profile. A profile is never changed in place: what is made of it is kept with it,
 * for every callback asks for it.
 */
export const describe = onceEach(new WeakMap<HttpProfile, DescribedProvider>(), (profile) => {
  const preset: Preset = profile.preset === undefined ? {} : presetOf(profile.preset);
  const names = Object.keys(describing) as (keyof Description)[];
  const own = Object.fromEntries(
    names.filter((name) => profile[name] !== undefined).map((name) => [name, profile[name]]),
  );
  const { url, partsPerSecond, ...rest } = preset;
  const description = merged(rest, own) as Description;
  const { incoming } = description;
  return {
    url: profile.url ?? url ?? "",
    description: incoming === undefined ? description : { ...description, incoming: withDefaults(incoming, profile) },
    partsPerSecond: profile.partsPerSecond ?? partsPerSecond,
  };
});

type Table = Readonly<Record<string, unknown>>;
const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value);
/** Of each two a request has one body, and to prove something in another way is another thing. */
const INSTEAD: Readonly<Record<string, string>> = { form: "json", json: "form" };

/** What a profile says stands over its preset field by field. */
function merged(under: unknown, over: unknown): unknown {
  if (!isTable(under) || !isTable(over) || (over.kind !== undefined && over.kind !== under.kind)) return over;
  const kept = Object.entries(under).filter(([name]) => over[INSTEAD[name] ?? ""] === undefined);
  const own = Object.entries(over).map(([name, value]) => [name, merged(under[name], value)]);
  return Object.fromEntries([...kept, ...own]);
}

/** What stands for numbers that the provider does not tell is known from the profile. */
function withDefaults(incoming: IncomingDescription, profile: HttpProfile): IncomingDescription {
  const { from = "", to = "" } = incoming.defaults ?? {};
  const values = { ...carrierValues(profile), id: profile.id };
  const filled = { from: fillText(from, values) || undefined, to: fillText(to, values) || undefined };
  return { ...incoming, defaults: given(filled) };
}
