/** `deno task bench --writes`: what a payment writes and calls, counted in a real process. */
import { assert, assertEquals } from "@std/assert";
import { present } from "testing/answers.ts";
import { isSoftHsmMissing } from "testing/soft_hsm.ts";
import { processesReport } from "../../../../scripts/proofs/bench/processes.ts";
import {
  measureRejections,
  rejectionsReport,
  wereRejected,
} from "../../../../scripts/proofs/bench/rejections.ts";
import { STAGES } from "../../../../scripts/proofs/bench/stages.ts";
import { measureToken, tokenReport } from "../../../../scripts/proofs/bench/token.ts";
import { countWrites, writesReport } from "../../../../scripts/proofs/bench/writes.ts";

Deno.test("bench counts a payment's rows, bytes and calls, which follow from those of its requests", async () => {
  const options = { writes: ["sqlite"], beside: [], requests: 2, rounds: 1, warm: 1 } as const;
  const found = present((await countWrites(options, { PLATFORM_LOG_LEVEL: "warn" }, () => {}))[0]);
  assertEquals([found.platform, found.failures], ["sqlite", 0]);
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

Deno.test("bench measures requests that are rejected, and tells those that were not", async () => {
  const requests = 100;
  const found = await measureRejections({ requests, rounds: 1 }, () => {});
  assert(wereRejected(found, requests) && found.length === 3 && found.every(({ cpu }) => cpu > 0));
  const [first] = found;
  assert(!wereRejected([{ ...present(first), others: 3 }], requests));
  assertEquals(rejectionsReport(found).split("\n").length, 2 + found.length + 1);
});

Deno.test({
  name: "bench measures signatures and decryptions with keys in a file and in a token",
  ignore: isSoftHsmMissing,
  async fn() {
    const found = await measureToken({ requests: 8, rounds: 1 });
    const names = ["sign, file", "decrypt, file", "sign, token", "decrypt, token"];
    assertEquals(found.map(({ name }) => name), names);
    assert(found.every(({ ms, perSecond }) => ms > 0 && perSecond > 0));
    assertEquals(tokenReport(found).split("\n").length, 2 + found.length + 1);
  },
});

Deno.test("bench: the processors that are busy are those of the platform, the database and the bench", () => {
  const row = { processes: 2, perSecond: 20, platform: 40, database: 10, bench: 30, failures: 0 };
  assertEquals(processesReport([row]).split("\n")[2], "| 2 | 20.0 | 40.0 | 10.0 | 30.0 | 1.6 | 0 |");
});
