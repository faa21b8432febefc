/**
 * The primary is killed under load and its synchronous standby promoted, and once more with the roles changed: nothing that was acknowledged is lost, and
 * no node is restarted. The short run has one kill; SEED and SEEDS choose what the long one does, and how often.
 */
import { test } from "node:test";
import { systemClock } from "../../src/runtime/clock.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { isLong } from "../support/chance.ts";
import { pause } from "../support/cluster.ts";
import { assertNothingLost, assertQuick, recovery, startScene } from "../support/failover.ts";
import { eventually } from "../support/service.ts";
import { URL_KINDS } from "../support/standby.ts";

const SEED = Number(process.env.SEED ?? systemClock.now() % 1_000_000);
const SEEDS = Number(process.env.SEEDS ?? 1);
const KINDS = isLong ? URL_KINDS : URL_KINDS.slice(0, 1);
const FAILOVERS = isLong ? 3 : 1;
const MAX_AWAY_MS = isLong ? 3_000 : 0;

for (const [seed, kind] of Array.from({ length: SEEDS }, (_, index) => SEED + index).flatMap((seed) =>
  KINDS.map((kind) => [seed, kind] as const),
)) {
  test(`a failover to the standby loses nothing, by ${kind} (SEED=${seed})`, { timeout: 600_000 }, async (t) => {
    const random = seededRandom(seed);
    const scene = await startScene(t, { synchronous: true, kind, random });
    const { pair, load } = scene;
    for (let failover = 1; failover <= FAILOVERS; failover++) {
      const before = load.accepted.size;
      await eventually(async () => load.accepted.size - before >= 50);
      await pause(random.next() * 500);
      await pair.kill();
      await pause(random.next() * MAX_AWAY_MS);
      await pair.promote();
      assertQuick(t, await recovery(scene));
      if (failover < FAILOVERS) await pair.follow();
    }
    await assertNothingLost(t, scene, FAILOVERS);
  });
}
