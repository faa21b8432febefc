/** `heliograph migrate`: brings the store's schema up to date. The service does so itself at its start. */
import { Command } from "commander";
import { migrate, openDatabase } from "../store/sqlite/database.ts";
import { type CommonOptions, opened, requireData, say, settingsOf, withStoreOptions } from "./support.ts";

export function migrateCommand(): Command {
  const command = new Command("migrate").description(
    "Bring the store's schema up to date (the service does so at its start).",
  );
  return withStoreOptions(command).action((options: CommonOptions) => {
    const settings = settingsOf(options);
    requireData(settings);
    const db = opened(settings, openDatabase);
    try {
      const steps = opened(settings, () => migrate(db));
      say(
        steps === 0
          ? "The store is up to date."
          : `The store is up to date after ${steps} ${steps === 1 ? "step" : "steps"}.`,
      );
    } finally {
      db.close();
    }
  });
}
