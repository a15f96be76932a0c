/** `x-idempotency-key` at the two POST endpoints (contract IK1 to IK13; Decision C4). */
import { assertEquals } from "@std/assert";
import type { CreatedConsent } from "testing/answers.ts";
import { type BoundToken, call, clientToken, consentBody, good, pay, paymentBody } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { assertChallenge, assertFaults } from "testing/resource_answers.ts";
import { CONSENTS, resourceCalls } from "support/resource_calls.ts";
import { type Environment } from "testing/environment.ts";
import { steps, stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";

const KEY_REUSED = [["Rules.ResourceAlreadyExists", "x-idempotency-key"]] as const;

function post(
  env: Environment,
  token: BoundToken,
  key: string,
  body: unknown = consentBody(),
): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return call(env, env.tpp, token, CONSENTS, { body: text, idempotencyKey: key });
}

async function stored(env: Environment, kind: "consent" | "payment"): Promise<number> {
  return (await env.snapshot()).filter(({ key }) => key[0] === kind).length;
}

test("POST domestic-payment-consents answers the same key and body with the same consent [IDE-01]", async ({ env }) => {
  const token = await clientToken(env, env.tpp);
  const first = await good(post(env, token, "k"), 201);
  const again = await unchanged(env, () => post(env, token, "k"));
  assertEquals(await good(again, 201), first);
  assertEquals(await stored(env, "consent"), 1);
});

test("POST domestic-payments answers the same key and body with the same payment [IDE-01]", async ({ env }) => {
  const flow = await authorised(env);
  const first = await good(pay(env, flow, { idempotencyKey: "k" }), 201);
  const again = await unchanged(env, () => pay(env, flow, { idempotencyKey: "k" }));
  assertEquals(await good(again, 201), first);
  assertEquals(await stored(env, "payment"), 1);
});

test("POST endpoints take the same JSON in other white space, order and escapes as the same body [IDE-02]", async ({ env, t }) => {
  const token = await clientToken(env, env.tpp);
  const body = consentBody();
  const first = await good(post(env, token, "k", body), 201);
  const spellings: Record<string, string> = {
    indented: JSON.stringify(body, null, 2),
    "in another order": JSON.stringify({ Risk: body.Risk, Data: body.Data }),
    escaped: JSON.stringify(body).replace("ACME Inc", "\\u0041CME\\u0020Inc"),
  };
  await steps(t, spellings, async (text) => {
    assertEquals(await good(await unchanged(env, () => post(env, token, "k", text)), 201), first);
  });
  await t.step("a payment", async () => {
    const flow = await authorised(env);
    const made = await good(pay(env, flow, { idempotencyKey: "k" }), 201);
    const indented = JSON.stringify(paymentBody(flow.consentId, flow.body), null, 2);
    assertEquals(await good(pay(env, flow, { idempotencyKey: "k", body: indented }), 201), made);
  });
});

test("POST endpoints reject a key with another body, and leave the first as it is: Decision C4 in place of 422 [IDE-03] [RP-N22] [RP8]", async ({ env, t }) => {
  const token = await clientToken(env, env.tpp);
  const first = await good(post(env, token, "k"), 201);
  const others: Record<string, unknown> = {
    "another amount": consentBody({
      initiation: { InstructedAmount: { Amount: "165.89", Currency: "EUR" } },
    }),
    "a body that would be rejected anyway": { Data: {} },
    "an empty object": {},
    "null where a member was absent": consentBody({ initiation: { RemittanceInformation: null } }),
  };
  await steps(t, others, async (body) => {
    await assertFaults(await unchanged(env, () => post(env, token, "k", body)), 400, KEY_REUSED);
  });
  await t.step("the first body is still answered with the first consent", async () => {
    assertEquals(await good(post(env, token, "k"), 201), first);
  });
  await t.step("a payment", async () => {
    const flow = await authorised(env);
    const made = await good(pay(env, flow, { idempotencyKey: "k" }), 201);
    const body = JSON.stringify({
      ...paymentBody(flow.consentId, flow.body),
      Risk: { MerchantCategoryCode: "5732" },
    });
    const response = await unchanged(env, () => pay(env, flow, { idempotencyKey: "k", body }));
    await assertFaults(response, 400, KEY_REUSED);
    assertEquals(await good(pay(env, flow, { idempotencyKey: "k" }), 201), made);
  });
});

test("a key is one client's, at one bank, at one endpoint [IDE-04] [RP-N21]", async ({ env }) => {
  const body = JSON.stringify(consentBody());
  const options = { body, idempotencyKey: "k" };
  const flow = await authorised(env);
  const answers = [
    call(env, env.tpp, flow.bound, CONSENTS, options),
    call(env, env.otherTpp, await clientToken(env, env.otherTpp), CONSENTS, options),
    call(env, env.tpp, await clientToken(env, env.tpp, "BANKB"), CONSENTS.replace("BANKA", "BANKB"), options),
  ];
  const ids = await Promise.all(
    answers.map(async (answer) => (await good<CreatedConsent>(answer, 201)).Data.ConsentId),
  );
  assertEquals(new Set(ids).size, 3);
  const made = await good(pay(env, flow, { idempotencyKey: "k" }), 201);
  const atB = await authorised(env, { bank: env.bankB });
  const madeAtB = await good(pay(env, atB, { idempotencyKey: "k" }), 201);
  assertEquals([made, madeAtB].map(({ Data }) => Data.ConsentId), [flow.consentId, atB.consentId]);
});

test("POST endpoints take a key of 1 to 40 visible characters [IDE-07] [RP-N21] [RP8]", async ({ env, t }) => {
  const endpoints = (await resourceCalls(env)).filter(({ method }) => method === "POST");
  const bad: Record<string, string> = {
    "empty": "",
    "of 41 characters": "k".repeat(41),
    "with a tab": "a\tb",
    "with a letter beyond ASCII": "clé",
    "that begins with a no-break space": "\u00a0k",
  };
  for (const endpoint of endpoints) {
    await t.step(`${endpoint.name}: no key`, async () => {
      const response = await unchanged(env, () => endpoint.send({ idempotencyKey: null }));
      await assertFaults(response, 400, [["Header.Missing", "x-idempotency-key"]]);
    });
    for (const [name, idempotencyKey] of Object.entries(bad)) {
      await t.step(`${endpoint.name}: a key ${name}`, async () => {
        const response = await unchanged(env, () => endpoint.send({ idempotencyKey }));
        await assertFaults(response, 400, [["Header.Invalid", "x-idempotency-key"]]);
      });
    }
  }
  const token = await clientToken(env, env.tpp);
  for (const key of ["k", "k".repeat(40), "a b", "!~", crypto.randomUUID()]) {
    await t.step(`takes ${key}`, async () => {
      await good(post(env, token, key), 201);
    });
  }
});

test("a retry must itself be authentic: token, proof, certificate and signature are checked first [IDE-01] [RP-N1] [RP9]", async ({ env, t }) => {
  const flow = await authorised(env);
  const made = await good(pay(env, flow, { idempotencyKey: "k" }), 201);
  const again = (options = {}): Promise<Response> =>
    unchanged(env, () => pay(env, flow, { idempotencyKey: "k", ...options }));
  await t.step("no signature", async () => assertEquals((await again({ signature: null })).status, 400));
  await t.step(
    "another's certificate",
    async () => assertEquals((await again({ as: env.otherTpp })).status, 401),
  );
  await t.step("no proof", async () => assertEquals((await again({ proof: null })).status, 401));
  await t.step("a client credentials token", async () => {
    const response = await unchanged(
      env,
      () => pay(env, { ...flow, payment: flow.bound }, { idempotencyKey: "k" }),
    );
    assertEquals(response.status, 403);
  });
  await t.step("another consent's token", async () => {
    const other = await authorised(env);
    const response = await unchanged(
      env,
      () => pay(env, { ...flow, payment: other.payment }, { idempotencyKey: "k" }),
    );
    await assertChallenge(response, 403, 'DPoP error="insufficient_scope", scope="payments", algs="PS256"');
  });
  await t.step("all in order", async () => assertEquals(await good(again(), 201), made));
});

test("a retry by another token of the same client is answered too [IDE-01]", async ({ env }) => {
  const first = await good(post(env, await clientToken(env, env.tpp), "k"), 201);
  assertEquals(await good(post(env, await clientToken(env, env.tpp), "k"), 201), first);
});

test("GET endpoints ignore x-idempotency-key [IDE-11]", async ({ env, t }) => {
  for (const endpoint of (await resourceCalls(env)).filter(({ method }) => method === "GET")) {
    await stepsOf(t, ["k", "k".repeat(50), ""], (key) => `${endpoint.name} ${key.length}`, async (key) => {
      const response = await unchanged(env, () => endpoint.send({ headers: { "x-idempotency-key": key } }));
      assertEquals(response.status, 200, await response.text());
    });
  }
});
