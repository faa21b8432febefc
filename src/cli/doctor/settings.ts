/** The doctor on settings: whether they can be read, and what they expose. */
import { lookAtExposure } from "../../doctor/exposure.ts";
import { type Finding, Findings } from "../../doctor/finding.ts";
import { readTrouble } from "../../drivers/store-trouble.ts";
import type { Settings } from "../../settings/settings.ts";
import { type CommonOptions, settingsOf } from "../support.ts";

/** Null for settings that cannot be read: then there is nothing else to look at. */
export async function lookAtSettings(
  options: CommonOptions,
): Promise<{ settings: Settings | null; findings: readonly Finding[] }> {
  const found = new Findings("settings");
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
    return { settings: null, findings: found.all };
  }
  const variables = Object.keys(process.env).filter((name) => name.startsWith("HELIOGRAPH_"));
  const sources = [
    ...(options.config === undefined ? [] : [options.config]),
    ...(variables.length === 0 ? [] : [`the environment (${variables.sort().join(", ")})`]),
  ];
  found.ok("settings", sources.length === 0 ? "all are the defaults" : `read from ${sources.join(" and ")}`);
  await lookAtExposure(settings, found);
  return { settings, findings: found.all };
}
