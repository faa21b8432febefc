/** In its whole life an account may spend more than 64 bits hold: at 2^62 one is carried. */
export const CARRIED = 2n ** 62n;

/** An amount in as many pieces as can be added at once. */
export function* chargePieces(amountMicros: bigint): Generator<bigint> {
  let left = amountMicros;
  for (; left > CARRIED; left -= CARRIED) yield CARRIED;
  if (left > 0n) yield left;
}
