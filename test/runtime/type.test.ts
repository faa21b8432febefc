/** The schemas that src/runtime/type.ts makes are those that TypeBox would make. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type TSchema, Type as TypeBox } from "typebox";
import { Value } from "typebox/value";
import { isPlainlyRight, refusalOf } from "../../src/runtime/check.ts";
import { Type } from "../../src/runtime/type.ts";

type Maker = Pick<typeof TypeBox, keyof typeof Type>;

/** The same schemas, made by one or the other. */
function schemasBy(by: Maker) {
  const text = by.String({ minLength: 2, description: "A text." });
  const fields = by.Object({ name: text, age: by.Optional(by.Integer({ minimum: 0 })), is: by.Boolean() });
  return {
    text,
    fields,
    bare: by.String(),
    numbers: by.Array(by.Number({ maximum: 9 }), { maxItems: 3 }),
    nothing: by.Object({}, { additionalProperties: false }),
    optionalOnly: by.Object({ a: by.Optional(by.String()) }, { title: "Title", additionalProperties: false }),
    partial: by.Partial(fields),
    partialStrict: by.Partial(fields, { additionalProperties: false }),
    // A field that was optional stays so in a copy of the fields, and not in a copy of the schema.
    copied: by.Object({ ...by.Partial(fields).properties, age: { ...by.Optional(by.Integer()) } }),
    union: by.Union([by.Literal("one"), by.Literal(2), by.Literal(true), by.Null()], { description: "Some." }),
    optionalUnion: by.Object({ either: by.Optional(by.Union([by.String(), by.Null()])) }),
    record: by.Record(by.String(), by.Array(by.String()), { description: "By name." }),
    unknown: by.Unknown({ description: "Anything." }),
    unsafe: by.Unsafe<"a" | "b">({ type: "string", enum: ["a", "b"] }),
    optionalUnsafe: by.Object({ word: by.Optional(by.Unsafe<string>({ type: ["string", "null"] })) }),
    refined: by.Refine(
      by.Refine(
        by.Integer({ minimum: 1 }),
        (value) => value % 2 === 0,
        (value) => `${value} is odd`,
      ),
      (value) => value < 100,
      () => "is large",
    ),
  };
}

/** All that a schema has, hidden or not, in its order. */
function wholeOf(schema: unknown): unknown {
  if (typeof schema === "function") return "function";
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(wholeOf);
  const own = Object.entries(Object.getOwnPropertyDescriptors(schema));
  const seen = own.filter(([, { enumerable }]) => enumerable).map(([name, { value }]) => [name, wholeOf(value)]);
  const hidden = own.filter(([, { enumerable }]) => !enumerable).map(([name, { value }]) => [name, wholeOf(value)]);
  return { seen, hidden: hidden.sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)) };
}

test("every schema is the one that TypeBox makes, with what is hidden in it", () => {
  const ours = schemasBy(Type);
  const theirs = schemasBy(TypeBox);
  for (const [name, schema] of Object.entries(theirs)) {
    assert.deepEqual(wholeOf(ours[name as keyof typeof ours]), wholeOf(schema), name);
  }
  const tried = Object.keys(Type).filter((name) => !new RegExp(`by\\.${name}\\b`).test(schemasBy.toString()));
  assert.deepEqual(tried, [], "each of the makers is tried here");
});

test("TypeBox checks values by them", () => {
  const values = [
    null,
    "",
    "a",
    "ab",
    1,
    2,
    101,
    true,
    [],
    [1],
    [10],
    {},
    { name: "ab", is: true },
    { name: "ab", is: 1, age: -1 },
  ];
  const ours = schemasBy(Type);
  for (const [name, schema] of Object.entries(schemasBy(TypeBox))) {
    for (const value of values) {
      const faults = (of: TSchema) =>
        Value.Errors(of, value).map(({ keyword, instancePath, message }) => [keyword, instancePath, message]);
      assert.deepEqual(faults(ours[name as keyof typeof ours]), faults(schema), `${name}: ${JSON.stringify(value)}`);
    }
  }
});

test("a record by anything but plain texts is refused, because nobody has made one yet", () => {
  assert.throws(() => Type.Record(Type.Integer(), Type.String()), /a record has texts for keys/);
});

test("a plain value that is taken for right is right for TypeBox too", () => {
  const schemas = [
    Type.String(),
    Type.String({ minLength: 1 }),
    Type.String({ minLength: 2 }),
    Type.String({ pattern: "^a" }),
    Type.Integer({ minimum: 1, maximum: 5 }),
    Type.Integer(),
    Type.Number(),
    Type.Boolean(),
    Type.Union([Type.String(), Type.Integer()]),
  ];
  const values = [
    "",
    "a",
    "ab",
    "b",
    "\u{1f600}",
    0,
    1,
    5,
    6,
    1.5,
    2 ** 60,
    Number.NaN,
    -1,
    true,
    null,
    undefined,
    {},
    [],
  ];
  let sure = 0;
  for (const schema of schemas) {
    for (const value of values) {
      if (!isPlainlyRight(schema, value)) continue;
      sure++;
      assert.ok(Value.Check(schema, value), `${JSON.stringify(schema)}: ${String(value)}`);
    }
  }
  assert.equal(sure, 17, "all that is plain and right is seen to be");
});

test("a refinement refuses in its own words", () => {
  const { refined, bare } = schemasBy(Type);
  assert.equal(refusalOf(refined, 3), "3 is odd");
  assert.equal(refusalOf(refined, 102), "is large");
  assert.equal(refusalOf(refined, 2), null);
  assert.equal(refusalOf(bare, "anything"), null);
});
