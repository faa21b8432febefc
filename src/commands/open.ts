/** Opens the store: the engine that the settings name, with the rules of all commands, which are loaded here and not before. */
import { LiveTap } from "../events/live.ts";
import { type OpenStore, openEngine, type StoreOptions } from "../store/open.ts";
import { FinishedCounts } from "./finished.ts";

/** `live` hears what becomes of messages, while somebody watches. */
export async function openStore(
  options: StoreOptions,
  live = LiveTap.none(),
): Promise<OpenStore & { readonly finished: FinishedCounts }> {
  const { rulesHeard } = await import("./table.ts");
  const finished = new FinishedCounts();
  return { ...(await openEngine(options, rulesHeard(finished, live))), finished };
}
