/** An SMPP carrier of ours whose network is a peer that the test writes octet by octet. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Submission } from "../../../src/carriers/port.ts";
import { SmppCarrier } from "../../../src/carriers/smpp/carrier.ts";
import type { SmppCounts } from "../../../src/carriers/smpp/problems.ts";
import type { SmppProfile } from "../../../src/carriers/smpp/profile.ts";
import type { IncomingPart } from "../../../src/message/incoming.ts";
import type { Receipt } from "../../../src/message/receipt.ts";
import { Lease } from "../../../src/node/lease.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import type { Log } from "../../../src/runtime/log.ts";
import { seededRandom } from "../../../src/runtime/random.ts";
import { prepareText } from "../../../src/sms/text.ts";
import { eventually } from "../../support/service.ts";
import { listen, Peer } from "./session-support.ts";

export interface LogLine {
  readonly level: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly says: string;
}

export interface CarrierAgainstPeer {
  readonly carrier: SmppCarrier;
  /** The other end of the newest connection, to which the carrier is bound. */
  readonly peer: Peer;
  readonly receipts: Receipt[];
  readonly messages: IncomingPart[];
  readonly counts: SmppCounts;
  readonly lines: LogLine[];
  /** The next connection, once the carrier is bound on it. */
  nextPeer(): Promise<Peer>;
}

/** A short text to this phone. */
export function submitHello(carrier: SmppCarrier, to = "41790000001"): Promise<Submission> {
  const { text, encoding } = prepareText("Hello", {});
  const times = { expiresAtMs: systemClock.now() + 3_600_000, intermediateReport: false };
  const [part] = carrier.partsOf({ from: "Sender", to, text, encoding, flash: false, reference: 7, ...times });
  return carrier.submit(part!);
}

export interface AgainstPeerOptions {
  readonly profile?: Partial<SmppProfile>;
  /** Takes a receipt; it is safe when that is done. */
  readonly keep?: (receipt: Receipt) => Promise<void>;
  /** In place of our own answer to the bind, written to the socket by hand. */
  readonly answerBind?: (peer: Peer, sequence: number) => void;
}

export async function carrierAgainstPeer(
  t: TestContext,
  { profile = {}, keep, answerBind }: AgainstPeerOptions = {},
): Promise<CarrierAgainstPeer> {
  const peers: Peer[] = [];
  const port = await listen(t, (socket) => void peers.push(new Peer(socket)));
  const lines: LogLine[] = [];
  const line = (level: string) => (facts: LogLine["facts"], says: string) => void lines.push({ level, facts, says });
  const log = { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") } as unknown as Log;
  const counts: SmppCounts = { unusableIds: 0, problems: 0, mended: 0 };
  const carrier = new SmppCarrier(
    {
      id: "acme",
      kind: "smpp",
      hosts: [`127.0.0.1:${port}`],
      systemId: "me",
      password: "secret",
      reconnectSeconds: 1,
      ...profile,
    },
    { clock: systemClock, random: seededRandom(1), log, lease: Lease.endless(), counts },
  );
  const receipts: Receipt[] = [];
  const messages: IncomingPart[] = [];
  carrier.listen({
    onReceipt: async (receipt) => {
      await keep?.(receipt);
      receipts.push(receipt);
    },
  });
  carrier.listen({ onIncoming: async (part) => void messages.push(part) });
  await carrier.start();
  t.after(async () => {
    for (const { socket } of peers) socket.destroy();
    await carrier.stop();
  });
  const nextPeer = async (): Promise<Peer> => {
    await eventually(async () => peers.length > 0);
    const peer = peers.shift()!;
    const { sequence } = await peer.take("bind_transceiver");
    if (answerBind === undefined) peer.send({ command: "bind_transceiver_resp", sequence, systemId: "network" });
    else answerBind(peer, sequence);
    await eventually(async () => carrier.isUp());
    return peer;
  };
  const peer = await nextPeer();
  assert.ok(carrier.isUp());
  return { carrier, peer, receipts, messages, counts, lines, nextPeer };
}
