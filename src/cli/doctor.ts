/** `heliograph doctor`: looks at everything that can be wrong around a service, and says how to mend it. It changes nothing. */
import { Command } from "commander";
import type { Settings } from "../runtime/settings.ts";
import type { Store } from "../store/port/store.ts";
import { type LookOptions, lookAtCallbacks, lookAtCarriers } from "./doctor/connections.ts";
import { lookAtBooks, lookAtCatalogue, lookAtQuarantine } from "./doctor/contents.ts";
import { type Finding, Findings } from "./doctor/finding.ts";
import { lookAtPostgres } from "./doctor/postgres.ts";
import { lookAtSecretFiles, lookAtSecrets } from "./doctor/secrets.ts";
import { lookAtSettings } from "./doctor/settings.ts";
import { lookAtSqlite } from "./doctor/sqlite.ts";
import { withExample } from "./example.ts";
import { Failed } from "./fault.ts";
import { counted, type JsonOption, printable, showJson, withJson } from "./show.ts";
import { type CommonOptions, say, withStore, withStoreOptions } from "./support.ts";

interface DoctorOptions extends CommonOptions, JsonOption, LookOptions {}

export function doctorCommand(): Command {
  const command = new Command("doctor").description(
    "Look for what is wrong: settings, store, catalogue, carriers (each is bound to for a moment, as a transmitter) and callbacks. It says how to mend what it finds, changes nothing but rights to the store's files that are too wide, and ends with 1 if something is wrong.",
  );
  return withExample(
    withJson(withStoreOptions(command)),
    "heliograph doctor --config /etc/heliograph.toml",
    "heliograph doctor --no-connect --json | jq '.findings[] | select(.state == \"wrong\")'",
  )
    .option("--no-connect", "connect to no carrier and no receiver of reports")
    .action(async (options: DoctorOptions) => {
      const findings = await examine(options);
      if (options.json === true) showJson({ ok: !findings.some(isWrong), findings });
      else show(findings);
      if (findings.some(isWrong)) throw new Failed();
    });
}

function isWrong({ state }: Finding): boolean {
  return state === "wrong";
}

async function examine(options: DoctorOptions): Promise<Finding[]> {
  const { settings, findings } = await lookAtSettings(options);
  if (settings === null) return [...findings];
  const found = new Findings("store");
  lookAtSecretFiles(settings, options.config, found);
  const isSound = settings.store.url === "" ? lookAtSqlite(settings, found) : await lookAtPostgres(settings, found);
  if (!isSound) return [...findings, ...found.all];
  const inside = await withStore(quiet(settings), (store) => examineStore(store, settings, options, found));
  return [...findings, ...found.all, ...inside];
}

/** What goes wrong is found and told here; the log would tell it a second time. */
function quiet(settings: Settings): Settings {
  return { ...settings, log: { ...settings.log, level: "silent" } };
}

async function examineStore(
  store: Store,
  settings: Settings,
  options: LookOptions,
  found: Findings,
): Promise<readonly Finding[]> {
  await lookAtBooks(store, found);
  await lookAtQuarantine(store, found);
  // Without its key the catalogue cannot be read.
  if (!(await lookAtSecrets(store, settings, found))) return [];
  const { carriers, findings } = await lookAtCatalogue(store);
  const others = await Promise.all([lookAtCarriers(carriers, options), lookAtCallbacks(store, options)]);
  return [...findings, ...others.flat()];
}

function show(findings: readonly Finding[]): void {
  const width = (of: (finding: Finding) => string): number => Math.max(...findings.map((one) => of(one).length));
  const areas = width(({ area }) => area);
  const states = width(({ state }) => state);
  let last = "";
  for (const { area, about, state, says, mend } of findings) {
    const label = area === last ? "" : area;
    last = area;
    say(`${label.padEnd(areas)}  ${state.padEnd(states)}  ${printable(about)}: ${printable(says)}`);
    if (mend !== null) say(`${" ".repeat(areas + states + 4)}→ ${printable(mend)}`);
  }
  const wrong = findings.filter(isWrong).length;
  const warnings = findings.filter(({ state }) => state === "warning").length;
  const told = wrong === 0 ? "Nothing is wrong" : `${counted(wrong, "thing is", "things are")} wrong`;
  say(`\n${told}${warnings === 0 ? "" : `; ${counted(warnings, "warning")}`}.`);
}
