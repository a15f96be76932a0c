import { assertEquals } from "@std/assert";
import { type Changes, dpopProof, thumbprint } from "testing/jwts.ts";
import { authentication, dpopKey, postForm, requestToken } from "testing/flows.ts";
import { redeem } from "testing/authorization_flow.ts";
import { testKey } from "testing/keys.ts";
import { assertAccepted, assertApiError, codeForm, codeGrant, issueCode } from "testing/oauth_requests.ts";
import { BASE_URL, SHOP_REDIRECTS } from "testing/environment.ts";
import { steps, stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { type Attempt, INVALID_GRANT, rejectedOnce } from "./code_attempts.ts";

const INVALID_PROOF = [400, "invalid_dpop_proof"] as const;

test("POST token rejects another DPoP key than PAR's [TA-N12, TA-N13, TA6]", async ({ env, t }) => {
  const key = await dpopKey();
  const other = await testKey(10);
  const target = { method: "POST", url: `${BASE_URL}/BANKA/par.oauth2/v1` };
  const pushed = {
    "dpop_jkt [TA-N12]": async () => ({ form: { dpop_jkt: await thumbprint(key) } }),
    "proof [TA-N13]": async () => ({ headers: { dpop: await dpopProof(env, key, target) } }),
  };
  await steps(t, pushed, async (push) => {
    const flow = await issueCode(env, await push());
    await rejectedOnce(env, INVALID_PROOF, () => redeem(env, flow, { key: other }));
    await assertAccepted(codeGrant(env), await redeem(env, flow, { key }));
  });
});

test("POST token rejects a code without DPoP, bound or not, and keeps it [TA-N14]", async ({ env }) => {
  const bound = await issueCode(env, { form: { dpop_jkt: await thumbprint(await dpopKey()) } });
  for (const flow of [bound, await issueCode(env)]) {
    const form = await codeForm(env, flow);
    await rejectedOnce(env, INVALID_PROOF, () => postForm(env, "/BANKA/token.oauth2/v1", form, env.tpp));
    await assertAccepted(codeGrant(env), await redeem(env, flow));
  }
});

test("POST token voids a code at the fifth wrong redemption [TA8]", async ({ env, t }) => {
  const attempts: readonly Attempt[] = [
    (flow) => redeem(env, flow, { form: { code_verifier: "x".repeat(43) } }),
    (flow) => redeem(env, flow, { form: { redirect_uri: SHOP_REDIRECTS[1] } }),
    (flow) => redeem(env, flow, { form: { redirect_uri: `${SHOP_REDIRECTS[0]}/` } }),
    (flow) => redeem(env, flow, { bank: "BANKB" }),
    (flow) => redeem(env, flow, { form: { code_verifier: undefined } }),
  ];
  await stepsOf(t, [4, 5], (wrong) => `after ${wrong}`, async (wrong) => {
    const flow = await issueCode(env);
    for (const attempt of attempts.slice(0, wrong)) {
      await rejectedOnce(env, INVALID_GRANT, () => attempt(flow));
    }
    const right = await redeem(env, flow);
    if (wrong === 4) await assertAccepted(codeGrant(env), right);
    else await assertApiError(right, INVALID_GRANT);
  });
});

test("POST token voids no code by redemptions of another client, which get one and the same answer [TA8]", async ({ env }) => {
  const flow = await issueCode(env);
  for (let attempt = 0; attempt < 6; attempt++) {
    await rejectedOnce(env, INVALID_GRANT, () => redeem(env, flow, { client: env.otherTpp }));
  }
  const [code] = await env.store.list<{ failures: number }>({ prefix: ["authorization_code"], limit: 2 });
  assertEquals(code?.value.failures, 0);
  await assertAccepted(codeGrant(env), await redeem(env, flow));
});

test("POST token counts no failure where client or proof did not hold [TA8]", async ({ env }) => {
  const flow = await issueCode(env);
  const stolen: Changes = { claims: { aud: "https://other.example" } };
  for (let round = 0; round < 6; round++) {
    const form = await authentication(env, env.tpp, "BANKA", stolen);
    await assertApiError(await redeem(env, flow, { form }), [401, "invalid_client"]);
    await assertApiError(await redeem(env, flow, { proof: "x" }), INVALID_PROOF);
  }
  await assertAccepted(codeGrant(env), await redeem(env, flow));
});

test("POST token gives nothing for a code with the other grant's type [TC2]", async ({ env }) => {
  const flow = await issueCode(env);
  const form = { code: flow.code, redirect_uri: SHOP_REDIRECTS[0], scope: undefined };
  await assertApiError(await requestToken(env, env.tpp, "BANKA", { form }), [400, "invalid_scope"]);
  await assertAccepted(codeGrant(env), await redeem(env, flow));
});
