/**
 * What is looked at with the store open, as one list: `heliograph doctor` goes through all of it, and a service looks at itself by it while somebody
 * watches its overview. What can be seen of the service only from outside (files, ports, binds to carriers) is for the command line alone. What
 * speaks to a database or to carriers is loaded with the first look: a service that starts has no use for it.
 */
import {
  carriersIn,
  lookAtBooks,
  lookAtCatalogue,
  lookAtPurpose,
  lookAtQuarantine,
  lookAtWallets,
} from "./contents.ts";
import { lookAtRoom } from "./disk.ts";
import { lookAtExposure } from "./exposure.ts";
import { type Area, type Examined, type Finding, Findings } from "./finding.ts";
import { lookAtSecrets } from "./secrets.ts";

export interface Check {
  readonly name: string;
  readonly area: Area;
  /**
   * "inside": a running service looks at this of itself; the command line has looked at it before it opened the store. "outside": the command line
   * alone, because the service has it and knows better, or because it reads all that there is: inside, every check is in steps that the store does
   * in some milliseconds, however much it holds.
   */
  readonly from: "both" | "inside" | "outside";
  /** What it leaves out, and who looks at that. */
  readonly beyond?: string;
  readonly look: (examined: Examined, found: Findings) => Promise<unknown>;
}

export const CHECKS: readonly Check[] = [
  {
    name: "settings",
    area: "settings",
    from: "inside",
    look: ({ settings }, found) => lookAtExposure(settings, found),
  },
  {
    name: "store",
    area: "store",
    from: "inside",
    look: async ({ settings }, found) => {
      if (settings.store.url === "") lookAtRoom(settings.store.data, found);
      else await (await import("./postgres.ts")).lookAtPostgres(settings, found);
    },
  },
  {
    name: "serving",
    area: "settings",
    from: "outside",
    look: async (examined, found) => (await import("./serving.ts")).lookAtServing(examined, found),
  },
  { name: "purpose", area: "store", from: "outside", look: lookAtPurpose },
  {
    name: "wallets",
    area: "store",
    from: "inside",
    beyond: '"heliograph ledger verify" adds up every posting and message, and so does each backup',
    look: lookAtWallets,
  },
  { name: "quarantine", area: "store", from: "both", look: lookAtQuarantine },
  { name: "secrets", area: "store", from: "both", look: lookAtSecrets },
  {
    name: "catalogue",
    area: "catalogue",
    from: "both",
    look: async (examined, found) => {
      if (await canRead(examined)) await lookAtCatalogue(examined, found);
    },
  },
  {
    name: "carriers",
    area: "carriers",
    from: "outside",
    look: async (examined, found) => {
      if (!(await canRead(examined))) return;
      const { lookAtCarriers } = await import("./connections.ts");
      found.all.push(...(await lookAtCarriers(await carriersIn(examined), examined.connect)));
    },
  },
  {
    name: "callbacks",
    area: "callbacks",
    from: "inside",
    look: async (examined, found) => {
      const { lookAtCallbacks, SOME_LETTERS } = await import("./receivers.ts");
      await lookAtCallbacks({ ...examined, connect: false }, found, SOME_LETTERS);
    },
  },
  {
    name: "callbacks",
    area: "callbacks",
    from: "outside",
    look: async (examined, found) => {
      const { lookAtCallbacks, ALL_LETTERS } = await import("./receivers.ts");
      await lookAtCallbacks(examined, found, ALL_LETTERS);
    },
  },
  {
    name: "receivers",
    area: "callbacks",
    from: "outside",
    look: async (examined, found) => (await import("./receivers.ts")).lookAtFailingHosts(examined, found),
  },
  // The last, because it reads all that there is.
  { name: "books", area: "store", from: "outside", look: lookAtBooks },
];

/** Whether the catalogue can be read: it has secrets, which need their key. That they lack it is told by the check of secrets. */
function canRead(examined: Examined): Promise<boolean> {
  return lookAtSecrets(examined, new Findings("store"));
}

/** What one check finds. A check that fails is a finding too. */
export async function runCheck({ name, area, look }: Check, examined: Examined): Promise<readonly Finding[]> {
  const found = new Findings(area);
  try {
    await look(examined, found);
  } catch (error) {
    found.warn(
      name,
      `it could not be looked at: ${(error as Error).message}`,
      "look again; if it stays so, see the log",
    );
  }
  return found.all;
}

/** All that the command line looks at with the store open, one after the other: `begin` hears which, and what was found comes as it is found. */
export async function* examineStore(
  examined: Examined,
  begin: (check: Check) => void,
): AsyncGenerator<readonly Finding[]> {
  for (const check of CHECKS.filter(({ from }) => from !== "inside")) {
    begin(check);
    yield await runCheck(check, examined);
  }
}
