/**
 * How often a report was tried in all. A replay makes a dead letter as new, and its count of tries begins again; whoever asks wants to know of all of them.
 * So a count that goes back tells that there was a replay before that try. Pure.
 */
export interface NumberedTry {
  /** Of all tries, the first one is 1. */
  readonly number: number;
  /** Somebody had it sent again, and this is the first try since. */
  readonly isReplay: boolean;
}

interface CountedTry {
  /** Since the report was made, or since its last replay. */
  readonly try: number;
  /** It was the last one before a replay. */
  readonly isDead: boolean;
}

/** Some tries between the known ones may not be known. A process that dies before the store knows of a try makes it again under the same count. */
export function numberedTries(tries: readonly { readonly detail: CountedTry }[]): NumberedTry[] {
  let before = 0;
  let last: CountedTry | null = null;
  return tries.map(({ detail: tried }) => {
    const isReplay = last !== null && (tried.try < last.try || (tried.try === last.try && last.isDead));
    if (isReplay) before += last!.try;
    last = tried;
    return { number: before + tried.try, isReplay };
  });
}
