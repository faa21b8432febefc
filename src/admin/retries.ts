/** What a change of an account's retry schedule means for its reports that wait: those that have been tried too often for it are given up after their next try. */
import type { Store } from "../store/port/store.ts";

const MAX_HOSTS = 50;
const PAGE = 500;
/** Reports that are looked at: more are told as at least so many. */
const MAX_LOOKED_AT = 5_000;

export interface EndingReports {
  readonly count: number;
  /** There may be more. */
  readonly isCut: boolean;
}

/** `retries` is how many the schedule has from now on. */
export async function reportsPast(
  store: Pick<Store, "reportHosts" | "waitingReports">,
  accountKey: string,
  retries: number,
): Promise<EndingReports> {
  const hosts = (await store.reportHosts({ accountKey, limit: MAX_HOSTS })).filter(({ waiting }) => waiting > 0);
  let looked = 0;
  let count = 0;
  for (const { host } of hosts) {
    let beforeId: string | null = null;
    do {
      const page = await store.waitingReports({ accountKey, host, beforeId, limit: PAGE });
      looked += page.length;
      count += page.filter(({ attempts }) => attempts >= retries).length;
      beforeId = page.length < PAGE ? null : page.at(-1)!.id;
    } while (beforeId !== null && looked < MAX_LOOKED_AT);
    if (looked >= MAX_LOOKED_AT) return { count, isCut: true };
  }
  return { count, isCut: hosts.length === MAX_HOSTS };
}
