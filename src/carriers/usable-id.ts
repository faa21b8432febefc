/** Which ids of carriers a part can be kept and found under. */
import { isReservedId } from "../message/receipt.ts";

/** SMPP 3.4 §5.2.23: 65 octets with the NUL. Providers over HTTP have shorter ones, and a longer one has no place in an index of the store. */
const MAX_ID_LENGTH = 64;
const CONTROLS = /\p{Cc}/u;

export function isUsableId(id: string): boolean {
  return id.length > 0 && id.length <= MAX_ID_LENGTH && !CONTROLS.test(id) && !isReservedId(id);
}
