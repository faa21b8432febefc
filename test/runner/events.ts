/** What the process of a test file tells the runner, a line of JSON each. */
export type TestLine =
  | { kind: "running"; file: string; name: string }
  | { kind: "passed" | "skipped"; file: string; name: string; durationMs: number }
  | { kind: "failed"; file: string; test: readonly string[]; reason: string }
  | { kind: "done" };

/** The environment variable with the path of that file. */
export const EVENTS_FILE = "TEST_EVENTS_FILE";
