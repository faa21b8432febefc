/**
 * A thread that writes the description, as JSON or as YAML, from what the operations say of themselves. That takes a tenth of a second, and as YAML a whole
 * one: too long for the thread that answers everybody. Given and told as text.
 */
import { parentPort, workerData } from "node:worker_threads";
import { stringify } from "yaml";
import { describe } from "./describe.ts";

export interface WriterData {
  /** What the operations say of themselves, in JSON. */
  readonly operations: string;
  readonly nowMs: number;
  readonly as: "json" | "yaml";
}

const { operations, nowMs, as } = workerData as WriterData;
const json = JSON.stringify(describe(JSON.parse(operations) as object, nowMs));
parentPort!.postMessage(as === "json" ? json : stringify(JSON.parse(json)));
