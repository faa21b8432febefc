/** `heliograph migrate`: brings the store's schema up to date, while no service runs on it. The service does so itself at its start. */
import type { Command } from "commander";
import { migrateStore } from "../store/open.ts";
import { counted } from "./show.ts";
import { type CommonOptions, cannotOpen, requireData, say, settingsOf, storeCommand } from "./support.ts";

export function migrateCommand(): Command {
  return storeCommand(
    "migrate",
    "Bring the store's schema up to date, with every service on it stopped (the service does so at its start).",
    "heliograph migrate --data /var/lib/heliograph",
  ).action(async (options: CommonOptions) => {
    const settings = settingsOf(options);
    requireData(settings);
    const steps = await migrateStore(settings).catch((error: Error) => {
      throw cannotOpen(settings, error);
    });
    say(`The store is up to date${steps === 0 ? "" : ` after ${counted(steps, "step")}`}.`);
  });
}
