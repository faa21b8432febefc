/** A service with something on every page: messages of every fate, a bulk that waits, reports that fail, a phone that writes, money that moves. */

import assert from "node:assert/strict";
import { eventually } from "../../support/patience.ts";
import { basic, type TestService } from "../../support/service.ts";

export interface Filled {
  /** Pages of single things, by whose they are. */
  readonly places: Readonly<Record<"demo" | "reseller" | "operator", readonly string[]>>;
}

const SENDING: readonly {
  readonly to: string;
  readonly text: string;
  readonly from?: string;
  readonly flash?: boolean;
}[] = [
  { to: "41793026727", text: "Hello from my own phone network" },
  { to: "41793999003", text: "Is anybody there?" },
  { to: "385991234567", text: "Your parcel is at the door. The code is 4711.", from: "Shop" },
  { to: "4915112345678", text: "Grüße aus Zürich – bis morgen 👋", from: "Shop" },
  {
    to: "447700900123",
    text: "Your table for two is booked for 19:30 tonight. Reply STOP to hear no more from us.",
    from: "Bistro",
  },
  { to: "41793999004", text: "There is no room on this phone", from: "Shop" },
  { to: "33612345678", text: "Votre code est 8213. Ne le partagez avec personne.", from: "Banque" },
  { to: "41790000042", text: "This one pops up", flash: true },
  {
    to: "12025550123",
    text: `A long one. ${"It goes on and on, over several parts, as real ones do. ".repeat(6)}`,
    from: "Heliograph",
  },
];

export async function fillConsole(service: TestService): Promise<Filled> {
  const ids: string[] = [];
  const send = async (body: object): Promise<void> => {
    const { status, json } = await service.call("POST", "/sms/2/text/advanced", { body });
    assert.equal(status, 200);
    ids.push(...json.messages.map(({ messageId }: { messageId: string }) => messageId));
  };
  for (const { to, text, from = "Heliograph", flash = false } of SENDING) {
    await send({ messages: [{ from, destinations: [{ to }], text, flash }] });
  }
  // Nobody listens there, so its reports are tried again.
  await send({
    messages: [
      {
        from: "Shop",
        destinations: [{ to: "41793026727" }],
        text: "Its report fails",
        notifyUrl: "http://127.0.0.1:9/reports",
      },
    ],
  });
  await send({
    bulkId: "spring-sale",
    messages: [
      {
        from: "Shop",
        destinations: Array.from({ length: 40 }, (_, index) => ({ to: `4179300${String(index).padStart(4, "0")}` })),
        text: "Spring sale from tomorrow on",
        sendAt: new Date(Date.now() + 3 * 3_600_000).toISOString(),
      },
    ],
  });
  await service.call("POST", "/sms/1/text/single", { body: { from: "Heliograph", to: "41793026727" } });
  await service.call("POST", "/sandbox/1/incoming", {
    body: { from: "41793026727", to: "12345", text: "Who is there?" },
  });
  const login = await service.call("POST", "/auth/1/session", {
    authorization: null,
    body: { username: "reseller", password: "reseller-password" },
  });
  await service.call("POST", "/1/customerProfile/payments/funds", {
    authorization: `IBSSO ${login.json.token}`,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "accountKey=DEMO0001&ammount=25&description=invoice+1",
  });
  const operator = basic("operator", "operator-password");
  assert.equal((await service.call("GET", "/operator/1/accounts", { authorization: operator })).status, 200);
  await eventually(async () => {
    const { json } = await service.call("GET", "/sms/1/logs?limit=100");
    return (
      json.results.filter((row: { status: { groupName: string } }) => row.status.groupName === "DELIVERED").length >= 6
    );
  });
  return {
    places: {
      demo: [`/messages/${ids[0]}`, `/messages/${ids[1]}`, `/messages/${ids[9]}`, "/bulks/spring-sale"],
      reseller: ["/clients/DEMO0001"],
      operator: ["/carriers/simulator", "/accounts/DEMO0001"],
    },
  };
}
