/** The steps of an examination, one after the other, and what it means when one of them does not end: then that is the finding. */
import type { Finding } from "../../doctor/finding.ts";

const STORE_HANGS = {
  area: "store",
  state: "wrong",
  mend: "nothing that was accepted is lost: delete and move nothing; see the system's log and to what is named here, and look again",
} as const;

/** By the name of the step, before "within so many seconds"; the checks of the store have their own names (doctor/checks.ts). */
const UNENDED: Readonly<Record<string, Finding>> = {
  settings: {
    area: "settings",
    about: "settings",
    state: "wrong",
    says: "the files of the settings could not be read",
    mend: "see whether the disk on which they are answers (dmesg, mount)",
  },
  service: {
    area: "settings",
    about: "service",
    state: "wrong",
    says: "the service could not be asked",
    mend: "see its log; if it stays so, restart it: nothing that it accepted is lost",
  },
  files: {
    ...STORE_HANGS,
    about: "disk",
    says: "the disk of the data does not answer",
    mend: "see the system's log (dmesg), and whether a network disk is away (mount): nothing that was accepted is lost, so delete and move nothing",
  },
  database: { ...STORE_HANGS, about: "database", says: "the database does not answer" },
  opening: { ...STORE_HANGS, about: "store", says: "the store could not be opened" },
  books: {
    area: "store",
    about: "ledger",
    state: "warning",
    says: "the books were not added up",
    mend: '"heliograph ledger verify" takes the time that it needs, or give more with --timeout',
  },
  carriers: {
    area: "carriers",
    about: "carriers",
    state: "warning",
    says: "the carriers could not be tried",
    mend: "leave them out with --no-connect, or give more time with --timeout",
  },
};

/** What to tell of a step that took longer than it may. */
export function unended(step: string, timeoutMs: number): Finding {
  const { says, ...known } = UNENDED[step] ?? { ...STORE_HANGS, about: step, says: `the look at ${step} did not end` };
  return {
    ...known,
    says: `${says} within ${timeoutMs / 1_000} seconds; what comes after it was not looked at`,
  };
}

/** What to tell when the process that looked has died. */
export function died(step: string, how: string): Finding {
  return {
    area: UNENDED[step]?.area ?? "store",
    about: "doctor",
    state: "wrong",
    says: `the examination ended at the step "${step}": ${how}`,
    mend: "run it again, and report it if it stays so; nothing was changed",
  };
}
