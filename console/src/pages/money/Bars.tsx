/** What something cost, as bars with their figures, the dearest first. */
import { Amount, count } from "../../parts/Amount.tsx";
import { placed } from "./Statement.tsx";

export interface Bar {
  readonly name: string;
  readonly words: string;
  readonly amount: string;
  readonly messages: number;
}

/** More than so many are added up in one. */
const MAX_BARS = 8;

function shortened(bars: readonly Bar[]): Bar[] {
  if (bars.length <= MAX_BARS) return [...bars];
  const others = bars.slice(MAX_BARS - 1);
  const sum = others.reduce((total, { amount }) => total + Number(amount), 0);
  return [
    ...bars.slice(0, MAX_BARS - 1),
    {
      name: "others",
      words: `${others.length} others`,
      // For the eye: the statement has it to the last place.
      amount: String(Number(sum.toFixed(6))),
      messages: others.reduce((total, { messages }) => total + messages, 0),
    },
  ];
}

export function Bars({ label, bars, currency }: { label: string; bars: readonly Bar[]; currency: string }) {
  const shown = shortened(bars);
  const most = Math.max(...shown.map(({ amount }) => Number(amount)), Number.MIN_VALUE);
  return (
    <table class="money-bars">
      <caption class="visually-hidden">{label}</caption>
      <thead class="visually-hidden">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Messages</th>
          <th scope="col">Cost, {currency}</th>
        </tr>
      </thead>
      <tbody>
        {shown.map(({ name, words, amount, messages }) => (
          <tr key={name}>
            <th scope="row">
              <span>{words}</span>
              <span class="money-bar" style={{ inlineSize: `${Math.max(1, (100 * Number(amount)) / most)}%` }} />
            </th>
            <td class="soft number">{count(messages)}</td>
            <td class="number">
              <Amount of={placed(amount)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
