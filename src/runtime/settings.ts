/**
 * Settings, read in one place: heliograph.default.toml, then the operator's file, then the environment, then the command line.
 * The default file is the list of what there is: a name or a type that it does not have is an error that says so.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { FileFault, readGivenFile } from "./files.ts";
import { Networks, parseNetworks } from "./networks.ts";
import { readSecretFile } from "./private-files.ts";
import { parseRoles, ROLES, type Role } from "./roles.ts";
import { parseSecretKeys } from "./secrets.ts";

export interface Settings {
  readonly server: {
    readonly host: string;
    readonly port: number;
    readonly requestTimeoutMs: number;
    readonly headersTimeoutMs: number;
    readonly answerTimeoutMs: number;
    readonly maxConnections: number;
    readonly connectionsPerAddress: number;
    readonly maxRequests: number;
    readonly requestsPerAddress: number;
    readonly stopTimeoutMs: number;
    readonly tlsCertificate: string;
    readonly tlsKey: string;
    readonly trustedProxies: string;
    readonly metricsNetworks: string;
  };
  readonly store: {
    readonly data: string;
    readonly url: string;
    readonly urlFile: string;
    readonly secretKey: string;
    readonly secretKeyFile: string;
    readonly connections: number;
    readonly statementTimeoutMs: number;
    readonly retentionDays: number;
  };
  readonly node: {
    readonly roles: string;
    readonly leaseMs: number;
  };
  readonly limits: {
    readonly bodyBytes: number;
    readonly bodiesBytes: number;
    readonly answersBytes: number;
    readonly destinationsPerRequest: number;
    readonly sendAtDays: number;
    readonly searchMessages: number;
    readonly requestsPerSecond: number;
    readonly messagesPerSecond: number;
    readonly connectionsPerAccount: number;
    readonly strangerRequestsPerSecond: number;
    readonly rejectedPerSecond: number;
    readonly loginAttempts: number;
  };
  readonly access: {
    readonly secondFactor: string;
    readonly loginAuditDays: number;
  };
  readonly dispatch: {
    readonly laneMessages: number;
    readonly memoryMessages: number;
    readonly claimMessages: number;
    readonly receiptWaitMs: number;
    readonly sweepEveryMs: number;
    readonly unmatchedDays: number;
    readonly unmatchedRows: number;
  };
  readonly reports: {
    readonly connectionsPerHost: number;
    readonly timeoutMs: number;
    readonly memoryReports: number;
    readonly dangerousAllowPrivateCallbacks: boolean;
  };
  readonly resellers: {
    readonly clientMessages: boolean;
    readonly clientKeys: boolean;
    readonly clientPasswords: boolean;
  };
  readonly log: { readonly level: string };
}

/** What is wrong with a setting, in a sentence for whoever wrote it. */
export class SettingsFault extends Error {}

type Value = string | number | boolean;
type Sections = Record<string, Record<string, Value>>;
/** Some settings, from one source. */
export type PartialSettings = { readonly [Section in keyof Settings]?: Partial<Settings[Section]> };

const DEFAULT_FILE = join(import.meta.dirname, "../../heliograph.default.toml");
const ENVIRONMENT_PREFIX = "HELIOGRAPH_";
/** Where 0 has a meaning; everywhere else it would bring the service to a stop. */
const MAY_BE_ZERO = new Set([
  "server.port",
  "server.stopTimeoutMs",
  "store.retentionDays",
  "limits.sendAtDays",
  "limits.requestsPerSecond",
  "limits.messagesPerSecond",
  "limits.connectionsPerAccount",
  "limits.strangerRequestsPerSecond",
  "limits.rejectedPerSecond",
  "dispatch.receiptWaitMs",
]);
/** Where nothing at all has a meaning. */
const MAY_BE_EMPTY = new Set([
  "server.tlsCertificate",
  "server.tlsKey",
  "server.trustedProxies",
  "server.metricsNetworks",
]);
/** Whom a second factor may be required of. */
export const FACTOR_POLICIES = ["optional", "operators", "managers"] as const;
export type FactorPolicy = (typeof FACTOR_POLICIES)[number];
/** Secrets, each of which can be read from a file instead: "url" is then in the file of "urlFile". */
const SECRETS = [
  ["store", "url"],
  ["store", "secretKey"],
] as const;
const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"];

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

function fromEnvironment(defaults: Sections, environment: NodeJS.ProcessEnv): Sections {
  const byVariable = new Map<string, [section: string, name: string]>();
  for (const [section, values] of Object.entries(defaults)) {
    for (const name of Object.keys(values))
      byVariable.set(`${ENVIRONMENT_PREFIX}${shout(section)}_${shout(name)}`, [section, name]);
  }
  const sections: Sections = {};
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith(ENVIRONMENT_PREFIX) || text === undefined) continue;
    const place = byVariable.get(variable);
    if (place === undefined)
      throw new SettingsFault(`${variable} is not a setting; heliograph.default.toml lists them all`);
    const [section, name] = place;
    sections[section] = { ...sections[section], [name]: readAs(typeof defaults[section]![name]!, text, variable) };
  }
  return sections;
}

function readAs(type: string, text: string, variable: string): Value {
  if (type === "string") return text;
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  if (type === "number" && /^\d{1,15}$/.test(text)) return Number(text);
  throw new SettingsFault(`${variable} must be a ${type === "number" ? "whole number" : type}, not "${text}"`);
}

function overlay(base: Sections, change: Sections, source: string): Sections {
  const merged: Sections = { ...base };
  for (const [section, values] of Object.entries(change)) {
    if (base[section] === undefined) {
      throw new SettingsFault(`${source}: there is no section [${section}]; heliograph.default.toml lists them all`);
    }
    if (typeof values !== "object") throw new SettingsFault(`${source}: "${section}" is a section and has no value`);
    merged[section] = { ...merged[section] };
    for (const [name, value] of Object.entries(values)) {
      const known = base[section][name];
      if (known === undefined) {
        throw new SettingsFault(
          `${source}: [${section}] has no setting "${name}"; heliograph.default.toml lists them all`,
        );
      }
      if (typeof value !== typeof known)
        throw new SettingsFault(`${source}: [${section}] ${name} must be a ${typeof known}`);
      const least = MAY_BE_ZERO.has(`${section}.${name}`) ? 0 : 1;
      if (typeof value === "number" && (!Number.isSafeInteger(value) || value < least)) {
        throw new SettingsFault(`${source}: [${section}] ${name} must be a whole number of ${least} or more`);
      }
      if (value === "" && !MAY_BE_EMPTY.has(`${section}.${name}`))
        throw new SettingsFault(`${source}: [${section}] ${name} must not be empty`);
      merged[section][name] = value;
    }
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
  sections = overlay(sections, fromEnvironment(defaults, environment), "the environment");
  sections = overlay(sections, flags as Sections, "the command line");
  const settings = readFiles(sections) as unknown as Settings;
  if (settings.server.port > 65_535) throw new SettingsFault("[server] port must be at most 65535");
  if (!LOG_LEVELS.includes(settings.log.level))
    throw new SettingsFault(`[log] level must be one of ${LOG_LEVELS.join(", ")}`);
  factorPolicyOf(settings);
  // It is not told what stands there: a password, as a rule.
  if (settings.store.url !== "" && !/^postgres(ql)?:\/\//.test(settings.store.url))
    throw new SettingsFault("[store] url must be of the form postgres://user:password@host/database");
  if (parseSecretKeys(settings.store.secretKey) === null) {
    throw new SettingsFault(
      '[store] secretKey must be 32 random octets in base64, or several such keys, newest first: "heliograph secrets make-key FILE" makes one',
    );
  }
  networksOf(settings, "trustedProxies");
  networksOf(settings, "metricsNetworks");
  // So that an address always has connections that can make room for another one.
  if (settings.server.requestsPerAddress >= settings.server.connectionsPerAddress)
    throw new SettingsFault("[server] requestsPerAddress must be less than connectionsPerAddress");
  if (rolesOf(settings).length < ROLES.length && settings.store.url === "") {
    throw new SettingsFault(
      `[node] roles are "${settings.node.roles}", and the embedded store has one node that must do everything: set [store] url, or leave roles alone`,
    );
  }
  return settings;
}

/** The networks of a setting that names some. */
export function networksOf({ server }: Settings, name: "trustedProxies" | "metricsNetworks"): Networks {
  const networks = parseNetworks(server[name]);
  if (networks === null) {
    throw new SettingsFault(
      `[server] ${name} must be networks such as 10.0.0.0/8 or 2001:db8::/32, separated by commas, not "${server[name]}"`,
    );
  }
  return new Networks(networks);
}

/** What this node does. */
export function rolesOf({ node }: Settings): readonly Role[] {
  const roles = parseRoles(node.roles);
  if (roles === null)
    throw new SettingsFault(`[node] roles must name some of ${ROLES.join(", ")}, not "${node.roles}"`);
  return roles;
}

/** Of whom a second factor is required. */
export function factorPolicyOf({ access }: Pick<Settings, "access">): FactorPolicy {
  const policy = FACTOR_POLICIES.find((word) => word === access.secondFactor);
  if (policy === undefined)
    throw new SettingsFault(
      `[access] secondFactor must be one of ${FACTOR_POLICIES.join(", ")}, not "${access.secondFactor}"`,
    );
  return policy;
}
