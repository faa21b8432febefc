/** What an operator sees at night: whether all is well, which carrier is down and why, and what matched nothing. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { json, startServer } from "../carriers/http/provider-server.ts";
import { basic, eventually, startTestService } from "../support/service.ts";
import { smppCatalogue, startSmsc } from "../support/smsc.ts";
import { openConsole, openPage } from "./support/browser.ts";

const shared = await openConsole({ after });

test("the overview says that all is well, and looks again when it is told to", async (t) => {
  const { page, enter } = await openPage(t, shared.browser, shared.service.url);
  await enter("operator");
  assert.equal(new URL(page.url()).pathname, "/overview");
  const sentence = page.getByRole("main").getByRole("status").filter({ hasText: "All is well" });
  await sentence.waitFor();
  await page.getByText("the carrier simulator is up").waitFor();
  const looked = page.getByRole("region", { name: "What was looked at" });
  await looked.getByText("wallets").waitFor();
  await looked.getByText("heliograph ledger verify").waitFor();
  await page.getByRole("button", { name: "Look at everything now" }).click();
  await page.getByRole("button", { name: "1 hour" }).click();
  await page.waitForURL(/range=1h/);
  await page.reload();
  await page.getByRole("button", { name: "1 hour", pressed: true }).waitFor();
});

test("a carrier that goes down is told live and in words, and comes back by a press", async (t) => {
  const smsc = await startSmsc(t);
  const { port } = smsc;
  const service = await startTestService(t, { catalogue: smppCatalogue(port, "reconnectSeconds = 3600") });
  const { page, enter } = await openPage(t, shared.browser, service.url);
  await enter("operator", "/carriers");
  const row = page.getByRole("row").filter({ hasText: "smpp" });
  await row.getByText("up", { exact: true }).waitFor();
  await row.getByText("1 of 1", { exact: true }).waitFor();

  // The row follows what goes through it.
  const { status } = await service.call("POST", "/sms/1/text/single", {
    body: { from: "Sender", to: "41790000001", text: "Hello" },
  });
  assert.equal(status, 200);
  await row.getByText("just now").waitFor();

  await page.getByRole("link", { name: "Overview" }).first().click();
  await page.getByText("All is well").waitFor();
  smsc.disconnect();
  await smsc.stop();
  await page.getByText("1 thing is wrong.").waitFor();
  const finding = page.getByRole("link", { name: /The carrier smpp is down: 127\.0\.0\.1/ });
  await finding.click();
  await page.waitForURL(/\/carriers\/smpp$/);
  await page.getByText("down", { exact: true }).waitFor();
  await page.getByRole("table", { name: "Connections" }).getByText("not connected").waitFor();

  await startSmsc(t, { port });
  // A try may be under way that meets nobody yet; then there is another press.
  const up = page.getByRole("table", { name: "Connections" }).getByText("bound", { exact: true });
  while (!(await up.isVisible())) {
    // The button goes with the connection's being down, while it is looked at.
    const connect = page.getByRole("button", { name: "Connect now" });
    await connect.click({ timeout: 1_000 }).catch(() => undefined);
    await Promise.race([up.waitFor(), page.getByText("not connected").waitFor()]);
  }
});

test("a carrier is added and changed in a form with the fields of its kind", async (t) => {
  const { page, enter, expectError } = await openPage(t, shared.browser, shared.service.url);
  await enter("operator", "/carriers");
  await page.getByRole("button", { name: "Add a carrier" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("spare");
  await dialog.getByLabel("Hosts").fill("127.0.0.1:1");
  await dialog.getByLabel("System id").fill("heliograph");
  await dialog.getByLabel("Password").fill("secret");
  await dialog.getByLabel("Window").fill("25");
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await page.waitForURL(/\/carriers\/spare$/);
  await page.getByRole("main").getByText("nobody listens there").first().waitFor();
  await page.getByRole("button", { name: "Change" }).click();
  await dialog.getByLabel("Parts per second").fill("40");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("40 a second allowed").waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  expectError(/404/);
  await page.waitForURL(/\/carriers$/);
  await page.getByRole("row").filter({ hasText: "spare" }).waitFor({ state: "detached" });
});

test("a carrier is tried from its page, and the audit has who did it", async (t) => {
  let asked = 0;
  const server = await startServer(t, (_, response) => {
    asked++;
    json(response, 200, { id: "taken-1" });
  });
  const send = { path: "/send", json: { to: "{to}", key: "{apiKey}" }, id: "id" };
  await shared.service.call("PUT", "/operator/1/carriers/national", {
    authorization: basic("operator", "operator-password"),
    body: { kind: "http", url: `http://127.0.0.1:${server.port}`, apiKey: "api-key-1", send, version: 0 },
  });
  const { page, enter, expectError } = await openPage(t, shared.browser, shared.service.url);
  await enter("operator", "/carriers/national");
  await page.getByRole("button", { name: "Try" }).click();
  const dialog = page.getByRole("dialog");
  expectError(/400/);
  await dialog.getByLabel("To").fill("12");
  await dialog.getByRole("button", { name: "Send" }).click();
  await dialog.getByText("To must be 4 to 15 digits, with its country's code.").waitFor();
  await dialog.getByLabel("To").fill("+41793026727");
  await dialog.getByRole("button", { name: "Send" }).click();
  // It waits for a receipt, and a second one for its end.
  await eventually(async () => asked > 0);
  const again = await shared.service.call("POST", "/console/1/carriers/national/try", {
    authorization: basic("operator", "operator-password"),
    body: { to: "41793026727" },
  });
  assert.equal(again.status, 429, again.text);
  await dialog.getByText("The carrier has taken it").waitFor();
  await dialog.getByText(/accepted, its id is taken-1, after \d+ ms/).waitFor();
  assert.match((await dialog.textContent())!, /"key":"\*\*\*"/);
  await page.goto(`${shared.service.url}/audit?subject=national`);
  await page.getByRole("row").filter({ hasText: "try carrier" }).getByText("to 41793026727, from Heliograph").waitFor();
  const others = await shared.service.call("POST", "/console/1/carriers/national/try", { body: { to: "41793026727" } });
  assert.equal(others.status, 403);
});

test("a receipt that matches nothing is there with its reason, is found, and is dropped", async (t) => {
  const { page, enter } = await openPage(t, shared.browser, shared.service.url);
  const receipt = { outcome: "delivered", errorId: 0, atMs: Date.now(), mccMnc: null } as const;
  await enter("operator", "/unmatched");
  await page.getByText("Every receipt found its message").waitFor();
  await shared.service.store.received({
    carrierId: "simulator",
    receipts: [
      { ...receipt, carrierMessageId: "lost-1", to: "41790000001" },
      { ...receipt, carrierMessageId: "lost-2", to: "41790000002" },
    ],
  });
  const rows = page.getByRole("table", { name: "Receipts" }).getByRole("row").filter({ hasText: "lost-" });
  await rows.nth(1).waitFor();
  await page.getByLabel("Search").fill("lost-1");
  await page.waitForURL(/search=lost-1/);
  await rows.filter({ hasText: "lost-2" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Look at lost-1" }).click();
  await page.getByText("No message has its id.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Drop lost-1" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Drop" }).click();
  await page.getByText("Nothing has these words").waitFor();
  await page.getByRole("tab", { name: "Receipts 1" }).waitFor();
});

test("the nodes page names the node, and clients have none of these pages", async (t) => {
  const { page, enter } = await openPage(t, shared.browser, shared.service.url);
  await enter("operator", "/nodes");
  await page.getByRole("table", { name: "Nodes" }).getByText("this one").waitFor();
  await page.getByRole("region", { name: "Data" }).waitFor();
  const other = await openPage(t, shared.browser, shared.service.url);
  await other.enter("demo", "/overview");
  assert.equal(await other.page.getByText("All is well").count(), 0);
});
