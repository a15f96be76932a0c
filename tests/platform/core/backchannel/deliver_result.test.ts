/** The bank's result on the back channel, and the browser that goes on. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { decodeJwt } from "jose";
import { anotherFlow, goodReturn } from "support/at_bank.ts";
import { deliver, deliverJws, waitingPath } from "support/delivered_result.ts";
import { steps } from "support/steps.ts";
import { IMPLICIT, sealedReturn, signedReturn } from "testing/bank_return.ts";
import { Browser, decide, putAccounts, redeem, returnClaims, toBank } from "testing/authorization_flow.ts";
import { clientToken, good } from "testing/flows.ts";
import { bodyOf, type ResourceError } from "testing/answers.ts";
import {
  ACCOUNTS,
  assertCodeAnswer,
  assertErrorAnswer,
  assertPage,
  codesIssued,
  consentStatus,
  headingOf,
  reportAccounts,
} from "testing/front_channel.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { sealToPlatform, signJwt } from "testing/jwts.ts";
import {
  type AuthorizationSession,
  keptUntil,
} from "../../../../src/platform/core/frontchannel/authorization_session.ts";
import type { ConsentId } from "../../../../src/base/kernel/identifiers.ts";
import { type Store, StoreFailure } from "../../../../src/base/store/store.ts";
import { readCase } from "../../../../src/platform/evidence/read_case.ts";
import { openTestStore } from "testing/test_store.ts";
import { sharedToken } from "testing/shared_token.ts";
import { assertFaults } from "testing/resource_answers.ts";
import { unchanged } from "testing/store_contents.ts";

const DECLARED = { resultsOnBackChannel: true };

Deno.test("POST authorization-results: the browser that began goes on with a code, no other one does, and each repeat has the same answer [ARS1] [ARS2] [ARS3] [ARS5] [BR18]", async () => {
  await using env = await openEnvironment(DECLARED);
  const flow = await toBank(env, { body: IMPLICIT });
  const { browser } = flow;
  const waiting = await browser.open(waitingPath(flow));
  assertEquals([waiting.status, waiting.headers.get("refresh")], [200, "2"]);
  assertEquals(headingOf(await waiting.text()), "Waiting for your bank");
  const jws = await signedReturn(env, flow);
  const answers = [await deliverJws(env, flow.bank, jws), await deliverJws(env, flow.bank, jws)];
  const expected = { Data: { ConsentId: flow.consentId, CorrelationId: flow.handover.correlation_id } };
  for (const answer of answers) assertEquals([answer.status, await answer.json()], [200, expected]);
  assertEquals([await consentStatus(env, flow), await codesIssued(env)], ["AwaitingAuthorisation", 0]);
  const back = await sealedReturn(env, "BANKA", jws);
  for (const path of [waitingPath(flow), back]) {
    const page = await unchanged(env, () => new Browser(env).open(path));
    assertStringIncludes(
      await assertPage(page, 400, "other_browser"),
      "Go back to the app, browser or device",
    );
  }
  const code = await assertCodeAnswer(await browser.open(waitingPath(flow)));
  assertEquals(await consentStatus(env, flow), "Authorized");
  assertEquals((await redeem(env, { consentId: flow.consentId, code })).status, 200);
  const again = await assertNothingDelivered(env, () => deliverJws(env, flow.bank, jws));
  assertEquals([again.status, await again.json()], [200, expected]);
  assertEquals(await codesIssued(env), 1);
  const file = await readCase(env.store, flow.consentId as ConsentId);
  const items = file?.entries.flatMap(({ items }) => items.map(({ item }) => item)) ?? [];
  const results = items.filter(({ kind }) => kind === "sca_result");
  assertEquals(results.map(({ key }) => typeof key), ["string"]); // an auditor verifies the result by it
});

Deno.test("POST authorization-results: the customer's own return leads on too, and the first result counts [ARS3] [ARS4] [BR15]", async (t) => {
  await using env = await openEnvironment(DECLARED);
  await t.step("delivered first: a later failure in the browser has no effect", async () => {
    const flow = await toBank(env, { body: IMPLICIT });
    assertEquals((await deliver(env, flow)).status, 200);
    await assertCodeAnswer(await flow.browser.open(await goodReturn(env, flow, { status_code: "failure" })));
    assertEquals(await consentStatus(env, flow), "Authorized");
  });
  await t.step("returned first: the same JWT is acknowledged, and another one is not", async () => {
    const flow = await toBank(env, { body: IMPLICIT });
    const jws = await signedReturn(env, flow);
    await assertCodeAnswer(await flow.browser.open(await sealedReturn(env, "BANKA", jws)));
    const answer = await assertNothingDelivered(env, () => deliverJws(env, flow.bank, jws));
    assertEquals(answer.status, 200);
    await answer.body?.cancel();
    const other = await assertNothingDelivered(env, () => deliver(env, flow, { status_code: "failure" }));
    await assertFaults(other, 400, [["Resource.InvalidConsentStatus", "Data.ConsentId"]]);
  });
  await t.step("delivered twice with different JWTs: the second one is rejected", async () => {
    const flow = await toBank(env, { body: IMPLICIT });
    assertEquals((await deliver(env, flow, { status_code: "failure" })).status, 200);
    const other = await assertNothingDelivered(env, () => deliver(env, flow));
    await assertFaults(other, 400, [["Resource.InvalidConsentStatus", "Data.ConsentId"]]);
    await assertErrorAnswer(await flow.browser.open(waitingPath(flow)), "access_denied");
    assertEquals(await consentStatus(env, flow), "Rejected");
  });
});

Deno.test("POST authorization-results of an explicit consent: the platform's screen and the bank's choice, with the accounts of that moment [ARS4] [ARS5] [G2]", async (t) => {
  await using env = await openEnvironment(DECLARED);
  await t.step("the platform's screen", async () => {
    const flow = await toBank(env);
    await reportAccounts(env, flow);
    assertEquals((await deliver(env, flow)).status, 200);
    await assertFaults(await putAccounts(env, flow.bank, flow.consentId), 400, [[
      "Resource.InvalidConsentStatus",
      "Data.ConsentId",
    ]]);
    const screen = await flow.browser.open(waitingPath(flow));
    const location = screen.headers.get("location") ?? "";
    assertStringIncludes(location, "/authorization.consent.oauth2?flow=");
    assertEquals((await flow.browser.open(waitingPath(flow))).headers.get("location"), location);
    await assertCodeAnswer(await decide(flow.browser, location, "accept"));
  });
  await t.step("the bank's own screen", async () => {
    const flow = await toBank(env, { bank: env.bankB });
    await good(putAccounts(env, env.bankB, flow.consentId), 200);
    assertEquals((await deliver(env, flow)).status, 200);
    await assertCodeAnswer(await flow.browser.open(waitingPath(flow)), "BANKB");
  });
});

Deno.test("A delivered result keeps the accounts of its customer, though another session's are reported before the browser goes on [ARS4] [G2] [C11]", async () => {
  await using env = await openEnvironment(DECLARED);
  const alices = await toBank(env);
  const bobs = await anotherFlow(env, alices);
  await reportAccounts(env, bobs, [ACCOUNTS[2]], { data: { Sub: "bob" } });
  assertEquals((await deliver(env, bobs, { sub: "bob" })).status, 200);
  await reportAccounts(env, alices, [ACCOUNTS[0]], { data: { Sub: "alice" } });
  const screen = await bobs.browser.open(waitingPath(bobs));
  assertEquals(screen.status, 303);
  await assertCodeAnswer(await decide(bobs.browser, screen.headers.get("location") ?? "", "accept", "0"));
  const stored = await env.store.get<{ readonly selectedAccount?: unknown }>(["consent", bobs.consentId]);
  assertEquals(stored?.value.selectedAccount, ACCOUNTS[2]);
});

Deno.test("POST authorization-results rejects what cannot lead on, says why, and uses nothing up [ARS1] [ARS2] [ARS4] [BR6] [BR10] [BR12]", async (t) => {
  await using env = await openEnvironment(DECLARED);
  const flow = await toBank(env);
  const other = await toBank(env, { body: IMPLICIT });
  const used = await signedReturn(env, other);
  assertEquals((await deliverJws(env, other.bank, used)).status, 200);
  const { jti } = decodeJwt(used);
  const early = Math.floor(env.now / 1000);
  const cases: Record<string, [Record<string, unknown>, string]> = {
    "success without the payer's accounts": [{}, "Field.Invalid"],
    "expired": [{ iat: early - 700, nbf: early - 700, exp: early - 100 }, "Field.Invalid"],
    "another consent": [{ ref_id: other.consentId }, "Field.Invalid"],
    "debtor_account_present flipped": [{ debtor_account_present: "true" }, "Field.Invalid"],
    "an unknown status_code": [{ status_code: "Success" }, "Field.Invalid"],
    "an unknown session": [{ correlation_id: crypto.randomUUID() }, "Signature.Invalid"],
    "another bank": [{ bank_id: "BANKB" }, "Signature.Invalid"],
    "another audience": [{ aud: "https://other.example" }, "Signature.Invalid"],
    "a jti that was used": [{ jti, status_code: "failure" }, "Signature.Invalid"],
  };
  await steps(t, cases, async ([claims, code]) => {
    const answer = await assertNothingDelivered(env, () => deliver(env, flow, claims));
    await assertFaults(answer, 400, [[code]]);
  });
  await t.step("the words name what is wrong", async () => {
    const correlation_id = "6e2ff1a2-1de4-4a7e-8d1a-6a1b3c0c7a55";
    const { Errors } = await bodyOf<ResourceError>(deliver(env, flow, { correlation_id }));
    assertEquals(Errors.map(({ Message }) => Message), [
      `correlation_id must be that of a session with this bank; got '${correlation_id}'.`,
    ]);
  });
  await t.step("signed by another bank", async () => {
    const forged = await signJwt(env.bankB.signing, returnClaims(env, env.bankA, flow.handover));
    const answer = await assertNothingDelivered(env, () => deliverJws(env, env.bankA, forged));
    await assertFaults(answer, 400, [["Signature.Invalid"]]);
  });
  await t.step("another bank's session", async () => {
    const stolen = await signJwt(env.bankB.signing, returnClaims(env, env.bankB, flow.handover));
    const answer = await assertNothingDelivered(env, () => deliverJws(env, env.bankB, stolen), env.bankB);
    await assertFaults(answer, 400, [["Signature.Invalid"]]);
  });
  await t.step("another media type", async () => {
    const jws = await signedReturn(env, flow);
    const answer = await deliverJws(env, flow.bank, jws, { headers: { "content-type": "application/json" } });
    await assertFaults(answer, 415, [["Header.Invalid"]]);
  });
  await t.step("a TPP's token", async () => {
    const jws = await signedReturn(env, flow);
    const bound = await clientToken(env, env.tpp);
    const answer = await deliverJws(env, env.tpp, jws, { bound, bank: "BANKA" });
    assertEquals(answer.status, 403);
    await answer.body?.cancel();
  });
  await reportAccounts(env, flow);
  assertEquals((await deliver(env, flow)).status, 200); // nothing was used up
});

Deno.test("POST authorization-results of a bank that does not declare them is rejected, and its customers return as before [ARS1] [G12]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const jws = await signedReturn(env, flow);
  const answer = await assertNothingDelivered(env, () => deliverJws(env, flow.bank, jws));
  await assertFaults(answer, 403, [["UnexpectedError"]]);
  await assertCodeAnswer(await flow.browser.open(await sealedReturn(env, "BANKA", jws)));
});

Deno.test("A delivered result after the session has expired: a success authorizes nothing, and a failure rejects [ARS4] [G1]", async (t) => {
  await using env = await openEnvironment(DECLARED);
  await t.step("delivered too late", async () => {
    const [success, failure] = [await toBank(env, { body: IMPLICIT }), await toBank(env, { body: IMPLICIT })];
    env.now += 900_000;
    const late = await assertNothingDelivered(env, () => deliver(env, success));
    await assertFaults(late, 400, [["Resource.InvalidConsentStatus", "Data.ConsentId"]]);
    assertEquals((await deliver(env, failure, { status_code: "failure" })).status, 200);
    await assertErrorAnswer(await failure.browser.open(waitingPath(failure)), "access_denied");
    assertEquals(await consentStatus(env, failure), "Rejected");
    await assertErrorAnswer(await success.browser.open(waitingPath(success)), "session_expired");
    assertEquals(await consentStatus(env, success), "AwaitingAuthorisation");
  });
  await t.step("delivered when the session is kept no longer", async () => {
    const flow = await toBank(env, { body: IMPLICIT });
    const { now } = env;
    const answerAfter = async (ms: number): Promise<unknown> => {
      env.now = now + ms;
      const late = await assertNothingDelivered(env, () => deliver(env, flow, { status_code: "failure" }));
      return [late.status, (await bodyOf<ResourceError>(late)).Errors.map(({ ErrorCode }) => ErrorCode)];
    };
    const until = keptUntil({ expiresAt: 900_000 } as AuthorizationSession);
    assertEquals(await answerAfter(until - 1), [400, ["UK.OBIE.Resource.InvalidConsentStatus"]]);
    assertEquals(await answerAfter(until), [400, ["UK.OBIE.Signature.Invalid"]]);
    env.now = now;
  });
  await t.step("delivered in time, and the browser goes on too late", async () => {
    const flow = await toBank(env, { body: IMPLICIT });
    assertEquals((await deliver(env, flow)).status, 200);
    env.now += 900_000;
    await assertErrorAnswer(await flow.browser.open(waitingPath(flow)), "session_expired");
    assertEquals([await consentStatus(env, flow)], ["AwaitingAuthorisation"]);
  });
});

Deno.test("A delivery whose commit has no answer is 503, and the same result can be delivered again [ARS3]", async () => {
  const store = await openTestStore();
  let isLost = false;
  const commit: Store["commit"] = async (staged) => {
    const done = await store.commit(staged);
    if (!isLost || staged.writes.every(({ key }) => key[0] !== "authorization_session")) return done;
    isLost = false;
    throw new StoreFailure("no answer");
  };
  await using env = await openEnvironment({ ...DECLARED, store: { ...store, commit } });
  const flow = await toBank(env, { body: IMPLICIT });
  const jws = await signedReturn(env, flow);
  isLost = true;
  const answers = [await deliverJws(env, flow.bank, jws), await deliverJws(env, flow.bank, jws)];
  assertEquals(answers.map(({ status }) => status), [503, 200]);
  await assertCodeAnswer(await flow.browser.open(waitingPath(flow)));
});

Deno.test("A failure that is delivered while its late customer opens the waiting page keeps its effect [ARS5] [G1]", async () => {
  const store = await openTestStore();
  let first: (() => Promise<void>) | undefined;
  const commit: Store["commit"] = async (staged) => {
    const ends = staged.writes.some(({ key }) => key[0] === "authorization_session") ? first : undefined;
    if (ends !== undefined) first = undefined;
    await ends?.();
    return await store.commit(staged);
  };
  await using env = await openEnvironment({ ...DECLARED, store: { ...store, commit } });
  const flow = await toBank(env, { body: IMPLICIT });
  env.now += 900_000;
  first = async () => {
    assertEquals((await deliver(env, flow, { status_code: "failure" })).status, 200);
  };
  const page = await flow.browser.open(waitingPath(flow));
  assertEquals([page.status, headingOf(await page.text())], [200, "Waiting for your bank"]);
  await assertErrorAnswer(await flow.browser.open(waitingPath(flow)), "access_denied");
});

Deno.test("Results that a bank delivers and that are not authentic are decrypted 50 times at once, and other banks' results go on [ARS7]", async () => {
  await using env = await openEnvironment(DECLARED);
  const flow = await toBank(env, { body: IMPLICIT });
  const bound = await clientToken(env, env.bankA);
  const sealed = await sealToPlatform(env, "not a JWS");
  const statuses = new Map<number, number>();
  for (let sent = 0; sent < 52; sent++) {
    const answer = await deliverJws(env, env.bankA, "", { sealed, bound });
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    await answer.body?.cancel();
  }
  assertEquals(Object.fromEntries(statuses), { 400: 51, 503: 1 });
  const closed = await deliver(env, flow);
  assertEquals([closed.status, closed.headers.get("retry-after")], [503, "87"]);
  await closed.body?.cancel();
  const elsewhere = await toBank(env, { bank: env.bankB, body: IMPLICIT });
  assertEquals((await deliver(env, elsewhere)).status, 200);
  env.now += 87_000;
  assertEquals((await deliver(env, flow)).status, 200);
});

Deno.test("The waiting page is not for a session that does not exist, and says what it cannot find [ARS6]", async () => {
  await using env = await openEnvironment(DECLARED);
  const flow = await toBank(env);
  for (const id of ["", crypto.randomUUID(), "x"]) {
    await assertPage(
      await flow.browser.open(`/BANKA/authorization.waiting.oauth2?flow=${id}`),
      400,
      "link_unusable",
    );
  }
  await assertPage(
    await flow.browser.open(waitingPath(flow).replace("BANKA", "BANKB")),
    400,
    "link_unusable",
  );
  const page = await flow.browser.open(waitingPath(flow));
  assertEquals([page.status, headingOf(await page.text())], [200, "Waiting for your bank"]);
});

/** The token is there before, because asking for it would change the store. */
async function assertNothingDelivered(
  env: Environment,
  act: () => Promise<Response>,
  bank = env.bankA,
): Promise<Response> {
  await sharedToken(env, bank, bank.orgId);
  return await unchanged(env, act);
}
