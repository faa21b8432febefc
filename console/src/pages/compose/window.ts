/** The picture of the day in figures: where the handles of a delivery time window stand, and what moves them. Pure. */

export const DAY_MINUTES = 1_440;
/** Handles go by quarters of an hour; the fields beside them take any minute. */
export const STEP_MINUTES = 15;

export interface Hours {
  readonly fromMinute: number;
  readonly toMinute: number;
}

/** The stretches of the day that a window covers: two where it goes over midnight. */
export function stretches({ fromMinute, toMinute }: Hours): { readonly start: number; readonly end: number }[] {
  if (fromMinute < toMinute) return [{ start: fromMinute, end: toMinute }];
  return [
    { start: fromMinute, end: DAY_MINUTES },
    { start: 0, end: toMinute },
  ].filter(({ start, end }) => start < end);
}

const wrapped = (minute: number): number => ((minute % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES;

/** A handle moved to a minute. The two are never at the same one, which would be no window. */
export function moved(hours: Hours, handle: keyof Hours, minute: number): Hours {
  const other = handle === "fromMinute" ? hours.toMinute : hours.fromMinute;
  const at = wrapped(Math.round(minute));
  return at === other ? hours : { ...hours, [handle]: at };
}

const KEYS: Readonly<Record<string, number>> = {
  ArrowRight: STEP_MINUTES,
  ArrowUp: STEP_MINUTES,
  ArrowLeft: -STEP_MINUTES,
  ArrowDown: -STEP_MINUTES,
  PageUp: 60,
  PageDown: -60,
};

/** What a key makes of a handle's minute, or null where it does nothing. */
export function afterKey(key: string, minute: number): number | null {
  if (key === "Home") return 0;
  if (key === "End") return DAY_MINUTES - STEP_MINUTES;
  const by = KEYS[key];
  return by === undefined ? null : wrapped(Math.round((minute + by) / STEP_MINUTES) * STEP_MINUTES);
}

/** "06:30" */
export function clockOf(minute: number): string {
  const at = wrapped(minute);
  return `${String(Math.floor(at / 60)).padStart(2, "0")}:${String(at % 60).padStart(2, "0")}`;
}

/** The minute of "06:30", or null. */
export function minuteOf(clock: string): number | null {
  const [, hour, minute] = /^([0-9]{2}):([0-9]{2})/.exec(clock) ?? [];
  if (hour === undefined || minute === undefined) return null;
  const at = Number(hour) * 60 + Number(minute);
  return at < DAY_MINUTES ? at : null;
}
