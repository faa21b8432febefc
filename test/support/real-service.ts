/** A service as an operator has it: set up by the command line, with a carrier over SMPP, on either store, and run as a process of its own. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Smsc } from "../../src/smsc/smsc.ts";
import { commandsOn } from "../cli/in-process.ts";
import { type Child, type Ended, runProgram, startChild } from "./child.ts";
import { smppCatalogue } from "./cluster.ts";
import { type Answer, basic, type CallOptions, callService, temporaryDirectory } from "./service.ts";
import { startSmsc } from "./smsc.ts";

export interface RealService {
  readonly child: Child;
  readonly carrierPort: number;
  /** The carrier itself. */
  readonly smsc: Smsc;
  /** Where its store is, as every command has it named. */
  readonly where: readonly string[];
  /** The operator's and the client's Authorization header; the client is ACME, and its user acme. */
  readonly operator: string;
  readonly client: string;
  /** Runs a command on its store. */
  run(...args: string[]): Promise<Ended>;
  /** What a command says; it must succeed. */
  done(...args: string[]): Promise<string>;
  // biome-ignore lint/suspicious/noExplicitAny: looked into by the test that knows its shape
  json(...args: string[]): Promise<any>;
  /** As the client, unless it is said otherwise. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

const passwordIn = (stdout: string): string =>
  /shown only now:\n(\S+)$/m.exec(stdout)?.[1] ?? assert.fail(`there is no password in ${stdout}`);

/** `database` is the URL of one on PostgreSQL, or null for the embedded store. */
export async function startRealService(
  t: TestContext,
  database: string | null,
  settings: Record<string, string> = {},
): Promise<RealService> {
  const directory = await temporaryDirectory(t);
  const smsc = await startSmsc(t);
  const where = database === null ? ["--data", join(directory, "data")] : ["--store", database];
  // What sets it up is the same program in this process, which is faster.
  const { done: setUp } = commandsOn(...where);
  const run = (...args: string[]): Promise<Ended> => runProgram([...args, ...where]);
  const done = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...args);
    assert.deepEqual([code, stderr], [0, ""], args.join(" "));
    return stdout;
  };
  const catalogue = join(directory, "catalogue.toml");
  await writeFile(catalogue, smppCatalogue(smsc, { binds: 1, window: 10 }));
  const operator = basic("operator", passwordIn(await setUp("init")));
  await setUp("apply", catalogue);
  const create = ["account", "create", "--key", "ACME", "--username", "acme", "--sender", "Acme", "--funds", "10"];
  const client = basic("acme", passwordIn(await setUp(...create)));
  const child = await startChild(t, ["serve", "--port", "0", ...where], {
    HELIOGRAPH_REPORTS_DANGEROUS_ALLOW_PRIVATE_CALLBACKS: "true",
    ...settings,
  });
  return {
    child,
    carrierPort: smsc.port,
    smsc,
    where,
    operator,
    client,
    run,
    done,
    json: async (...args) => JSON.parse(await done(...args, "--json")),
    call: (method, path, options) => callService(child.url, method, path, { authorization: client, ...options }),
  };
}
