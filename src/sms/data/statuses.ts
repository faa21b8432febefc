/**
 * The message statuses of the SMS family. 7 and 26 are the contract's own; the others are the public table of the API family,
 * so that clients which know it understand ours. TypeScript and not JSON, so that the names are a type.
 */
/** By their ids. */
export const GROUP_NAMES = ["ACCEPTED", "PENDING", "UNDELIVERABLE", "DELIVERED", "EXPIRED", "REJECTED"] as const;

/** Each with its id, its name, its group and its description. */
export const STATUS_ROWS = [
  [0, "MESSAGE_ACCEPTED", "ACCEPTED", "Message accepted"],
  [1, "PENDING_TIME_VIOLATION", "PENDING", "Time window violation"],
  [2, "DELIVERED_TO_OPERATOR", "DELIVERED", "Message delivered to operator"],
  [3, "PENDING_WAITING_DELIVERY", "PENDING", "Message sent, waiting for delivery report"],
  [4, "UNDELIVERABLE_REJECTED_OPERATOR", "UNDELIVERABLE", "Message rejected by operator"],
  [5, "DELIVERED_TO_HANDSET", "DELIVERED", "Message delivered to handset"],
  [6, "REJECTED_NETWORK", "REJECTED", "Network is forbidden"],
  [7, "PENDING_ENROUTE", "PENDING", "Message sent to next instance"],
  [8, "REJECTED_PREFIX_MISSING", "REJECTED", "Number prefix missing"],
  [9, "UNDELIVERABLE_NOT_DELIVERED", "UNDELIVERABLE", "Message sent not delivered"],
  [10, "REJECTED_DND", "REJECTED", "Destination on DND list"],
  [11, "REJECTED_SOURCE", "REJECTED", "Invalid Source address"],
  [12, "REJECTED_NOT_ENOUGH_CREDITS", "REJECTED", "Not enough credits"],
  [13, "REJECTED_SENDER", "REJECTED", "By Sender"],
  [14, "REJECTED_DESTINATION_BLOCKLISTED", "REJECTED", "By Destination"],
  [15, "EXPIRED_EXPIRED", "EXPIRED", "Message expired"],
  [16, "REJECTED_NOT_REACHABLE", "REJECTED", "Network not reachable"],
  [17, "REJECTED_PREPAID_PACKAGE_EXPIRED", "REJECTED", "Prepaid package expired"],
  [18, "REJECTED_DESTINATION_NOT_REGISTERED", "REJECTED", "Destination not registered"],
  [19, "REJECTED_ROUTE_NOT_AVAILABLE", "REJECTED", "Route not available"],
  [20, "REJECTED_FLOODING_FILTER", "REJECTED", "Rejected flooding"],
  [21, "REJECTED_SYSTEM_ERROR", "REJECTED", "System error"],
  [22, "EXPIRED_UNKNOWN", "EXPIRED", "Unknown Reason"],
  [23, "REJECTED_DUPLICATE_MESSAGE_ID", "REJECTED", "Rejected duplicate message ID"],
  [24, "REJECTED_INVALID_UDH", "REJECTED", "Rejected invalid UDH"],
  [25, "REJECTED_MESSAGE_TOO_LONG", "REJECTED", "Rejected message too long"],
  [26, "PENDING_ACCEPTED", "PENDING", "Pending Accepted"],
  [29, "EXPIRED_DLR_UNKNOWN", "EXPIRED", "Delivery report unknown"],
  [31, "UNDELIVERABLE_NOT_SENT", "UNDELIVERABLE", "Message not sent"],
  [51, "MISSING_TO", "REJECTED", "Missing destination."],
  [52, "REJECTED_DESTINATION", "REJECTED", "Invalid destination address."],
  [100, "UNDELIVERABLE_REJECTED_PLATFORM", "REJECTED", "Rejected by platform"],
] as const;
