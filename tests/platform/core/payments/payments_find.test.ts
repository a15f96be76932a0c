/** GET domestic-payments?idempotency-key: the payment of a TPP that has lost the answer to its POST. */
import { assertEquals } from "@std/assert";
import type { Payment } from "testing/answers.ts";
import { type BoundToken, call, clientToken, consentBody, good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { assertChallenge, assertFaults, unchanged } from "testing/resource_answers.ts";
import { CONSENTS, PAYMENTS } from "support/resource_calls.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";

function find(
  env: Environment,
  token: BoundToken,
  key: string,
  caller = env.tpp,
  path = PAYMENTS,
): Promise<Response> {
  return call(env, caller, token, `${path}?${new URLSearchParams({ "idempotency-key": key })}`);
}

Deno.test("GET domestic-payments?idempotency-key finds what the key has made, by either token [PAY-08] [IDE-01]", async (t) => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  const key = "a key & more/%20";
  const made = await good(pay(env, flow, { idempotencyKey: key }), 201);
  for (
    const [name, token] of Object.entries({
      "client credentials": flow.bound,
      "authorization code": flow.payment,
    })
  ) {
    await t.step(name, async () => {
      assertEquals(await good(await unchanged(env, () => find(env, token, key)), 200), made);
    });
  }
});

Deno.test("GET domestic-payments?idempotency-key finds nothing else, and says so in one way: Decision C2 [PAY-08] [IDE-04]", async (t) => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  await good(pay(env, flow, { idempotencyKey: "k" }), 201);
  await good(
    call(env, env.tpp, flow.bound, CONSENTS, { body: JSON.stringify(consentBody()), idempotencyKey: "c" }),
    201,
  );
  const outsider = await clientToken(env, env.otherTpp);
  const atB = await clientToken(env, env.tpp, "BANKB");
  const attempts: Record<string, () => Promise<Response>> = {
    "an unknown key": () => find(env, flow.bound, "K"),
    "an empty key": () => find(env, flow.bound, ""),
    "a key of 5000 characters": () => find(env, flow.bound, "k".repeat(5000)),
    "a key that made a consent": () => find(env, flow.bound, "c"),
    "another TPP's key": () => find(env, outsider, "k", env.otherTpp),
    "a key at another bank": () => find(env, atB, "k", env.tpp, PAYMENTS.replace("BANKA", "BANKB")),
  };
  await steps(t, attempts, async (attempt) => {
    await assertFaults(await unchanged(env, attempt), 400, [["Resource.NotFound"]]);
  });
});

Deno.test("GET domestic-payments?idempotency-key is not for another consent's token [RP-N18]", async () => {
  await using env = await openEnvironment();
  await good(pay(env, await authorised(env), { idempotencyKey: "k" }), 201);
  const { payment } = await authorised(env);
  const response = await unchanged(env, () => find(env, payment, "k"));
  await assertChallenge(response, 403, 'DPoP error="insufficient_scope", scope="payments", algs="PS256"');
});

Deno.test("GET domestic-payments?idempotency-key finds a payment for 24 h [IDE-10]", async () => {
  await using env = await openEnvironment();
  const made = await good(pay(env, await authorised(env), { idempotencyKey: "k" }), 201);
  env.now += 86_399_999;
  assertEquals(
    (await good<Payment>(find(env, await clientToken(env, env.tpp), "k"), 200)).Data.DomesticPaymentId,
    made.Data.DomesticPaymentId,
  );
  env.now += 1;
  const late = await clientToken(env, env.tpp);
  await assertFaults(await find(env, late, "k"), 400, [["Resource.NotFound"]]);
});

Deno.test("GET domestic-payments?idempotency-key takes no parameter of the list, and no second key [LS-N2]", async () => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  await good(pay(env, flow, { idempotencyKey: "one" }), 201);
  for (
    const [more, path] of [["from=2040-01-15T00:00:00Z", "from"], ["idempotency-key=two", "idempotency-key"]]
  ) {
    const query = `${PAYMENTS}?idempotency-key=one&${more}`;
    const response = await unchanged(env, () => call(env, env.tpp, flow.bound, query));
    assertEquals(response.status, 400, more);
    const { Errors } = await response.json() as { readonly Errors: readonly { readonly Path: string }[] };
    assertEquals(Errors.map(({ Path }) => Path), [path]);
  }
});
