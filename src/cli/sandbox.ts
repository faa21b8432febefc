/** What the sandbox starts with: demo accounts, whose passwords everybody knows, and a simulated network. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { storedForm } from "../auth/api-keys.ts";
import { hashPassword } from "../auth/passwords.ts";
import { readCatalogueFile } from "../catalogue/file.ts";
import { parseMicros } from "../money/amounts.ts";
import { systemClock } from "../runtime/clock.ts";
import { webhookSecret } from "../runtime/random.ts";
import type { PartialSettings } from "../runtime/settings.ts";
import type { AccountKind } from "../store/port/accounts.ts";
import type { Store } from "../store/port/store.ts";
import { CommandFault } from "./support.ts";

/** On a laptop nobody waits an hour for a receipt that never comes. */
export const SANDBOX_SETTINGS: PartialSettings = {
  dispatch: { receiptWaitMs: 5_000, sweepEveryMs: 1_000 },
  log: { level: "warn" },
};

const CATALOGUE_FILE = join(import.meta.dirname, "../../sandbox.catalogue.toml");

interface DemoAccount {
  readonly key: string;
  readonly kind: AccountKind;
  readonly parentKey: string | null;
  readonly username: string;
  readonly password: string;
  readonly balance: string;
}

/** A parent stands before its children. */
const DEMO_ACCOUNTS: readonly DemoAccount[] = [
  {
    key: "OPERATOR1",
    kind: "operator",
    parentKey: null,
    username: "operator",
    password: "operator-password",
    balance: "0",
  },
  {
    key: "RESELLER1",
    kind: "reseller",
    parentKey: null,
    username: "reseller",
    password: "reseller-password",
    balance: "0",
  },
  {
    key: "DEMO0001",
    kind: "client",
    parentKey: "RESELLER1",
    username: "demo",
    password: "demo-password",
    balance: "100",
  },
];

/** The demo client's. Its data is a sandbox's, and so never served for real. */
const DEMO_API_KEY = "demo-api-key";

/** `hash` makes what is kept of a password; tests, which do this hundreds of times, have it at hand. */
export async function prepareSandbox(store: Store, hash = hashPassword): Promise<void> {
  if ((await store.claimPurpose({ purpose: "sandbox" })) !== "sandbox") {
    throw new CommandFault(
      "this data is a real service's, and the sandbox would add passwords that everybody knows: name another directory with --data",
    );
  }
  if ((await store.catalogue()).length === 0) {
    await store.putCatalogue({ items: readCatalogueFile(readFileSync(CATALOGUE_FILE, "utf8")) });
  }
  for (const { key, kind, parentKey, username, password, balance } of DEMO_ACCOUNTS) {
    if ((await store.findLogin({ username })) !== null) continue;
    await store.createAccount({
      key,
      kind,
      parentKey,
      currency: "EUR",
      ratePlanId: "standard",
      defaultSender: null,
      creditLimitMicros: 0n,
      openingBalanceMicros: parseMicros(balance)!,
      callbackSecret: webhookSecret(),
      username,
      passwordHash: await hash(password),
      atMs: systemClock.now(),
    });
  }
  await store.createApiKey({
    ...storedForm(DEMO_API_KEY),
    accountKey: "DEMO0001",
    name: "everybody's",
    atMs: systemClock.now(),
  });
}

export function welcome(url: string): string {
  const accounts = DEMO_ACCOUNTS.map(
    ({ kind, username, password }) => `  ${kind.padEnd(10)}${username} / ${password}`,
  ).reverse();
  return `
This is a sandbox: nothing leaves this machine, and no phone rings.
${accounts.join("\n")}

Send a first message:
  curl -u demo:demo-password -H 'Content-Type: application/json' ${url}/sms/1/text/single \\
    -d '{"from": "Heliograph", "to": "41793026727", "text": "Hello from my own phone network"}'

The API is described at ${url}/docs. Stop with Ctrl-C.`;
}
