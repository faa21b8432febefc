/** Writing a message in a real browser: what is counted and marked while typing, what the service answers, and errors at their field. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { LANGUAGE_CHOICES, TRANSLITERATIONS } from "../../src/sms/text.ts";
import { openConsole, openPage } from "./support/browser.ts";

const shared = await openConsole({ after });
const open = (t: Parameters<typeof openPage>[0]) => openPage(t, shared.browser, shared.service.url);

const textOf = (page: Page) => page.getByRole("textbox", { name: "Text", exact: true });
const countLine = (page: Page) => page.locator(".compose-count");
/** Waits until the line below the text says this. */
const counted = (page: Page, says: string) => countLine(page).getByText(says, { exact: true }).first().waitFor();

test("a sender that is too long is told with the reason and the rule where it is sent, and at its request", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/compose?to=41793026727&from=ThirteenSigns&text=Hello");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const why = /the sender has 13 characters: a sender has 3 to 15 digits, or 1 to 11 characters/i;
  const answers = page.getByRole("table", { name: "Answers" });
  await answers.getByText(why).waitFor();
  await answers.getByRole("link").click();
  await page.getByText(new RegExp(`^Rejected at once: ${why.source}`, "i")).waitFor();
  await page.goto(new URL("/requests", page.url()).href);
  await page.getByText(/Accepted, 1 of 1 rejected: messages\[0\]\.from has 13 characters: a sender has /).waitFor();
});

test("parts, encoding and price follow the typing", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/compose");
  await page.getByLabel("To", { exact: true }).fill("41793026727");
  await page.getByLabel("From", { exact: true }).fill("Heliograph");
  await textOf(page).pressSequentially("Hello");
  await counted(page, "5 of 160");
  await counted(page, "GSM");
  await counted(page, "155 left in this part");
  await counted(page, "0.01 EUR");
  await textOf(page).fill("x".repeat(161));
  await counted(page, "2 parts");
  await counted(page, "0.02 EUR");
  await page.getByLabel("To", { exact: true }).fill("41793026727, +41793026834\n41793026835");
  await counted(page, "0.06 EUR");
  await page.getByText("3 numbers", { exact: true }).waitFor();
});

test("characters that force Unicode are marked in the text, and replaced by one press", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/compose?to=41793026727&from=Shop");
  await textOf(page).fill("Caffè – 5 € … 👋");
  await counted(page, "Unicode");
  const marks = page.locator(".compose-marks mark");
  await marks.nth(2).waitFor();
  assert.deepEqual(await marks.allTextContents(), ["–", "…", "👋"]);
  const guilty = page.getByRole("region", { name: "Characters that make it Unicode" });
  await guilty.getByText("U+2013").waitFor();
  await guilty.getByText("3 characters make it Unicode").waitFor();
  await guilty.getByRole("button", { name: "Replace it by -" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".compose-marks mark").length === 2);
  await guilty.getByRole("button", { name: "Replace all" }).click();
  await counted(page, "GSM");
  assert.equal(await textOf(page).inputValue(), "Caffè - 5 € ... ?");
  assert.equal(await guilty.count(), 0);
});

test("a mark stands exactly where its character is", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/compose");
  await textOf(page).fill(`${"Words that wrap over the lines of the field. ".repeat(8)}– end`);
  await page.locator(".compose-marks mark").waitFor();
  const sizes = await page.evaluate(() => {
    const below = document.querySelector(".compose-marks")!;
    const field = document.querySelector(".compose-editor textarea")!;
    const style = (element: Element) => {
      const { font, lineHeight, paddingLeft, paddingTop, borderLeftWidth, whiteSpace } = getComputedStyle(element);
      return { font, lineHeight, paddingLeft, paddingTop, borderLeftWidth, whiteSpace, width: element.clientWidth };
    };
    return [style(below), style(field)];
  });
  assert.deepEqual(sizes[0], sizes[1]);
});

test("a language is suggested that carries the text in fewer parts", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/compose?to=41793026727&from=Shop");
  await textOf(page).fill("Şimdi ağaçların altında ".repeat(6));
  await counted(page, "3 parts");
  await page.getByRole("button", { name: "Use Turkish letters: 2 parts instead of 3" }).click();
  await counted(page, "GSM with Turkish letters");
  await counted(page, "2 parts");
  assert.equal(await page.getByRole("combobox", { name: "Language" }).inputValue(), "TR");
});

test("every language and transliteration is offered, and the text is counted with the one that is chosen", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/compose?to=41793026727&from=Shop");
  const language = page.getByRole("combobox", { name: "Language" });
  const transliteration = page.getByRole("combobox", { name: "Transliteration" });
  const offered = (box: typeof language) =>
    box.locator("option").evaluateAll((options) => options.map((option) => (option as HTMLOptionElement).value));
  const wishes = (words: readonly string[]) => ["", ...words.filter((word) => word !== "NONE")];
  assert.deepEqual(await offered(language), wishes(LANGUAGE_CHOICES));
  assert.deepEqual(await offered(transliteration), wishes(TRANSLITERATIONS));
  await textOf(page).fill("Não há água");
  await language.selectOption("AUTODETECT");
  await counted(page, "GSM with Portuguese letters");
  await textOf(page).fill("София");
  await counted(page, "Unicode");
  await transliteration.selectOption("BULGARIAN_CYRILLIC");
  await counted(page, "5 of 160");
  await counted(page, "GSM");
});

test("the way of the number is told while it is typed, and what stands in it", async (t) => {
  const { page, enter } = await open(t);
  await shared.service.store.optOut({ accountKey: "DEMO0001", number: "41790000001", atMs: 0 });
  await enter("demo", "/compose?to=41793026727&from=Shop&text=Hi");
  const way = page.getByRole("region", { name: "The way of the message" });
  await way.getByText("It is of Switzerland.").waitFor();
  await way.getByText("simulator gets it.").waitFor();
  await page.getByLabel("To", { exact: true }).fill("41790000001");
  await way.getByText("The number has opted out: it is on the account's list.").waitFor();
  await page.getByLabel("From", { exact: true }).fill("A name that is too long");
  await way.getByText("A sender has 3 to 15 digits").waitFor();
});

test("a message is sent, and each number's answer leads to its message", async (t) => {
  const { page, enter } = await open(t);
  await shared.service.store.optOut({ accountKey: "DEMO0001", number: "41790000002", atMs: 0 });
  await enter("demo", "/compose?from=Shop");
  await page.getByLabel("To", { exact: true }).fill("41793026727 41790000002");
  await textOf(page).fill("Sent from the page");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const answers = page.getByRole("table", { name: "Answers" });
  await answers.getByText("Accepted").waitFor();
  await answers.getByText("Rejected: the number has opted out").waitFor();
  const sent = shared.service.handedOn.find(({ text }) => text === "Sent from the page");
  assert.equal(sent?.to, "41793026727");
  const href = await answers.getByRole("link", { name: "41793026727" }).getAttribute("href");
  assert.equal(href, `/messages/${sent?.key}`);
});

test("everything that a message may say arrives at the service", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/compose?to=41793026727&from=Shop&text=All+of+it");
  await page.getByText("Flash: shown on the phone").click();
  await page.getByRole("button", { name: "tomorrow" }).click();
  await page.getByLabel("Valid for").fill("60");
  await page.getByLabel("Reports go to").fill("https://example.com/reports");
  await page.getByLabel("Callback data").fill("from the page");
  await page.getByLabel("Campaign").fill("spring");
  await page.getByLabel("Bulk id").fill("page-bulk");
  await page.getByLabel("Message id").fill("page-message");
  await page.getByText("Send only at certain hours").click();
  await page.getByRole("button", { name: "Sun", exact: true }).click();
  const from = page.getByRole("slider", { name: "From, UTC" });
  await from.press("ArrowRight");
  await from.press("PageUp");
  assert.match((await from.getAttribute("aria-valuetext"))!, /^09:15 UTC, 1[01]:15 on your clock$/);
  const request = page.waitForRequest("**/sms/2/text/advanced");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const { messages, bulkId } = (await request).postDataJSON();
  const [{ sendAt, ...message }] = messages;
  assert.match(sendAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000\+0000$/);
  assert.deepEqual(message, {
    from: "Shop",
    destinations: [{ to: "41793026727", messageId: "page-message" }],
    text: "All of it",
    flash: true,
    deliveryTimeWindow: {
      days: ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"],
      from: { hour: 9, minute: 15 },
      to: { hour: 20, minute: 0 },
    },
    validityPeriod: 60,
    notifyUrl: "https://example.com/reports",
    callbackData: "from the page",
    campaignReferenceId: "spring",
  });
  assert.equal(bulkId, "page-bulk");
  await page.getByRole("table", { name: "Answers" }).waitFor();
  const { json } = await shared.service.call("GET", "/sms/1/bulks/status?bulkId=page-bulk");
  assert.equal(json.status, "PENDING");
});

test("the handles of the window are dragged", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/compose");
  await page.getByText("Send only at certain hours").click();
  const until = page.getByRole("slider", { name: "Until, UTC" });
  await until.scrollIntoViewIfNeeded();
  const band = (await page.locator(".compose-band").boundingBox())!;
  const handle = (await until.boundingBox())!;
  await page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2);
  await page.mouse.down();
  await page.mouse.move(band.x + band.width / 4, band.y + band.height / 2, { steps: 4 });
  await page.mouse.up();
  assert.equal(await until.getAttribute("aria-valuenow"), "360");
  await page.getByText("It goes over midnight").waitFor();
});

test("octets are sent as octets", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/compose?to=41793026727&from=Shop");
  await page.getByRole("tab", { name: "Binary" }).click();
  await page.getByLabel("Octets, in hex").fill("0f c");
  await page.getByText("A digit is missing: each octet has two.").waitFor();
  await page.getByLabel("Octets, in hex").fill("0f c2 4a bf");
  await page.getByLabel("Data coding").fill("4");
  await page.getByText("4 octets · 1 part").waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("table", { name: "Answers" }).waitFor();
  const sent = shared.service.handedOn.at(-1)!;
  assert.deepEqual([sent.text, sent.encoding], ["0fc24abf", { dataCoding: 4, esmClass: 0 }]);
});

test("what the service refuses is told at its field", async (t) => {
  const { page, enter, expectError } = await open(t);
  expectError(/400/);
  await enter("demo", "/compose");
  const send = page.getByRole("button", { name: "Send", exact: true });
  const refused = async (label: string, says: RegExp): Promise<void> => {
    await send.click();
    const input = page.getByRole("textbox", { name: label, exact: true });
    await page.locator(".field").filter({ has: input }).getByRole("alert").filter({ hasText: says }).waitFor();
    assert.equal(await input.getAttribute("aria-invalid"), "true");
  };
  await refused("To", /must not be empty/);
  await page.getByLabel("To", { exact: true }).fill("41793026727 nobody");
  await refused("To", /nobody: a number has 4 to 15 digits/);
  await page.getByLabel("To", { exact: true }).fill("41793026727");
  await refused("Text", /must not be empty/);
  await textOf(page).fill("Hello");
  await page.getByLabel("Valid for", { exact: true }).fill("soon");
  await refused("Valid for", /must be an integer/);
  await page.getByLabel("Valid for", { exact: true }).fill("60");
  await page.getByLabel("Reports go to", { exact: true }).fill("nowhere");
  await refused("Reports go to", /It /);
  await page.getByLabel("Reports go to", { exact: true }).fill("");
  await page.getByLabel("Callback data", { exact: true }).fill("x".repeat(201));
  await refused("Callback data", /at most 200 characters/);
});

test("the same request is shown as code, and copied", async (t) => {
  const { page, enter } = await open(t);
  await enter("demo", "/compose?to=41793026727&from=Shop&text=It%27s+me");
  const code = page.getByRole("region", { name: "The same request as code" });
  for (const [tab, says] of [
    ["curl", `It'\\''s me`],
    ["JavaScript", `text: "It's me"`],
    ["PHP", `text: 'It\\'s me'`],
    ["Python", `"text": "It's me"`],
    ["Go", `Text: "It's me"`],
  ] as const) {
    await code.getByRole("tab", { name: tab }).click();
    const shown = await code.getByRole("region", { name: tab }).textContent();
    assert.ok(shown!.includes(says), shown!);
    assert.ok(shown!.includes(shared.service.url));
    assert.ok(shown!.includes("demo-api-key"), "the sandbox's own key works at once");
  }
});
