/** Why messages failed, in words. */
import { findError } from "../../sms/errors.ts";

/** The reasons of several carriers together, the most frequent first, and at most `limit` of them. */
export function reasonsOf(lists: readonly (readonly (readonly [errorId: number, count: number])[])[], limit: number) {
  const counts = new Map<number, number>();
  for (const [errorId, count] of lists.flat()) counts.set(errorId, (counts.get(errorId) ?? 0) + count);
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, limit)
    .map(([errorId, count]) => {
      const { name = `error ${errorId}`, description = "It is not in the table of errors." } = findError(errorId) ?? {};
      return { errorId, name, description, count };
    });
}
