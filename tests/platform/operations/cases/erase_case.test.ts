/** A case is erased: neither the database file nor a backup from before has the payer's data, and the case verifies. */
import { assert, assertEquals, assertFalse, assertMatch, assertRejects } from "@std/assert";
import { bodyOf as answerOf, rejectionOf, type ResourceError } from "testing/answers.ts";
import type { Bundle } from "../../../../scripts/operators/case/bundle_schema.ts";
import { faultsOf, grownBundle, toolsFor } from "../../../scripts/operators/case/bundles.ts";
import { backup } from "../../../../scripts/operators/store/main.ts";
import { caseCommand } from "../../../../scripts/operators/case/main.ts";
import { openDenoKv } from "../../../../src/base/store/deno_kv.ts";
import { bodyOf, piecesOf, placedHistoryOf } from "../../../../src/platform/evidence/audit_trail.ts";
import { caseIdOf } from "../../../../src/platform/evidence/data_keys/case_keys.ts";
import type { Erased } from "testing/operation_answers.ts";
import { authorised, toBank } from "testing/authorization_flow.ts";
import { putStatus } from "testing/back_channel.ts";
import { call, clientToken, good, pay } from "testing/flows.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { besideAttempts } from "support/attempts.ts";
import { sealedForTest } from "testing/sealed_for_test.ts";
import { OPERATIONS_URL } from "testing/operators.ts";
import { elapse, grow } from "support/retention.ts";
import { BODY, erase, PERSONAL, REASON } from "support/personal_case.ts";
import { heldIn } from "support/raw_bytes.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";
import { unchanged } from "testing/store_contents.ts";

const KEPT_MS = 1826 * 86_400_000;
async function paid(env: Environment): Promise<{ readonly consentId: string; readonly paymentId: string }> {
  const flow = await authorised(env, { body: BODY });
  const { DomesticPaymentId: paymentId } = (await good(pay(env, flow), 201)).Data;
  return { consentId: flow.consentId, paymentId };
}

async function settled(env: Environment): ReturnType<typeof paid> {
  const made = await paid(env);
  await good(putStatus(env, env.bankA, made.paymentId, "AcceptedSettlementCompleted"), 200);
  return made;
}

/** Returns the code of the first error in an answer. */
async function faultIn(response: Response): Promise<string | undefined> {
  return (await answerOf<Partial<ResourceError>>(response)).Errors?.[0]?.ErrorCode;
}

async function readAt(env: Environment, path: string): Promise<Response> {
  const token = await clientToken(env, env.tpp, "BANKA");
  return await call(env, env.tpp, token, `/BANKA/${path}`);
}

Deno.test("after an erasure neither the database file nor a backup from before has the payer's data, and the case verifies [EN11, EN12]", async (t) => {
  await using folder = await openTemporaryFolder();
  const file = `${folder.path}/platform.kv`;
  await using env = await openEnvironment({
    store: await openDenoKv(file),
    environment: { PLATFORM_KEEP_CASES_DAYS: "1" },
  });
  const { consentId, paymentId } = await settled(env);
  const before = await grownBundle(env, paymentId);
  await t.step("the platform itself reads the data", () => {
    const { entries } = JSON.parse(before) as Bundle;
    const text = JSON.stringify(entries.map(({ bodies }) => bodies));
    assertEquals(heldIn(new TextEncoder().encode(text), PERSONAL), Object.keys(PERSONAL));
  });
  await backup(file, `${folder.path}/backup.kv`, env.now);
  await elapse(env, 86_401_000);
  const answer = await good<Erased>(erase(env, paymentId), 200);
  assertEquals(answer.Data.ConsentId, consentId);
  await t.step("no file has it", async () => {
    for (const name of ["platform.kv", "platform.kv-wal", "backup.kv"]) {
      const bytes = await Deno.readFile(`${folder.path}/${name}`);
      assert(bytes.length > 0);
      assertEquals(heldIn(bytes, PERSONAL), [], name);
    }
    const entries = await env.raw.list<object>({ prefix: ["audit"], limit: 100 });
    assertEquals(entries.filter(({ value }) => "sealedMembers" in value), []);
  });
  await t.step("the backup cannot be opened with what is left", async () => {
    const copy = await openDenoKv(`${folder.path}/backup.kv`);
    const { store } = await sealedForTest(copy, env.vault, Date.now);
    const pieces = (await placedHistoryOf(store, consentId)).flatMap(piecesOf);
    const [part, ...others] = await Promise.all(pieces.map((piece) => bodyOf(store, piece)));
    assertEquals([part, others.length > 2, others.every((other) => other === null)], [null, true, true]);
    const [{ key, value } = { key: [], value: {} }] = await copy.list<object>({
      prefix: ["audit", consentId],
      limit: 1,
    });
    assert("sealedMembers" in value, "the backup has it");
    const { personalData } = (await store.get<Record<string, unknown>>(key))?.value ?? {};
    assertEquals(personalData, { state: "erased", at: env.now, scope: "key" });
    await copy.close();
  });
  await t.step("it does not exist for its TPP and its bank", async () => {
    const gone = "UK.OBIE.Resource.NotFound";
    assertEquals(await faultIn(await readAt(env, `domestic-payments/v1/${paymentId}`)), gone);
    assertEquals(await faultIn(await readAt(env, `domestic-payment-consents/v1/${consentId}`)), gone);
    const report = await putStatus(env, env.bankA, paymentId, "AcceptedCreditSettlementCompleted");
    assertEquals(await faultIn(report), gone);
  });
  await t.step("the case says when and why, and verifies, as does the bundle from before", async () => {
    const after = await grownBundle(env, consentId);
    assertEquals(await faultsOf(after), []);
    assertEquals(await faultsOf(before), []);
    const tools = toolsFor(env.platform);
    await caseCommand([paymentId, "--url", OPERATIONS_URL], tools);
    const lines = tools.printed.join("\n");
    assertMatch(
      lines,
      new RegExp(`the personal data of the consent was erased .*operator security; ${REASON}`),
    );
    assertMatch(lines, /payment_request \(deleted\)/);
    assertEquals(heldIn(new TextEncoder().encode(after), PERSONAL), []);
  });
  await t.step("a second erasure changes nothing", async () => {
    const again = await unchanged(env, () => good<Erased>(erase(env, consentId), 200));
    assertEquals(again.Data, answer.Data);
  });
});

Deno.test("a case that is open or that the law keeps is not erased, and only the role security may [EN11]", async () => {
  await using env = await openEnvironment();
  const waiting = await toBank(env, { body: BODY });
  const open = await paid(env);
  const final = await settled(env);
  for (
    const [id, as, status, error] of [
      [final.paymentId, "support", 403, "insufficient_role"],
      [final.paymentId, "auditor", 403, "insufficient_role"],
      [crypto.randomUUID(), "security", 404, "not_found"],
      [final.paymentId, "security", 409, "case_retained"],
      [open.paymentId, "security", 409, "case_open"],
      [waiting.consentId, "security", 409, "case_open"],
    ] as const
  ) {
    const before = await besideAttempts(env);
    const answer = await erase(env, id, as);
    assertEquals([answer.status, (await rejectionOf(answer)).error], [status, error]);
    assertEquals(await besideAttempts(env), before);
  }
  await grow(env);
  await elapse(env, KEPT_MS - 60_000);
  assertEquals((await erase(env, final.paymentId)).status, 409);
  assertEquals((await erase(env, open.paymentId)).status, 409);
  await elapse(env, 120_000);
  assertEquals((await erase(env, final.paymentId)).status, 200);
});

Deno.test("an erasure that its process leaves unfinished is completed by the background work [EN11]", async () => {
  await using env = await openEnvironment();
  const { paymentId } = await settled(env);
  await grow(env);
  await elapse(env, KEPT_MS);
  const { commit } = env.vault;
  Object.assign(env.vault, { commit: () => Promise.reject(new Error("the process ends here")) });
  assertEquals((await erase(env, paymentId)).status, 500);
  const tombstones = await env.store.list({ prefix: ["case_erasure"], limit: 10 });
  assertEquals(tombstones.length, 1);
  Object.assign(env.vault, { commit });
  assertEquals(await env.platform.finishErasures(), 1);
  const keys = (await sealedForTest(env.raw, env.vault, Date.now)).caseKeys;
  assert(await keys.isErased(paymentId));
  await assertRejects(() => keys.sealing(paymentId), Error, "was erased");
  assertEquals(await env.platform.finishErasures(), 0);
});

Deno.test("the data key of a consent that was never authorised is deleted with its personal data [EN10]", async () => {
  await using env = await openEnvironment();
  const { consentId } = await toBank(env, { body: BODY });
  const caseId = caseIdOf(consentId) ?? "";
  env.now += 86_400_000;
  await env.platform.sweepConsents();
  assertEquals(await env.platform.finishErasures(), 0);
  assertFalse(await env.caseKeys.isErased(caseId));
  await elapse(env, 30 * 86_400_000);
  await env.platform.eraseConsents();
  assertEquals(await env.platform.finishErasures(), 1);
  assertEquals(await env.caseKeys.opening(caseId), { state: "erased", at: env.now, scope: "key" });
});
