/** A message's life, from the table that the service itself goes by. */
import { EVENTS, type Event, type State, step } from "../../src/message/life.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import { type Box, bottom, Drawing, left, right, type Tone, top } from "./drawing.ts";

const STATES: readonly { state: State; says: readonly string[]; tone: Tone }[] = [
  { state: "scheduled", says: ["waits for its time,", "window or slot"], tone: "waiting" },
  { state: "queued", says: ["waits for its turn", "on a carrier"], tone: "waiting" },
  { state: "submitting", says: ["the carrier's answer", "is awaited"], tone: "moving" },
  { state: "submitted", says: ["the carrier has it;", "a receipt is awaited"], tone: "moving" },
];
const [WIDTH, GAP, TOP] = [196, 66, 150];

/** The events that lead from one state to another. */
function eventsTo(from: State, to: State): Event[] {
  return EVENTS.filter((event) => step(from, event)?.to === to && from !== to);
}

function toneOf(status: string): Tone {
  return status.startsWith("DELIVERED") ? "done" : "failed";
}

export function messageLife(): Drawing {
  const drawing = new Drawing("A message's life", 24 * 2 + 4 * WIDTH + 3 * GAP + 32, 500);
  drawing.words(
    [24, 58],
    "It is accepted and charged in one commit, and goes to its one end whatever happens in between.",
    {
      look: "small",
    },
  );
  const boxes = new Map<State, Box>(
    STATES.map(({ state, says, tone }, index) => [
      state,
      drawing.box(24 + index * (WIDTH + GAP), TOP, WIDTH, 76, state, says, tone),
    ]),
  );
  const at = (state: State): Box => boxes.get(state)!;
  STATES.slice(1).forEach(({ state: to }, index) => {
    const from = STATES[index]!.state;
    drawing.arrow([right(at(from)), left(at(to))], { label: eventsTo(from, to).join(", ") });
  });
  // Ways back go above the boxes, each at a height of its own.
  const back = (from: State, to: State, shiftFrom: number, shiftTo: number, height: number): void => {
    const [[x1, y1], [x2, y2]] = [top(at(from)), top(at(to))];
    drawing.arrow(
      [
        [x1 + shiftFrom, y1],
        [x1 + shiftFrom, height],
        [x2 + shiftTo, height],
        [x2 + shiftTo, y2],
      ],
      {
        tone: "retrying",
        label: eventsTo(from, to).join(", "),
        labelAt: [(x1 + shiftFrom + x2 + shiftTo) / 2, height - 6],
      },
    );
  };
  back("submitting", "queued", -30, 30, 122);
  back("queued", "scheduled", -30, 30, 122);
  back("submitting", "scheduled", 30, -30, 92);

  const done = drawing.box(
    24,
    440,
    4 * WIDTH + 3 * GAP + 32,
    36,
    "done: one final status, one report, and never another change",
  );
  for (const { state } of STATES) {
    const [x, y] = bottom(at(state));
    const ends = EVENTS.flatMap((event) => {
      const taken = step(state, event);
      return taken?.to === "done" ? [{ event, ...taken }] : [];
    });
    drawing.arrow([
      [x - WIDTH / 2 + 8, y],
      [x - WIDTH / 2 + 8, done.y],
    ]);
    ends.forEach(({ event, status, refund }, index) => {
      const line = y + 22 + index * 31;
      const name = STATUS[status].name;
      drawing.words([x - WIDTH / 2 + 16, line], refund === true ? `${event} · refunded` : event, { look: "small" });
      drawing.words([x - WIDTH / 2 + 16, line + 13], name, { look: "mono", tone: toneOf(name) });
    });
  }
  return drawing;
}
