/** `heliograph quarantine list|retry|drop`: somebody decides about messages whose outcome could not be recorded. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { systemClock } from "../../src/runtime/clock.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import { good } from "../support/operator.ts";
import { startTestService, temporaryDirectory } from "../support/service.ts";
import { commandsOn } from "./in-process.ts";

const data = await temporaryDirectory({ after });
const service = await startTestService({ after }, { data });
const { done, json, refused } = commandsOn("--data", data);

test("what is kept aside is listed; messages that it holds go again, or end, as somebody says", async () => {
  assert.match(await done("quarantine", "list"), /The store has refused nothing/);
  // Nobody takes them meanwhile.
  good(await service.call("PUT", "/sandbox/1/network", { body: { throttling: true } }));
  const keyOf = async (to: string): Promise<string> => {
    const body = { messages: [{ from: "Shop", destinations: [{ to }], text: "x" }] };
    return good(await service.call("POST", "/sms/2/text/advanced", { body })).messages[0].messageId;
  };
  const [again, over] = [await keyOf("41790000001"), await keyOf("41790000002")];
  const aside = { atMs: systemClock.now(), command: "submitted", reason: "no place for it", detail: "{}" };
  await service.store.quarantine({
    items: [again, over].map((key) => ({ ...aside, subject: key, heldKey: key })),
  });
  await service.store.quarantine({ items: [{ ...aside, command: "received", subject: "id-1" }] });
  const listed = await json("quarantine", "list");
  assert.deepEqual(
    listed.map(({ subject, held }: { subject: string; held: boolean }) => [subject, held]),
    [
      ["id-1", false],
      [over, true],
      [again, true],
    ],
  );
  assert.match(await done("quarantine", "list"), /3 things are kept aside, and 2 messages are held for it/);
  const [other, ofOver, ofAgain] = listed.map(({ id }: { id: string }) => id);
  assert.equal((await done("quarantine", "retry", ofAgain, other)).trim(), "1 message goes again.");
  assert.equal((await done("quarantine", "drop", ofOver, other)).trim(), "2 are dropped.");
  assert.deepEqual(await json("quarantine", "list"), []);
  const statusOf = async (messageId: string): Promise<number> =>
    (await service.store.messageLife({ accountId: null, messageId }))!.statusId;
  assert.deepEqual(
    [await statusOf(again), await statusOf(over)],
    [STATUS.PENDING_ENROUTE.id, STATUS.EXPIRED_UNKNOWN.id],
  );
  const [code, says] = await refused("quarantine", "drop", "first");
  assert.equal(code, 2);
  assert.match(says, /"first" is no number of the list/);
});
