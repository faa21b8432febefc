/** How the nodes that run stand with the carriers, for commands. What a service that was killed has said of them counts no more. */
import { carrierStates, type NodeCarrierState } from "../admin/carriers.ts";
import { servingOf } from "../doctor/serving.ts";
import type { Settings } from "../settings/settings.ts";
import type { Store } from "../store/port/store.ts";

export async function liveCarrierStates(
  store: Pick<Store, "carrierNotes" | "nodes">,
  settings: Pick<Settings, "store">,
): Promise<NodeCarrierState[]> {
  const { runs, processes } = await servingOf(store, settings);
  if (!runs) return [];
  const states = await carrierStates(store);
  // From within a container a process has another number than from outside: then nobody is left out.
  const alive = states.filter(({ node }) => processes.includes(node));
  return alive.length === 0 ? states : alive;
}
