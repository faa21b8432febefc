/** What a session does with PDUs that are wrong: by an octet, beyond reading, and beyond knowing where the next one begins. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { encodePdu } from "../../../src/carriers/smpp/codec/encode.ts";
import { statusCode } from "../../../src/carriers/smpp/codec/statuses.ts";
import type { AnsweredRequest, Unreadable } from "../../../src/carriers/smpp/session/contract.ts";
import { until } from "../../support/patience.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";
import { octets } from "./codec-octets.ts";
import { esmeAgainstPeer, makeSession, Peer, smscAgainstPeer, socketPair } from "./session-support.ts";

const LOST = { "too long": "7fffffff", "too short": "0000000f" };
const ENDS = { esme: esmeAgainstPeer, smsc: smscAgainstPeer };

for (const [name, length] of Object.entries(LOST)) {
  for (const [role, againstPeer] of Object.entries(ENDS)) {
    test(`when framing is lost by a length that is ${name} the ${role} tells its peer and closes, and what is in flight is unknown`, async (t) => {
      const { session, peer } = await againstPeer(t);
      const command = role === "esme" ? "submit_sm" : "deliver_sm";
      const answer = session.request({ command });
      await peer.take(command);
      peer.socket.write(octets(`${length} 00000005 00000000 00000007 00`));
      const { sequence, status } = await peer.take("generic_nack");
      assert.deepEqual([sequence, status], [7, statusCode("ESME_RINVCMDLEN")]);
      assert.equal((await answer).kind, "unknown");
      const { why, error } = await session.closed;
      assert.equal(why, "framing lost");
      assert.equal(error?.message, `the peer sent a command_length of ${Number.parseInt(length, 16)}`);
    });
  }
}

/** From its header to the middle of its first address. */
const BROKEN = {
  deliver_sm: "00000015 00000005 00000000 00000009 00 0101 3431",
  data_sm: "00000015 00000103 00000000 00000009 00 0101 3431",
};

for (const [command, hex] of Object.entries(BROKEN)) {
  test(`a ${command} that cannot be read goes with its octets to whoever keeps it, and is answered as that wants`, async (t) => {
    const kept: Unreadable[] = [];
    const stored = Promise.withResolvers<void>();
    const { session, peer } = await esmeAgainstPeer(t, {
      onUnreadable: async (request) => {
        kept.push(request);
        await stored.promise;
        return { command: `${request.command}_resp` };
      },
    });
    peer.socket.write(octets(hex));
    await until(() => kept.length === 1);
    assert.deepEqual([kept[0]!.command, kept[0]!.octets.toString("hex")], [command, octets(hex).toString("hex")]);
    assert.equal(session.handling, 1);
    assert.equal(peer.received.length, 0, "nothing is acknowledged before it is safe");
    stored.resolve();
    const { sequence, status } = await peer.take(`${command as "deliver_sm"}_resp`);
    assert.deepEqual([sequence, status], [9, 0]);
  });
}

test("what cannot be read and cannot be kept either is answered with a system error, so that it comes again", async (t) => {
  const { peer } = await esmeAgainstPeer(t, { onUnreadable: () => Promise.reject(new Error("the disk is full")) });
  peer.socket.write(octets(BROKEN.deliver_sm));
  assert.equal((await peer.take("deliver_sm_resp")).status, statusCode("ESME_RSYSERR"));
});

test("nothing that cannot be read is kept from a peer that is not bound", async (t) => {
  const [ours, theirs] = await socketPair(t);
  const clock = new VirtualClock();
  makeSession(t, ours, { role: "esme", clock, onUnreadable: () => assert.fail("it was kept") });
  const peer = new Peer(theirs);
  peer.socket.write(octets(BROKEN.deliver_sm));
  assert.equal((await peer.take("deliver_sm_resp")).status, statusCode("ESME_RINVCMDLEN"));
});

test("a request that is wrong by an octet is answered and told of", async (t) => {
  const told: [AnsweredRequest, string][] = [];
  const { peer } = await esmeAgainstPeer(t, {
    onRequest: ({ command }) => ({ command: `${command}_resp` as "deliver_sm_resp" }),
    onMended: (request, how) => told.push([request, how]),
    onProblem: () => assert.fail("it can be read"),
  });
  const wire = Buffer.concat([
    encodePdu({ command: "deliver_sm", sequence: 9, shortMessage: Buffer.from("a") }),
    Buffer.alloc(1),
  ]);
  wire.writeUInt32BE(wire.length, 0);
  peer.socket.write(wire);
  assert.equal((await peer.take("deliver_sm_resp")).status, 0);
  assert.deepEqual(told, [[{ command: "deliver_sm", sequence: 9 }, "octets after the message"]]);
});
