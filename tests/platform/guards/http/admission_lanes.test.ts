/** The lanes of all traffic, what a rejected request is told, and what the log says of it. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import type { Log } from "../../../../src/platform/observed/log_events.ts";
import {
  type LaneName,
  openAdmission,
  TRAFFIC,
  type Traffic,
} from "../../../../src/platform/guards/http/admission.ts";

const nothing = (): void => {};
const SILENT: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing, security: nothing };

const LANES: Readonly<Record<Traffic, readonly [lane: LaneName, urgent: boolean]>> = {
  approved: ["participants", true],
  participant: ["participants", false],
  bank: ["banks", true],
  returning: ["customers", true],
  customer: ["customers", false],
  public: ["public", false],
  operator: ["operator", true],
  person: ["people", false],
  probe: ["probes", true],
};

Deno.test("each kind of traffic has its lane, and only that lane's places", async () => {
  assertEquals(
    Object.entries(TRAFFIC).map(([traffic, { lane, urgent }]) => [traffic, [lane, urgent]]),
    Object.entries(LANES),
  );
  const logged: unknown[] = [];
  let now = 0;
  const bound = { places: 1, ordinaryPlaces: 1, waitMs: 0 };
  const admission = openAdmission({
    bounds: {
      participants: bound,
      banks: bound,
      customers: bound,
      public: bound,
      operator: bound,
      people: bound,
      probes: bound,
    },
    steady: () => now,
    log: { ...SILENT, warn: (...line) => void logged.push(line) },
  });
  const rejectedOf = (lane: LaneName): number => {
    const { rejectedFull, rejectedLate } = admission.state()[lane];
    return rejectedFull + rejectedLate;
  };
  for (const [traffic, [lane, urgent]] of Object.entries(LANES) as [Traffic, [LaneName, boolean]][]) {
    const end = Promise.withResolvers<void>();
    const first = admission.run(traffic, "one", async () => await end.promise);
    const busy = Object.entries(admission.state()).filter(([, { inWork }]) => inWork > 0).map(([name]) =>
      name
    );
    assertEquals(busy, [lane], traffic);
    logged.length = 0;
    now += 10_000;
    const [began, before] = [performance.now(), rejectedOf(lane)];
    const rejected = [1, 2].map(() =>
      assertRejects(() => admission.run(traffic, "other", () => Promise.resolve()), ApiError)
    );
    for (const { reason, parts } of await Promise.all(rejected)) {
      assertEquals([reason, parts], ["platform.overloaded", { retryAfterSeconds: urgent ? 1 : 5 }], traffic);
    }
    assert(performance.now() - began >= 199, "it is held back");
    assertEquals(logged.length, 1, "the lane's second rejection is not logged for 10 s");
    const [[event, fields] = []] = logged as [string, Record<string, unknown>][];
    assertEquals([event, fields?.["lane"], fields?.["inWork"]], ["requests.rejected", lane, 1]);
    const words = ["inWork", "lane", "rejectedFull", "rejectedLate", "waiting"];
    assertEquals(Object.keys(fields ?? {}).toSorted(), words);
    assertEquals(rejectedOf(lane) - before, 2);
    end.resolve();
    await first;
    assertEquals(await admission.run(traffic, "other", () => Promise.resolve("done")), "done");
    await assertRejects(
      () => admission.run(traffic, "other", () => Promise.reject(new TypeError("bug"))),
      TypeError,
    );
    assertEquals(admission.state()[lane].inWork, 0);
  }
});

Deno.test("a rejection is held back by 200 ms, or by 2 ms for each that is held, and by 5 s at most; a lane has one line in 10 s", async () => {
  const logged: unknown[] = [];
  let now = 0;
  const bound = { places: 1, ordinaryPlaces: 1, waitMs: 0 };
  const [participants, banks, customers, operator, people, probes] = Array(6).fill(bound);
  const admission = openAdmission({
    bounds: { participants, banks, customers, operator, people, probes, public: bound },
    steady: () => now,
    log: { ...SILENT, warn: (_event, ...fields) => void logged.push(...fields) },
  });
  const end = Promise.withResolvers<void>();
  const holders = (["public", "person"] as const).map((traffic) =>
    admission.run(traffic, "one", () => end.promise)
  );
  const waits: number[] = [];
  const held: (() => void)[] = [];
  const { setTimeout: start } = globalThis;
  const fake = (next: () => void, ms: number): unknown => {
    if (ms === 0) return start(next, ms);
    waits.push(ms);
    held.push(next);
  };
  Object.assign(globalThis, { setTimeout: fake });
  try {
    const reject = async (times: number, traffic: Traffic = "public"): Promise<Promise<unknown>[]> => {
      const before = waits.length;
      const all = Array.from(
        { length: times },
        () => assertRejects(() => admission.run(traffic, "other", () => Promise.resolve()), ApiError),
      );
      while (waits.length < before + times) await new Promise((done) => start(done, 1));
      return all;
    };
    const all = await reject(2501);
    assertEquals([waits[0], waits[99], waits[100], waits[2499], waits[2500]], [200, 200, 202, 5000, 5000]);
    for (const next of held.splice(0)) next();
    await Promise.all(all);
    const more = [...await reject(1), ...await reject(1, "person")];
    assertEquals([waits.slice(2501), logged.length], [[200, 200], 2], "a line of each lane");
    for (const [ms, lines] of [[9999, 0], [1, 1]] as const) {
      logged.length = 0;
      now += ms;
      more.push(...await reject(1));
      assertEquals(logged.length, lines);
    }
    for (const next of held) next();
    await Promise.all(more);
  } finally {
    Object.assign(globalThis, { setTimeout: start });
    end.resolve();
    await Promise.all(holders);
  }
});
