/** The flash message that a phone shows until somebody presses it away: the last one, once for each browser tab. */
import { useState } from "preact/hooks";
import type { PhoneMessage } from "./sandbox.ts";

const keyOf = (number: string): string => `heliograph-flash-${number}`;

export function useFlash(
  number: string,
  messages: readonly PhoneMessage[],
): { flash: PhoneMessage | null; dismiss: () => void } {
  const [, drawAgain] = useState(0);
  const last = messages.findLast((message) => message.flash) ?? null;
  const isDismissed = last !== null && sessionStorage.getItem(keyOf(number)) === nameOf(last);
  return {
    flash: isDismissed ? null : last,
    dismiss: () => {
      if (last !== null) sessionStorage.setItem(keyOf(number), nameOf(last));
      drawAgain((count) => count + 1);
    },
  };
}

/** Places count anew after a restart of the service; the time does not. */
const nameOf = ({ at, place }: PhoneMessage): string => `${at} ${place}`;
