/** What operators watch and do on their own pages: the overview, the carriers, what matched nothing, and the nodes. */
import type { Api } from "../operation.ts";
import { type CarrierViewParts, carrierOperations, carrierViews } from "./carriers.ts";
import { type NodeViewParts, nodeViews } from "./nodes.ts";
import { type OverviewParts, overviewOperations, overviewViews } from "./overview.ts";
import { type UnmatchedViewParts, unmatchedOperations, unmatchedViews } from "./unmatched.ts";
import type { View } from "./view.ts";

export type OperatingParts = OverviewParts & CarrierViewParts & UnmatchedViewParts & NodeViewParts;

export function operatingViews(parts: OperatingParts): View[] {
  return [...overviewViews(parts), ...carrierViews(parts), ...unmatchedViews(parts), ...nodeViews(parts)];
}

export function operatingOperations(api: Api, parts: OperatingParts): void {
  overviewOperations(api, parts);
  carrierOperations(api, parts);
  unmatchedOperations(api, parts);
}
