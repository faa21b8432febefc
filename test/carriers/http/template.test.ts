/** Templates: values in places, escaped by where they stand, and nothing that is evaluated. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fillHeader, fillJson, fillPairs, fillPath, fillText, namesIn } from "../../../src/carriers/http/template.ts";
import fc, { cases } from "../../support/chance.ts";

test("a value is put in its place and never looked into for places", () => {
  assert.equal(fillText("{a} and {b}", { a: "{b}", b: "$1 $& {a}" }), "{b} and $1 $& {a}");
  assert.equal(fillText("{no}", {}), undefined);
  assert.equal(fillText("{toString} {constructor}", Object.create(null)), undefined);
});

test("one of two words is chosen by a value that is true", () => {
  assert.equal(fillText("{is?yes:no}", { is: true }), "yes");
  assert.equal(fillText("{is?yes:no}", { is: false }), "no");
  assert.equal(fillText("{is?yes:}", { is: false }), undefined, "left out");
});

test("in JSON a value keeps its type, and what is missing is left out", () => {
  const template = {
    to: ["{to}"],
    flash: "{flash}",
    parts: "{parts}",
    gone: "{gone}",
    fixed: 3,
    deep: { text: "a {text}" },
  };
  assert.deepEqual(fillJson(template, { to: '"4179', flash: true, parts: 2, text: "b" }), {
    to: ['"4179'],
    flash: true,
    parts: 2,
    fixed: 3,
    deep: { text: "a b" },
  });
});

test("a number is made of a text that is one, and of no other", () => {
  const filled = (v: string) => fillJson({ n: "{v#}" }, { v });
  assert.deepEqual(filled("1"), { n: 1 });
  for (const text of ["01", "1e3", " 1", "0x1", "9".repeat(16), "one"]) assert.deepEqual(filled(text), { n: text });
  assert.deepEqual(fillJson({ n: "{v#}" }, {}), {});
  assert.equal(fillText("{v#} of {v}", { v: "2" }), "2 of 2");
});

test("whatever a value is, it stays in its place: path, form, header", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (value) => {
      const text = value.toWellFormed();
      const path = fillPath("/a/{v}/b", { v: text })!;
      assert.equal(path.split("/").length, 4);
      assert.equal(new URL(`http://host${path}`).pathname.split("/").length, 4);
      const written = fillPairs({ one: "{v}", two: "2" }, { v: text });
      assert.equal(written, new URLSearchParams({ one: text, two: "2" }).toString());
      assert.doesNotMatch(fillHeader("x {v}", { v: text })!, /[\r\n\0]/);
    }),
    { numRuns: cases(50) },
  );
});

test("the names of a template are known before it is used", () => {
  assert.deepEqual(namesIn({ a: ["{x}", { b: "{y?1:2} {z}" }], c: 1 }), ["x", "y", "z"]);
});
