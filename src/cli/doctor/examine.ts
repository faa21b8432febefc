/** What `heliograph doctor` looks at, step by step. Each finding is told when it is made, so that what hangs afterwards does not take it along. */
import { examineStore } from "../../doctor/checks.ts";
import { lookAtExposure } from "../../doctor/exposure.ts";
import { type Examined, type Finding, Findings } from "../../doctor/finding.ts";
import { lookAtPostgres } from "../../doctor/postgres.ts";
import { lookAtSecretFiles } from "../../doctor/secrets.ts";
import { readTrouble, storeTrouble } from "../../drivers/store-trouble.ts";
import type { Settings } from "../../settings/settings.ts";
import { CommandFault, type CommonOptions, settingsOf, withStore } from "../support.ts";
import { lookAtService } from "./service.ts";
import { lookAtSqlite, type SqliteLook, toldStoreTrouble } from "./sqlite.ts";

export interface ExamineOptions extends CommonOptions {
  /** Whether others may be connected to. */
  readonly connect: boolean;
}

/** What the process that looks tells the one that waits for it. */
export type Progress =
  | { readonly step: string } // from now on this is looked at
  | { readonly findings: readonly Finding[] }
  | "done";

type Tell = (progress: Progress) => void;

export async function examine(options: ExamineOptions, tell: Tell): Promise<void> {
  tell({ step: "settings" });
  const ofSettings = new Findings("settings");
  const settings = await lookAtSettings(options, ofSettings);
  tell({ findings: ofSettings.all });
  if (settings === null) return;
  tell({ step: "service" });
  const ofService = new Findings("settings");
  const answers = await lookAtService(settings, ofService);
  tell({ findings: ofService.all });
  const look = await lookAtStore(settings, options.config, tell);
  if (look.way === "none") return;
  tell({ step: "opening" });
  await lookInside(settings, look, { connect: options.connect, answers }, tell);
}

/** Null for settings that cannot be read: then there is nothing else to look at. */
async function lookAtSettings(options: CommonOptions, found: Findings): Promise<Settings | null> {
  let settings: Settings;
  try {
    settings = settingsOf(options);
  } catch (error) {
    const trouble = options.config === undefined ? null : readTrouble(options.config);
    found.wrong(
      options.config ?? "settings",
      trouble === null ? (error as Error).message : `${(error as Error).message}: ${trouble.says}`,
      trouble?.mend ?? "correct it; heliograph.default.toml lists every setting",
    );
    return null;
  }
  const variables = Object.keys(process.env).filter((name) => name.startsWith("HELIOGRAPH_"));
  const sources = [
    ...(options.config === undefined ? [] : [options.config]),
    ...(variables.length === 0 ? [] : [`the environment (${variables.sort().join(", ")})`]),
  ];
  found.ok("settings", sources.length === 0 ? "all are the defaults" : `read from ${sources.join(" and ")}`);
  await lookAtExposure(settings, found);
  return settings;
}

/** What the checks of the store are told beside it. */
type Told = Required<Pick<Examined, "connect" | "answers">>;

/** Before it is opened. */
async function lookAtStore(settings: Settings, config: string | undefined, tell: Tell): Promise<SqliteLook> {
  const found = new Findings("store");
  const isEmbedded = settings.store.url === "";
  tell({ step: isEmbedded ? "files" : "database" });
  lookAtSecretFiles(settings, config, found);
  const look = isEmbedded
    ? lookAtSqlite(settings, found)
    : ({ way: (await lookAtPostgres(settings, found)) ? "look" : "none", unwritten: 0 } as const);
  tell({ findings: found.all });
  return look;
}

/** What cannot be opened to be worked on may still be looked at. */
async function lookInside(settings: Settings, look: SqliteLook, told: Told, tell: Tell): Promise<void> {
  const isWork = look.way === "work";
  try {
    await withStore(
      quiet(settings),
      async (store) => {
        const examined = { store, settings, ...told, unwritten: isWork ? 0 : look.unwritten };
        for await (const findings of examineStore(examined, ({ name }) => tell({ step: name }))) tell({ findings });
      },
      { look: !isWork },
    );
  } catch (error) {
    const cause = error instanceof CommandFault ? (error.cause ?? error) : error;
    const found = new Findings("store");
    const trouble = storeTrouble(cause, settings.store);
    if (trouble !== null) toldStoreTrouble(trouble, found);
    else
      found.wrong(
        "store",
        `it cannot be opened: ${(cause as Error).message}`,
        "keep the data as it is, and see the log of the service",
      );
    tell({ findings: found.all });
    if (isWork) await lookInside(settings, { ...look, way: "look" }, told, tell);
  }
}

/** What goes wrong is found and told here; the log would tell it a second time. */
function quiet(settings: Settings): Settings {
  return { ...settings, log: { ...settings.log, level: "silent" } };
}
