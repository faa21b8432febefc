/** The simulated network served over SMPP, and customers of it: started for a test, gone with its end. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Pdu, PduDraft } from "../../src/carriers/smpp/codec/pdu.ts";
import { connectSocket } from "../../src/carriers/smpp/session/connect.ts";
import type { Closed, Reply, SessionOptions } from "../../src/carriers/smpp/session/contract.ts";
import { SmppSession } from "../../src/carriers/smpp/session/session.ts";
import type { BindKind } from "../../src/carriers/smpp/session/states.ts";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { Smsc, type SmscSettings } from "../../src/smsc/smsc.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** Node tells it; the types do not know yet. */
const hasPassed = (t: TestContext): boolean => (t as TestContext & { readonly passed: boolean }).passed;

/** Its handsets answer at once, and what it finds wrong with itself fails the test. */
export async function startSmsc(
  t: TestContext,
  settings: SmscSettings = {},
  clock: Clock = systemClock,
): Promise<Smsc> {
  const problems: unknown[] = [];
  const smsc = new Smsc(
    { answerAfterMs: 0, retryAfterMs: 10, onProblem: (problem) => problems.push(problem), ...settings },
    clock,
    seededRandom(1),
  );
  await smsc.start();
  t.after(async () => {
    // Whoever is still there need not be asked: their sessions end with the test too.
    smsc.disconnect();
    await smsc.stop();
    assert.deepEqual(problems, []);
    // After a test that failed a service may still be there: an error here would keep it from being stopped.
    if (clock instanceof VirtualClock && hasPassed(t)) assert.equal(clock.timersPending, 0, "a timer is left behind");
  });
  return smsc;
}

export interface Customer {
  readonly session: SmppSession;
  /** Receipts and messages from phones, as they came. */
  readonly delivered: Pdu<"deliver_sm">[];
  /** Answers that nobody waited for. */
  readonly stray: Pdu[];
  readonly closed: Promise<Closed>;
  /** Submits a text of one part and gives the answer. */
  submit(fields?: Partial<PduDraft<"submit_sm">>): Promise<Pdu<"submit_sm_resp">>;
}

export interface CustomerOptions extends Partial<Omit<SessionOptions, "role">> {
  readonly kind?: BindKind;
  readonly systemId?: string;
  readonly password?: string;
  /** What a deliver_sm is answered with; well unless given. */
  readonly acknowledge?: (pdu: Pdu<"deliver_sm">) => Reply | Promise<Reply>;
}

export const SUBMIT: PduDraft<"submit_sm"> = {
  command: "submit_sm",
  sourceAddrTon: 5,
  sourceAddr: "Heliograph",
  destAddrTon: 1,
  destAddrNpi: 1,
  destinationAddr: "385991234567",
  registeredDelivery: 1,
  shortMessage: Buffer.from("Hello"),
};

/** A network, here or in another process. */
export type Listening = Pick<Smsc, "port">;

/** A session with the network that is not bound yet. */
export async function connectTo(t: TestContext, smsc: Listening, options: CustomerOptions = {}): Promise<Customer> {
  const connection = await connectSocket({ place: `127.0.0.1:${smsc.port}`, timeoutMs: 60_000 }, systemClock);
  assert.ok(connection.kind === "connected");
  const delivered: Pdu<"deliver_sm">[] = [];
  const stray: Pdu[] = [];
  const { kind: _kind, systemId: _systemId, password: _password, acknowledge, ...sessionOptions } = options;
  const session = new SmppSession(connection.socket, {
    window: 100,
    clock: systemClock,
    onRequest: (pdu) => {
      assert.equal(pdu.command, "deliver_sm");
      // What came is a view into the socket's memory; a test keeps it.
      const kept = structuredClone(pdu) as Pdu<"deliver_sm">;
      delivered.push(kept);
      return acknowledge === undefined ? { command: "deliver_sm_resp" } : acknowledge(kept);
    },
    onStrayAnswer: (pdu) => stray.push(pdu),
    ...sessionOptions,
    role: "esme",
  });
  t.after(() => session.close());
  return {
    session,
    delivered,
    stray,
    closed: session.closed,
    submit: async (fields = {}) => {
      const answer = await session.request({ ...SUBMIT, ...fields, command: "submit_sm" });
      assert.ok(answer.kind === "answered", `the submit is ${answer.kind}`);
      return answer.pdu as Pdu<"submit_sm_resp">;
    },
  };
}

/** A customer that is bound: as a transceiver, and under the name "customer", unless told otherwise. */
export async function bindTo(t: TestContext, smsc: Listening, options: CustomerOptions = {}): Promise<Customer> {
  const customer = await connectTo(t, smsc, options);
  const { kind = "transceiver", systemId = "customer", password = "secret" } = options;
  const answer = await customer.session.bind(kind, { systemId, password });
  assert.ok(answer.kind === "answered" && answer.pdu.status === 0, "the bind is accepted");
  return customer;
}

/** The catalogue of a service whose one carrier, "smpp", listens there; `profile` is what else its profile says. A part costs a cent. */
export function smppCatalogue(port: number, profile = ""): string {
  return `
[[carrier]]
id = "smpp"
kind = "smpp"
hosts = ["127.0.0.1:${port}"]
systemId = "heliograph"
password = "secret"
${profile}
[[route]]
prefix = ""
carrier = "smpp"
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "0.01" }]
`;
}

/** A receipt's text. */
export function textOf(pdu: Pdu<"deliver_sm">): string {
  return Buffer.from(pdu.shortMessage).toString("latin1");
}
