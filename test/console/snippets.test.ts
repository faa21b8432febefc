/** A request as code does the same as the request: curl's and JavaScript's are run, the others' texts are read back as their language reads them. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { EMPTY_DRAFT, localInput, requestOf, type SendingRequest } from "../../console/src/pages/compose/draft.ts";
import {
  goQuoted,
  javascriptQuoted,
  LANGUAGES,
  phpQuoted,
  pythonQuoted,
  shellQuoted,
  snippet,
} from "../../console/src/pages/compose/snippets.ts";
import { newApiKey, storedForm } from "../../src/auth/api-keys.ts";
import fc from "../support/chance.ts";
import { startTestService, temporaryDirectory } from "../support/service.ts";

const service = await startTestService({ after });
const key = newApiKey();
await service.store.createApiKey({ ...storedForm(key), accountKey: "DEMO0001", name: null, scopes: null, atMs: 0 });

const HOSTILE = `it's "quoted" \\ back\\\\slash $HOME \${x} \`id\` %s\n\ttab 👋 é </script> \u2028 #{x} ?> !`;

const TEXT = requestOf({
  ...EMPTY_DRAFT,
  from: "O'Shop",
  to: "41793026727 41793026834",
  text: HOSTILE,
  flash: true,
  languageCode: "TR",
  transliteration: "NON_UNICODE",
  window: { days: ["MONDAY", "SUNDAY"], hours: { fromMinute: 480, toMinute: 1_215 } },
  sendAt: localInput(Date.now() + 3_600_000),
  validityPeriod: "60",
  notifyUrl: "https://example.com/?a=1&b='2'",
  notifyContentType: "application/xml",
  intermediateReport: true,
  callbackData: HOSTILE.slice(0, 100),
  campaignReferenceId: "spring",
  bulkId: `bulk'"\\`,
});
const BINARY = requestOf({
  ...EMPTY_DRAFT,
  kind: "binary",
  from: "Shop",
  to: "41793026727",
  hex: "0f c2 4a",
  dataCoding: "4",
  esmClass: "0",
  messageId: "mine",
});

/** Runs something, and gives what it wrote. */
function run(command: string, args: readonly string[], input: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: { ...process.env, ...env } });
    let out = "";
    let wrong = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      wrong += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve(out) : reject(new Error(`${code}: ${wrong}`))));
    child.stdin.end(input);
  });
}

const withKey = (code: string): string => {
  assert.ok(code.includes("YOUR_API_KEY"));
  return code.replaceAll("YOUR_API_KEY", key);
};

/** A body that may be sent any number of times. */
const fresh = (request: SendingRequest, run: string): SendingRequest => ({
  ...request,
  body: { ...request.body, bulkId: `${request.body.bulkId ?? ""}${run}` },
});

/** Stands for curl where the machine has none: it takes the same arguments from the shell, and sends the same request. */
const CURL = `
const args = process.argv.slice(2);
const headers = {};
let method = "GET", url = "", body;
for (let at = 0; at < args.length; at++) {
  if (args[at] === "-X") method = args[++at];
  else if (args[at] === "-H") { const [name, ...rest] = args[++at].split(": "); headers[name] = rest.join(": "); }
  else if (args[at] === "--data-raw") body = args[++at];
  else url = args[at];
}
const answer = await fetch(url, { method, headers, body });
process.stdout.write(JSON.stringify({ status: answer.status, answer: await answer.json(), body: JSON.parse(body) }));
`;

test("the command for curl, run by a shell, sends the very request", async (t) => {
  const directory = await temporaryDirectory(t);
  await writeFile(join(directory, "curl.mjs"), CURL);
  await writeFile(join(directory, "curl"), `#!/bin/sh\nexec "${process.execPath}" "${directory}/curl.mjs" "$@"\n`);
  await chmod(join(directory, "curl"), 0o755);
  for (const request of [fresh(TEXT, "curl"), fresh(BINARY, "curl binary")]) {
    const command = withKey(snippet("curl", request, service.url));
    const out = JSON.parse(await run("sh", [], command, { PATH: `${directory}:${process.env.PATH}` }));
    assert.deepEqual(out.body, request.body);
    assert.equal(out.status, 200, JSON.stringify(out.answer));
    assert.equal(out.answer.messages.length, request.body.messages[0]!.destinations.length);
  }
});

test("the JavaScript, run by Node with the real library, sends the message", async () => {
  for (const request of [fresh(TEXT, "node"), fresh(BINARY, "node binary")]) {
    const code = withKey(snippet("javascript", request, service.url));
    const out = await run(process.execPath, ["--input-type=module", "-"], code);
    assert.match(out, /bulkId: /);
    assert.match(out, /41793026727/);
    const { bulkId } = request.body;
    const { json } = await service.call("GET", `/sms/1/logs?bulkId=${encodeURIComponent(bulkId!)}`);
    assert.deepEqual(
      json.results.map(({ to }: { to: string }) => to).sort(),
      request.body.messages[0]!.destinations.map(({ to }) => to),
    );
  }
});

test("no snippet has a credential of anybody", () => {
  for (const language of LANGUAGES) {
    const code = snippet(language, TEXT, "https://sms.example.com");
    assert.ok(code.includes("YOUR_API_KEY"), language);
    assert.ok(code.includes("https://sms.example.com"), language);
    assert.doesNotMatch(code, /password|hgk_|Basic/i, language);
  }
});

test("every library is called by its own names", () => {
  const codes = Object.fromEntries(LANGUAGES.map((language) => [language, snippet(language, TEXT, "http://h")]));
  assert.match(codes.php!, /new SmsAdvancedTextualRequest\(bulkId: /);
  assert.match(codes.php!, /\$api->sendSmsMessage\(/);
  assert.match(
    codes.php!,
    /new SmsDeliveryTimeWindow\(days: \['MONDAY', 'SUNDAY'\], from: new SmsDeliveryTimeFrom\(hour: 8, minute: 0\)/,
  );
  assert.match(codes.php!, /This library has no field for campaignReferenceId/);
  assert.match(codes.python!, /channel\.send_sms_message\(\{/);
  assert.match(codes.python!, /"flash": True/);
  assert.match(codes.go!, /client\.SMS\.Send\(context\.Background\(\), models\.SendSMSRequest\{/);
  assert.match(codes.go!, /NotifyURL: "https:/);
  const binary = Object.fromEntries(LANGUAGES.map((language) => [language, snippet(language, BINARY, "http://h")]));
  assert.match(binary.php!, /sendBinarySmsMessage\(new SmsAdvancedBinaryRequest/);
  assert.match(binary.python!, /channel\.send_binary_sms_message\(/);
  assert.match(binary.go!, /client\.SMS\.SendBinary\(/);
  assert.match(binary.javascript!, /type: "binary"/);
});

test("what a library cannot say is told in its snippet, and nothing else is", () => {
  const [message] = TEXT.body.messages;
  const { campaignReferenceId: _, ...plain } = message!;
  const request = (more: object, path = TEXT.path): SendingRequest => ({
    path,
    body: { messages: [{ ...plain, language: { languageCode: "TR" }, ...more }] },
  });
  const shifted = request({ language: { languageCode: "TR", singleShift: false, lockingShift: true } });
  const { text: _text, ...octets } = plain;
  const flash: SendingRequest = {
    path: BINARY.path,
    body: { messages: [{ ...octets, binary: { hex: "00" }, flash: true }] },
  };
  for (const language of ["php", "go"] as const) {
    assert.doesNotMatch(snippet(language, request({}), "http://h"), /has no field/);
    assert.match(
      snippet(language, shifted, "http://h"),
      /This library has no field for language\.singleShift, language\.lockingShift: left out here/,
    );
  }
  assert.match(snippet("go", flash, "http://h"), /has no field for flash of binary messages/);
  assert.doesNotMatch(snippet("php", flash, "http://h"), /flash of binary messages/);
});

test("a key that everybody knows stands in the place of one's own", () => {
  for (const language of LANGUAGES) {
    const code = snippet(language, TEXT, "http://h", "demo-api-key");
    assert.ok(code.includes("demo-api-key") && !code.includes("YOUR_API_KEY"), language);
  }
});

test("every model that the PHP names is imported, and none twice", () => {
  for (const request of [TEXT, BINARY]) {
    const code = snippet("php", request, "http://h");
    const made = new Set(
      [...code.matchAll(/new (Sms\w+)\(/g)].map(([, name]) => name!).filter((name) => name !== "SmsApi"),
    );
    const imported = [...code.matchAll(/^use Infobip\\Model\\(\w+);$/gm)].map(([, name]) => name!);
    assert.deepEqual(imported, [...made].sort());
  }
});

// --- How each language reads its texts ---------------------------------------------------------------------------------------

/** As PHP reads a text in single quotes: a backslash before a quote or a backslash goes, any other stays. */
const readPhp = (quoted: string): string => {
  assert.match(quoted, /^'(?:[^'\\]|\\[\s\S])*'$/);
  return quoted.slice(1, -1).replace(/\\(['\\])/g, "$1");
};

/** As a shell reads words in single quotes, and escaped quotes between them. */
const readShell = (quoted: string): string => {
  assert.match(quoted, /^(?:'[^']*'|\\')+$/);
  return quoted.replace(
    /'([^']*)'|\\(')/g,
    (_, inside: string | undefined, quote: string | undefined) => inside ?? quote!,
  );
};

test("any text is quoted so that each language reads the same text", () => {
  const texts = fc.oneof(
    fc.string({ unit: "binary" }),
    fc
      .array(fc.constantFrom("'", '"', "\\", "$", "`", "\n", "\r", "\0", "{", "}", "😀", "\u2028", "x"))
      .map((all) => all.join("")),
  );
  fc.assert(
    fc.property(texts, (text) => {
      assert.equal(readPhp(phpQuoted(text)), text);
      if (!text.includes("\0")) assert.equal(readShell(shellQuoted(text)), text);
      // Python and Go have JSON's escapes, and no others are used.
      for (const quoted of [pythonQuoted(text), goQuoted(text)]) {
        assert.match(quoted, /^"(?:[^"\\\n\r]|\\(?:["\\bfnrt]|u[0-9a-f]{4}))*"$/);
        assert.equal(JSON.parse(quoted), text);
      }
      assert.equal(new Function(`"use strict"; return ${javascriptQuoted(text)}`)(), text);
    }),
  );
});

test("what no file can hold is quoted as an escape", () => {
  assert.equal(pythonQuoted("\ud800"), '"\\ud800"');
  assert.equal(goQuoted("a\ud800"), '"a\ufffd"');
});
