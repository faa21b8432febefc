/** The route of docs/carriers.md: where a message goes, and where it goes when a carrier is down. */
import { Drawing, left, right } from "./drawing.ts";

export function routes(): Drawing {
  const drawing = new Drawing("A route with failover", 990, 400);
  drawing.words(
    [24, 58],
    "The longest prefix that fits the number decides. Within the route, the first group with a carrier that is up gets the message.",
    { look: "small" },
  );

  const message = drawing.box(24, 150, 150, 62, "message", ["to 41793026727"], "moving");
  const swiss = drawing.box(250, 104, 170, 62, 'prefix "41"', ["fits two digits"], "done");
  const others = drawing.box(250, 300, 170, 62, 'prefix ""', ["fits every number"], "waiting");
  const acme = drawing.box(560, 86, 190, 58, "acme", ["weight 3: three of four"], "failed");
  const other = drawing.box(560, 164, 190, 58, "other", ["weight 1: one of four"], "done");
  const backup = drawing.box(560, 258, 190, 58, "backup", ["only if neither is up"], "waiting");

  drawing.words([470, 82], "group 1", { look: "small" });
  drawing.words([470, 252], "group 2", { look: "small" });
  drawing.arrow([right(message), [212, 181], [212, 135], left(swiss)], { tone: "done" });
  drawing.arrow([right(message), [212, 181], [212, 331], left(others)], {
    tone: "waiting",
    dashed: true,
    label: "any other number",
    labelAt: [220, 256],
    anchor: "start",
  });
  drawing.arrow([right(swiss), [490, 135], [490, 115], left(acme)], { tone: "failed", dashed: true });
  drawing.arrow([right(swiss), [490, 135], [490, 193], left(other)], { tone: "done" });
  drawing.arrow([right(swiss), [450, 135], [450, 287], left(backup)], { tone: "waiting", dashed: true });
  drawing.arrow(
    [
      [655, 144],
      [655, 164],
    ],
    { tone: "retrying" },
  );
  drawing.words([766, 108], "down: nothing new goes there, and", { look: "small", tone: "failed" });
  drawing.words([766, 125], "what waits for it goes on", { look: "small", tone: "failed" });
  drawing.words([766, 198], "up: it gets all", { look: "small", tone: "done" });
  drawing.words(
    [24, 384],
    "A message goes elsewhere at most five times, and not at all once a carrier has part of it. If none is up it waits in the store until one is.",
    { look: "small" },
  );
  return drawing;
}
