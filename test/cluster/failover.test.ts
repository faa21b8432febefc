/**
 * The primary is killed under load and its synchronous standby promoted, and once more with the roles changed: nothing that was acknowledged is lost, and
 * no node is restarted. The short run has one kill; SEED and SEEDS choose what the long one does, and how often.
 */
import { test } from "node:test";
import { systemClock } from "../../src/runtime/clock.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { isLong } from "../support/chance.ts";
import { pause } from "../support/cluster.ts";
import {
  assertKept,
  assertNobodyFenced,
  assertQuick,
  LEASE_MS,
  recovery,
  settle,
  startScene,
} from "../support/failover.ts";
import { eventually } from "../support/service.ts";
import { URL_KINDS } from "../support/standby.ts";

const SEED = Number(process.env.SEED ?? systemClock.now() % 1_000_000);
const SEEDS = Number(process.env.SEEDS ?? 1);
const FAILOVERS = isLong ? 3 : 1;
const MAX_AWAY_MS = isLong ? 3_000 : 0;

for (const [index, kind] of Array.from({ length: SEEDS }, () => (isLong ? URL_KINDS : (["hosts"] as const))).flatMap(
  (kinds, seed) => kinds.map((kind) => [SEED + seed, kind] as const),
)) {
  test(`a failover to the standby loses nothing, by ${kind} (SEED=${index})`, { timeout: 600_000 }, async (t) => {
    const random = seededRandom(index);
    const scene = await startScene(t, { synchronous: true, kind, random });
    const { pair, load } = scene;
    for (let failover = 1; failover <= FAILOVERS; failover++) {
      const before = load.accepted.size;
      await eventually(async () => load.accepted.size - before >= 100);
      await pause(random.next() * 500);
      await pair.kill();
      await pause(random.next() * MAX_AWAY_MS);
      await pair.promote();
      const recovered = await recovery(scene);
      t.diagnostic(
        `${recovered.firstAcceptedMs} ms to the first 200, ${recovered.firstSentMs} ms to the first message sent`,
      );
      assertQuick(recovered);
      if (failover < FAILOVERS) await pair.restore();
    }
    await settle(scene);
    // A whole lease more, after which those who are in touch may take others for dead.
    await pause(1.5 * LEASE_MS);
    await assertNobodyFenced(scene);
    await assertKept(t, scene, FAILOVERS);
  });
}
