import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { test } from "node:test";

test("planted open handle", async () => {
  createServer().listen(0, "127.0.0.1");
  spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
});
