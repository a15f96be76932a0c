/** Lists of an organisation's people have no consent and no payment of an erased case, at the bank as at the TPP. */
import { assertEquals } from "@std/assert";
import { authorised } from "testing/authorization_flow.ts";
import { putStatus } from "testing/back_channel.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { good, pay } from "testing/flows.ts";
import { OPERATIONS_URL } from "testing/operators.ts";
import { personOf, testPeople } from "testing/participants_people.ts";
import { erase } from "support/personal_case.ts";
import { elapse } from "support/retention.ts";

async function settled(
  env: Environment,
): Promise<{ readonly consentId: string; readonly paymentId: string }> {
  const flow = await authorised(env);
  const { DomesticPaymentId: paymentId } = (await good(pay(env, flow), 201)).Data;
  await good(putStatus(env, env.bankA, paymentId, "AcceptedSettlementCompleted"), 200);
  return { consentId: flow.consentId, paymentId };
}

interface OwnLists {
  readonly Data: {
    readonly Consent?: readonly { readonly ConsentId: string }[];
    readonly Payment?: readonly { readonly DomesticPaymentId: string }[];
  };
}

/** The ids of an organisation's lists of the last seven days. */
async function listed(env: Environment, orgId: string): Promise<readonly string[]> {
  const lists = await Promise.all(["consents", "payments"].map((kind) => {
    const request = new Request(`${OPERATIONS_URL}/operations/own/${kind}`, { headers: personOf(orgId) });
    return good<OwnLists>(Promise.resolve(env.platform.operations.fetch(request)), 200);
  }));
  return lists.flatMap(({ Data: { Consent = [], Payment = [] } }) => [
    ...Consent.map(({ ConsentId }) => ConsentId),
    ...Payment.map(({ DomesticPaymentId }) => DomesticPaymentId),
  ]).toSorted();
}

Deno.test("an erased case is in no list of its bank and of its TPP, the others are [EN11, OWN5]", async (t) => {
  await using env = await openEnvironment({
    environment: { PLATFORM_KEEP_CASES_DAYS: "1" },
    operators: await testPeople(),
  });
  const [erased, kept] = [await settled(env), await settled(env)];
  env.now += 1000;
  await env.platform.growLog();
  const organisations = [["bank", env.bankA.orgId], ["TPP", env.tpp.orgId]] as const;
  const both = [...Object.values(erased), ...Object.values(kept)].toSorted();
  for (const [, orgId] of organisations) assertEquals(await listed(env, orgId), both);
  await elapse(env, 86_400_000 + 1000);
  await good(erase(env, erased.paymentId), 200);
  for (const [name, orgId] of organisations) {
    await t.step(name, async () => assertEquals(await listed(env, orgId), Object.values(kept).toSorted()));
  }
});
