/** The order to try a carrier's connections at once goes to every node, whichever node or command line takes it; and each says how it stands. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CARRIER, setUp, smppCatalogue, startNode } from "../support/cluster.ts";
import { dropLeft, postgresUrl } from "../support/postgres.ts";
import { basic, callService, eventually } from "../support/service.ts";
import { startSmsc } from "../support/smsc.ts";

const OPERATOR = basic("operator", "password");

interface State {
  readonly node: string;
  readonly state: string;
  readonly reason: string | null;
  readonly connections: number;
}

test("two nodes that were refused are bound again when an operator says so on one of them", async (t) => {
  const own = { systemId: "customer", password: "secret" };
  const strict = await startSmsc(t, { ...own, password: "another" });
  const { port } = strict;
  const catalogue = smppCatalogue({ port }, { binds: 2, window: 10 }).replace(
    "reconnectSeconds = 1",
    "reconnectSeconds = 3600",
  );
  const database = await setUp(t, await postgresUrl(t), catalogue);
  t.after(dropLeft);
  const nodes = [
    await startNode(t, database, { leaseMs: 30_000 }),
    await startNode(t, database, { leaseMs: 30_000 }),
  ] as const;
  const statesAre = (state: string) =>
    eventually(async () => {
      const path = `/operator/1/carrier-states?carrier=${CARRIER}`;
      const { status, json } = await callService(nodes[1].url, "GET", path, { authorization: OPERATOR });
      assert.equal(status, 200);
      const results: State[] = json.results;
      const isShared = results.length === 2 && results.every(({ connections }) => connections === 1);
      return isShared && results.every((one) => one.state === state) && results;
    });
  const refused = await statesAre("refused");
  const pids = refused.map(({ node }) => Number(node.split(" ").at(-1)));
  assert.deepEqual(pids.sort(), nodes.map(({ process }) => process.pid!).sort());
  assert.ok(refused.every(({ reason }) => reason === `127.0.0.1:${port}: the bind was refused: ESME_RINVPASWD`));

  await strict.stop();
  const smsc = await startSmsc(t, { ...own, port });
  const path = `/operator/1/carriers/${CARRIER}/reconnect`;
  assert.equal((await callService(nodes[0].url, "POST", path, { authorization: OPERATOR })).status, 204);
  await statesAre("bound");
  assert.equal(smsc.connections.length, 2);
  const audit = await callService(nodes[1].url, "GET", "/operator/1/audit?kind=carrier", { authorization: OPERATOR });
  const { action, subject, actor } = audit.json.results[0];
  assert.deepEqual([action, subject, actor], ["reconnect", CARRIER, "OPERATOR1"]);
  const unknown = await callService(nodes[0].url, "POST", "/operator/1/carriers/none/reconnect", {
    authorization: OPERATOR,
  });
  assert.equal(unknown.status, 404);
  for (const node of nodes) assert.equal(await node.end("SIGTERM"), 0);
  assert.deepEqual(await database.query("SELECT 1 FROM carrier_state"), [], "who is gone says nothing any more");
});
