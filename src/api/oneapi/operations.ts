/** The OneAPI: the older family of the API, for clients that speak it. It stands over the same intake, reports, inbox and logs as the others. */
import type { Intake } from "../../intake/intake.ts";
import type { FetchIncoming } from "../inbox.ts";
import type { Api } from "../operation.ts";
import { type DeliveryInfoParts, deliveryInfoOperations } from "./delivery-infos.ts";
import { inboundOperations } from "./inbound.ts";
import { type LogParts, logOperation } from "./log.ts";
import { type ProfileParts, profileOperations } from "./profile.ts";
import { sendingOperation } from "./sending.ts";
import { type SubscriptionParts, subscriptionOperations } from "./subscriptions.ts";

export interface OneApiParts
  extends DeliveryInfoParts,
    LogParts,
    Omit<ProfileParts, "store">,
    Omit<SubscriptionParts, "store"> {
  readonly store: ProfileParts["store"] & SubscriptionParts["store"];
  readonly intake: Pick<Intake, "send">;
  readonly fetchIncoming: FetchIncoming;
}

export function oneApiOperations(api: Api, parts: OneApiParts): void {
  sendingOperation(api, parts.intake);
  deliveryInfoOperations(api, parts);
  inboundOperations(api, parts.fetchIncoming);
  subscriptionOperations(api, parts);
  profileOperations(api, parts);
  logOperation(api, parts);
}
