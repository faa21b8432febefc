/**
 * Kannel for the same job, where it is installed (Debian's package `kannel`): a bearerbox and a smsbox, with nothing that holds them back. Its
 * messages are in memory only unless the spool is asked for; receipts are kept in memory in both cases.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePorts, kannelProgram, untilOpen } from "./kannel-start.ts";
import { OptionFault, type Options, type PeerStore, SMPP_WINDOW } from "./options.ts";
import { Program } from "./program.ts";
import { kannelRequest } from "./requests.ts";
import { PartsUsage, type Subject, type Surroundings, sumKnown } from "./subject.ts";
import { deviceFlushes, memoryBytes, peakMemoryBytes, threadsOf, writtenBytes } from "./usage.ts";

/** How its reports look: a GET with the number and the state, of which 1 is delivered. */
export const KANNEL_REPORTS = { before: "to=", delivered: "/report?state=1&" };
const REPORT_PATH = "/report?state=%d&to=%p";

const LOGIN = { username: "bench", password: "bench" };
/** Reports on their way between its two processes. Its default of 100 makes them a little fewer a second and much later. */
const REPORTS_PENDING = 1_000;

export interface KannelParts extends Surroundings {
  readonly options: Options;
  readonly store: PeerStore;
}

/** Says what is missing before anything is started. */
export function requireKannel(): void {
  programFile("bearerbox");
  programFile("smsbox");
}

function programFile(name: string): string {
  const file = kannelProgram(name);
  if (file === null) {
    throw new OptionFault(`${name} is not in the PATH: --peer kannel needs Kannel, on Debian the package kannel`);
  }
  return file;
}

export async function startKannel(parts: KannelParts): Promise<Subject> {
  const { options, store, directory, sinkPorts, sender } = parts;
  await parts.setCarrier({ open: options.until !== "accept", receipts: options.until === "report" });
  const bearerbox = programFile("bearerbox");
  const smsbox = programFile("smsbox");
  const [adminPort, boxPort, httpPort] = await freePorts(3);
  const spool = store === "spool";
  if (spool) mkdirSync(join(directory, "spool"));
  const config = join(directory, "kannel.conf");
  writeFileSync(config, configOf(parts, { adminPort: adminPort!, boxPort: boxPort!, httpPort: httpPort! }));

  const programs: Program[] = [];
  const stop = async (): Promise<void> => {
    for (const program of programs.toReversed()) await program.stop();
  };
  try {
    programs.push(new Program(bearerbox, ["-v", "4", config], join(directory, "bearerbox.out")));
    await untilOpen(boxPort!);
    programs.push(new Program(smsbox, ["-v", "4", config], join(directory, "smsbox.out")));
    await untilOpen(httpPort!);
  } catch (error) {
    await stop();
    throw new Error(`${(error as Error).message}\n${programs.map((program) => program.lastWords()).join("\n")}`);
  }
  const reportUrl = options.until === "report" ? `http://127.0.0.1:${sinkPorts[0]}${REPORT_PATH}` : null;
  const pids = programs.map(({ pid }) => pid);
  return {
    name: `Kannel, messages ${spool ? "in the spool" : "in memory"}`,
    targets: (mode) => [
      { port: httpPort!, template: kannelRequest({ mode, port: httpPort!, ...LOGIN, sender, reportUrl }) },
    ],
    usage() {
      const usage = new PartsUsage();
      for (const [index, name] of ["bearerbox", "smsbox"].entries()) {
        for (const thread of threadsOf(pids[index]!)) usage.add(name, thread);
      }
      return usage;
    },
    memoryBytes: () => sumKnown(pids.map(memoryBytes)),
    peakMemoryBytes: () => sumKnown(pids.map(peakMemoryBytes)),
    disk: async () => ({
      writtenBytes: sumKnown(pids.map(writtenBytes)),
      logBytes: null,
      flushes: spool ? deviceFlushes(directory) : null,
    }),
    lastWords: () => programs.map((program) => program.lastWords()).join("\n"),
    stop,
    // It has none.
    auditBooks: async () => null,
  };
}

interface Ports {
  readonly adminPort: number;
  readonly boxPort: number;
  readonly httpPort: number;
}

function configOf(
  { options, store, directory, carrierPorts }: KannelParts,
  { adminPort, boxPort, httpPort }: Ports,
): string {
  const storage = store === "spool" ? `store-type = spool\nstore-location = ${join(directory, "spool")}\n` : "";
  const carriers = Array.from(
    { length: options.binds },
    () => `
group = smsc
smsc = smpp
smsc-id = bench
host = 127.0.0.1
port = ${carrierPorts[0]}
transceiver-mode = true
smsc-username = kannel
smsc-password = secret
system-type = bench
address-range = ""
max-pending-submits = ${options.window ?? SMPP_WINDOW}
`,
  ).join("");
  return `group = core
admin-port = ${adminPort}
admin-interface = 127.0.0.1
admin-password = ${LOGIN.password}
smsbox-port = ${boxPort}
smsbox-interface = 127.0.0.1
smsbox-max-pending = ${REPORTS_PENDING}
log-level = 4
dlr-storage = internal
${storage}${carriers}
group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = ${httpPort}
sendsms-interface = 127.0.0.1
log-level = 4

group = sendsms-user
username = ${LOGIN.username}
password = ${LOGIN.password}
`;
}
