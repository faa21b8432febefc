/** How long a node may act on what it owns without asking. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Lease } from "../../src/node/lease.ts";

test("a renewal whose answer was overtaken by a later one's does not shorten the lease", () => {
  const lease = new Lease();
  assert.equal(lease.holds(), false);
  const leaseMs = 60_000;
  const longAgo = Lease.moment() - BigInt(2 * leaseMs) * 1_000_000n;
  lease.renew(Lease.moment(), leaseMs);
  lease.renew(longAgo, leaseMs);
  assert.equal(lease.holds(), true);
  lease.end();
  lease.renew(longAgo, leaseMs);
  assert.equal(lease.holds(), false, "nor does it bring back one that is over");
});
