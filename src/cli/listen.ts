/**
 * `heliograph listen`: prints what happens to an account's messages while it happens, from a service that runs anywhere: accepted, sent, delivered or failed,
 * reports with their answers, messages from phones. It goes on when the service is started anew.
 */
import { once } from "node:events";
import { Command } from "commander";
import { DEMO_ACCOUNTS } from "../auth/demo-accounts.ts";
import { LIVE_KINDS } from "../events/live.ts";
import { sleep, systemClock, type Timer } from "../runtime/clock.ts";
import { LOOPBACK } from "../runtime/networks.ts";
import { readSecretFile } from "../runtime/private-files.ts";
import { complain } from "./console.ts";
import { readEvents } from "./event-stream.ts";
import { withExample } from "./example.ts";
import { lineOf, type ToldEvent } from "./live-lines.ts";
import type { JsonOption } from "./show.ts";
import { CommandFault, listOf, say, UsageFault } from "./support.ts";

interface ListenOptions extends JsonOption {
  readonly url: string;
  readonly user?: string;
  readonly passwordFile?: string;
  readonly apiKeyFile?: string;
  readonly events?: string;
}

const MIN_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** A service that does not stop ends no stream before. */
const MIN_STREAM_MS = 10 * 60_000;
/** The service says something every 15 seconds; if it does not for so long, it is gone. */
const SILENCE_MS = 60_000;
const MAX_ERROR_LENGTH = 10_000;

export function listenCommand(): Command {
  const command = new Command("listen").description(
    "Print what happens to an account's messages, while it happens, from a service that runs.",
  );
  return withExample(
    command,
    "heliograph listen",
    "heliograph listen ACME --url https://sms.example --user operator --password-file password.txt",
    "HG_API_KEY=… heliograph listen --events failed,report --json",
  )
    .argument("[account]", "for operators and resellers: whose messages (default: one's own, and for operators all)")
    .option("--url <url>", "where the service is", "http://127.0.0.1:8080")
    .option("--user <name>", "who listens; the password comes from --password-file or HG_PASSWORD")
    .option("--password-file <file>", "a file with the password")
    .option("--api-key-file <file>", "a file with an API key, in place of a user; or HG_API_KEY")
    .option("--events <kinds>", `only some of ${LIVE_KINDS.join(",")}`)
    .option("--json", "each event as a line of JSON, for scripts")
    .action(listen);
}

/** Without any the sandbox is meant, whose passwords everybody knows: they are told to this machine only. */
function authorizationOf(options: ListenOptions, account: string | undefined, { hostname }: URL): string {
  const { user, passwordFile, apiKeyFile } = options;
  const { HG_API_KEY: apiKey, HG_PASSWORD: password } = process.env;
  if (user !== undefined) {
    const word = passwordFile === undefined ? password : readSecretFile(passwordFile);
    if (word === undefined) throw new UsageFault("--user needs --password-file, or HG_PASSWORD");
    return basic(user, word);
  }
  const key = apiKeyFile === undefined ? apiKey : readSecretFile(apiKeyFile);
  if (key !== undefined) return `App ${key}`;
  if (!LOOPBACK.test(hostname.replace(/^\[|\]$/g, "")))
    throw new UsageFault("say who listens: --user with --password-file, or --api-key-file");
  const demo = DEMO_ACCOUNTS.find(({ kind }) => kind === (account === undefined ? "client" : "operator"))!;
  return basic(demo.username, demo.password);
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

function addressOf({ url, events }: ListenOptions, account: string | undefined): URL {
  const base = URL.parse(url);
  if (base === null || !/^https?:$/.test(base.protocol))
    throw new UsageFault(`--url must be an absolute http or https URL, not "${url}"`);
  if (base.username !== "" || base.password !== "")
    throw new UsageFault("--url must be without a name and a password: see --user, --password-file and --api-key-file");
  const address = new URL(`${base.pathname.replace(/\/+$/, "")}/events/1/live`, base);
  if (account !== undefined) address.searchParams.set("account", account);
  if (events !== undefined) address.searchParams.set("events", listOf(events).join(","));
  return address;
}

async function listen(account: string | undefined, options: ListenOptions): Promise<void> {
  const address = addressOf(options, account);
  const authorization = authorizationOf(options, account, address);
  // Whoever read what we say may be gone, and then there is nothing left to do.
  process.stdout.on("error", () => process.exit(0));
  let heardOnce = false;
  let trouble = "";
  let delayMs = MIN_RETRY_MS;
  let isOneAccount = true;
  const opened = (data: string): void => {
    isOneAccount = (JSON.parse(data) as { readonly account: string | null }).account !== null;
    if (!heardOnce)
      complain(`Listening to ${address.origin}${account === undefined ? "" : ` for ${account}`} (stop with Ctrl-C)\n`);
    else if (trouble !== "")
      complain('Connected again. What happened meanwhile is not shown here: "heliograph message list" has it.\n');
    heardOnce = true;
    trouble = "";
    delayMs = MIN_RETRY_MS;
  };
  for (;;) {
    const startedMs = systemClock.monotonic();
    const problem = await hear(address, authorization, opened, (data) => show(data, options, isOneAccount));
    // The service ends each stream after a while, and whoever listens opens another at once.
    if (problem === null && systemClock.monotonic() - startedMs > MIN_STREAM_MS) continue;
    const says = problem ?? `${address.origin} has ended the connection`;
    if (says !== trouble) complain(`${says}; trying again${heardOnce ? "" : " (--url names another address)"}\n`);
    trouble = says;
    await sleep(systemClock, delayMs);
    delayMs = Math.min(delayMs * 2, MAX_RETRY_MS);
  }
}

/** Listens until the stream ends: null where that was in good order, else why. What trying again does not mend is thrown. */
async function hear(
  address: URL,
  authorization: string,
  opened: (data: string) => void,
  told: (data: string) => Promise<void>,
): Promise<string | null> {
  const gone = new AbortController();
  const wait = (): Timer => systemClock.after(SILENCE_MS, () => gone.abort());
  let silence = wait();
  try {
    const response = await fetch(address, {
      headers: { authorization, accept: "text/event-stream" },
      redirect: "error",
      signal: gone.signal,
    });
    if (response.status !== 200 || response.body === null) {
      const said = saidIn((await response.text()).slice(0, MAX_ERROR_LENGTH));
      if (response.status < 500 && response.status !== 429) throw new CommandFault(refusal(response.status, said));
      return `${address.origin} answers ${response.status}: ${said}`;
    }
    for await (const { event, data } of readEvents(response.body)) {
      silence.cancel();
      if (event === "open") opened(data);
      else if (event === "live") await told(data);
      else if (event === "signed-out") throw new CommandFault("the service lets this user listen no more");
      silence = wait();
    }
    return null;
  } catch (error) {
    if (error instanceof CommandFault) throw error;
    // Not the network's: what was given cannot be sent, now or later.
    if (error instanceof TypeError && error.cause === undefined)
      throw new CommandFault(
        "the request cannot be made: the user, the password or the key has signs that no header can have",
      );
    const { code } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    return gone.signal.aborted
      ? `${address.origin} has gone silent`
      : `${address.origin} cannot be reached (${code ?? (error as Error).message})`;
  } finally {
    silence.cancel();
    gone.abort();
  }
}

function refusal(status: number, said: string): string {
  if (status === 401) return "the user or the password is wrong: see --user, --password-file and --api-key-file";
  if (status === 404) return `there is nothing to listen to at this --url, or no such account: ${said}`;
  return `the service refuses (${status}): ${said}`;
}

/** What an error of the service says. */
function saidIn(body: string): string {
  try {
    const { text, additionalDescription } = JSON.parse(body).requestError.serviceException;
    return String(additionalDescription ?? text);
  } catch {
    return body.slice(0, 200);
  }
}

/** Who reads slowly holds up the service's stream, which then counts what it cannot tell. */
async function show(data: string, { json }: ListenOptions, isOneAccount: boolean): Promise<void> {
  const { events, missed } = JSON.parse(data) as { readonly events: readonly ToldEvent[]; readonly missed: number };
  for (const event of events) say(json === true ? JSON.stringify(event) : lineOf(event, isOneAccount));
  if (missed > 0)
    say(
      json === true
        ? JSON.stringify({ kind: "missed", count: missed })
        : `… and ${missed.toLocaleString("en-US")} more`,
    );
  if (process.stdout.writableNeedDrain) await once(process.stdout, "drain");
}
