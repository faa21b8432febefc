/** The sandbox's pages: a message that lands on a phone drawn on the page, a phone that writes back, its switches, and the clock. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { MAGIC_NUMBERS } from "../../console/src/pages/phones/magic.ts";
import { PHONE_STATES as SHOWN_STATES } from "../../console/src/pages/phones/sandbox.ts";
import { HANDSETS_BY_SUFFIX } from "../../src/simulator/handsets.ts";
import { PHONE_STATES } from "../../src/simulator/phone-states.ts";
import { CATALOGUE, TEST_STORE } from "../support/service.ts";
import { openConsole, openPage } from "./support/browser.ts";

const NUMBER = `
[[number]]
number = "12345"
account = "DEMO0001"
`;

const shared = await openConsole(
  { after },
  // As `heliograph sandbox` has it.
  { catalogue: CATALOGUE + NUMBER, settings: { console: { timeline: "all" } } },
);
const open = (t: Parameters<typeof openPage>[0]) => openPage(t, shared.browser, shared.service.url);

async function send(message: object): Promise<void> {
  const body = { messages: [{ from: "Shop", ...message }] };
  assert.equal((await shared.service.call("POST", "/sms/1/text/advanced", { body })).status, 200);
}

test("a composed message lands on the phone beside it, and its life is told below, without reloading", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/start");
  await page.getByLabel("To", { exact: true }).fill("41790000101");
  await page.getByLabel("Text", { exact: true }).fill("Hello from the page");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const phone = page.getByRole("region", { name: "Phone 41790000101" });
  await phone.getByText("Hello from the page").waitFor();
  await phone.getByText("Heliograph", { exact: true }).waitFor();
  const happened = page.getByRole("region", { name: "What just happened" });
  await happened.getByText(/^Delivered to the handset/).waitFor();
  await happened.getByRole("link", { name: "All of it" }).click();
  await page.getByRole("heading", { level: 1, name: "Message to 41790000101" }).waitFor();
});

test("a number from the list goes into the composer, and what was typed stays", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/start");
  await page.getByLabel("Text", { exact: true }).fill("Is anybody there?");
  await page.getByRole("button", { name: "…999003" }).click();
  await page.getByRole("region", { name: "Phone 41793999003" }).waitFor();
  assert.equal(await page.getByLabel("To", { exact: true }).inputValue(), "41793999003");
  assert.equal(await page.getByLabel("Text", { exact: true }).inputValue(), "Is anybody there?");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page
    .getByRole("region", { name: "What just happened" })
    .getByText(/unknown subscriber/i)
    .first()
    .waitFor();
});

test("a phone writes back, and what it wrote is on it and in the inbox", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/phones/41790000102");
  const phone = page.getByRole("region", { name: "Phone 41790000102" });
  const line = phone.getByRole("textbox", { name: "Write from 41790000102 to 12345" });
  await line.fill("Who is there?");
  await line.press("Enter");
  await phone.getByRole("log").getByText("Who is there?").waitFor();
  assert.equal(await line.inputValue(), "");
  const { json } = await shared.service.call("GET", "/sms/1/inbox/reports");
  assert.deepEqual(
    json.results.map(({ from, text }: { from: string; text: string }) => [from, text]),
    [["41790000102", "Who is there?"]],
  );
});

test("a flash message pops up on the phone until it is dismissed", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/phones/41790000103");
  const phone = page.getByRole("region", { name: "Phone 41790000103" });
  await phone.getByText("Nothing is on it.").waitFor();
  await send({ destinations: [{ to: "41790000103" }], text: "Your code is 4711", flash: true });
  const flash = phone.getByRole("alertdialog", { name: "Flash message from Shop" });
  await flash.getByText("Your code is 4711").waitFor();
  await flash.getByRole("button", { name: "Dismiss" }).click();
  await flash.waitFor({ state: "detached" });
  await page.reload();
  await phone.getByRole("log").getByText("Your code is 4711").waitFor();
  assert.equal(await flash.count(), 0);
});

test("a flash message has the focus, and Escape dismisses it without leaving the page", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/phones/41790000113");
  const phone = page.getByRole("region", { name: "Phone 41790000113" });
  const line = phone.getByRole("textbox");
  await line.fill("half a sen");
  await send({ destinations: [{ to: "41790000113" }], text: "Your code is 4712", flash: true });
  const flash = phone.getByRole("alertdialog", { name: "Flash message from Shop" });
  await flash.getByText("Your code is 4712").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Dismiss");
  await page.keyboard.press("Escape");
  await flash.waitFor({ state: "detached" });
  assert.equal(new URL(page.url()).pathname, "/phones/41790000113");
  await phone.getByRole("log").getByText("Your code is 4712").waitFor();
});

test("a switch that the service refuses is told", async (t) => {
  const { page, enter, expectError } = await open(t);
  await enter("demo", "/phones/41790000114");
  const phone = page.getByRole("region", { name: "Phone 41790000114" });
  await phone.getByRole("radio", { name: "off" }).check();
  const on = phone.getByRole("button", { name: "Switch it on" });
  await on.waitFor();
  expectError(/503/);
  await page.route("**/sandbox/1/phones/*", (route) => route.fulfill({ status: 503, json: {} }), { times: 1 });
  await on.click();
  await phone.getByRole("alert").waitFor();
  await on.click();
  await on.waitFor({ state: "detached" });
  assert.equal(await phone.getByRole("alert").count(), 0);
});

test("of several numbers the phone of the last message is shown, and another can be chosen", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/start");
  await page.getByLabel("To", { exact: true }).fill("41790000115, 41790000116");
  await page.getByRole("region", { name: "Phone 41790000115" }).waitFor();
  await page.getByLabel("Text", { exact: true }).fill("To the two of you");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("region", { name: "Phone 41790000116" }).getByText("To the two of you").waitFor();
  await page.getByLabel("Phone", { exact: true }).selectOption("41790000115");
  await page.getByRole("region", { name: "Phone 41790000115" }).getByText("To the two of you").waitFor();
});

test("a phone that is switched off gets its message when it is on again", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/phones");
  await page.getByLabel("Add a phone by its number").fill("+41 79 000 01 04");
  await page.getByRole("button", { name: "Add the phone" }).click();
  const phone = page.getByRole("region", { name: "Phone 41790000104" });
  await phone.getByRole("radio", { name: "off" }).check();
  await phone.getByText("Switched off.").waitFor();
  await send({ destinations: [{ to: "41790000104" }], text: "Are you there?", from: "Later" });
  const { json } = await shared.service.call("GET", "/sms/1/logs?to=41790000104");
  const [{ messageId }] = json.results;
  await page.goto(`${shared.service.url}/messages/${messageId}`);
  await page.getByRole("cell", { name: /the network holds it for the phone/ }).waitFor();
  await page.goBack();
  await phone.getByRole("button", { name: "Switch it on" }).click();
  await phone.getByRole("log").getByText("Are you there?").waitFor();
});

test("a fault of the network is set and mended by switch", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/phones");
  const network = page.getByRole("region", { name: "The network" });
  await network.getByLabel(/^Throttling/).click();
  await network.getByText("has faults").waitFor();
  await network.getByLabel("Answers").selectOption("500");
  const faults = async () => (await shared.service.call("GET", "/sandbox/1/network")).json;
  await network.getByLabel("Answers").and(page.locator("select")).waitFor();
  for (let { throttling, slowAnswersMs } = await faults(); !throttling || slowAnswersMs !== 500; )
    ({ throttling, slowAnswersMs } = await faults());
  await network.getByRole("button", { name: "Mend all" }).click();
  await network.getByText("works").waitFor();
  assert.deepEqual(new Set(Object.values(await faults())), new Set([false, 0]));
});

test("an account sees nothing of another's phone by changing the address", async (t) => {
  await send({ destinations: [{ to: "41790000105" }], text: "For demo alone" });
  const { page, enter } = await open(t);
  await enter("reseller", "/phones/41790000105");
  await page.getByRole("region", { name: "Phone 41790000105" }).getByText("Nothing is on it.").waitFor();
});

test("moving the clock releases a scheduled message, says so, and lets nobody out", {
  skip: TEST_STORE !== "sqlite",
}, async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/phones/41790000106");
  const sendAt = new Date(Date.now() + 100 * 60_000).toISOString().replace("Z", "+0000");
  await send({ destinations: [{ to: "41790000106" }], text: "Good evening", sendAt });
  await page.getByRole("button", { name: "The sandbox's clock" }).click();
  await page.getByRole("button", { name: /To the next scheduled message/ }).waitFor();
  await page.getByRole("button", { name: "1 hour later" }).click();
  await page.getByText("Nothing was waiting for it.").waitFor();
  const phone = page.getByRole("region", { name: "Phone 41790000106" });
  assert.equal(await phone.getByText("Good evening").count(), 0);
  await page.getByRole("button", { name: "1 hour later" }).click();
  await page.getByText("1 scheduled message went out.").waitFor();
  await phone.getByText("Good evening").waitFor();
  await page.getByRole("button", { name: "The sandbox's clock, +2 h" }).waitFor();
  await page.goto(`${shared.service.url}/messages`);
  await page.getByRole("heading", { level: 1, name: "Messages" }).waitFor();
});

test("the page's numbers are those of the simulator, and of the docs", async () => {
  const docs = await readFile(join(import.meta.dirname, "../../docs/sandbox.md"), "utf8");
  assert.deepEqual(
    MAGIC_NUMBERS.map(({ suffix }) => suffix),
    [...HANDSETS_BY_SUFFIX.keys()],
  );
  for (const { suffix } of MAGIC_NUMBERS) assert.ok(docs.includes(`\`${suffix}\``), suffix);
  assert.deepEqual(SHOWN_STATES, PHONE_STATES);
});
