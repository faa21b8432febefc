/** The sandbox's clock, in the bar above: how far it is ahead, and moving it. It says what the jump released. */
import { Check, ChevronDown, Clock } from "lucide";
import { useState } from "preact/hooks";
import { api, Problem } from "../api.ts";
import { useView } from "../live.ts";
import { Button } from "./Button.tsx";
import { Icon } from "./Icon.tsx";
import { ProblemBox } from "./Page.tsx";
import { Popup } from "./Popup.tsx";
import { clockOffsetMs, exactTime, now, setClockOffset, Time } from "./Time.tsx";
import { say } from "./Toast.tsx";

interface Jump {
  readonly offsetMs: number;
  readonly jumpedMs: number;
  readonly released: { readonly messages: number; readonly reports: number };
}

const JUMPS = [
  { by: "5m", label: "5 minutes" },
  { by: "1h", label: "1 hour" },
  { by: "1d", label: "1 day" },
] as const;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** "+2 h", "+1 d 3 h": the two largest units. */
function ahead(ms: number): string {
  const units = [
    { count: Math.floor(ms / DAY_MS), unit: "d" },
    { count: Math.floor((ms % DAY_MS) / HOUR_MS), unit: "h" },
    { count: Math.floor((ms % HOUR_MS) / MINUTE_MS), unit: "min" },
    { count: Math.floor((ms % MINUTE_MS) / 1_000), unit: "s" },
  ];
  const said = units.filter(({ count }) => count > 0).slice(0, 2);
  return said.length === 0 ? "" : `+${said.map(({ count, unit }) => `${count} ${unit}`).join(" ")}`;
}

function released({ messages, reports }: Jump["released"]): string {
  const said = [
    ...(messages > 0
      ? [messages === 1 ? "1 scheduled message went out" : `${messages} scheduled messages went out`]
      : []),
    ...(reports > 0 ? [reports === 1 ? "1 report is tried again" : `${reports} reports are tried again`] : []),
  ];
  return said.length === 0 ? "Nothing was waiting for it." : `${said.join(", ")}.`;
}

export function ClockMenu() {
  const offset = ahead(clockOffsetMs.value);
  return (
    <Popup
      label={offset === "" ? "The sandbox's clock" : `The sandbox's clock, ${offset}`}
      button={
        <>
          <Icon of={Clock} size={14} />
          {offset === "" ? (
            "sandbox"
          ) : (
            <span>
              <span class="clock-wide">sandbox · clock </span>
              {offset}
            </span>
          )}
          <Icon of={ChevronDown} size={14} />
        </>
      }
    >
      <Jumps />
    </Popup>
  );
}

function Jumps() {
  const { data } = useView<{ readonly clock: { readonly nextMessageAt: string | null } | null }>("sandbox");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [at, setAt] = useState("");
  const jump = async (to: { by: string } | { to: string }): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      const done = await api.put<Jump>("/sandbox/1/clock", to);
      setClockOffset(done.offsetMs);
      say(`The clock went ${ahead(done.jumpedMs).slice(1) || "nowhere"} forwards. ${released(done.released)}`);
    } catch (error) {
      setProblem(error instanceof Problem ? error : new Problem((error as Error).message));
    }
    setBusy(false);
  };
  if (data?.clock === null) {
    return <div class="pop-words">The clock cannot be moved on PostgreSQL, where other nodes may share it.</div>;
  }
  const nextAt = data?.clock?.nextMessageAt ?? null;
  return (
    <>
      <div class="pop-words clock-now">
        In the sandbox it is <b title={exactTime(now.value)}>{new Date(now.value).toLocaleString()}</b>
      </div>
      {JUMPS.map(({ by, label }) => (
        <Button key={by} disabled={busy} onClick={() => void jump({ by })}>
          {label} later
        </Button>
      ))}
      {nextAt !== null && (
        <Button disabled={busy} onClick={() => void jump({ to: nextAt })}>
          To the next scheduled message, <Time at={nextAt} />
        </Button>
      )}
      <form
        class="clock-to"
        onSubmit={(event) => {
          event.preventDefault();
          const moment = new Date(at);
          if (!Number.isNaN(moment.getTime())) void jump({ to: moment.toISOString() });
        }}
      >
        <input
          class="input"
          type="datetime-local"
          step={1}
          aria-label="To this time"
          value={at}
          onInput={(event) => setAt(event.currentTarget.value)}
        />
        <Button type="submit" disabled={busy || at === ""} aria-label="Go to this time">
          <Icon of={Check} />
        </Button>
      </form>
      <ProblemBox of={problem} />
      <div class="pop-words">Schedules, windows, validity and retries act. It goes forwards only.</div>
    </>
  );
}
