/** The process that looks (apart.ts starts it): it is told what to look at, tells what it finds, and ends. */
import { type ExamineOptions, examine } from "./examine.ts";
import type { Progress } from "./told.ts";

const tell = (told: Progress): void => {
  process.send!(told);
};

// Whoever asked is gone, and with it whoever would read the findings.
process.once("disconnect", () => process.exit());

process.once("message", async (options: unknown) => {
  await examine(options as ExamineOptions, {
    begin: (step) => tell({ kind: "step", step }),
    found: (findings) => tell({ kind: "found", findings }),
  });
  process.send!({ kind: "done" } satisfies Progress, () => process.disconnect());
});
