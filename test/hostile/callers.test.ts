/** Attacks by a client with credentials that are right: it may spoil its own day, and nobody else's. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isLong, sized } from "../support/chance.ts";
import { rawRequestText } from "../support/raw-http.ts";
import { basic, callService, eventually } from "../support/service.ts";
import { Crowd, OPERATOR, startRig } from "./support/rig.ts";

const ADVANCED = "/sms/1/text/advanced";
const MEGABYTE = 1024 * 1024;
/** Another account than the good client's. */
const RESELLER = basic("reseller", "reseller-password");
const HEADERS = { authorization: RESELLER, "content-type": "application/json" };

const IMPATIENT = {
  HELIOGRAPH_SERVER_HEADERS_TIMEOUT_MS: "2000",
  HELIOGRAPH_SERVER_REQUEST_TIMEOUT_MS: "4000",
  HELIOGRAPH_SERVER_ANSWER_TIMEOUT_MS: "2000",
};

test("whoever has credentials", async (t) => {
  const rig = await startRig(t, IMPATIENT);

  await t.test("bodies that come slowly, that are large, or that come an octet at a time", async (t) => {
    const crowd = new Crowd(t, rig);
    const head = (length: number) => rawRequestText("POST", ADVANCED, { ...HEADERS, "content-length": String(length) });
    await rig.withstands("2,100 slow bodies of one account", 250, async () => {
      await crowd.joinMany(sized(2_100), `${head(1_000)}{"mess`);
      await crowd.isShownOut();
    });
    await rig.withstands("32 bodies of 8 MB without their last octet", 300, async () => {
      const body = Buffer.concat([Buffer.from(head(8 * MEGABYTE)), Buffer.alloc(8 * MEGABYTE - 1, " ")]);
      await crowd.joinMany(sized(32), body);
      await crowd.isShownOut();
    });
    await rig.withstands("half a megabyte, an octet a chunk", 100, async () => {
      const chunked = rawRequestText("POST", ADVANCED, { ...HEADERS, "transfer-encoding": "chunked" });
      for (let round = 0; round < sized(3); round++)
        await crowd.join(`${chunked}${"1\r\n \r\n".repeat(sized(524_288))}`);
      await crowd.isShownOut();
    });
  });

  await t.test("answers that nobody reads are kept for a while, and no longer", async (t) => {
    const crowd = new Crowd(t, rig);
    const path = "/operator/1/rate-plans/large";
    const rate = Array.from({ length: 40_000 }, (_, index) => ({ prefix: String(100_000 + index), price: "0.01" }));
    const put = await callService(rig.url, "PUT", path, { authorization: OPERATOR, body: { currency: "EUR", rate } });
    assert.equal(put.status, 200, put.text.slice(0, 1_000));
    const request = rawRequestText("GET", path, { authorization: OPERATOR });
    await rig.withstands("400 answers of more than a megabyte, unread", 500, async () => {
      await crowd.joinMany(isLong ? 40 : 4, request.repeat(10), { reads: false });
      await eventually(async () => (await rig.gauge("http_callers")) > (isLong ? 10 : 1));
      // Those that do not take their answers are cut off; those that got a short one are idle, as any client may be.
      await eventually(async () => (await rig.gauge("http_callers")) <= 1);
    });
  });
});
