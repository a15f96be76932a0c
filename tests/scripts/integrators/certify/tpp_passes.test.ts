/** The sandbox's shop and `examples/first_payment.ts` pass the certification of TPPs. */
import { assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import type { TppBench } from "../../../../scripts/integrators/certify/tpp/bench.ts";
import { TPP_SUITE } from "../../../../scripts/integrators/certify/tpp/suite.ts";
import { settled } from "../../../../scripts/integrators/certify/tpp/reading.ts";
import { runCases } from "../../../../scripts/integrators/certify/case.ts";
import { UsageError } from "../../../../scripts/command_line/run.ts";
import { openFaultBench } from "support/tpp_certification.ts";
import { BEGINS_AGAIN, KEEPS_TOKENS, RIGHT_PROGRAMS } from "support/tpp_rights.ts";

/** The shop repeats these for 3 s each. `deno task certify tpp --start-url shop` runs them. */
const SLOW_FOR_SHOP = ["TPP-A02", "TPP-A04", "TPP-A09", "TPP-K03", "TPP-K04", "TPP-K05"];

async function assertPasses(bench: TppBench, without: readonly string[] = []): Promise<void> {
  const cases = TPP_SUITE.cases.filter(({ id }) => !without.includes(id));
  const results = await runCases(cases, bench);
  assertEquals(results.filter(({ passed }) => !passed), []);
  assertEquals(results.length + without.length, TPP_SUITE.cases.length);
}

Deno.test("the sandbox's shop and first_payment.ts pass the certification of TPPs [SB11]", async (t) => {
  await using benches = await openFaultBench();
  await t.step("first_payment.ts", async () => await assertPasses(await benches.program()));
  await t.step("the shop", async () => {
    await using shop = await benches.shop();
    await assertPasses(shop.bench, SLOW_FOR_SHOP);
  });
  for (const { finds, what, seen, keyLeadSeconds = 0, ...changes } of RIGHT_PROGRAMS) {
    await t.step(`a program that ${what}, as docs/tpp.md allows`, async () => {
      const bench = { ...await benches.program({ finds, what, ...changes }), keyLeadSeconds };
      assertMatch(await seenBy(bench, finds), seen);
    });
  }
  await t.step("a shop that uses its tokens until they expire, and metadata that it has", async () => {
    await using shop = await benches.shop(KEEPS_TOKENS);
    assertMatch(await seenBy(shop.bench, "TPP-R07"), /^as required/);
    const earlier = { ...shop.bench, plain: async () => [await shop.bench.pay({ bank: "BANKA" })] };
    assertMatch(await seenBy(earlier, "TPP-R07"), /^as required/);
    assertMatch(await seenBy(shop.bench, "TPP-A08"), /^not asked/);
    assertMatch(await seenBy(shop.bench, "TPP-A14"), /^it stopped/);
    assertMatch(await seenBy(shop.bench, "TPP-A16"), /^not asked/);
  });
  await t.step(
    "a shop that begins again if a code is lost, and takes the second of two returns",
    async () => {
      await using shop = await benches.shop(BEGINS_AGAIN);
      assertMatch(
        await seenBy(shop.bench, "TPP-A10"),
        /^it sent the code once and its customer to a new consent/,
      );
      assertMatch(await seenBy(shop.bench, "TPP-B08"), /^one exchange of the code/);
    },
  );
});

/** What the case saw, which must have passed. */
async function seenBy(bench: TppBench, id: string): Promise<string> {
  const [result] = await runCases(TPP_SUITE.cases.filter((each) => each.id === id), bench);
  assertEquals(result?.passed, true, result?.seen);
  return result?.seen ?? "";
}

Deno.test("the time of a case is enough for each of its payments [SB11]", () => {
  const { seconds = 0, requirement } = TPP_SUITE.cases.find(({ id }) => id === "TPP-B09") ?? {};
  assertEquals([requirement, seconds >= 9 * 45], ["contract RSN4", true]);
});

Deno.test("the altered answer of TPP-A02 is not the platform's, also when the payment has settled", () => {
  const Status = "AcceptedCreditSettlementCompleted";
  const answer = { Data: { Status, StatusUpdateDateTime: "2026-01-31T10:00:00+00:00" } };
  assertEquals(settled({ Data: { ...answer.Data, Status: "Pending" } }), settled(answer));
  assertNotEquals(settled(answer), answer);
});

Deno.test("the certification of TPPs has at least 24 cases with ids of their own, and names a requirement for each [SB11]", () => {
  const ids = TPP_SUITE.cases.map(({ id }) => id);
  assertEquals([new Set(ids).size, ids.length >= 24], [ids.length, true]);
  assertEquals(ids.filter((id) => !/^TPP-[RBAK]\d\d$/.test(id)), []);
  assertEquals(TPP_SUITE.cases.filter(({ requirement }) => requirement === ""), []);
});

Deno.test("certify tpp rejects a command line without a TPP, with two, or with an unusable address [SB11]", async (t) => {
  const rejected = {
    "no TPP": {},
    "two": { command: "true", "start-url": "shop" },
    "a redirect URL": { command: "true", "redirect-uri": "nowhere" },
    "a port": { command: "true", port: "0" },
  };
  for (const [name, options] of Object.entries(rejected)) {
    await t.step(name, async () => {
      const dir = await Deno.makeTempDir();
      await assertRejects(() => TPP_SUITE.open({ dir, ...options }, () => {}), Error);
      await Deno.remove(dir, { recursive: true });
    });
  }
  await assertRejects(() => TPP_SUITE.open({}, () => {}), UsageError, "--command or --start-url");
});
