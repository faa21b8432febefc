/** What an operator reads, from the real program: a fault of a file with its name, line and column, in words; and changes with amounts and never in millionths. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { runProgram } from "../support/child.ts";
import { temporaryDirectory } from "../support/service.ts";

const directory = await temporaryDirectory({ after });
const data = join(directory, "data");
const run = (...args: string[]) => runProgram([...args, "--data", data]);
async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  assert.deepEqual([code, stderr], [0, ""], args.join(" "));
  return stdout;
}
const file = join(directory, "my catalogue.toml");
const CATALOGUE = `[[carrier]]
id = "acme"
kind = "simulator"

[[route]]
prefix = ""
carrier = "acme"

[[ratePlan]]
id = "standard"
currency = "EUR"

[[ratePlan.rate]]
prefix = ""
price = "0.01"

[[ratePlan.rate]]
prefix = "41"
price = "0.05"
`;

test("what is wrong with a catalogue is told with file, line and column, in words, all of it at once", async () => {
  await done("init", "--username", "boss");
  const refused = async (text: string) => {
    await writeFile(file, text);
    const { code, stdout, stderr } = await run("apply", file);
    assert.deepEqual([code, stdout], [1, ""]);
    return stderr;
  };
  assert.match(
    await refused(CATALOGUE.replace('price = "0.05"', 'price = "five"')),
    /^heliograph: .*my catalogue\.toml:19:1: ratePlan "standard": rate\.1\.price must be a decimal number of 0 or more, .* not "five"\n$/,
  );
  assert.equal(
    await refused(CATALOGUE.replace('carrier = "acme"', 'carrier = "acm"')),
    `heliograph: ${file}:7:1: route "": carrier names "acm", which is not a carrier of this file; did you mean "acme"?\n`,
  );
  assert.match(
    await refused(CATALOGUE.replace('id = "acme"', "id = acme")),
    /^heliograph: .*my catalogue\.toml:2:6: is not readable as TOML: /,
  );
  const many = await refused(
    CATALOGUE.replace('kind = "simulator"', 'kind = "simulater"').replace("currency", "curency"),
  );
  assert.deepEqual(many.split("\n"), [
    `heliograph: 3 faults in ${file}, and nothing is changed:`,
    `  ${file}:3:1: carrier "acme": kind must be one of simulator, smpp, http, not "simulater"; did you mean "simulator"?`,
    `  ${file}:9:1: ratePlan "standard": currency is required`,
    `  ${file}:11:1: ratePlan "standard": curency is not known here; did you mean "currency"?`,
    "",
  ]);
});

test("a fault in the file of settings is told with its line too", async () => {
  const settings = join(directory, "settings.toml");
  await writeFile(settings, "# mine\n[server]\nprot = 80\n");
  const { code, stderr } = await run("account", "list", "--config", settings);
  assert.deepEqual(
    [code, stderr],
    [
      1,
      `heliograph: ${settings}:3:1: [server] has no setting "prot"; heliograph.default.toml lists them all; did you mean "port"?\n`,
    ],
  );
});

test("changes are printed with amounts and their currency, by apply, by the commands and in the audit", async () => {
  await writeFile(file, CATALOGUE);
  assert.match(await done("apply", file), /^\+ rate plan standard: .*price of \* 0\.01 EUR, price of 41 0\.05 EUR$/m);
  await writeFile(file, CATALOGUE.replace('price = "0.05"', 'price = "0.055"'));
  assert.match(await done("apply", file), /^~ rate plan standard\n {4}price of 41: 0\.05 EUR → 0\.055 EUR$/m);
  assert.equal(
    await done("rate", "set", "standard", "49", "0.07"),
    "The rate plan standard is changed:\n  price of 49: none → 0.07 EUR\n",
  );
  assert.match(await done("audit", "--kind", "ratePlan"), /^ {4}price of 41: 0\.05 EUR → 0\.055 EUR$/m);
  await done("account", "create", "--key", "ACME", "--username", "acme", "--funds", "12.5");
  const changed = await done(
    ...["account", "change", "ACME", "--credit-limit", "50"],
    ...["--alert-below", "2.5", "--alert-url", "https://acme.example/low"],
  );
  assert.match(changed, /^ {2}creditLimit: 0 EUR → 50 EUR$/m);
  assert.match(changed, /^ {2}alert: none → below 2\.5 EUR to https:\/\/acme\.example\/low$/m);
  const audit = await done("audit", "--kind", "account", "--subject", "ACME");
  assert.match(audit, /^ {4}creditLimit: 0 EUR → 50 EUR$/m);
  assert.match(audit, /^ {4}alert: none → below 2\.5 EUR to https:\/\/acme\.example\/low$/m);
  const [change, creation] = JSON.parse(await done("audit", "--kind", "account", "--subject", "ACME", "--json"));
  assert.deepEqual(
    [change.after.creditLimit, change.after.alert.below, creation.after.openingBalance],
    ["50", "2.5", "12.5"],
  );
  assert.ok(!/micros/i.test(audit + changed + JSON.stringify([change, creation])));
});

test("what items say of each other, and of accounts, is told together with what is wrong in each of them", async () => {
  await writeFile(file, CATALOGUE);
  await done("apply", file);
  const wrong = `[[carrier]]
id = "acme"
kind = "smpp"
hosts = ["127.0.0.1:2775"]
systemId = "me"
password = "secret"
window = 0
tlvs = { principalEntityId = 5120, contentTemplateId = 5120 }

[[carrier]]
id = "acme"
kind = "simulator"
answerAfterMs = "soon"

[[route]]
prefix = "+41"
carrier = "acm"

[[route]]
prefix = "49"
groups = [[{ carrier = "acme" }, { carrier = "beta" }], [{ carrier = "gamma", weight = 0 }]]

[[ratePlan]]
id = "gold"
currency = "EUR"
colour = "yellow"

[[ratePlan.rate]]
prefix = "41"
price = "0.01"

[[ratePlan.rate]]
prefix = "41"
price = "0.02"

[[number]]
number = "999"
account = "ACME"
forwardUrl = "nowhere"
stopKeywords = ["two words", "STOP", "stop"]
`;
  await writeFile(file, wrong);
  const { code, stderr } = await run("apply", file);
  assert.equal(code, 1);
  const told = stderr.split("\n").map((line) => line.replace(/^ +.*?\.toml:(\d+):\d+: /, "$1 "));
  assert.deepEqual(told.slice(1, -1), [
    '1 account ACME pays by rate plan "standard": give it another one first',
    '7 carrier "acme": window must be a whole number from 1 to 10000, not 0',
    '8 carrier "acme": tlvs has two fields with the tag 0x1400',
    '10 carrier "acme" stands there twice, first in line 1',
    '13 carrier "acme": answerAfterMs must be a whole number from 0 to 86400000, not "soon"',
    '16 route "+41": prefix must be the first digits of numbers, 15 at most and in quotes, or empty for all, not "+41"',
    '17 route "+41": carrier names "acm", which is not a carrier of this file; did you mean "acme"?',
    '21 route "49": groups names "beta", which is not a carrier of this file',
    '21 route "49": groups names "gamma", which is not a carrier of this file',
    '21 route "49": groups.1.0.weight must be a whole number from 1 to 1000, not 0',
    '26 ratePlan "gold": colour is not known here',
    '32 ratePlan "gold": rate has two prices for prefix "41"',
    '39 number "999": forwardUrl "nowhere" is not an absolute http or https URL',
    '40 number "999": stopKeywords has "two words", which is not one word',
    '40 number "999": stopKeywords has "stop", which stands there twice',
  ]);
  assert.match(stderr, /^heliograph: 15 faults in /);
});
