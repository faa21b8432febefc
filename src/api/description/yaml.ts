/** A thread that writes the description as YAML, which takes a second: too long for the thread that answers everybody. Given and told as text. */
import { parentPort, workerData } from "node:worker_threads";
import { stringify } from "yaml";

parentPort!.postMessage(stringify(JSON.parse(workerData as string)));
