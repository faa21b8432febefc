/** What the sandbox starts with: demo accounts, whose passwords everybody knows, and a simulated network. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { storedForm } from "../auth/api-keys.ts";
import { DEMO_ACCOUNTS, DEMO_SENDER } from "../auth/demo-accounts.ts";
import { hashPassword } from "../auth/passwords.ts";
import { readCatalogueFile } from "../catalogue/file.ts";
import { deleteDatabase } from "../drivers/sqlite/store-files.ts";
import { missingData } from "../drivers/store-trouble.ts";
import { parseMicros } from "../money/amounts.ts";
import { systemClock } from "../runtime/clock.ts";
import { webhookSecret } from "../runtime/random.ts";
import { forgetOffset } from "../runtime/time-travel.ts";
import { PROGRAM } from "../runtime/version.ts";
import type { PartialSettings, Settings } from "../settings/settings.ts";
import type { Store } from "../store/port/store.ts";
import { CommandFault, withStore } from "./support.ts";

/** On a laptop nobody waits an hour for a receipt that never comes. */
export const SANDBOX_SETTINGS: PartialSettings = {
  dispatch: { receiptWaitMs: 5_000, sweepEveryMs: 1_000 },
  kannel: { enabled: true },
  console: { timeline: "all", requestTexts: true },
  log: { level: "warn" },
};

const CATALOGUE_FILE = join(import.meta.dirname, "../../sandbox.catalogue.toml");

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
      defaultSender: DEMO_SENDER,
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

/** The sandbox begins anew: its data is deleted. Nothing but a sandbox's is, and nothing that a service works on. */
export async function emptySandbox(settings: Settings): Promise<void> {
  const { data, url } = settings.store;
  if (url !== "")
    throw new CommandFault("--fresh is for the embedded store: make the PostgreSQL database anew with its own tools");
  if (missingData(data) !== null) return;
  if ((await withStore(settings, (store) => store.purpose())) !== "sandbox")
    throw new CommandFault(
      `--fresh deletes nothing but a sandbox, and ${data} is none: name another directory with --data`,
    );
  // A start that keeps its data has no use for SQLite on this thread.
  const { lockDirectory } = await import("../drivers/sqlite/database.ts");
  let unlock: () => void;
  try {
    unlock = lockDirectory(data);
  } catch (error) {
    throw new CommandFault((error as Error).message);
  }
  try {
    deleteDatabase(data);
    forgetOffset(data);
  } finally {
    unlock();
  }
}

/** With what the reports of the demo client are signed. */
export async function demoSecret(store: Store): Promise<string> {
  const login = await store.findLogin({ username: "demo" });
  const { secrets } = await store.callbackPolicy({ accountId: login!.account.id });
  return secrets[0]!;
}

/** `again` is how this sandbox is started: its options, for the one that begins it anew. */
export function welcome(url: string, secret: string, { again = "", isFresh = false } = {}): string {
  const accounts = DEMO_ACCOUNTS.map(
    ({ kind, username, password }) => `  ${kind.padEnd(10)}${username} / ${password}`,
  ).reverse();
  return `
Open ${url} in a browser: write a message there, and watch it arrive on a phone.
This is a sandbox: no phone rings, and nothing leaves this machine but the reports and messages that it posts to URLs that you give it.
${accounts.join("\n")}

Or send a first message from here:
  curl -u demo:demo-password -H 'Content-Type: application/json' ${url}/sms/1/text/single \\
    -d '{"from": "Heliograph", "to": "41793026727", "text": "Hello from my own phone network"}'

Reports to your notifyUrl are signed with ${secret}${isFresh ? "\n  (--fresh has made a new secret: give it to your receiver in place of the one before)" : ""}
  ${PROGRAM} receive --secret ${secret}   prints them, and checks the signatures
  ${PROGRAM} listen --url ${url}   prints what happens, in another terminal
  ${PROGRAM} sandbox${again} --fresh   begins anew with empty data and a new secret; without it everything is kept

The API is described at ${url}/docs. Stop with Ctrl-C.`;
}
