/** What a report says, in XML: the same as in JSON, whatever is in it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { DOMParser, type Element } from "@xmldom/xmldom";
import { CARRIED_NAMES, type CarriedName } from "../../src/message/fields.ts";
import type { ReportFacts } from "../../src/message/message.ts";
import { xmlBody } from "../../src/reports/rendering/report-body.ts";
import { type ReportItem, reportItem } from "../../src/reports/rendering/report-item.ts";
import fc, { cases } from "../support/chance.ts";
import { factsOf } from "./fixtures.ts";

/** Read by a parser that is not of the library that wrote it; anything that is not well-formed throws. */
function read(body: string): unknown {
  const stop = (level: string, message: string): void => {
    // A warning that there is a replacement character in it is no fault: we put it there.
    if (level !== "warning") throw new Error(`${level}: ${message}`);
  };
  const document = new DOMParser({ onError: stop }).parseFromString(body, "application/xml");
  const root = document.documentElement!;
  assert.equal(root.nodeName, "reportResponse");
  const [results] = childrenOf(root);
  assert.equal(results!.nodeName, "results");
  return childrenOf(results!).map(contentOf);
}

function childrenOf(element: Element): Element[] {
  return Array.from(element.childNodes as Iterable<Element>).filter((node) => node.nodeType === 1);
}

/** An element with elements in it as an object, any other as its text. */
function contentOf(element: Element): unknown {
  const children = childrenOf(element);
  if (children.length === 0) return element.textContent ?? "";
  return Object.fromEntries(children.map((child) => [child.nodeName, contentOf(child)]));
}

test("a report in XML has the names of the JSON one", () => {
  const body = xmlBody([reportItem(factsOf({ mccMnc: null }))]);
  assert.equal(
    body,
    '<?xml version="1.0" encoding="UTF-8"?><reportResponse><results><result>' +
      "<bulkId>1770890300323000001</bulkId><messageId>1770890300323000002</messageId><to>41793026727</to><from>InfoSMS</from>" +
      "<sentAt>2026-02-12T09:58:20.323+0000</sentAt><doneAt>2026-02-12T09:58:21.005+0000</doneAt><smsCount>1</smsCount>" +
      "<callbackData>order 7</callbackData>" +
      "<price><pricePerMessage>0.0075</pricePerMessage><currency>EUR</currency></price>" +
      "<status><groupId>3</groupId><groupName>DELIVERED</groupName><id>5</id><name>DELIVERED_TO_HANDSET</name>" +
      "<description>Message delivered to handset</description></status>" +
      "<error><groupId>0</groupId><groupName>OK</groupName><id>0</id><name>NO_ERROR</name>" +
      "<description>No Error</description><permanent>false</permanent></error>" +
      "</result></results></reportResponse>",
  );
});

test("markup in a text is text", () => {
  const body = xmlBody([reportItem(factsOf({ callbackData: `</callbackData><a b='c'>&lt; ]]> "<!-- \r\n` }))]);
  assert.match(
    body,
    /<callbackData>&lt;\/callbackData&gt;&lt;a b=&apos;c&apos;&gt;&amp;lt; \]\]&gt; &quot;&lt;!-- &#13;\n<\/callbackData>/,
  );
});

test("what XML cannot hold is replaced, and nothing else is", () => {
  const body = xmlBody([
    reportItem(factsOf({ callbackData: "\0\b\v\x1f\x7f\x85\ud800\udbff!\udc00\ufffe\uffff\u{10ffff}😀\ufffd\t" })),
  ]);
  assert.match(
    body,
    /<callbackData>\ufffd\ufffd\ufffd\ufffd\x7f&#133;\ufffd\ufffd!\ufffd\ufffd\ufffd\u{10ffff}😀\ufffd\t<\/callbackData>/u,
  );
});

test("what some readers take for the end of a line stays what it is", () => {
  const callbackData = "\r \u0085 \u2028 \u2029 \n";
  const [item] = read(xmlBody([reportItem(factsOf({ callbackData }))])) as [{ callbackData: string }];
  assert.equal(item.callbackData, callbackData);
});

test("for any contents the XML is valid and says what the JSON says", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom(..."<>&'\"/;!-[] \t\r\n\0\ud800\udc00\uffffa#x1") }),
    fc.constantFrom("]]>", "&amp;", "&#13;", "<!--", "<![CDATA[x]]>", "true", "1e5", "007", "-0", "__proto__"),
  );
  const facts: fc.Arbitrary<ReportFacts> = fc.record({
    bulkId: fc.option(text),
    messageId: text,
    to: text,
    from: text,
    sentAtMs: fc.nat(4_000_000_000_000),
    doneAtMs: fc.nat(4_000_000_000_000),
    smsCount: fc.nat(25),
    mccMnc: fc.option(text),
    ...(Object.fromEntries(CARRIED_NAMES.map((name) => [name, fc.option(text)])) as Record<
      CarriedName,
      fc.Arbitrary<string | null>
    >),
    pricePerPartMicros: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    currency: fc.constantFrom("EUR", "USD"),
    statusId: fc.constantFrom(2, 5, 7, 15),
    errorId: fc.constantFrom(0, 1),
  });
  fc.assert(
    fc.property(fc.array(facts, { minLength: 1, maxLength: 3 }), (list) => {
      const items = list.map(reportItem);
      assert.deepEqual(read(xmlBody(items)), items.map(asXmlReads));
    }),
    { numRuns: cases(500) },
  );
});

/** The item as a reader of XML sees it: all values are texts. */
function asXmlReads(item: ReportItem): unknown {
  return JSON.parse(JSON.stringify(item), (_key, value) => {
    if (typeof value === "object") return value;
    return String(value).replace(/[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
  });
}
