/** The process that looks (apart.ts starts it): it is told what to look at, tells what it finds, and ends. */
import { type ExamineOptions, examine, type Progress } from "./examine.ts";

// Whoever asked is gone, and with it whoever would read the findings.
process.once("disconnect", () => process.exit());

process.once("message", async (options: unknown) => {
  await examine(options as ExamineOptions, (progress) => process.send!(progress));
  process.send!("done" satisfies Progress, () => process.disconnect());
});
