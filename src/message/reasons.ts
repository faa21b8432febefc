/** The error code that a report carries beside a status, where we ourselves gave the message up and no network said why. */
import { errorByName } from "../sms/errors.ts";
import { STATUS, type StatusName } from "../sms/statuses.ts";

const REASONS: Partial<Record<StatusName, string>> = {
  REJECTED_DESTINATION: "EC_INVALID_DESTINATION_ADDRESS",
  REJECTED_SOURCE: "EC_INVALID_SOURCE_ADDRESS",
  REJECTED_MESSAGE_TOO_LONG: "EC_MSG_TEXT_TOO_LONG",
  REJECTED_INVALID_UDH: "EC_INVALID_PDU_FORMAT",
  REJECTED_DUPLICATE_MESSAGE_ID: "EC_DUPLICATE_MESSAGE",
  REJECTED_DESTINATION_BLOCKLISTED: "EC_BLACKLISTED_DESTINATIONADDRESS",
  REJECTED_ROUTE_NOT_AVAILABLE: "EC_NOTSUBMITTEDTOSMPPCHANNEL",
  REJECTED_NOT_ENOUGH_CREDITS: "EC_USER_OUT_OF_CREDIT",
  EXPIRED_EXPIRED: "EC_VALIDITY_EXPIRED",
  EXPIRED_UNKNOWN: "EC_MESSAGE_SUBMITTED_NOT_ACKED",
  EXPIRED_DLR_UNKNOWN: "EC_NO_RESPONSE",
  UNDELIVERABLE_NOT_SENT: "EC_MESSAGE_CANCELED",
};

const ERROR_BY_STATUS = new Map(
  Object.entries(REASONS).map(([status, error]) => [STATUS[status as StatusName].id, errorByName(error).id]),
);

/** The error id that goes with a status of our own making; 0, no error, where there is nothing to say. */
export function reasonOf(statusId: number): number {
  return ERROR_BY_STATUS.get(statusId) ?? 0;
}
