/** Providers as they are known here: a description each, in a file of its own. What a profile says itself stands over it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { boundedCache } from "../../runtime/cache.ts";
import { readToml } from "../../runtime/toml.ts";
import { type Description, describing } from "./description.ts";
import type { HttpProfile, PresetName } from "./profile.ts";

/** Requests under way at a time. */
export const WINDOW = 10;

/** A preset's file: a description, and what most of its users would set. */
interface Preset extends Description {
  readonly url?: string;
  readonly partsPerSecond?: number;
}

const read = boundedCache<PresetName, Preset>(100);

function presetOf(name: PresetName): Preset {
  const known = read.get(name);
  if (known !== undefined) return known;
  const preset = readToml(readFileSync(join(import.meta.dirname, "presets", `${name}.toml`), "utf8")) as Preset;
  read.set(name, preset);
  return preset;
}

export interface DescribedProvider {
  readonly url: string;
  readonly description: Description;
  readonly partsPerSecond: number | undefined;
}

/** A profile is never changed in place: what is made of it is kept with it, for every callback asks for it. */
const described = new WeakMap<HttpProfile, DescribedProvider>();

/** Everything that is needed to speak with the provider of a profile. */
export function describe(profile: HttpProfile): DescribedProvider {
  const known = described.get(profile);
  if (known !== undefined) return known;
  const made = descriptionOf(profile);
  described.set(profile, made);
  return made;
}

function descriptionOf(profile: HttpProfile): DescribedProvider {
  const preset: Preset = profile.preset === undefined ? {} : presetOf(profile.preset);
  const names = Object.keys(describing) as (keyof Description)[];
  const own = Object.fromEntries(
    names.filter((name) => profile[name] !== undefined).map((name) => [name, profile[name]]),
  );
  const { url, partsPerSecond, ...description } = preset;
  return {
    url: profile.url ?? url ?? "",
    description: { ...description, ...own },
    partsPerSecond: profile.partsPerSecond ?? partsPerSecond,
  };
}
