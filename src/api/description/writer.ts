/**
 * A thread that writes the description, as JSON or as YAML, from what the operations say of themselves. That takes a tenth of a second, and as YAML a whole
 * one: too long for the thread that answers everybody. Given and told as text.
 */
import { parentPort, workerData } from "node:worker_threads";
import { stringify } from "yaml";
import { describe } from "./describe.ts";
import { type SaidRoute, saidBy } from "./said.ts";

export interface WriterData {
  /** The routes, with what the operations say of themselves, in JSON. */
  readonly routes: string;
  readonly isSandbox: boolean;
  readonly nowMs: number;
  readonly as: "json" | "yaml";
}

const { routes, isSandbox, nowMs, as } = workerData as WriterData;
const said = await saidBy(JSON.parse(routes) as SaidRoute[], isSandbox);
const json = JSON.stringify(describe(said, nowMs));
parentPort!.postMessage(as === "json" ? json : stringify(JSON.parse(json)));
