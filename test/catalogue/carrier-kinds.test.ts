/** A kind of carrier is a row in a table: the catalogue file, the operator's API and the command line take it from there. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import { KEEP } from "../../src/admin/items.ts";
import { CARRIER_KINDS, carrierKind } from "../../src/catalogue/carrier-kinds.ts";
import { CARRIER_SECRETS } from "../../src/store/port/secrets.ts";

// Before anything is loaded that reads the table.
Object.assign(CARRIER_KINDS, {
  pigeon: carrierKind(
    Type.Object(
      {
        id: Type.String({ maxLength: 64 }),
        kind: Type.Literal("pigeon"),
        loft: Type.String({ maxLength: 100 }),
        password: Type.String({ maxLength: 8 }),
        rings: Type.Optional(Type.Integer({ minimum: 1 })),
      },
      { additionalProperties: false },
    ),
  ),
});
const { commandsOn } = await import("../cli/in-process.ts");
const { good, operating, refusal } = await import("../support/operator.ts");
const { startTestService, temporaryDirectory } = await import("../support/service.ts");

const service = await startTestService({ after });
const call = operating(service);
const { done, json, refused, run } = commandsOn("--data", service.settings.store.data);

const passwordOf = async (id: string): Promise<string> =>
  JSON.parse((await service.store.catalogue()).find((item) => item.kind === "carrier" && item.id === id)!.body)
    .password;

test("the API sets, shows and lists a carrier of a new kind, and keeps a password that is left out", async () => {
  const profile = { kind: "pigeon", loft: "attic" };
  assert.deepEqual(refusal(await call("PUT", "/carriers/grey", profile)), [400, ["password"], "password is required."]);
  good(await call("PUT", "/carriers/grey", { ...profile, password: "coo" }));
  good(await call("PUT", "/carriers/grey", { ...profile, rings: 2, version: 1 }));
  const shown = { id: "grey", ...profile, rings: 2, version: 2 };
  assert.deepEqual(good(await call("GET", "/carriers/grey")), shown);
  assert.deepEqual(good(await call("GET", "/carriers")).results[0], shown);
  assert.equal(await passwordOf("grey"), "coo");
});

test("so do the command line and the file", async () => {
  const made = await run(["carrier", "set", "white", "kind=pigeon", "loft=tower", "--password-stdin"], {
    input: "coo\n",
  });
  assert.equal(made.code, 0, made.stderr);
  await done("carrier", "set", "white", "rings=3");
  assert.equal((await json("carrier", "show", "white")).rings, 3);
  assert.match(await done("carrier", "list"), /^white +pigeon/m);
  const file = join(await temporaryDirectory({ after }), "catalogue.toml");
  await writeFile(file, (await done("export")).replace("rings = 3", "rings = 4"));
  await done("apply", file);
  assert.equal((await json("carrier", "show", "white")).rings, 4);
  assert.equal(await passwordOf("white"), "coo");
  assert.deepEqual(await refused("carrier", "set", "white", "kind=goose"), [
    2,
    'kind must be one of simulator, smpp, http, pigeon, not "goose"',
  ]);
});

test("no kind of carrier can have the secret that stands for one that is kept", () => {
  for (const [
    kind,
    {
      schema: { properties },
    },
  ] of Object.entries(CARRIER_KINDS))
    for (const secret of CARRIER_SECRETS)
      if (secret in properties) {
        const schema = (properties as Readonly<Record<string, TSchema>>)[secret]!;
        assert.ok(!Value.Check(schema, KEEP), `${kind} ${secret}`);
        assert.ok(Value.Check(schema, "(un)"), `${kind} ${secret}`);
      }
});
