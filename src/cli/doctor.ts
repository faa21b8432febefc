/** `heliograph doctor`: looks at everything that can be wrong around a service, and says how to mend it. It changes nothing. */
import type { Command } from "commander";
import { AREAS, type Finding } from "../doctor/finding.ts";
import { examineApart } from "./doctor/apart.ts";
import type { ExamineOptions } from "./doctor/examine.ts";
import { joinedCarriers } from "./doctor/joined.ts";
import { Failed } from "./fault.ts";
import { counted, type JsonOption, printable, showJson } from "./show.ts";
import { jsonCommand, say, UsageFault } from "./support.ts";

interface DoctorOptions extends ExamineOptions, JsonOption {
  readonly timeout: string;
}

export function doctorCommand(): Command {
  return jsonCommand(
    "doctor",
    "Look for what is wrong: settings, the service that runs, store, catalogue, carriers (each is bound to for a moment, as a transmitter) and callbacks. It says how to mend what it finds, changes nothing but rights to the store's files that are too wide, and ends with 1 if something is wrong. A disk or a database that hangs does not hang it.",
    "heliograph doctor --config /etc/heliograph.toml",
    "heliograph doctor --no-connect --json | jq '.findings[] | select(.state == \"wrong\")'",
  )
    .option("--no-connect", "connect to no carrier and no receiver of reports")
    .option("--timeout <seconds>", "how long one step may take", "60")
    .action(async ({ timeout, json, ...options }: DoctorOptions) => {
      const findings = joinedCarriers(inOrder(await examineApart(options, timeoutOf(timeout))));
      if (json === true) showJson({ ok: !findings.some(isWrong), findings });
      else show(findings);
      if (findings.some(isWrong)) throw new Failed();
    });
}

/** In milliseconds. */
function timeoutOf(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new UsageFault("--timeout must be a number of seconds from 1 to 99999");
  return Number(text) * 1_000;
}

function isWrong({ state }: Finding): boolean {
  return state === "wrong";
}

/** By their areas, and within each in the order in which they were made. */
function inOrder(findings: readonly Finding[]): Finding[] {
  return AREAS.flatMap((area) => findings.filter((finding) => finding.area === area));
}

function show(findings: readonly Finding[]): void {
  const width = (of: (finding: Finding) => string): number => Math.max(...findings.map((one) => of(one).length));
  const areas = width(({ area }) => area);
  const states = width(({ state }) => state);
  let last = "";
  for (const { area, about, state, says, mend } of findings) {
    const label = area === last ? "" : area;
    last = area;
    // Several faults of a file come as lines.
    const lines = says.split("\n").map(printable);
    say(
      `${label.padEnd(areas)}  ${state.padEnd(states)}  ${printable(about)}: ${lines.join(`\n${" ".repeat(areas + states + 4)}`)}`,
    );
    if (mend !== null) say(`${" ".repeat(areas + states + 4)}→ ${printable(mend)}`);
  }
  const wrong = findings.filter(isWrong).length;
  const warnings = findings.filter(({ state }) => state === "warning").length;
  const told = wrong === 0 ? "Nothing is wrong" : `${counted(wrong, "thing is", "things are")} wrong`;
  say(`\n${told}${warnings === 0 ? "" : `; ${counted(warnings, "warning")}`}.`);
}
