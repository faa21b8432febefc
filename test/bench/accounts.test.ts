/** Whose requests go where: the order of accounts and nodes, and what the generator makes of it on real connections. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { pairsOf } from "../../bench/cycle/accounts.ts";
import { Child } from "../../bench/cycle/child.ts";
import type { GeneratorSetup, LoadOrder } from "../../bench/cycle/generator.ts";
import { heliographRequest } from "../../bench/cycle/requests.ts";

const written = (accounts: number, nodes: number, pinned = false): string =>
  pairsOf(accounts, nodes, pinned)
    .map(({ account, node }) => `${account}${"abcd"[node]}`)
    .join(" ");

test("each account goes through all nodes, and so do the first connections as well as the last", () => {
  assert.equal(written(1, 3), "0a 0b 0c");
  assert.equal(written(4, 2), "0a 1b 2a 3b 0b 1a 2b 3a");
  assert.equal(written(3, 2), "0a 1b 2a 0b 1a 2b");
});

test("a pinned account goes through one node, and neighbours through different ones", () => {
  assert.equal(written(5, 2, true), "0a 1b 2a 3b 4a");
});

test("the generator sends an account's requests over all nodes in turn, also with few requests under way", async (t) => {
  const seen = new Map<string, number>();
  const sockets = new Set<object>();
  let underWay = 0;
  let most = 0;
  const ports: number[] = [];
  for (const node of ["a", "b"]) {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("data", (request) => {
        const key = `${/App (\w+)/.exec(request.toString())![1]}${node}`;
        seen.set(key, (seen.get(key) ?? 0) + 1);
        most = Math.max(most, ++underWay);
        setImmediate(() => {
          underWay--;
          socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        });
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => server.close());
    ports.push((server.address() as AddressInfo).port);
  }
  const generator = new Child("generator", null);
  t.after(() => generator.stop());
  const targets = pairsOf(3, 2, false).map(({ account, node }) => {
    const common = { mode: "one", sender: "Bench", notifyUrl: null } as const;
    const template = heliographRequest({ ...common, port: ports[node]!, authorization: `App ${account}` });
    return { port: ports[node]!, template };
  });
  await generator.ask("connect", { targets, connections: 2 } satisfies GeneratorSetup);
  const order: LoadOrder = { first: 0, requests: 60, backlog: 60, perSecond: null, countEveryMs: 1_000 };
  await generator.ask("run", order);
  await generator.ask("disconnect");
  assert.equal(sockets.size, 6);
  assert.equal(most, 2);
  assert.deepEqual([...seen.keys()].toSorted(), ["0a", "0b", "1a", "1b", "2a", "2b"]);
  for (const [key, count] of seen) assert.ok(Math.abs(count - 10) <= 1, `${key} had ${count} of 60`);
});
