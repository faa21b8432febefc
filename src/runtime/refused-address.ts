/** The words for an address that reports are not pushed to, so that whoever reads one of them knows it from any other failure, and what to set. */

const REFUSED = "address not allowed: ";
export const PRIVATE_CALLBACKS = "[reports] dangerousAllowPrivateCallbacks = true";

/** `why` is the kind of address, such as "loopback". */
export function refusedAddress(why: string, isAllowable: boolean): string {
  return `${REFUSED}${why}${isAllowable ? ` (${PRIVATE_CALLBACKS} allows it)` : ""}`;
}

/** Of the reason why a report was not taken. */
export function isRefusedAddress(reason: string): boolean {
  return reason.startsWith(REFUSED);
}

/** Whether the setting would have it called. */
export function isAllowable(reason: string): boolean {
  return isRefusedAddress(reason) && reason.endsWith(`(${PRIVATE_CALLBACKS} allows it)`);
}
