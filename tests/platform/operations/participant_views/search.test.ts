/** The search of participants' people: cases of others change nothing in the answer, however many there are. */
import { assertEquals } from "@std/assert";
import type { Found } from "testing/operation_answers.ts";
import { type CreatedConsent, present } from "testing/answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { consoleOf } from "testing/console_browser.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { call, clientToken, consentBody, good, pay } from "testing/flows.ts";
import { OPERATIONS_URL } from "testing/operators.ts";
import { personOf, testPeople } from "testing/participants_people.ts";
import { asConsentId, type ConsentId } from "../../../../src/base/kernel/identifiers.ts";
import { consentRecord } from "../../../../src/platform/core/consents/consent_store.ts";
import { stageLookup } from "../../../../src/platform/guards/lists/lookup_store.ts";
import { consentKey } from "../../../../src/platform/config/store_keys.ts";

const QUOTED = "FRESCO.21302.GFX.20";

async function found(env: Environment): Promise<Found["Data"]> {
  const request = new Request(`${OPERATIONS_URL}/operations/own/search?q=${QUOTED}`, {
    headers: personOf(env.tpp.orgId),
  });
  return (await good<Found>(env.platform.operations.fetch(request), 200)).Data;
}

async function ownCase(env: Environment): Promise<void> {
  await good(pay(env, await authorised(env)), 201);
  await env.platform.writeTraces();
}

async function foreignCase(env: Environment): Promise<string> {
  const bound = await clientToken(env, env.otherTpp, "BANKB");
  const body = JSON.stringify(consentBody({ initiation: { EndToEndIdentification: QUOTED } }));
  const made = await good<CreatedConsent>(
    call(env, env.otherTpp, bound, "/BANKB/domestic-payment-consents/v1", { body }),
    201,
  );
  return made.Data.ConsentId;
}

Deno.test("an own search does not tell whether others use the same id [OWN2]", async () => {
  await using env = await openEnvironment({ operators: await testPeople() });
  await ownCase(env);
  const before = await found(env);
  assertEquals([before.Case.length, before.Trace.length > 0], [1, true]);
  await foreignCase(env);
  assertEquals(await found(env), before);
});

Deno.test("people of a participant see what an own payment is and where it stands, as operators do [OWN7]", async () => {
  await using env = await openEnvironment({ operators: await testPeople() });
  const flow = await authorised(env);
  const { Data: { DomesticPaymentId: id } } = await good(pay(env, flow), 201);
  await env.platform.writeTraces();
  const of = async (orgId: string, asked: string): Promise<unknown[]> => {
    const request = new Request(`${OPERATIONS_URL}/operations/own/cases?id=${asked}`, {
      headers: personOf(orgId),
    });
    return (await good<{ Data: { Case: unknown[] } }>(env.platform.operations.fetch(request), 200)).Data.Case;
  };
  const operators = await good<{ Data: { Case: Record<string, unknown> } }>(
    env.asOperator(`/operations/cases/${id}/summary`),
    200,
  );
  const { Debtor, ...shown } = operators.Data.Case;
  assertEquals(typeof Debtor, "object", "operators see the payer's account");
  for (const orgId of [env.tpp.orgId, "BANKA"]) {
    for (const asked of [id, flow.consentId]) assertEquals(await of(orgId, asked), [shown]);
  }
  for (const orgId of [env.otherTpp.orgId, "BANKB"]) assertEquals(await of(orgId, id), []);
  const browser = consoleOf(env);
  const token = personOf(env.tpp.orgId).authorization.replace("Bearer ", "");
  await browser.submit("/console/sign-in", { token, next: "/console/own" });
  const { html } = await browser.get(`/console/own?q=${id}`);
  assertEquals([html.includes("case-head"), html.includes("GB94")], [true, false], html);
});

Deno.test("cases of others do not displace own ones from a search [OWN2, OWN3]", async () => {
  await using env = await openEnvironment({ operators: await testPeople() });
  await ownCase(env);
  const before = await found(env);
  const foreign = await consentRecord.get(
    env.store,
    consentKey(present(asConsentId(await foreignCase(env)))),
  );
  if (foreign === null) throw new Error("no such consent");
  const writes: never[] = [];
  for (let copy = 100; copy < 170; copy++) {
    const id = `00000000-0000-4000-8000-000000000${copy}` as ConsentId; // before every random id
    consentRecord.set({ writes }, consentKey(id), { ...foreign.value, id });
    stageLookup({ writes }, "end-to-end id", QUOTED, { ...foreign.value, id });
  }
  await env.store.commit({ checks: [], writes });
  assertEquals(await found(env), before);
});
