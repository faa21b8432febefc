/** For what may fail without harm: a system that does not tell, a text that may be anything. */

/** What `work` gives, or `otherwise` where it throws. */
export function orElse<Result, Otherwise>(work: () => Result, otherwise: Otherwise): Result | Otherwise {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
