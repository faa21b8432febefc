/** What somebody chose is shown at once. What the service says counts again as soon as it has changed, or when the service refuses the choice. */
import { useEffect, useState } from "preact/hooks";

export function useChosen<Value>(actual: Value, send: (wanted: Value) => Promise<unknown>) {
  const [wanted, setWanted] = useState<Value | null>(null);
  const [problem, setProblem] = useState<Error | null>(null);
  const told = JSON.stringify(actual);
  useEffect(() => setWanted(null), [told]);
  const choose = (value: Value): void => {
    setProblem(null);
    setWanted(value);
    send(value).catch((error: Error) => {
      setWanted(null);
      setProblem(error);
    });
  };
  return { shown: wanted ?? actual, problem, choose };
}
