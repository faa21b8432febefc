/**
 * How soon a carrier that is bound but sick is passed over: `npm run bench -- sick`. It runs over simulated time, on a route of two groups, with the real
 * dispatch and SMPP. The figures are the same on every machine.
 */
import { play, SICKNESSES, type Told } from "./sick/model.ts";

const STORY = { perSecond: 20, wellSeconds: 5, sickSeconds: 61, thenSeconds: 60 };
const AFTER_S = [5, 10, 30];
/** It is back when it takes so large a share of what is new. */
const BACK_SHARE = 0.9;

const row = (...cells: string[]): void => console.log(`| ${cells.join(" | ")} |`);
const shareOfSecond = (told: Told, second: number): string =>
  `${((100 * (told.second.get(second) ?? 0)) / STORY.perSecond).toFixed(0)} %`;

const columns = [
  "how it is sick",
  ...AFTER_S.map((s) => `after ${s} s`),
  "sick after",
  "in doubt",
  "lost",
  "back after",
];
row(...columns);
row(...columns.map(() => "---"));
for (const sickness of SICKNESSES) {
  const told = await play({ sickness, ...STORY });
  const sickAfter = [...told.states].find(([, state]) => state === "sick")?.[0];
  const isBack = (second: number): boolean => (told.first.get(second) ?? 0) >= BACK_SHARE * STORY.perSecond;
  const rest = Array.from({ length: STORY.thenSeconds }, (_, second) => STORY.sickSeconds + second);
  const back = rest.find((second) => rest.every((later) => later < second || isBack(later)));
  row(
    sickness,
    ...AFTER_S.map((second) => shareOfSecond(told, second)),
    sickAfter === undefined ? "never" : `${sickAfter + 1} s`,
    String(told.inDoubt),
    String(told.missing),
    back === undefined ? "not yet" : `${back - STORY.sickSeconds} s`,
  );
}
