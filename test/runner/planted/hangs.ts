/** Hangs where no test's limit reaches it: the event loop itself stands. Before that it starts a process that would stay, in a group of its own. */
import { spawn } from "node:child_process";
import { test } from "node:test";

test("planted hang", async () => {
  const left = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore", detached: true });
  console.log(`started ${left.pid}`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (;;);
});
