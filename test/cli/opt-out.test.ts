/** `heliograph opt-out`: numbers that want no messages. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openData } from "../support/accounts.ts";
import { type Ended, runProgram, startChild } from "../support/child.ts";
import { basic, callService, DEMO, temporaryDirectory } from "../support/service.ts";

const NUMBER = "41793026727";

test("numbers that opt out get nothing more, from any account or from one, on a service that runs", async (t) => {
  const data = await temporaryDirectory(t);
  const { url } = await startChild(t, ["sandbox", "--port", "0", "--data", data]);
  const change = (...args: string[]): Promise<Ended> => runProgram(["opt-out", ...args, "--data", data]);
  const OTHER = basic("operator", "operator-password");
  const db = openData(data);
  t.after(() => db.close());
  db.exec("UPDATE wallet SET balance_micros = 1000000 WHERE name = 'OPERATOR1'");
  /** The statuses of a message from each of two accounts. */
  const send = async (): Promise<number[]> => {
    const body = { from: "InfoSMS", to: NUMBER, text: "x" };
    const answers = await Promise.all(
      [DEMO, OTHER].map((authorization) => callService(url, "POST", "/sms/1/text/single", { authorization, body })),
    );
    return answers.map(({ json }) => json.messages[0].status.id);
  };
  assert.deepEqual(await send(), [7, 7]);
  assert.deepEqual(await change("add", NUMBER), { code: 0, stdout: `${NUMBER} is on the list.\n`, stderr: "" });
  assert.deepEqual(await send(), [14, 14]);
  assert.deepEqual(await change("remove", NUMBER), { code: 0, stdout: `${NUMBER} is off the list.\n`, stderr: "" });
  assert.deepEqual(await send(), [7, 7]);
  const ofDemo = await change("add", NUMBER, "--account", "DEMO0001");
  assert.deepEqual(ofDemo, { code: 0, stdout: `${NUMBER} is on the list of DEMO0001.\n`, stderr: "" });
  assert.deepEqual(await send(), [14, 7]);
  const ofNobody = await change("remove", NUMBER, "--account", "NOBODY");
  assert.deepEqual(ofNobody, {
    code: 1,
    stdout: "",
    stderr: 'heliograph: there is no account NOBODY: "heliograph account list" shows them all\n',
  });
  assert.deepEqual(await send(), [14, 7]);
});

test("what is no number in international form is refused", async (t) => {
  const data = await temporaryDirectory(t);
  assert.equal((await runProgram(["init", "--data", data])).code, 0);
  const { code, stdout, stderr } = await runProgram(["opt-out", "add", `(${NUMBER})`, "--data", data]);
  assert.deepEqual([code, stdout], [2, ""]);
  assert.equal(stderr, `heliograph: the number must be 4 to 15 digits, with its country's code, not "(${NUMBER})"\n`);
  // Under one form, however it was written.
  const said = async (...words: string[]) => (await runProgram(["opt-out", ...words, "--data", data])).stdout;
  assert.equal(await said("add", `+${NUMBER}`), `${NUMBER} is on the list.\n`);
  assert.equal(await said("remove", `00${NUMBER}`), `${NUMBER} is off the list.\n`);
});
