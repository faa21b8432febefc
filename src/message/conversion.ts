/** That a message brought what it was sent for: the client says so, once, of messages that were sent with such a wish. */
export interface KeptConversion {
  /** What the client calls it. */
  readonly name: string | null;
  readonly processKey: string;
  /** When it was told; null until then. */
  readonly endedAtMs: number | null;
}
