/**
 * Settings, read in one place: heliograph.default.toml, then the operator's file, then the environment, then the command line.
 * What there is stands in settings-schema.ts: a name that it does not have, or a value of another type, is an error that says so.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import type { TSchema } from "typebox";
import { Errors } from "typebox/value";
import { FileFault, readGivenFile } from "./files.ts";
import { Networks, parseNetworks } from "./networks.ts";
import { readSecretFile } from "./private-files.ts";
import { parseRoles, ROLES, type Role } from "./roles.ts";
import { type FactorPolicy, type Settings, SettingsSchema } from "./settings-schema.ts";

export type { FactorPolicy, Settings } from "./settings-schema.ts";

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

function readToml(text: string, name: string): Sections {
  try {
    return parse(text) as Sections;
  } catch (error) {
    throw new SettingsFault(`${name} is not readable as TOML: ${(error as Error).message}`);
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
  const fault = Errors(schema, value).find(({ keyword }) => keyword !== "~refine");
  if (fault === undefined) return null;
  const type = schema.type === "integer" ? "number" : schema.type;
  if (typeof value !== type) return `must be a ${type}`;
  return type === "number" ? `must be a whole number of ${schema.minimum} or more` : "must not be empty";
}

function overlay(base: Sections, change: Sections, source: string): Sections {
  const merged: Sections = { ...base };
  for (const [section, values] of Object.entries(change)) {
    const schemas = SCHEMAS.get(section);
    if (schemas === undefined)
      throw new SettingsFault(`${source}: there is no section [${section}]; heliograph.default.toml lists them all`);
    if (typeof values !== "object") throw new SettingsFault(`${source}: "${section}" is a section and has no value`);
    for (const [name, value] of Object.entries(values)) {
      const schema = schemas.get(name);
      if (schema === undefined)
        throw new SettingsFault(
          `${source}: [${section}] has no setting "${name}"; heliograph.default.toml lists them all`,
        );
      const fault = faultOf(schema, value);
      if (fault !== null) throw new SettingsFault(`${source}: [${section}] ${name} ${fault}`);
    }
    merged[section] = { ...merged[section], ...values };
  }
  for (const [section, name] of SECRETS) chooseOne(merged, change, section, name, source);
  return merged;
}

/** A secret or its file: what a stronger source says counts, whichever of the two it names. */
function chooseOne(merged: Sections, change: Sections, section: string, name: string, source: string): void {
  const file = `${name}File`;
  const given = [name, file].filter((one) => change[section]?.[one] !== undefined);
  if (given.length === 2) throw new SettingsFault(`${source}: [${section}] ${name} and ${file} are both set: keep one`);
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
  const defaults = readToml(readFileSync(DEFAULT_FILE, "utf8"), "heliograph.default.toml");
  let sections = overlay(defaults, mode as Sections, "the mode");
  if (configFile !== undefined) {
    let text: string;
    try {
      text = readGivenFile(configFile);
    } catch (error) {
      const why = error instanceof FileFault ? `: ${error.message}` : "";
      throw new SettingsFault(`the file named with --config, ${configFile}, cannot be read${why}`);
    }
    sections = overlay(sections, readToml(text, configFile), configFile);
  }
  sections = overlay(sections, fromEnvironment(environment), "the environment");
  sections = overlay(sections, flags as Sections, "the command line");
  const settings = readFiles(sections) as unknown as Settings;
  checkInForce(settings);
  return settings;
}

/** What the settings say together, after all sources. */
function checkInForce(settings: Settings): void {
  for (const [section, values] of Object.entries(settings)) {
    for (const [name, value] of Object.entries(values)) {
      const fault = Errors(schemaOf(section, name), value).find(({ keyword }) => keyword === "~refine");
      if (fault !== undefined) throw new SettingsFault(`[${section}] ${name} ${fault.message}`);
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

/** What this node does. */
export function rolesOf({ node }: Settings): readonly Role[] {
  return parseRoles(node.roles)!;
}

/** Of whom a second factor is required. */
export function factorPolicyOf({ access }: Pick<Settings, "access">): FactorPolicy {
  return access.secondFactor as FactorPolicy;
}
