/** What the log says of a disk that fails, or of rows that their tables refuse: what is true, and not at every try. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import Database from "better-sqlite3";
import { RULES } from "../../src/commands/table.ts";
import { localStore } from "../../src/store/group.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { faultsTold } from "../../src/store/sqlite/faults-told.ts";
import { temporaryDirectory } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { IO_ERROR } from "./failing-disk.ts";
import { Bench } from "./harness.ts";

interface Line {
  readonly says: string;
  readonly leftOut?: number;
  readonly err?: Error;
}

function logOf() {
  const lines: Line[] = [];
  const write = (facts: Omit<Line, "says">, says: string) => void lines.push({ ...facts, says });
  return { lines, log: { warn: write, error: write } as never };
}

test("a flush that fails again and again is told once, and then by count", async () => {
  const { lines, log } = logOf();
  const clock = new VirtualClock();
  const { onFault, onDistrust, onTrust } = faultsTold(log, clock);
  // Four tries a second, as the store makes them.
  for (let tries = 0; tries < 240; tries++) {
    onFault(IO_ERROR("SQLITE_IOERR_FSYNC"));
    onDistrust(IO_ERROR("SQLITE_IOERR_FSYNC"));
    onTrust();
    await clock.advance(240);
  }
  assert.equal(lines.length, 3);
  await clock.advance(60_000);
  onFault(IO_ERROR("SQLITE_IOERR_FSYNC"));
  assert.equal(lines.at(-1)!.leftOut, 239);
});

async function engineTelling(t: TestContext) {
  const directory = await temporaryDirectory(t);
  const { lines, log } = logOf();
  let engine: SqliteEngine | null = null;
  const bench = await Bench.start(t, async () => ({
    async open(clock, lanes, onFeed) {
      const opened = new SqliteEngine({
        rules: RULES,
        directory,
        clock,
        lanes,
        mode: "deliver",
        ...faultsTold(log, clock),
      });
      engine = opened;
      return { store: localStore(opened, onFeed), overflowed: [], close: async () => opened.close() };
    },
  }));
  return { bench, lines, directory, engine: engine! as SqliteEngine };
}

test("rows that their table refuses are not said to be in the journal: they are kept aside, and that is told once", async (t) => {
  const { bench, lines, directory } = await engineTelling(t);
  const db = new Database(join(directory, "heliograph.sqlite"));
  db.exec("CREATE TRIGGER refuses BEFORE INSERT ON message BEGIN SELECT RAISE(ABORT, 'not this one'); END");
  db.close();
  for (let count = 0; count < 20; count++) await bench.accept([bench.message({ to: "999" })]);
  await bench.clock.advance(5_000);
  await bench.store.claimDue({ nowMs: 0, limit: 10 });
  assert.equal((await bench.store.quarantined({ limit: 1 })).count, 20);
  assert.deepEqual(
    lines.map(({ says }) => says),
    ["what could not be written is kept aside"],
  );
  assert.match(lines[0]!.err!.message, /^message \d+ was refused, and is kept aside in the table quarantine: /);
});

test("rows that could not be flushed are in the journal, as the log says", async (t) => {
  const { bench, lines, directory, engine } = await engineTelling(t);
  const exec = Database.prototype.exec;
  let fails = false;
  t.mock.method(Database.prototype, "exec", function (this: Database.Database, sql: string) {
    if (!fails || sql !== "COMMIT" || !this.name.startsWith(directory)) return exec.call(this, sql);
    exec.call(this, "ROLLBACK");
    throw IO_ERROR("SQLITE_FULL");
  });
  await bench.accept([bench.message()]);
  await bench.clock.advance(5_000);
  fails = true;
  for (let tries = 0; tries < 10; tries++) engine.onIdle();
  fails = false;
  assert.deepEqual(
    lines.map(({ says }) => says),
    ["rows could not be written to their tables; they are still in the journal"],
  );
  const db = new Database(join(directory, "heliograph.sqlite"), { readonly: true });
  t.after(() => db.close());
  assert.notEqual(db.prepare("SELECT count(*) FROM journal").pluck().get(), 0);
});
