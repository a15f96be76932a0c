/**
 * What the store sends to PostgreSQL, and sends again after which failure and for how long. The answers are scripted,
 * because a server gives few of them when they are asked for; with a real one: lost_connections.test.ts.
 */
import { assertEquals } from "@std/assert";
import type { Connections, Sql } from "../../../../src/base/store/postgres/connections.ts";
import {
  asFailure,
  INSERTED_MEANWHILE,
  PostgresFailure,
} from "../../../../src/base/store/postgres/failure.ts";
import { encodeKey } from "../../../../src/base/store/postgres/key_codec.ts";
import {
  arrayOf,
  openPostgresStore,
  startExpiry,
  timeOf,
} from "../../../../src/base/store/postgres/postgres_store.ts";
import { openSharedReads, type Read } from "../../../../src/base/store/postgres/shared_reads.ts";
import type { Commit } from "../../../../src/base/store/store.ts";

/** One answer: an error's SQLSTATE, or the rows; after so many milliseconds. */
type Answer = readonly [answer: string | readonly unknown[], afterMs?: number];

interface Scripted extends Connections, Disposable {
  /** How long it waited before the next statement, each time. */
  readonly pauses: readonly number[];
  /** The values of each statement in turn; deletions of expired entries are answered and not written down. */
  readonly sent: (readonly unknown[])[];
  readonly expired: (readonly unknown[])[];
}

/** Connections whose answers the test gives, and whose time it moves. */
function scripted(...answers: readonly Answer[]): Scripted {
  const { now } = performance;
  const { setTimeout: wait } = globalThis;
  let at = 0;
  performance.now = () => at;
  const [left, sent, expired, pauses]: [Answer[], unknown[][], unknown[][], number[]] = [
    [...answers],
    [],
    [],
    [],
  ];
  Object.assign(globalThis, {
    setTimeout: (next: () => void, ms: number) => {
      pauses.push(ms);
      at += ms;
      queueMicrotask(next);
    },
  });
  const sql: unknown = (text: TemplateStringsArray, ...values: readonly unknown[]): Promise<unknown> => {
    if (text.join("").includes("delete from")) {
      expired.push([...values]);
      return Promise.resolve({ count: 0 });
    }
    sent.push([...values]);
    const [answer = "42601", afterMs = 0] = left.shift() ?? [];
    at += afterMs;
    if (typeof answer !== "string") return Promise.resolve(answer);
    return Promise.reject(asFailure(Object.assign(new Error("scripted"), { code: answer })));
  };
  return {
    sent,
    expired,
    pauses,
    run: (statement) => statement(sql as Sql),
    close: () => Promise.resolve(),
    [Symbol.dispose]() {
      performance.now = now;
      globalThis.setTimeout = wait;
    },
  };
}

const DONE = [{ done: true }];
const NOT_DONE = [{ done: false }];
const [DEADLOCK, LOST, BUG] = ["40P01", "57P01", "23505"];
const COMMIT: Commit = {
  checks: [{ key: ["a"], version: null }, { key: ["b"], version: "v" }],
  writes: [
    { kind: "set", key: ["a"], value: { 'a"\\': 1 }, expiresAt: 0 },
    { kind: "delete", key: ["b"] },
    { kind: "set", key: ["c"], value: 1 },
    { kind: "set", key: ["c"], value: 2 },
    { kind: "set", key: ["d"], value: 3 },
    { kind: "delete", key: ["d"] },
  ],
};

/** The flag of a repetition in each statement, and what came of the commit. */
const COMMITS: Readonly<
  Record<string, readonly [answers: readonly Answer[], flags: readonly boolean[], unknown]>
> = {
  "it is done": [[[DONE]], [false], true],
  "it was repeated before": [[[[{ done: false }]]], [false], false],
  "no row": [[[[]]], [false], false],
  "an entry is inserted meanwhile": [[[INSERTED_MEANWHILE], [NOT_DONE]], [false, false], false],
  "entries are inserted for 2.9 s": [
    [[INSERTED_MEANWHILE, 2899], [INSERTED_MEANWHILE, 1]],
    [false, false],
    "scripted (HB001)",
  ],
  "an entry is inserted 4 s after the connection was lost": [
    [[LOST], [INSERTED_MEANWHILE, 4000], [DONE]],
    [false, true, true],
    true,
  ],
  "a deadlock": [[[DEADLOCK], [DEADLOCK], [DONE]], [false, false, false], true],
  "an entry is inserted after a deadlock": [
    [[DEADLOCK], [INSERTED_MEANWHILE], [DONE]],
    [false, false, false],
    true,
  ],
  "the connection is lost": [[[LOST], [DONE]], [false, true], true],
  "a deadlock after that": [[[LOST], [DEADLOCK], [DONE]], [false, true, true], true],
  "an entry is inserted after that": [[[LOST], [INSERTED_MEANWHILE], [DONE]], [false, true, true], true],
  "a bug": [[[BUG]], [false], "PostgreSQL: scripted (23505)"],
  "a deadlock within 2.9 s": [[[DEADLOCK, 2899], [DONE]], [false, false], true],
  "a deadlock after 2.9 s": [[[DEADLOCK, 2900]], [false], "scripted (40P01)"],
  "it is lost within 9.9 s": [[[LOST, 9899], [DONE]], [false, true], true],
  "it is lost after 9.9 s": [[[LOST, 9900]], [false], "scripted (57P01)"],
  "a deadlock within 9.9 s after it was lost": [
    [[LOST], [DEADLOCK, 9000], [DONE]],
    [false, true, true],
    true,
  ],
};

Deno.test("A commit is repeated after what may pass, with its own id, and as a repetition once it may have happened", async () => {
  for (const [name, [answers, flags, expected]] of Object.entries(COMMITS)) {
    using connections = scripted(...answers);
    const outcome = await openPostgresStore(connections).commit(COMMIT).catch((error: Error) =>
      error.message
    );
    const ids = new Set(connections.sent.map(([id]) => id));
    assertEquals([outcome, connections.sent.map(([, flag]) => flag), ids.size], [expected, flags, 1], name);
    const failed = answers.slice(0, flags.length - 1).filter(([answer]) => answer !== INSERTED_MEANWHILE);
    assertEquals(connections.pauses, failed.map(() => 100), name);
    assertEquals(connections.expired, typeof outcome === "boolean" ? [[1000]] : [], name);
    const array = (...keys: readonly string[]): string => arrayOf(keys.map((key) => encodeKey([key])));
    for (const [, , ...arrays] of connections.sent) {
      assertEquals(arrays, [
        array("a", "b"),
        '{null,"v"}',
        array("a", "c"),
        '{"{\\"a\\\\\\"\\\\\\\\\\":1}","2"}',
        '{"1970-01-01T00:00:00.000Z",null}',
        array("b", "d"),
      ]);
    }
  }
});

const ROW = { key: encodeKey(["a"]), value: 7, version: "v" };
const FOUND = { key: ["a"], value: 7, version: "v" };

Deno.test("A read is repeated after each lost connection and once after another failure, if it came within 3 s", async () => {
  const cases: readonly (readonly [answers: readonly Answer[], found: unknown, tries: number])[] = [
    [[[[ROW]]], FOUND, 1],
    [[[[]]], null, 1],
    [[[LOST, 2999], [[ROW]]], FOUND, 2],
    [[[LOST, 3000]], "scripted (57P01)", 1],
    [[[LOST], [DEADLOCK], [LOST], [[ROW]]], FOUND, 4],
    [[[DEADLOCK], [LOST], [DEADLOCK]], "scripted (40P01)", 3],
    [[[BUG]], "PostgreSQL: scripted (23505)", 1],
  ];
  for (const [answers, expected, tries] of cases) {
    using connections = scripted(...answers);
    const found = await openPostgresStore(connections).get(["a"]).catch((error: Error) => error.message);
    assertEquals([found, connections.sent.length], [expected, tries]);
    assertEquals(connections.pauses, Array.from({ length: tries - 1 }, () => 100));
  }
  using several = scripted([[ROW]]);
  assertEquals(await openPostgresStore(several).getMany([["b"], ["a"]]), [null, FOUND]);
  assertEquals(await openPostgresStore(several).getMany([]), []);
  assertEquals(several.sent, [[arrayOf([encodeKey(["b"]), encodeKey(["a"])])]]);
  using standby = scripted([[]], [[{ waits: false }]], [[{ waits: true }]]);
  const waits = async (): Promise<unknown> => await openPostgresStore(standby).waitsForStandby?.();
  assertEquals([await waits(), await waits(), await waits()], [false, false, true]);
});

Deno.test("Times are written as PostgreSQL reads them, from 1970 to 9999", () => {
  const times = [-1, 0, 1_800_000_000_123, Date.UTC(9999, 11, 31), Infinity].map(timeOf);
  const [first, last] = ["1970-01-01T00:00:00.000Z", "9999-12-31T00:00:00.000Z"];
  assertEquals(times, [first, first, "2027-01-15T08:00:00.123Z", last, last]);
});

Deno.test("Expired entries are deleted a thousand at a time until there are fewer, at most once a second, by one at a time", async () => {
  const counts: (number | "fails")[] = [1000, 1000, 999];
  const [limits, gates]: [unknown[], PromiseWithResolvers<void>[]] = [[], []];
  const expire = startExpiry({
    close: () => Promise.resolve(),
    run: async (statement) => {
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      const count = counts.shift() ?? 0;
      if (count === "fails") throw new PostgresFailure("away", false);
      const sql = (_: unknown, limit: unknown): unknown => {
        limits.push(limit);
        return Promise.resolve({ count });
      };
      return await statement(sql as Sql);
    },
  });
  const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
  const { now } = performance;
  let at = now.call(performance);
  performance.now = () => at;
  const step = async (ms: number): Promise<number> => {
    at += ms;
    expire();
    await turn();
    return gates.length;
  };
  try {
    assertEquals([await step(0), await step(5000)], [1, 1], "one is under way");
    for (const started of [2, 3, 3]) {
      gates.at(-1)?.resolve();
      await turn();
      assertEquals(gates.length, started);
    }
    assertEquals(limits, [1000, 1000, 1000]);
    assertEquals([await step(0), await step(999)], [3, 3]);
    counts.push("fails");
    assertEquals(await step(1), 4);
    gates.at(-1)?.resolve();
    await turn();
    assertEquals([await step(0), await step(1000)], [4, 5], "the next one goes on");
    gates.at(-1)?.resolve();
    await turn();
  } finally {
    performance.now = now;
  }
});

Deno.test("Sixteen reads share a statement if each wants up to 200 rows, and each gets its own part or its own failure", async () => {
  const sizes: number[] = [];
  let failure: Error | undefined;
  const { list, join } = openSharedReads((reads) => {
    sizes.push(reads.length);
    if (failure !== undefined) return Promise.reject(failure);
    const nameOf = (read: Read): string => "key" in read ? `key ${read.key}` : `list ${read.prefix}`;
    return Promise.resolve(reads.map((read) => [{ key: [nameOf(read)], value: 1, version: "1" }]));
  });
  const listing = (name: string, limit = 200): Promise<string> =>
    list({ prefix: [name], limit }).then(([entry]) => `${entry?.key}`, (error: Error) => error.message);
  const joined = (name: string): Promise<string> | undefined =>
    join([name])?.then(([entry]) => `${entry?.key}`, (error: Error) => error.message);
  const first = Array.from({ length: 15 }, (_, index) => listing(`${index}`));
  const [long, last, none] = [listing("long", 201), joined("last"), joined("seventeenth")];
  assertEquals(none, undefined);
  const next = [listing("next"), joined("key") ?? "none"];
  assertEquals(await Promise.all([...first, long, last, ...next]), [
    ...Array.from({ length: 15 }, (_, index) => `list ${index}`),
    ...["list long", "key last", "list next", "key key"],
  ]);
  assertEquals(sizes.splice(0), [1, 16, 2]);
  const all = (): Promise<unknown> => Promise.all([listing("one"), listing("other")]);
  for (
    const [scope, expected] of [["statement", [2, 1, 1]], ["connection", [2]], ["database", [2]]] as const
  ) {
    failure = new PostgresFailure(scope, false, false, scope);
    assertEquals([await all(), sizes.splice(0)], [[scope, scope], [...expected]]);
  }
  failure = new TypeError("a bug");
  assertEquals([await all(), sizes.splice(0)], [["a bug", "a bug"], [2]]);
  failure = new PostgresFailure("alone", false, false, "statement");
  assertEquals([await listing("one"), sizes.splice(0)], ["alone", [1]]);
});
