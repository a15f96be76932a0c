/** `deno task bench --writes`: what a payment writes and calls, counted in a real process. */
import { assert, assertEquals } from "@std/assert";
import { present } from "testing/answers.ts";
import { processesReport } from "../../../../scripts/proofs/bench/processes.ts";
import { STAGES } from "../../../../scripts/proofs/bench/stages.ts";
import { countWrites, writesReport } from "../../../../scripts/proofs/bench/writes.ts";

Deno.test("bench counts a payment's rows, bytes and calls, which follow from those of its requests", async () => {
  const options = { writes: ["sqlite"], requests: 2, rounds: 1, warm: 1 } as const;
  const found = present((await countWrites(options, { PLATFORM_LOG_LEVEL: "warn" }, () => {}))[0]);
  assertEquals([found.engine, found.failures], ["sqlite", 0]);
  const { costs } = found;
  const sum = (of: "writes" | "verify" | "decrypt"): number =>
    STAGES.reduce((all, { floor }) => all + floor[of], 0);
  assertEquals(costs["calls: decrypt RSA-OAEP"], sum("decrypt"));
  const [rows = 0, verified = 0] = [costs["rows: written"], costs["calls: verify RSA-PSS"]];
  // The replay records of commits that share a transaction have one row.
  assert(rows >= 0.8 * sum("writes") && rows < 2 * sum("writes"), `${rows} rows`);
  assert(verified >= sum("verify") && verified <= sum("verify") + 2, `${verified} verifications`);
  assert((costs["rows: transactions"] ?? 0) > 1 && (costs["ms: PAR"] ?? 0) > 0);
  const table = writesReport([found]);
  assert(table.includes("| rows: written | ") && /\| kinds: audit kB \| \d\d\./.test(table), table);
  assert(!/\| 0\.0+ \|$/m.test(table), table);
});

Deno.test("bench: the processors that are busy are those of the platform, the database and the bench", () => {
  const row = { processes: 2, perSecond: 20, platform: 40, database: 10, bench: 30, failures: 0 };
  assertEquals(processesReport([row]).split("\n")[2], "| 2 | 20.0 | 40.0 | 10.0 | 30.0 | 1.6 | 0 |");
});
