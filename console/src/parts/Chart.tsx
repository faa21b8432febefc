/** Lines over time, drawn by uPlot, which is fetched when the first chart is shown. A table of the same figures is there for screen readers. */
import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { theme } from "../theme.ts";
import { clockTime } from "./Time.tsx";

export interface Series {
  readonly label: string;
  /** The name of a colour's token, as "--moving". */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  readonly filled?: boolean;
}

export interface ChartProps {
  readonly label: string;
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly height?: number;
  readonly format?: (value: number) => string;
}

/** Rows of figures that a screen reader is given. */
const TOLD_ROWS = 24;

const DAY_S = 86_400;
const HOUR = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });
const SECOND = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

/** What stands below the lines: as much of the time as tells one place from the next. */
function tickWords(ticks: readonly number[], stepSeconds: number): string[] {
  const words = stepSeconds >= DAY_S ? DAY : stepSeconds >= 60 ? HOUR : SECOND;
  return ticks.map((at) => words.format(at * 1_000));
}

function colour(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

export function Chart({ label, times, series, height = 180, format = String }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shape = series.map(({ label: name, colour: token }) => `${name} ${token}`).join();
  const chosen = theme.value;

  // A chart is made anew only when its lines or the colours are others; its figures are set below.
  useEffect(() => {
    let gone = false;
    // It may be told of a place that has just left the page.
    const resize = new ResizeObserver(() => {
      if (place.current !== null) plot.current?.setSize({ width: place.current.clientWidth, height });
    });
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const draw = async (): Promise<void> => {
      const [{ default: UPlot }] = await Promise.all([import("uplot"), import("uplot/dist/uPlot.min.css")]);
      if (gone || place.current === null) return;
      plot.current?.destroy();
      const axis = {
        stroke: colour("--text-soft"),
        grid: { stroke: colour("--line"), width: 1 },
        ticks: { show: false },
        font: "12px system-ui",
      };
      plot.current = new UPlot(
        {
          width: place.current.clientWidth,
          height,
          cursor: { y: false, points: { size: 6 } },
          legend: { live: true },
          axes: [
            // A time with seconds is as wide as this, and has room on both sides.
            { ...axis, space: 72, grid: { show: false }, values: (_, ticks, __, ___, step) => tickWords(ticks, step) },
            { ...axis, size: 56, values: (_, ticks) => ticks.map(format) },
          ],
          scales: {
            y: {
              range: (_, low, high) => (low === high ? [Math.min(0, low), high + 1] : [Math.min(0, low), high * 1.05]),
            },
          },
          series: [
            { label: "Time", value: (_: uPlot, at: number | null) => (at === null ? "–" : clockTime(at * 1_000)) },
            ...series.map((line) => ({
              label: line.label,
              stroke: colour(line.colour),
              width: 1.5,
              points: { show: false },
              value: (_: uPlot, value: number | null) => (value === null ? "–" : format(value)),
              ...(line.filled ? { fill: colour(`${line.colour}-fill`) } : {}),
            })),
          ],
        },
        [times as number[], ...series.map(({ values }) => values as number[])],
        place.current,
      );
      resize.observe(place.current);
    };
    void draw();
    const redraw = () => void draw();
    dark.addEventListener("change", redraw);
    return () => {
      gone = true;
      dark.removeEventListener("change", redraw);
      resize.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape, height, chosen]);

  useEffect(() => {
    plot.current?.setData([times as number[], ...series.map(({ values }) => values as number[])]);
  }, [times, series]);

  const step = Math.max(1, Math.ceil(times.length / TOLD_ROWS));
  return (
    <figure class="chart" aria-label={label}>
      <div ref={place} aria-hidden="true" />
      {/* A table is as wide as its words, whatever it is told. */}
      <div class="visually-hidden">
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map(({ label: name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((at, index) =>
              index % step !== 0 ? null : (
                <tr key={at}>
                  <th scope="row">{new Date(at * 1_000).toLocaleString()}</th>
                  {series.map(({ label: name, values }) => (
                    <td key={name}>
                      {values[index] === null || values[index] === undefined ? "–" : format(values[index])}
                    </td>
                  ))}
                </tr>
              ),
            )}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

/** A small line without axes, for a row of a table. */
export function Spark({
  values,
  label,
  width = 96,
  height = 24,
}: {
  values: readonly number[];
  label: string;
  width?: number;
  height?: number;
}) {
  const most = Math.max(...values, 1);
  const step = values.length > 1 ? width / (values.length - 1) : width;
  const points = values.map(
    (value, index) => `${(index * step).toFixed(1)},${(height - 2 - (value / most) * (height - 4)).toFixed(1)}`,
  );
  return (
    <svg class="spark" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <polyline
        points={points.join(" ")}
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linejoin="round"
      />
    </svg>
  );
}
