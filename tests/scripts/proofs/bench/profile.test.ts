/** `deno task bench --profile`: where the main thread spends its time on payments. */
import { assert, assertEquals } from "@std/assert";
import {
  type CpuProfile,
  profilePayments,
  profileReport,
  sharesOf,
} from "../../../../scripts/proofs/bench/profile.ts";

const ROOT = new URL("../../../../", import.meta.url).href;

function node(id: number, functionName: string, url: string): CpuProfile["nodes"][number] {
  return { id, callFrame: { functionName, url, lineNumber: 9 } };
}

Deno.test("a profile counts the payments alone, by part and by function, without idle time", () => {
  const profile: CpuProfile = {
    nodes: [
      node(1, "(idle)", ""),
      node(2, "readPayment", `${ROOT}src/platform/core/payments/read_payment.ts`),
      node(3, "parse", "file:///cache/npm/registry.npmjs.org/@scope/name/1.0.0/index.js"),
      node(4, "(garbage collector)", ""),
      node(5, "get", "ext:deno_kv/01_db.ts"),
      node(6, "start", `${ROOT}src/platform/process/main.ts`),
    ],
    samples: [6, 2, 3, 1, 4, 5, 2, 6],
    timeDeltas: [5000, 4000, 3000, 7000, 2000, 1000, 2000, 5000],
  };
  const found = sharesOf(profile, { ms: 19, endedMsAgo: 5 }, 2);
  assertEquals(found.parts, [
    { name: "src/platform/core/payments", ms: 3 },
    { name: "npm:@scope/name", ms: 1.5 },
    { name: "(garbage collector)", ms: 1 },
    { name: "ext:deno_kv", ms: 0.5 },
  ]);
  assertEquals(found.functions[0], {
    name: "readPayment src/platform/core/payments/read_payment.ts:10",
    ms: 3,
  });
});

Deno.test("a profile of real payments names the code that makes them", async () => {
  const path = await Deno.makeTempFile({ suffix: ".cpuprofile" });
  try {
    const serve = { PLATFORM_LOG_LEVEL: "warn" };
    const found = await profilePayments({ requests: 8, rounds: 1, warm: 2 }, serve, path, () => {});
    assertEquals(found.failures, 0);
    const busy = found.parts.reduce((sum, { ms }) => sum + ms, 0);
    // One thread is never busy for longer than the time that passed. The first sample may have begun before.
    assert(busy > 0 && busy < 1.5 * found.passed, `${busy} of ${found.passed} ms`);
    assert(found.cpu > 0);
    assert(found.parts.some(({ name }) => name.startsWith("src/platform/")));
    assert(profileReport(found, path).includes("npm:"));
    assert((await Deno.stat(path)).size > 0);
  } finally {
    await Deno.remove(path);
  }
});
