/** Which messages of SQLite are failures of the database, and how long its lock is waited for. */
import { assertEquals } from "@std/assert";
import { isSqliteFailure, LOCKED, untilUnlocked } from "../../../src/base/store/sqlite_failure.ts";
import { StoreFailure } from "../../../src/base/store/store.ts";

/** `sqlite3_errstr` of PERM, READONLY, CORRUPT, BUSY, FULL, LOCKED, IOERR, NOTADB, PROTOCOL, NOMEM and CANTOPEN. */
const FAILURES = [
  "access permission denied",
  "attempt to write a readonly database",
  "database disk image is malformed",
  "database is locked",
  "database or disk is full",
  "database table is locked",
  "disk I/O error",
  "file is not a database",
  "locking protocol",
  "out of memory",
  "unable to open database file",
];
const BUGS = ["", "SQL logic error", "constraint failed", "string or blob too big", "DISK I/O ERROR"];

Deno.test("a message of SQLite about the database is its failure, and any other one a bug of the program", () => {
  assertEquals([FAILURES.filter(isSqliteFailure), BUGS.filter(isSqliteFailure)], [FAILURES, []]);
});

Deno.test("an attempt that meets another process's lock is repeated each 50 ms for 5 s, and no other failure is", async () => {
  const { performance: { now }, setTimeout: start } = globalThis;
  let [at, attempts] = [0, 0];
  const waits = new Set<number>();
  const fake = (next: () => void, ms: number): void => {
    at += ms;
    waits.add(ms);
    queueMicrotask(next);
  };
  const triedOn = async (error: Error, unlockedAt = Infinity): Promise<unknown> => {
    [at, attempts] = [0, 0];
    const outcome = await untilUnlocked(() => {
      attempts += 1;
      if (at < unlockedAt) throw error;
      return "done";
    }).catch((reason: Error) => reason.message);
    return [outcome, attempts, at];
  };
  Object.assign(globalThis, { setTimeout: fake });
  performance.now = () => at;
  try {
    assertEquals(await triedOn(new StoreFailure(LOCKED), 100), ["done", 3, 100]);
    assertEquals(await triedOn(new StoreFailure(LOCKED)), [LOCKED, 101, 5000]);
    assertEquals(await triedOn(new StoreFailure("disk I/O error"), 1), ["disk I/O error", 1, 0]);
    assertEquals(await triedOn(new TypeError(LOCKED), 1), [LOCKED, 1, 0]);
    assertEquals([...waits], [50]);
  } finally {
    performance.now = now;
    Object.assign(globalThis, { setTimeout: start });
  }
});
