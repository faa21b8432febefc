/** An amount of money as the service says it: a decimal number as text, never a float. */
export function Amount({ of, currency, sign = false }: { of: string; currency?: string; sign?: boolean }) {
  const text = sign && !of.startsWith("-") && Number(of) !== 0 ? `+${of}` : of;
  return (
    <span class="amount">
      {text.replace("-", "−")}
      {currency === undefined ? "" : ` ${currency}`}
    </span>
  );
}

const whole = new Intl.NumberFormat();

export const count = (value: number): string => whole.format(value);
