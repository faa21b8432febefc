/** Signing in and out, a session that ends under the page, a service that is started anew under it, and what the page may not do. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { basic, startTestService, temporaryDirectory } from "../support/service.ts";
import { openConsole, openPage, startBrowser } from "./support/browser.ts";

const shared = await openConsole({ after });

test("one signs in with a name and a password, and out again", async (t) => {
  const { page, enter: _, ...mine } = await openPage(t, shared.browser, shared.service.url);
  await page.goto(shared.service.url);
  await page.getByLabel("Username").fill("demo");
  await page.getByLabel("Password").fill("wrong");
  mine.expectError(/401/);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page
    .getByRole("alert")
    .filter({ hasText: /login|wrong|password/i })
    .waitFor();
  await page.getByLabel("Password").fill("demo-password");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Start" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/start");

  const [cookie] = await mine.context.cookies();
  assert.equal(cookie?.httpOnly, true);
  assert.equal(cookie?.sameSite, "Strict");

  await page.getByRole("button", { name: "Account demo" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Username").waitFor();
  assert.deepEqual(await mine.context.cookies(), []);
});

test("a page is come back to when its session has ended", async (t) => {
  const { page, context, enter, expectError } = await openPage(t, shared.browser, shared.service.url);
  await enter("demo", "/messages?q=failed");
  await page.getByRole("heading", { level: 1, name: "Messages" }).waitFor();
  expectError(/401/);
  // Somebody ends the session elsewhere.
  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  const ended = await fetch(`${shared.service.url}/console/1/session`, {
    method: "DELETE",
    headers: { cookie, "x-heliograph-console": "1" },
  });
  assert.equal(ended.status, 204);
  await page.getByText("Your session has ended").waitFor();
  await page.getByRole("button", { name: "demo" }).click();
  await page.getByRole("heading", { level: 1, name: "Messages" }).waitFor();
  assert.equal(new URL(page.url()).search, "?q=failed");
});

test("the page comes back by itself when the service is started anew", async (t) => {
  const data = await temporaryDirectory(t);
  const first = await startTestService(t, { data });
  const browser = await startBrowser(t);
  const { page, enter, expectError } = await openPage(t, browser, first.url);
  expectError(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|503|ERR_CONNECTION_RESET/);
  await enter("demo", "/messages");
  await page.getByText("live", { exact: true }).waitFor();
  await first.stop();
  await page.getByText("The connection is lost").waitFor();
  const { port } = new URL(first.url);
  const second = await startTestService(t, { data, settings: { server: { port: Number(port) } } });
  await page.getByText("live", { exact: true }).waitFor();
  const { status } = await second.call("POST", "/sms/1/text/single", {
    body: { from: "Heliograph", to: "41793026727", text: "After the restart" },
  });
  assert.equal(status, 200);
  await page.getByText("After the restart").first().waitFor();
});

test("the policy is in force: nothing inline is run, and nothing from elsewhere", async (t) => {
  const { page, enter, expectError } = await openPage(t, shared.browser, shared.service.url);
  const answer = await page.goto(shared.service.url);
  const policy = answer?.headers()["content-security-policy"] ?? "";
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  assert.match(policy, /script-src 'self'/);
  await enter();
  expectError(/Content Security Policy|Content-Security-Policy|asked https:\/\/example\.org/i);
  const ran = await page.evaluate(async () => {
    const script = document.createElement("script");
    script.textContent = "window.ranInline = true";
    document.body.append(script);
    const elsewhere = await fetch("https://example.org/").then(
      () => true,
      () => false,
    );
    return { inline: "ranInline" in window, elsewhere };
  });
  assert.deepEqual(ran, { inline: false, elsewhere: false });
});

test("a tab does nothing for somebody who has signed in with another one since", async (t) => {
  const { page, context, enter, expectError } = await openPage(t, shared.browser, shared.service.url);
  await enter("demo", "/compose?to=41793026727&from=Heliograph&text=Whose%20is%20this");
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  const other = await context.newPage();
  await other.goto(`${shared.service.url}/money`);
  await other.getByRole("button", { name: "Account demo" }).click();
  await other.getByRole("button", { name: "Sign out" }).click();
  await other.getByRole("button", { name: /reseller/ }).click();
  await other.getByRole("button", { name: "Account reseller" }).waitFor();
  expectError(/409|401/);
  const told = page.getByText("This page shows another account").or(page.getByText("Your session has ended")).first();
  // It hears that its session has ended, also before anybody clicks.
  await page.getByRole("button", { name: "Send", exact: true }).or(told).first().click();
  await told.waitFor();
  const sent = await shared.service.call("GET", "/sms/1/logs", {
    authorization: basic("reseller", "reseller-password"),
  });
  assert.deepEqual(sent.json.results, []);
});
