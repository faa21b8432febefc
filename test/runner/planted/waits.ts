import { test } from "node:test";

test("planted wait", async () => {
  await new Promise(() => setInterval(() => {}, 1_000));
});
