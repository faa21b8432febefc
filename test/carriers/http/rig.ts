/** A service with a carrier over HTTP, the simulated provider behind it, and a public address in front of it. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { callbackUrls } from "../../../src/carriers/http/callbacks.ts";
import type { Faults } from "../../../src/provider/faults.ts";
import { Provider } from "../../../src/provider/provider.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { seededRandom } from "../../../src/runtime/random.ts";
import { OPERATOR } from "../../support/operator.ts";
import { closedPort } from "../../support/ports.ts";
import { SINGLE } from "../../support/sending.ts";
import { eventually, startTestService, type TestService } from "../../support/service.ts";

const USERNAME = "ACdemo";
const PASSWORD = "provider-secret";

/** As a proxy in front of the service would: it is there before the service is, and so has an address that settings can name. */
export async function startFront(t: TestContext): Promise<{ url: string; lead: (to: string) => void }> {
  let target = "";
  const server = createServer((incoming, answer) => {
    const outgoing = request(
      `${target}${incoming.url}`,
      { method: incoming.method, headers: incoming.headers },
      (response) => {
        answer.writeHead(response.statusCode!, response.headers);
        response.pipe(answer);
      },
    );
    outgoing.on("error", () => answer.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead: (to) => {
      target = to;
    },
  };
}

export interface Rig {
  readonly provider: Provider;
  readonly service: TestService;
  readonly publicUrl: string;
  /** The provider begins to listen, once the carrier has found that nobody does. */
  open(): Promise<void>;
  /** Sends a text and gives the message's id. */
  send(to: string, text?: string, from?: string): Promise<string>;
  /** Its report, once it is final. */
  report(messageId: string): Promise<{
    status: { name: string; groupName: string };
    error: { name: string };
    smsCount: number;
    price: { pricePerMessage: number };
  }>;
}

export interface RigOptions {
  readonly faults?: Faults;
  /** Further fields of the carrier, in TOML. */
  readonly profile?: string;
  /** Whether the provider can call us. True unless given. */
  readonly isPublic?: boolean;
  /** Whether nothing listens at the provider's address until `open`. False unless given. */
  readonly isAway?: boolean;
}

export async function startRig(t: TestContext, preset: string, options: RigOptions = {}): Promise<Rig> {
  const front = await startFront(t);
  const secrets = { id: "upstream", kind: "http", callbackSecret: PASSWORD } as const;
  const events = callbackUrls(secrets, front.url).eventsUrl as string;
  const awayAt = options.isAway === true ? await closedPort() : null;
  const provider = new Provider(
    {
      preset,
      host: "127.0.0.1",
      port: awayAt ?? 0,
      username: USERNAME,
      password: PASSWORD,
      secret: PASSWORD,
      answerAfterMs: 1,
      // An address that its customers set there, and do not give with each message.
      callbackUrl: preset === "bandwidth" && options.isPublic !== false ? events : undefined,
      faults: options.faults ?? {},
      record: 10_000,
    },
    systemClock,
    seededRandom(1),
  );
  const port = awayAt ?? (await provider.start());
  t.after(() => provider.stop());
  const catalogue = `
[[carrier]]
id = "upstream"
kind = "http"
preset = "${preset}"
url = "http://127.0.0.1:${port}"
username = "${USERNAME}"
password = "${PASSWORD}"
apiKey = "${PASSWORD}"
callbackSecret = "${PASSWORD}"
partsPerSecond = 10000
pollSeconds = 1
${options.profile ?? ""}
[[route]]
prefix = ""
carrier = "upstream"
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "0.01" }]
[[number]]
number = "12345678"
account = "DEMO0001"
`;
  const service = await startTestService(t, {
    catalogue,
    settings: { server: { publicUrl: options.isPublic === false ? "" : front.url } },
  });
  front.lead(service.url);
  return {
    provider,
    service,
    publicUrl: front.url,
    async open() {
      await eventually(async () => {
        const { json } = await service.call("GET", "/operator/1/carrier-states", { authorization: OPERATOR });
        return JSON.stringify(json).includes("connection refused");
      });
      await provider.start();
    },
    async send(to, text = "Hello", from = "InfoSMS") {
      const { json, status, text: said } = await service.call("POST", SINGLE, { body: { from, to, text } });
      if (status !== 200) throw new Error(`${status} ${said}`);
      return json.messages[0].messageId;
    },
    report: (messageId) =>
      eventually(async () => {
        const { json } = await service.call("GET", `/sms/1/logs?messageId=${messageId}`);
        const [found] = json.results;
        return found?.status.groupName !== "PENDING" && found;
      }),
  };
}
