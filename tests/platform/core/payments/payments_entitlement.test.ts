/** Who may make and read which payment: the consent it is for, and whose payment it is. */
import { assertEquals } from "@std/assert";
import type { CreatedConsent } from "testing/answers.ts";
import { call, clientToken, consentBody, createConsent, good, pay, paymentBody } from "testing/flows.ts";
import { authorised, returnPath, toBank } from "testing/authorization_flow.ts";
import { assertChallenge, assertFaults, unchanged } from "testing/resource_answers.ts";
import { CONSENTS, PAYMENTS } from "support/resource_calls.ts";
import { openEnvironment } from "testing/environment.ts";
import { edited } from "../../guards/http/edited.ts";
import { steps } from "support/steps.ts";

const WRONG_STATUS = [["Resource.InvalidConsentStatus", "Data.ConsentId"]] as const;

Deno.test("POST domestic-payments pays a consent once, whatever keys are used [PAY-06] [RP-N19]", async () => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  await good(pay(env, flow), 201);
  await assertFaults(await unchanged(env, () => pay(env, flow)), 400, WRONG_STATUS);
  const other = pay(env, flow, {
    body: JSON.stringify(edited(paymentBody(flow.consentId, flow.body), "Risk.MerchantCategoryCode", "5732")),
  });
  await assertFaults(await other, 400, WRONG_STATUS); // status before comparison
});

Deno.test("a token for a payment is never to be had for a consent that is not Authorized [PAY-06]", async (t) => {
  await using env = await openEnvironment();
  const waiting = (await createConsent(env, await clientToken(env, env.tpp))).Data.ConsentId;
  const rejectedAtBank = await toBank(env);
  const failure = await returnPath(env, env.bankA, rejectedAtBank.handover, {
    claims: { status_code: "failure" },
  });
  await rejectedAtBank.browser.open(failure);
  const other = await authorised(env);
  for (
    const [name, consentId] of Object.entries({
      AwaitingAuthorisation: waiting,
      Rejected: rejectedAtBank.consentId,
    })
  ) {
    await t.step(`${name}: another consent's token is no help`, async () => {
      const response = await unchanged(env, () => pay(env, { ...other, consentId }));
      await assertChallenge(response, 403, 'DPoP error="insufficient_scope", scope="payments", algs="PS256"');
    });
  }
});

Deno.test("POST domestic-payments knows no consent that is unknown, malformed, another TPP's or another bank's: Decision C2 [PAY-06]", async (t) => {
  await using env = await openEnvironment();
  const mine = await authorised(env);
  const atB = await authorised(env, { bank: env.bankB });
  const theirs = (await good<CreatedConsent>(
    call(env, env.otherTpp, await clientToken(env, env.otherTpp), CONSENTS, {
      body: JSON.stringify(consentBody()),
    }),
    201,
  )).Data.ConsentId;
  const ids: Record<string, string> = {
    unknown: crypto.randomUUID(),
    malformed: "58923",
    "another TPP's": theirs,
    "another bank's": atB.consentId,
  };
  await steps(t, ids, async (consentId) => {
    const response = await unchanged(env, () => pay(env, { ...mine, consentId }));
    await assertFaults(response, 400, [["Resource.NotFound"]]);
  });
  await t.step("its own in upper case is its own", async () => {
    await good(pay(env, { ...mine, consentId: mine.consentId.toUpperCase() }), 201);
  });
});

Deno.test("GET domestic-payments/{id} is for the owner's token and the payment's own [PAY-08]", async (t) => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  const made = await good(pay(env, flow), 201);
  for (
    const [name, token] of Object.entries({
      "client credentials": flow.bound,
      "authorization code": flow.payment,
    })
  ) {
    await t.step(name, async () => {
      assertEquals(
        await good(call(env, env.tpp, token, `${PAYMENTS}/${made.Data.DomesticPaymentId}`), 200),
        made,
      );
    });
  }
  await t.step("in upper case too", async () => {
    assertEquals(
      await good(
        call(env, env.tpp, flow.bound, `${PAYMENTS}/${made.Data.DomesticPaymentId.toUpperCase()}`),
        200,
      ),
      made,
    );
  });
  await t.step("not for the bank", async () => {
    const token = await clientToken(env, env.bankA);
    const response = await call(env, env.bankA, token, `${PAYMENTS}/${made.Data.DomesticPaymentId}`);
    await assertChallenge(response, 403, 'DPoP error="insufficient_scope", scope="payments", algs="PS256"');
  });
});
