/** Which way a message goes, and why: its carrier's place in the routes as they are now. */
import type { Snapshot } from "../catalogue/snapshot.ts";
import type { MessageLife } from "../store/port/message-life.ts";

/** What is asked of the catalogue. */
export type Routes = Pick<Snapshot, "routeOf" | "carriers">;

/** Its carrier's group, of so many: the first one of which a carrier is usable is taken. Null for a message that has no carrier. */
export function routeOf({ to, carrierId }: Pick<MessageLife, "to" | "carrierId">, routes: Routes) {
  if (carrierId === null || carrierId === "") return null;
  const route = routes.routeOf(to);
  const place = route?.value.findIndex((group) => group.some(({ carrier }) => carrier === carrierId)) ?? -1;
  if (route === null || place < 0)
    return {
      prefix: null,
      group: null,
      groups: null,
      why: `carrier ${carrierId}, which the routes of today do not choose`,
    };
  const group = route.value[place]!;
  const reason = group.length === 1 ? "alone in it" : `one of ${group.length} in it`;
  const prefix = route.prefix === "" ? "every number" : `prefix ${route.prefix}`;
  return {
    prefix: route.prefix,
    group: place + 1,
    groups: route.value.length,
    why: `route: ${prefix} → group ${place + 1} of ${route.value.length} → ${carrierId} (${reason})`,
  };
}
