/** The account that does all it may: so many requests at once, each followed by the next, until it is told to end. */
import { Agent, request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

export interface AttackData {
  readonly name: AttackName;
  readonly url: string;
  readonly authorization: string;
}

/** How often it got which answer, by status. */
export interface AttackFigures {
  readonly answers: string;
}

interface Attack {
  readonly path: string;
  readonly body?: () => Buffer;
  /** Requests of this body go first, before anything is measured. */
  readonly before?: () => Buffer;
}

const AT_ONCE = 40;
const DESTINATIONS = 10_000;
/** The longest text, all in characters of the GSM alphabet: 25 parts of 153. */
const LONG_TEXT = "x".repeat(25 * 153);
const HOUR_MS = 3_600_000;
const ADVANCED = "/sms/2/text/advanced";
const WAIT_MS = 200;

const numbers = (length: number): { to: string }[] =>
  Array.from({ length }, (_, index) => ({ to: String(41_760_000_000 + index) }));
const bodyOf = (message: object): Buffer => Buffer.from(JSON.stringify({ messages: [{ from: "Bad", ...message }] }));
const bulk = (): Buffer => bodyOf({ destinations: numbers(DESTINATIONS), text: "Hello" });
const named = (): Buffer =>
  bodyOf({
    destinations: numbers(DESTINATIONS).map(({ to }) => ({ to, messageId: `used-${to}` })),
    text: "Hello",
  });

export type AttackName = "bulk" | "long" | "duplicates" | "logs" | "reports";
export const ATTACKS: Readonly<Record<AttackName, Attack>> = {
  bulk: { path: ADVANCED, body: bulk },
  long: {
    path: ADVANCED,
    body: () =>
      bodyOf({
        destinations: numbers(DESTINATIONS),
        text: LONG_TEXT,
        sendAt: new Date(Date.now() + HOUR_MS).toISOString(),
      }),
  },
  duplicates: { path: ADVANCED, body: named, before: named },
  logs: { path: "/sms/1/logs?limit=1000", before: bulk },
  reports: { path: "/sms/1/reports?limit=1000", before: bulk },
};

if (parentPort !== null && workerData !== null) await attack(workerData as AttackData);

async function attack({ name, url, authorization }: AttackData): Promise<void> {
  const { path, body, before } = ATTACKS[name];
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const send = (to: string, octets: Buffer | undefined): Promise<number> =>
    new Promise((resolve) => {
      const headers = octets === undefined ? { authorization } : { authorization, "content-type": "application/json" };
      const sent = request(
        `${url}${to}`,
        { agent, method: octets === undefined ? "GET" : "POST", headers },
        (answer) => {
          answer.resume();
          answer.on("end", () => resolve(answer.statusCode!));
        },
      );
      sent.on("error", () => resolve(0));
      sent.end(octets);
    });
  if (before !== undefined) for (let time = 0; time < 3; time++) await send(ADVANCED, before());
  const answers = new Map<number, number>();
  let isOver = false;
  const octets = body?.();
  parentPort!.on("message", (order: string) => {
    if (order === "end") {
      isOver = true;
      const told = [...answers].sort().map(([status, count]) => `${count} × ${status}`);
      parentPort!.postMessage({ answers: told.join(", ") } satisfies AttackFigures);
      return;
    }
    for (let one = 0; one < AT_ONCE; one++) void sendOn();
  });
  parentPort!.postMessage({ answers: "" } satisfies AttackFigures);

  async function sendOn(): Promise<void> {
    while (!isOver) {
      const status = await send(path, octets);
      answers.set(status, (answers.get(status) ?? 0) + 1);
      // It comes again much sooner than it is told to.
      if (status !== 200) await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
  }
}
