/** The bench's figures and its guard, on made-up samples: ratios, targets, growth, and what fails a run. */
import { assertEquals, assertThrows } from "@std/assert";
import { type StageSample, WHOLE } from "../../../../scripts/proofs/bench/flows.ts";
import { UsageError } from "../../../../scripts/command_line/run.ts";
import { readBenchOptions } from "../../../../scripts/proofs/bench/options.ts";
import {
  growthOf,
  guard,
  promises,
  RATIOS,
  report,
  type Row,
  tableOf,
} from "../../../../scripts/proofs/bench/report.ts";
import { STAGES } from "../../../../scripts/proofs/bench/stages.ts";

const NAMES = [...STAGES.map(({ name }) => name), WHOLE];
/** Every floor is 1 ms a request. */
const FLOORS = [STAGES.map(() => 1)];

/** A round of ten requests a stage, each of them with so many times its floor in processor time. */
function round(times: number): StageSample[] {
  return NAMES.map((name) => {
    const floor = name === WHOLE ? STAGES.length : 1;
    return {
      name,
      requests: 10,
      seconds: 2,
      cpu: 10 * floor * times,
      latencies: Array(10).fill(5),
      failures: 0,
    };
  });
}

function rows(times: number): Row[] {
  return tableOf(8, [round(times), round(times + 0.5), round(times - 0.5)], FLOORS);
}

Deno.test("bench: a row has the median of its rounds, their spread, and ours over the floor", () => {
  const [first] = rows(2);
  assertEquals(
    [first?.stage, first?.perSecond, first?.p50, first?.p99, first?.failures],
    ["token (client credentials)", 5, 5, 5, 0],
  );
  assertEquals([first?.cpu, first?.cpuLeast, first?.cpuMost, first?.floor, first?.ratio], [
    2,
    1.5,
    2.5,
    1,
    2,
  ]);
  const whole = rows(2).at(-1);
  assertEquals([whole?.stage, whole?.floor, whole?.ratio], [WHOLE, STAGES.length, 2]);
  assertEquals(report(rows(2)).split("\n").length, 2 + NAMES.length + 1);
});

Deno.test("bench: promises name what missed its target, what is uneven and what is too large", () => {
  assertEquals(promises(rows(1), 100), [
    "targets at 8 at once: all kept",
    "p99 at 32 at once within 4 times p50: all kept",
    "resident memory at the end: 100 MB (within 250)",
  ]);
  const [targets = "", , memory] = promises(rows(1.35), 251);
  assertEquals(targets.includes("PAR 1.35") && !targets.includes("consent GET"), true);
  assertEquals(memory, "resident memory at the end: 251 MB (over 250)");
  const slow = round(1).map((sample) => ({ ...sample, latencies: [1, 1, 1, 9] }));
  assertEquals(promises(tableOf(32, [slow], FLOORS), 1)[1]?.includes("PAR 9"), true);
});

Deno.test("bench: the guard holds every row to 1.5 times of what is checked in", () => {
  assertEquals(Object.keys(RATIOS).toSorted(), NAMES.toSorted());
  const at = (share: number): Row[] =>
    rows(1).map((row) => ({ ...row, ratio: (RATIOS[row.stage] ?? Number.NaN) * share }));
  assertEquals(guard(at(1.49)), []);
  assertEquals(guard(at(1.51)).length, NAMES.length);
  assertEquals(guard(at(1.51).map((row) => ({ ...row, concurrency: 32 }))), []);
  assertEquals(guard([{ ...rows(1)[0], stage: "another" } as Row]), ["another: no ratio is checked in"]);
});

Deno.test("bench: growth compares a filled store with an empty one, row by row", () => {
  const [first] = growthOf(rows(2), rows(3), 1000);
  assertEquals(
    first,
    "token (client credentials), 8 at once, 1000 consents ÷ none: p50 1, CPU 1.5, past 1.2",
  );
});

Deno.test("bench takes its options, and rejects what is none", () => {
  const given = readBenchOptions(["--fill", "1000", "--concurrency", "1,8", "--guard"]);
  assertEquals([given.fill, given.guard, given.concurrency], [1000, true, [1, 8]]);
  for (
    const wrong of [["--fill"], ["--rounds", "0"], ["--concurrency", "8,x"], ["--quick", "1"], ["8"], [
      "--processes",
      "0",
    ]]
  ) {
    assertThrows(() => readBenchOptions(wrong), UsageError);
  }
});
