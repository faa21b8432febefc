/** The recorder (recorder.c), which is preloaded into a service: it writes down what that does to its files, and can let one flush fail. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Why there is none here, in words; false if there is one. */
export function whyNoRecorder(): string | false {
  if (process.platform !== "linux") return "this is not Linux";
  try {
    execFileSync("cc", ["--version"], { stdio: "pipe" });
    return false;
  } catch {
    return "there is no C compiler (cc)";
  }
}

/** Makes it in the directory, and returns its path. */
export function compileRecorder(directory: string): string {
  const recorder = join(directory, "recorder.so");
  const source = join(import.meta.dirname, "recorder.c");
  execFileSync("cc", ["-O2", "-shared", "-fPIC", "-pthread", "-o", recorder, source], { stdio: "pipe" });
  return recorder;
}
