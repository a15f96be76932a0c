/** Retention: what is due is erased and deleted, with proof in the log. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { z } from "zod";
import type { Environment } from "testing/environment.ts";
import type { Bundle } from "../../../../scripts/operators/case/bundle_schema.ts";
import { caseCommand } from "../../../../scripts/operators/case/main.ts";
import { verify } from "../../../../scripts/operators/case/verify.ts";
import type { Store } from "../../../../src/base/store/store.ts";
import { openConnections } from "../../../../src/base/store/postgres/connections.ts";
import { caseSummarySchema } from "../../../../src/platform/operations/cases/case_representation.ts";
import { openPostgresStore } from "../../../../src/base/store/postgres/postgres_store.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";
import { authorised } from "testing/authorization_flow.ts";
import { readLogBooks } from "testing/evidence_log.ts";
import { good, pay } from "testing/flows.ts";
import { OPERATIONS_URL } from "testing/operators.ts";
import { isPostgresMissing, newPostgresDatabase } from "support/postgres.ts";
import { PERSONAL } from "support/personal_case.ts";
import { heldIn } from "support/raw_bytes.ts";
import { faultsOf, grownBundle, toolsFor } from "../../../scripts/operators/case/bundles.ts";
import { applied, grow, openRetaining, pass, recordsOf, settled, work } from "support/retention.ts";

interface Engine {
  readonly name: string;
  readonly ignore: boolean;
  readonly store: () => Promise<Store | undefined>;
}

const ENGINES: readonly Engine[] = [
  { name: "Deno KV", ignore: false, store: () => Promise.resolve(undefined) },
  {
    name: "PostgreSQL",
    ignore: isPostgresMissing,
    store: async () => openPostgresStore(await openConnections(readPostgresUrl(await newPostgresDatabase()))),
  },
];

async function summaryOf(env: Environment, id: string): Promise<z.infer<typeof caseSummarySchema>> {
  const answer = await env.asOperator(`/operations/cases/${id}/summary`, {}, "support");
  return caseSummarySchema.parse(await answer.json());
}

for (const { name, ignore, store } of ENGINES) {
  Deno.test({
    name:
      `on ${name}, a case is erased and its history deleted when due, and the log proves both [EN13, EN14, EV13]`,
    ignore,
    async fn(t) {
      await using env = await openRetaining(await store());
      const old = await settled(env);
      const before = await grownBundle(env, old.paymentId);
      await pass(env, 150);
      const young = await settled(env);
      const { DomesticPaymentId: running } = (await good(pay(env, await authorised(env)), 201)).Data;
      await pass(env, 49);
      assertEquals(await work(env), 0);
      await pass(env, 1);
      assertEquals(await work(env), 1);
      assertEquals(await work(env), 0);
      await t.step("the personal data of that case alone is gone", async () => {
        const text = await grownBundle(env, old.paymentId);
        assertEquals(heldIn(new TextEncoder().encode(text), PERSONAL), []);
        assertEquals(await faultsOf(text), []);
        const tools = toolsFor(env.platform);
        await caseCommand([old.paymentId, "--url", OPERATIONS_URL], tools);
        assertMatch(
          tools.printed.join("\n"),
          /consent was erased .*by clock; retention: PLATFORM_ERASE_CASES_DAYS=200/,
        );
        const kept = JSON.parse(await grownBundle(env, young.paymentId)) as Bundle;
        assert(kept.entries.some(({ record }) => record["event"] === "payment.AcceptedSettlementCompleted"));
      });
      await t.step("at a glance it has its amount and its history, and no person [OP23]", async () => {
        const { Data } = await summaryOf(env, old.paymentId);
        assertEquals(heldIn(new TextEncoder().encode(JSON.stringify(Data)), PERSONAL), []);
        assertEquals([Data.Case?.Creditor, Data.Case?.Debtor, Data.Case?.Reference], [
          undefined,
          undefined,
          undefined,
        ]);
        assertMatch(Data.Case?.ErasedDateTime ?? "", /^20/);
        assert(Data.Entry.every(({ Evidence }) => Evidence.every(({ IsDeleted }) => IsDeleted)));
        const kept = await summaryOf(env, young.consentId);
        assertEquals(kept.Data.Case?.DomesticPaymentId, young.paymentId);
        assert(kept.Data.Case?.Creditor !== undefined && kept.Data.Case.Debtor !== undefined);
      });
      await t.step("the log says which class, up to when, how many and by which rule", async () => {
        const [line, ...more] = await applied(env, "evidence");
        assertMatch(
          line ?? "",
          /^retention\.applied clock evidence of 1 cases of \S+Z or before; PLATFORM_ERASE_CASES_DAYS=200$/,
        );
        assertEquals(more, []);
      });
      await pass(env, 101);
      await work(env);
      await t.step("its records are deleted, and a proof takes their place", async () => {
        assertEquals(await recordsOf(env, [old.consentId, old.paymentId]), []);
        await grow(env);
        for (const id of [old.consentId, old.paymentId]) {
          const tools = toolsFor(env.platform);
          assert(await caseCommand([id, "--url", OPERATIONS_URL, "--bundle", "gone.json"], tools));
          assertMatch(
            tools.printed[0] ?? "",
            new RegExp(`^DELETED: case ${old.paymentId}, by retention, at `),
          );
          assertMatch(
            tools.printed[1] ?? "",
            /^class audit, rule PLATFORM_DELETE_HISTORIES_DAYS=300: 1 cases whose newest/,
          );
          assertEquals(await faultsOf(tools.files.get("gone.json") ?? ""), []);
        }
      });
      await t.step("a glance at it shows the entry that says so [OP23]", async () => {
        const { Data } = await summaryOf(env, old.consentId);
        assertEquals([Data.Case, Data.Entry.map(({ Event }) => Event)], [undefined, ["retention.applied"]]);
      });
      await t.step("a lost case has no proof", async () => {
        const tools = toolsFor(env.platform);
        const id = crypto.randomUUID();
        await assertRejects(
          () => caseCommand([id, "--url", OPERATIONS_URL], tools),
          Error,
          `no consent or payment has the id ${id}`,
        );
      });
      await t.step("the log and the bundle from before still verify", async () => {
        assertEquals((await readLogBooks(env.store)).faults, []);
        assertEquals(await faultsOf(before), []);
      });
      await t.step("a running payment stays, however old", async () => {
        await pass(env, 1500);
        await work(env);
        assertEquals((await applied(env, "evidence")).length, 2); // and the young case's
        const text = await grownBundle(env, running);
        assertEquals(await faultsOf(text), []);
        assert(!text.includes("erased"));
      });
    },
  });
}

Deno.test("a proof of deletion that was changed, or is of another case, does not verify [EV13]", async () => {
  await using env = await openRetaining();
  const { paymentId } = await settled(env);
  await pass(env, 201);
  await work(env);
  await pass(env, 301);
  await work(env);
  const text = await grownBundle(env, paymentId);
  assertEquals(await faultsOf(text), []);
  const printed: string[] = [];
  assert(await verify(new TextEncoder().encode(text), {}, (line) => void printed.push(line)));
  assertMatch(printed.join("\n"), /^DELETED: case .*\nclass audit, rule PLATFORM_DELETE_HISTORIES_DAYS=300/);
  for (
    const [part, to, fault] of [
      [/"at":\d+/, '"at":1', /is not in the signed log/],
      [/"bytes":"[^"]+"/, '"bytes":"e30"', /the retention of entry 1 of retention audit \S+ was changed/],
      [/"subject":"retention audit"/, '"subject":"software x"', /the entry is not one of a deletion/],
      [/"subject":"retention audit"/, '"subject":"retention evidence"', /the entry is not one of a deletion/],
      [/"event":"retention.applied"/, '"event":"retention.begun"', /the entry is not one of a deletion/],
      [/"salt":"[^"]+","sequence"/, `"salt":"${"A".repeat(22)}","sequence"`, /is not in the signed log/],
    ] as const
  ) {
    const changed = text.replace(part, to);
    assert(changed !== text, String(part));
    const faults = await faultsOf(changed);
    assert(faults.some((each) => fault.test(each)), faults.join("\n"));
    assert(faults.some((each) => each.startsWith("the file was changed after")), faults.join("\n"));
  }
  const unsalted = text.replace(/"salt":"[^"]+","sequence"/, '"sequence"');
  assertEquals(await faultsOf(unsalted), ["the proof of deletion has not its form"]);
});
