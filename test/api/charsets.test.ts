/** Texts in queries and forms: UTF-8, another charset where a form names it, and never a guess. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { balanceOf } from "../support/sending.ts";
import { type Answer, errorObject, startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const TO = "41793026727";
const FORM = "application/x-www-form-urlencoded";
const OUTBOUND = "/1/smsmessaging/outbound/Helio/requests";

test("a query that is not UTF-8 is told so, and nothing of it is sent or looked for", async () => {
  const balance = await balanceOf(service);
  const before = service.handedOn.length;
  const NOT_UTF8 = errorObject("BAD_REQUEST", "Bad request", null, "The query is not valid UTF-8.");
  for (const text of ["caf%E9%20au%20lait", "100%25+%", "%zz", "%C3", "%ED%A0%80", "%c0%80"]) {
    for (const path of ["/sms/1/text/query", "/sms/3/text/query"]) {
      const { status, json } = await service.call("GET", `${path}?to=${TO}&from=Helio&text=${text}`);
      assert.equal(status, 400, text);
      if (path.startsWith("/sms/1")) assert.deepEqual(json, NOT_UTF8);
      else assert.equal(json.description, "The query is not valid UTF-8.");
    }
  }
  for (const path of ["/sms/3/logs?bulkId=%FF", "/sms/1/logs?%FF=1", "/sms/1/reports?limit=1&x=%"])
    assert.equal((await service.call("GET", path)).status, 400, path);
  assert.equal(service.handedOn.length, before);
  assert.equal(await balanceOf(service), balance);
});

test("a query in UTF-8 is taken", async () => {
  for (const text of ["caf%C3%A9+100%25", "caf%c3%a9%20100%25"]) {
    assert.equal((await service.call("GET", `/sms/1/text/query?to=${TO}&from=Helio&text=${text}`)).status, 200);
    assert.equal(service.handedOn.at(-1)!.text, "café 100%");
  }
});

const form = (contentType: string, message: Buffer): Promise<Answer> =>
  service.call("POST", OUTBOUND, {
    headers: { "content-type": contentType },
    body: Buffer.concat([Buffer.from(`address=${TO}&message=`), message]),
  });

test("a form that is not UTF-8 is told so", async () => {
  const before = service.handedOn.length;
  for (const message of [Buffer.from("caf\xe9", "latin1"), Buffer.from("caf%E9"), Buffer.from("100%")]) {
    const { status, json } = await form(FORM, message);
    assert.deepEqual(
      [status, json],
      [400, errorObject("BAD_REQUEST", "Bad request", null, "The body is not valid UTF-8.")],
    );
  }
  assert.equal(service.handedOn.length, before);
  assert.equal((await form(`${FORM}; charset=UTF-8`, Buffer.from("café%20%C3%BC"))).status, 201);
  assert.equal(service.handedOn.at(-1)!.text, "café ü");
});

test("a form that names a western charset is read in it; one that names any other is told so", async () => {
  for (const charset of ["iso-8859-1", "ISO-8859-1", '"latin1"', "windows-1252"]) {
    const { status, text } = await form(
      `${FORM};charset=${charset}`,
      Buffer.from("caf\xe9+%fc%80\x80%26%3D%2B", "latin1"),
    );
    assert.equal(status, 201, text);
    assert.equal(service.handedOn.at(-1)!.text, "café ü€€&=+");
  }
  assert.equal((await form(`${FORM};charset=latin1`, Buffer.from("100%"))).status, 400);
  const { status, json } = await form(`${FORM};charset=koi8-r`, Buffer.from("x"));
  assert.equal(status, 415);
  assert.equal(
    json.requestError.serviceException.additionalDescription,
    "The charset of a form must be UTF-8 or ISO-8859-1.",
  );
});
