/** What is fetched once, and again when it was changed here: lists that the service does not tell live. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { api, Problem, type Query, withQuery } from "./api.ts";

export interface Fetched<Answer> {
  readonly data: Answer | null;
  readonly problem: Problem | null;
  /** What was shown stays until the new answer is there. */
  readonly reload: () => void;
}

/** With null as its path nothing is fetched. */
export function useFetched<Answer>(path: string | null, query: Query = {}): Fetched<Answer> {
  const address = path === null ? null : withQuery(path, query);
  const [state, setState] = useState<{ address: string | null; data: Answer | null; problem: Problem | null }>({
    address: null,
    data: null,
    problem: null,
  });
  const turn = useRef(0);
  const load = useCallback(() => {
    if (address === null) return;
    const own = ++turn.current;
    const settle = (data: Answer | null, problem: Problem | null): void => {
      // An answer that another question has overtaken is nobody's.
      if (own === turn.current) setState({ address, data, problem });
    };
    api.get<Answer>(address).then(
      (data) => settle(data, null),
      (error: unknown) => settle(null, error instanceof Problem ? error : new Problem((error as Error).message)),
    );
  }, [address]);
  useEffect(() => {
    load();
    return () => {
      turn.current++;
    };
  }, [load]);
  const isThis = state.address === address;
  return { data: isThis ? state.data : null, problem: isThis ? state.problem : null, reload: load };
}
