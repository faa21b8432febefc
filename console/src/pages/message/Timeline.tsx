/** A message's life, drawn to scale and as a table. It follows the message while it is looked at. */
import "./timeline.css";
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { MessageAnswer, MessageEvent } from "../../../../src/api/console/message-schemas.ts";
import { useView } from "../../live.ts";
import { Code } from "../../parts/Copy.tsx";
import { ProblemBox } from "../../parts/Page.tsx";
import { Busy, type StateColour } from "../../parts/Status.tsx";
import { clockTime, duration, exactTime, now, Time } from "../../parts/Time.tsx";
import { type FoldedEvent, folded, pastWords } from "./folded.ts";
import { placesOf } from "./scale.ts";

const PHONE = "(max-width: 720px)";
/** Until its place is measured. */
const WIDTH = 640;
const MARGIN = 80;
/** The longest words beside each other. */
const ACROSS = { least: 156, broken: 200 };
const UPRIGHT = { length: 240, least: 56, broken: 96 };
const LINE_Y = 40;
/** Letters of an event that stand below its point. */
const MAX_LETTERS = 20;

export function Timeline({ id }: { id: string }) {
  const { data, problem } = useView<MessageAnswer>("message", { id });
  if (data === null) return problem === null ? <Busy /> : <ProblemBox of={problem} />;
  return <TimelineOf message={data} />;
}

export function TimelineOf({ message }: { message: MessageAnswer }) {
  const isUpright = useMatch(PHONE);
  const rows = folded(message.events);
  return (
    <div class="timeline">
      <Drawing events={rows.map(({ event }) => event)} isUpright={isUpright} />
      <EventTable rows={rows} />
      <Kept timeline={message.timeline} />
    </div>
  );
}

/** What is not kept, and what keeps it. */
function Kept({ timeline }: { timeline: string }) {
  if (timeline === "all") return null;
  return (
    <p class="timeline-kept soft">
      {timeline === "off"
        ? "Steps are not kept: this is told from the message itself. "
        : "Only steps of messages that do not go smoothly are kept, the others are told from the message itself: without the door it came by, the carrier's ids and answer times, and its report. "}
      The setting <code>console.timeline = "all"</code> keeps them all.
    </p>
  );
}

const DONE = new Set(["delivered", "reported", "clicked", "converted"]);

function colourOf({ kind, isTrouble }: MessageEvent): StateColour {
  if (isTrouble)
    return kind === "again" || kind === "report failed" || kind === "rerouted" || kind === "held"
      ? "retrying"
      : "failed";
  if (DONE.has(kind)) return "done";
  return kind === "held" ? "waiting" : "moving";
}

function shortWords({ kind, what, detail }: MessageEvent): string {
  if (kind === "delivered") return "delivered";
  if (kind === "reported") return "report taken";
  const first = detail.split(/ · |, /)[0] ?? "";
  const words = kind === "receipt" && first !== "" ? first : what;
  return words.length > MAX_LETTERS ? `${words.slice(0, MAX_LETTERS - 1)}…` : words;
}

/** How wide it may be: as wide as its place, whose width may change. */
function useWidth(isUpright: boolean): { place: RefObject<HTMLDivElement | null>; widthPx: number } {
  const place = useRef<HTMLDivElement>(null);
  const [widthPx, setWidthPx] = useState(WIDTH);
  useEffect(() => {
    if (place.current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidthPx(Math.floor(entry!.contentRect.width)));
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [isUpright]);
  return { place, widthPx };
}

function Drawing({ events, isUpright }: { events: readonly MessageEvent[]; isUpright: boolean }) {
  const { place, widthPx } = useWidth(isUpright);
  const times = events.map(({ at }) => Date.parse(at));
  const first = times[0] ?? 0;
  const label = `Timeline of ${events.length} events over ${duration((times.at(-1) ?? first) - first)}; the table below says the same`;
  if (isUpright) {
    const places = placesOf(times, UPRIGHT);
    const height = (places.at(-1)?.at ?? 0) + 2 * 24;
    return (
      <svg class="timeline-drawing upright" role="img" aria-label={label} viewBox={`0 0 320 ${height}`} height={height}>
        {places.slice(1).map(({ at }, index) => (
          <line key={index} x1={16} y1={24 + places[index]!.at} x2={16} y2={24 + at} class="way" />
        ))}
        {places.map(({ at, isBroken }, index) => {
          const event = events[index]!;
          const y = 24 + at;
          const before = 24 + (places[index - 1]?.at ?? 0);
          return (
            <g key={index} class={`timeline-point ${colourOf(event)}`}>
              {isBroken && (
                <path class="break" d={`M8 ${(before + y) / 2 + 2} l16 -6 M8 ${(before + y) / 2 + 8} l16 -6`} />
              )}
              <circle cx={16} cy={y} r={6} />
              <text x={36} y={y - 1} class="what">
                {shortWords(event)}
              </text>
              <text x={36} y={y + 15} class="offset">
                {index === 0 ? clockTime(event.at) : `after ${duration(times[index]! - first)}`}
              </text>
            </g>
          );
        })}
      </svg>
    );
  }
  const places = placesOf(times, { ...ACROSS, length: widthPx - 2 * MARGIN });
  const width = Math.max(widthPx, (places.at(-1)?.at ?? 0) + 2 * MARGIN);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <div class="timeline-scroll" tabIndex={0} role="region" aria-label="Timeline, drawn" ref={place}>
      <svg class="timeline-drawing" role="img" aria-label={label} viewBox={`0 0 ${width} 96`} width={width} height={96}>
        {places.slice(1).map(({ at }, index) => (
          <line key={index} x1={MARGIN + places[index]!.at} y1={LINE_Y} x2={MARGIN + at} y2={LINE_Y} class="way" />
        ))}
        {places.map(({ at, isBroken }, index) => {
          const event = events[index]!;
          const x = MARGIN + at;
          const before = MARGIN + (places[index - 1]?.at ?? 0);
          return (
            <g key={index} class={`timeline-point ${colourOf(event)}`}>
              {isBroken && (
                <path
                  class="break"
                  d={`M${(before + x) / 2 - 5} ${LINE_Y + 8} l6 -16 M${(before + x) / 2 + 1} ${LINE_Y + 8} l6 -16`}
                />
              )}
              <text x={x} y={LINE_Y - 16} class="offset">
                {index === 0 ? "0 ms" : duration(times[index]! - first)}
              </text>
              <circle cx={x} cy={LINE_Y} r={6}>
                <title>{`${event.what}: ${event.detail}, ${exactTime(event.at)}`}</title>
              </circle>
              <text x={x} y={LINE_Y + 26} class="what">
                {shortWords(event)}
              </text>
              <text x={x} y={LINE_Y + 44} class="offset">
                {clockTime(event.at)}
              </text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}

const milliseconds = (at: string): string =>
  `${clockTime(at)}.${String(new Date(at).getMilliseconds()).padStart(3, "0")}`;

function EventTable({ rows }: { rows: readonly FoldedEvent[] }) {
  return (
    <table class="timeline-table">
      <caption class="visually-hidden">What happened, in the order of time</caption>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">What</th>
          <th scope="col">Detail</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ event, ...row }, index) => (
          <tr key={index} class={event.isTrouble ? "trouble" : ""}>
            <td class="mono" title={exactTime(event.at)}>
              {milliseconds(event.at)}
            </td>
            <td>
              <span class={`timeline-dot ${colourOf(event)}`} aria-hidden="true" />
              {event.what}
            </td>
            <td>
              <Detail of={{ event, ...row }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Detail({ of }: { of: FoldedEvent }) {
  const { event, times, lastAt, until } = of;
  const { detail, exchange, kind } = event;
  const past = pastWords(of, now.value);
  return (
    <>
      <bdi>{detail}</bdi>
      {times > 1 && (
        <span>
          {" · "}
          <b>{times} times</b>, last at <Time at={lastAt} as="clock" />
        </span>
      )}
      {until !== null && (
        <span>
          {detail === "" ? "" : " · "}
          {past ?? (kind === "held" ? "until" : "next try")}{" "}
          <Time at={until} as={past === null ? "relative" : "clock"} />
        </span>
      )}
      {exchange !== null && (
        <details>
          <summary>
            POST {exchange.url} → {exchange.status ?? "no answer"}
          </summary>
          {exchange.body !== null && <Code label="What was sent" text={pretty(exchange.body)} />}
          {exchange.answer !== null && <Code label="What was answered" text={exchange.answer} />}
          {exchange.body === null && exchange.answer === null && <p class="soft">Neither body is kept.</p>}
        </details>
      )}
    </>
  );
}

/** A body that was clipped is shown as it is. */
function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

function useMatch(query: string): boolean {
  const [isMatch, setMatch] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const change = (): void => setMatch(media.matches);
    media.addEventListener("change", change);
    return () => media.removeEventListener("change", change);
  }, [query]);
  return isMatch;
}
