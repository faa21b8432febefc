/** The sandbox's clock: how far it is ahead, and moving it. */
import { MAX_OFFSET_MS, type TimeTravel } from "../runtime/time-travel.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { Account } from "../store/port/accounts.ts";
import type { Store } from "../store/port/store.ts";
import { seesAll } from "./beyond.ts";
import { ApiError, badField } from "./errors.ts";
import { type Api, accountOf, operation, SENDING, TRACKING } from "./operation.ts";
import type { SandboxPort } from "./parts.ts";
import { momentIn } from "./query.ts";
import * as schemas from "./sandbox-schemas.ts";

export const SANDBOX_SEEN = { tag: "Sandbox", ...TRACKING } as const;
export const SANDBOX_CHANGED = { tag: "Sandbox", ...SENDING } as const;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^(-?\d{1,9})(s|m|h|d)$/;
const MAX_JUMP_MS = 366 * UNIT_MS.d!;
const ONLY_FORWARDS =
  "The sandbox's clock goes forwards only, because ids and postings stand in the order of time. An empty data directory begins with the real time again";

export function clockOperations(api: Api, store: Pick<Store, "waitingUntil">, travel: SandboxPort["travel"]): void {
  const here = () => {
    if (travel !== null) return travel;
    throw new ApiError(
      "conflict",
      "The clock cannot be moved on PostgreSQL, where other nodes may share it: run the sandbox on its own data directory.",
    );
  };
  const answer = () => ({ now: formatDateTime(here().now()), offsetMs: here().offsetMs });

  api.get(
    "/sandbox/1/clock",
    operation({
      ...SANDBOX_SEEN,
      id: "getSandboxClock",
      summary: "What time it is in the sandbox",
      answer: schemas.ClockAnswer,
    }),
    async () => answer(),
  );

  api.put(
    "/sandbox/1/clock",
    operation({
      ...SANDBOX_CHANGED,
      id: "moveSandboxClock",
      summary: "Move the sandbox's clock forwards",
      schema: { body: schemas.ClockChange },
      answer: schemas.ClockJump,
    }),
    async (request) => {
      const travel = here();
      const accountId = seenBy(accountOf(request));
      const { byMs, released } = await travel.jump(async () => {
        const byMs = wantedJump(request.body, travel);
        const { messages, reports } = await store.waitingUntil({ untilMs: travel.now() + byMs, accountId });
        return { byMs, released: { messages, reports } };
      });
      return { ...answer(), jumpedMs: byMs, released };
    },
  );
}

/** Whose messages an account is told of: its own; the operator of everybody's. */
export function seenBy(caller: Account): number | null {
  return seesAll(caller) ? null : caller.id;
}

interface Wanted {
  readonly by?: string;
  readonly to?: string;
  readonly offset?: string;
}

function wantedJump(wanted: Wanted, travel: Pick<TimeTravel, "offsetMs" | "now">): number {
  const given = Object.keys(wanted);
  const [name] = given;
  if (name === undefined || given.length > 1) {
    throw badField(name ?? "by", "must be given alone: one of by, to and offset");
  }
  const byMs = jumpOf(wanted, travel);
  if (byMs < 0) throw badField(name, `is before the sandbox's time. ${ONLY_FORWARDS}`);
  if (byMs > MAX_JUMP_MS) throw badField(name, "must be at most 366 days from the sandbox's time");
  if (travel.offsetMs + byMs > MAX_OFFSET_MS) {
    throw badField(name, "is more than ten years from the real time. An empty data directory begins with that again");
  }
  return byMs;
}

function jumpOf({ by, to, offset }: Wanted, travel: Pick<TimeTravel, "offsetMs" | "now">): number {
  if (by !== undefined) return duration("by", by);
  if (offset !== undefined) return duration("offset", offset) - travel.offsetMs;
  return momentIn(to!, "to") - travel.now();
}

function duration(name: string, text: string): number {
  const [, count, unit] = DURATION.exec(text) ?? [];
  if (count === undefined || unit === undefined) throw badField(name, "must be a number with s, m, h or d, such as 2h");
  return Number(count) * UNIT_MS[unit]!;
}
