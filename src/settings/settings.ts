/**
 * Settings, read in one place: heliograph.default.toml, then the operator's file, then the environment, then the command line.
 * What there is stands in schema.ts: a name that it does not have, or a value of another type, is an error that says so.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROLES } from "../node/roles.ts";
import { isPlainlyRight, refusalOf, faultsIn as valueFaults } from "../runtime/check.ts";
import { FileFault, readGivenFile } from "../runtime/files.ts";
import { didYouMean } from "../runtime/near.ts";
import { Networks, parseNetworks } from "../runtime/networks.ts";
import { readSecretFile } from "../runtime/private-files.ts";
import { readToml, shownPlace, TomlFault, TomlPlaces } from "../runtime/toml.ts";
import type { TSchema } from "../runtime/type.ts";
import { type Settings, SettingsSchema } from "./schema.ts";
import { rolesOf } from "./words.ts";

export type { FactorPolicy, Settings } from "./schema.ts";

/** What is wrong with a setting, in a sentence for whoever wrote it. */
export class SettingsFault extends Error {}

type Value = string | number | boolean;
type Sections = Record<string, Record<string, Value>>;
/** Some settings, from one source. */
export type PartialSettings = { readonly [Section in keyof Settings]?: Partial<Settings[Section]> };

const DEFAULT_FILE = join(import.meta.dirname, "../../heliograph.default.toml");
const ENVIRONMENT_PREFIX = "HELIOGRAPH_";
/** Secrets, each of which can be read from a file instead: "url" is then in the file of "urlFile". */
const SECRETS = [
  ["store", "url"],
  ["store", "secretKey"],
] as const;
/** The schema of each setting, by its section and name. Maps, because the names are whatever somebody wrote: a plain object has a "constructor". */
const SCHEMAS: ReadonlyMap<string, ReadonlyMap<string, TSchema & { readonly type?: string }>> = new Map(
  Object.entries(SettingsSchema.properties).map(([section, { properties }]) => [
    section,
    new Map(Object.entries(properties)),
  ]),
);

/** Of a setting that there is. */
function schemaOf(section: string, name: string): TSchema & { readonly type?: string } {
  return SCHEMAS.get(section)!.get(name)!;
}

/** One source of settings, and what it is called where something is wrong in it. */
interface Source {
  readonly name: string;
  readonly sections: Sections;
  /** Before what is wrong with a section or a setting: the source, and where in it. */
  readonly at: (section: string, setting?: string) => string;
}

function source(name: string, sections: Sections): Source {
  return { name, sections, at: () => name };
}

/** A file of settings: what is wrong in it is told with its line. */
function fileSource(name: string, text: string): Source {
  try {
    const sections = readToml(text) as Sections;
    const places = new TomlPlaces(text);
    const at = (section: string, setting?: string): string =>
      shownPlace(name, places.of(setting === undefined ? [section] : [section, setting]));
    return { name, sections, at };
  } catch (error) {
    if (!(error instanceof TomlFault)) throw error;
    throw new SettingsFault(`${shownPlace(name, error.place)}: ${error.message}`);
  }
}

/** "destinationsPerRequest" → "DESTINATIONS_PER_REQUEST" */
function shout(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

function fromEnvironment(environment: NodeJS.ProcessEnv): Sections {
  const byVariable = new Map<string, [section: string, name: string]>();
  for (const [section, schemas] of SCHEMAS) {
    for (const name of schemas.keys())
      byVariable.set(`${ENVIRONMENT_PREFIX}${shout(section)}_${shout(name)}`, [section, name]);
  }
  const sections: Sections = {};
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith(ENVIRONMENT_PREFIX) || text === undefined) continue;
    const place = byVariable.get(variable);
    if (place === undefined)
      throw new SettingsFault(`${variable} is not a setting; heliograph.default.toml lists them all`);
    const [section, name] = place;
    sections[section] = { ...sections[section], [name]: readAs(schemaOf(section, name).type, text, variable) };
  }
  return sections;
}

function readAs(type: string | undefined, text: string, variable: string): Value {
  if (type === "string") return text;
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  if (type === "integer" && /^\d{1,15}$/.test(text)) return Number(text);
  throw new SettingsFault(`${variable} must be a ${type === "integer" ? "whole number" : type}, not "${text}"`);
}

/** What is wrong with a value, whoever gives it; null if nothing is. */
function faultOf(
  schema: TSchema & { readonly type?: string; readonly minimum?: number },
  value: unknown,
): string | null {
  if (isPlainlyRight(schema, value) || valueFaults(schema, value).every(({ keyword }) => keyword === "~refine"))
    return null;
  const type = schema.type === "integer" ? "number" : schema.type;
  if (typeof value !== type) return `must be a ${type}`;
  return type === "number" ? `must be a whole number of ${schema.minimum} or more` : "must not be empty";
}

const LISTED = "heliograph.default.toml lists them all";
/** Faults that are told of one source. */
const MAX_FAULTS = 20;

/** Each thing that is wrong with what a source says, as a sentence with its place. */
function* faultsIn({ sections, at }: Source): Generator<string> {
  for (const [section, values] of Object.entries(sections)) {
    const schemas = SCHEMAS.get(section);
    if (schemas === undefined) {
      yield `${at(section)}: there is no section [${section}]; ${LISTED}${didYouMean(section, SCHEMAS.keys())}`;
      continue;
    }
    if (typeof values !== "object") {
      yield `${at(section)}: "${section}" is a section and has no value`;
      continue;
    }
    for (const [name, value] of Object.entries(values)) {
      const schema = schemas.get(name);
      const says = schema === undefined ? null : faultOf(schema, value);
      if (schema === undefined)
        yield `${at(section, name)}: [${section}] has no setting "${name}"; ${LISTED}${didYouMean(name, schemas.keys())}`;
      else if (says !== null) yield `${at(section, name)}: [${section}] ${name} ${says}`;
    }
  }
}

/** Throws what is wrong with a source, all of it up to a bound. */
function checkSource(source: Source): void {
  const faults: string[] = [];
  for (const fault of faultsIn(source)) if (faults.push(fault) > MAX_FAULTS) break;
  if (faults.length === 0) return;
  if (faults.length === 1) throw new SettingsFault(faults[0]!);
  const isCut = faults.length > MAX_FAULTS;
  const shown = faults.slice(0, MAX_FAULTS).map((fault) => `  ${fault}`);
  const count = `${isCut ? "more than " : ""}${shown.length} faults in ${source.name}:`;
  throw new SettingsFault([count, ...shown].join("\n"));
}

function overlay(base: Sections, source: Source): Sections {
  checkSource(source);
  const { sections: change } = source;
  const merged: Sections = { ...base };
  for (const [section, values] of Object.entries(change)) merged[section] = { ...merged[section], ...values };
  for (const [section, name] of SECRETS) chooseOne(merged, source, section, name);
  return merged;
}

/** A secret or its file: what a stronger source says counts, whichever of the two it names. */
function chooseOne(merged: Sections, { sections, at }: Source, section: string, name: string): void {
  const file = `${name}File`;
  const given = [name, file].filter((one) => sections[section]?.[one] !== undefined);
  if (given.length === 2)
    throw new SettingsFault(`${at(section, file)}: [${section}] ${name} and ${file} are both set: keep one`);
  if (given.length === 1) merged[section]![given[0] === name ? file : name] = "";
}

/** Puts what is in the files in the place of the secrets. */
function readFiles(sections: Sections): Sections {
  const read = structuredClone(sections);
  for (const [section, name] of SECRETS) {
    const file = sections[section]![`${name}File`] as string;
    if (file === "") continue;
    try {
      read[section]![name] = readSecretFile(file);
    } catch (error) {
      throw new SettingsFault(`the file of [${section}] ${name}File cannot be used: ${(error as Error).message}`);
    }
  }
  return read;
}

export interface SettingsSources {
  /** The operator's file, if there is one. */
  readonly configFile?: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
  /** From the command line. */
  readonly flags: PartialSettings;
  /** Other defaults than those of the file, for a mode such as the sandbox: weaker than everything the operator says. */
  readonly mode?: PartialSettings;
}

export function readSettings({ configFile, environment, flags, mode = {} }: SettingsSources): Settings {
  const defaults = fileSource("heliograph.default.toml", readFileSync(DEFAULT_FILE, "utf8")).sections;
  const file = configFile === undefined ? null : fileSource(configFile, configText(configFile));
  // The weakest first.
  const sources = [source("the mode", mode as Sections), ...(file === null ? [] : [file])];
  sources.push(source("the environment", fromEnvironment(environment)), source("the command line", flags as Sections));
  const settings = readFiles(sources.reduce(overlay, defaults)) as unknown as Settings;
  checkInForce(settings, file);
  return settings;
}

function configText(configFile: string): string {
  try {
    return readGivenFile(configFile);
  } catch (error) {
    const why = error instanceof FileFault ? `: ${error.message}` : "";
    throw new SettingsFault(`the file named with --config, ${configFile}, cannot be read${why}`);
  }
}

/** What the settings say together, after all sources. A value that the operator's file has given is told with its line there. */
function checkInForce(settings: Settings, file: Source | null): void {
  for (const [section, values] of Object.entries(settings)) {
    for (const [name, value] of Object.entries(values)) {
      const says = refusalOf(schemaOf(section, name), value);
      if (says === null) continue;
      const place = file?.sections[section]?.[name] === value ? `${file!.at(section, name)}: ` : "";
      throw new SettingsFault(`${place}[${section}] ${name} ${says}`);
    }
  }
  // So that an address always has connections that can make room for another one.
  if (settings.server.requestsPerAddress >= settings.server.connectionsPerAddress)
    throw new SettingsFault("[server] requestsPerAddress must be less than connectionsPerAddress");
  if (rolesOf(settings).length < ROLES.length && settings.store.url === "") {
    throw new SettingsFault(
      `[node] roles are "${settings.node.roles}", and the embedded store has one node that must do everything: set [store] url, or leave roles alone`,
    );
  }
}

/** The networks of a setting that names some. */
export function networksOf({ server }: Settings, name: "trustedProxies" | "metricsNetworks"): Networks {
  return new Networks(parseNetworks(server[name])!);
}
