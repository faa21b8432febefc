/** A delivery time window on a picture of the day: a band of 24 hours in UTC, with the reader's clock below it, and two handles. */
import type { TargetedPointerEvent } from "preact";
import { useRef } from "preact/hooks";
import type { Day } from "../../../../src/schedule/window.ts";
import { Check } from "../../parts/Field.tsx";
import { now } from "../../parts/Time.tsx";
import { EVERY_DAY, type WindowDraft } from "./draft.ts";
import { afterKey, clockOf, DAY_MINUTES, type Hours, minuteOf, moved, STEP_MINUTES, stretches } from "./window.ts";

const WORKING_HOURS: Hours = { fromMinute: 8 * 60, toMinute: 20 * 60 };
const HANDLES = [
  { name: "fromMinute", label: "From" },
  { name: "toMinute", label: "Until" },
] as const;
const MARKS = [0, 6, 12, 18, 24];

const weekday = new Intl.DateTimeFormat(undefined, { weekday: "short", timeZone: "UTC" });
/** 5 January 1970 was a Monday. */
const dayWord = (index: number): string => weekday.format((4 + index) * 86_400_000);
const percent = (minute: number): string => `${(minute / DAY_MINUTES) * 100}%`;

export interface DayWindowProps {
  readonly value: WindowDraft | null;
  readonly onChange: (value: WindowDraft | null) => void;
  readonly wrong?: string | undefined;
}

export function DayWindow({ value, onChange, wrong }: DayWindowProps) {
  return (
    <fieldset class="compose-window">
      <legend>Delivery time window</legend>
      <Check
        checked={value !== null}
        onChange={(on) => onChange(on ? { days: EVERY_DAY, hours: WORKING_HOURS } : null)}
      >
        Send only at certain hours
      </Check>
      {value !== null && <Picture value={value} onChange={onChange} />}
      {wrong && (
        <span class="wrong" role="alert">
          {wrong}
        </span>
      )}
    </fieldset>
  );
}

function Picture({ value, onChange }: { value: WindowDraft; onChange: (value: WindowDraft) => void }) {
  const band = useRef<HTMLDivElement>(null);
  const { days, hours } = value;
  const offset = -new Date(now.value).getTimezoneOffset();
  const today = new Date(now.value);
  const nowMinute = today.getUTCHours() * 60 + today.getUTCMinutes();

  const toggle = (day: Day): void => {
    const next = EVERY_DAY.filter((each) => (each === day) !== days.includes(each));
    if (next.length > 0) onChange({ ...value, days: next });
  };
  const drag = (handle: keyof Hours) => (event: TargetedPointerEvent<HTMLDivElement>) => {
    if (hours === null || band.current === null || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const { left, width } = band.current.getBoundingClientRect();
    const minute = ((event.clientX - left) / width) * DAY_MINUTES;
    const stepped = Math.min(Math.max(Math.round(minute / STEP_MINUTES) * STEP_MINUTES, 0), DAY_MINUTES - STEP_MINUTES);
    onChange({ ...value, hours: moved(hours, handle, stepped) });
  };
  const type = (handle: keyof Hours, clock: string): void => {
    const minute = minuteOf(clock);
    if (hours !== null && minute !== null) onChange({ ...value, hours: moved(hours, handle, minute) });
  };

  return (
    <div class="compose-picture">
      <div class="chips" role="group" aria-label="Days">
        {EVERY_DAY.map((day, index) => (
          <button key={day} type="button" class="chip" aria-pressed={days.includes(day)} onClick={() => toggle(day)}>
            {dayWord(index)}
          </button>
        ))}
      </div>
      <Check checked={hours === null} onChange={(all) => onChange({ ...value, hours: all ? null : WORKING_HOURS })}>
        All day
      </Check>
      {hours !== null && (
        <>
          <div class="compose-band" ref={band}>
            <svg viewBox={`0 0 ${DAY_MINUTES} 40`} preserveAspectRatio="none" aria-hidden="true">
              {stretches(hours).map(({ start, end }) => (
                <rect key={start} class="open" x={start} y="0" width={end - start} height="40" />
              ))}
              {Array.from({ length: 23 }, (_, hour) => (
                <line
                  key={hour}
                  x1={(hour + 1) * 60}
                  x2={(hour + 1) * 60}
                  y1="32"
                  y2="40"
                  vector-effect="non-scaling-stroke"
                />
              ))}
              <line class="now" x1={nowMinute} x2={nowMinute} y1="0" y2="40" vector-effect="non-scaling-stroke" />
            </svg>
            {HANDLES.map(({ name, label }) => (
              <div
                key={name}
                class="compose-handle"
                role="slider"
                tabIndex={0}
                aria-label={`${label}, UTC`}
                aria-valuemin={0}
                aria-valuemax={DAY_MINUTES - 1}
                aria-valuenow={hours[name]}
                aria-valuetext={`${clockOf(hours[name])} UTC, ${clockOf(hours[name] + offset)} on your clock`}
                style={{ insetInlineStart: percent(hours[name]) }}
                onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
                onPointerMove={drag(name)}
                onKeyDown={(event) => {
                  const minute = afterKey(event.key, hours[name]);
                  if (minute === null) return;
                  event.preventDefault();
                  onChange({ ...value, hours: moved(hours, name, minute) });
                }}
              />
            ))}
          </div>
          <div class="compose-hours" aria-hidden="true">
            {MARKS.map((hour) => (
              <span key={hour} style={{ insetInlineStart: percent(hour * 60) }}>
                {clockOf(hour * 60)}
                {hour === 0 ? " UTC" : ""}
                <small>
                  {clockOf(hour * 60 + offset)}
                  {hour === 0 ? " your clock" : ""}
                </small>
              </span>
            ))}
          </div>
          <div class="row compose-times">
            {HANDLES.map(({ name, label }) => (
              <label key={name}>
                {label}
                <input
                  class="input"
                  type="time"
                  value={clockOf(hours[name])}
                  onChange={(event) => type(name, event.currentTarget.value)}
                />
                <span class="soft">UTC · {clockOf(hours[name] + offset)} on your clock</span>
              </label>
            ))}
          </div>
          {hours.fromMinute > hours.toMinute && (
            <p class="soft">It goes over midnight: what begins on one day ends on the next.</p>
          )}
        </>
      )}
    </div>
  );
}
