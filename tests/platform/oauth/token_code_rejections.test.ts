/** `POST /{BANK}/token.oauth2/v1`, authorization code: wrong redemptions, which leave the code good until the fifth. */
import { assertEquals } from "@std/assert";
import { type Changes, dpopProof, sha256, thumbprint } from "testing/jwts.ts";
import { authentication, dpopKey, postForm, requestToken, verifierOf } from "testing/flows.ts";
import { redeem } from "testing/authorization_flow.ts";
import { testKey } from "testing/keys.ts";
import {
  assertAccepted,
  assertApiError,
  codeForm,
  codeGrant,
  type Expected,
  issueCode,
  type IssuedCode,
} from "testing/oauth_requests.ts";
import { BASE_URL, type Environment, openEnvironment, SHOP_REDIRECTS } from "testing/environment.ts";
import { steps } from "support/steps.ts";

const INVALID_GRANT = [400, "invalid_grant"] as const;
const INVALID_REQUEST = [400, "invalid_request"] as const;
const INVALID_PROOF = [400, "invalid_dpop_proof"] as const;

type Attempt = (flow: IssuedCode) => Promise<Response>;

Deno.test("POST token rejects another client's code [TA-N7, TA3]", async (t) => {
  await using env = await openEnvironment();
  const { otherTpp, tpp } = env;
  await rejectedAndStillGood(t, env, INVALID_GRANT, {
    "with its own redirect_uri": (flow) => redeem(env, flow, { client: otherTpp }),
    "with the owner's redirect_uri": (flow) =>
      redeem(env, flow, { client: otherTpp, form: { redirect_uri: tpp.redirectUris[0] } }),
    "by the bank": (flow) => redeem(env, flow, { client: env.bankA }),
  });
});

Deno.test("POST token rejects a code at another bank [TA-N8, A3]", async (t) => {
  await using env = await openEnvironment();
  await rejectedAndStillGood(t, env, INVALID_GRANT, {
    "code of bank A at bank B": (flow) => redeem(env, flow, { bank: "BANKB" }),
  });
});

Deno.test("POST token rejects a missing code_verifier with invalid_grant [TA-N9, FAPI-D9]", async (t) => {
  await using env = await openEnvironment();
  await rejectedAndStillGood(t, env, INVALID_GRANT, {
    "missing": (flow) => redeem(env, flow, { form: { code_verifier: undefined } }),
    "empty": (flow) => redeem(env, flow, { form: { code_verifier: "" } }),
  });
});

Deno.test("POST token rejects a wrong code_verifier [TA-N10, TA5]", async (t) => {
  await using env = await openEnvironment();
  const verifier = (change: (good: string) => string | Promise<string>): Attempt => async (flow) =>
    redeem(env, flow, { form: { code_verifier: await change(await verifierOf(flow.consentId)) } });
  await rejectedAndStillGood(t, env, INVALID_GRANT, {
    "another": verifier(() => "x".repeat(43)),
    "the challenge (plain)": verifier((good) => sha256(good)),
    "42 characters": verifier((good) => good.slice(1)),
    "129 characters": verifier((good) => good.padEnd(129, "x")),
    "newline behind": verifier((good) => `${good}\n`),
    "space before": verifier((good) => ` ${good}`),
    "= behind": verifier((good) => `${good}=`),
    "other case": verifier((good) => good.toLowerCase()),
    "20 kB": verifier((good) => good.repeat(500)),
  });
});

Deno.test("POST token rejects verifiers out of bounds, though their challenge fits [TA-N10, 2.3]", async (t) => {
  await using env = await openEnvironment();
  const bad = [
    "x".repeat(42),
    "x".repeat(129),
    `${"x".repeat(43)}\n`,
    `${"x".repeat(43)}=`,
    "é".repeat(43),
    "x y".repeat(20),
  ];
  for (const code_verifier of bad) {
    await t.step(JSON.stringify(code_verifier.slice(0, 50)), async () => {
      const flow = await issueCode(env, { form: { code_challenge: await sha256(code_verifier) } });
      await assertApiError(await redeem(env, flow, { form: { code_verifier } }), INVALID_GRANT);
    });
  }
});

Deno.test("POST token accepts verifiers of 43 to 128 unreserved characters [TA5, FM4]", async (t) => {
  await using env = await openEnvironment();
  for (const code_verifier of ["-._~".repeat(11), "Az09-._~".repeat(16)]) {
    await t.step(`${code_verifier.length} characters`, async () => {
      const flow = await issueCode(env, { form: { code_challenge: await sha256(code_verifier) } });
      await assertAccepted(codeGrant(env), await redeem(env, flow, { form: { code_verifier } }));
    });
  }
});

Deno.test("POST token rejects a missing redirect_uri [TA-N11, TA2]", async (t) => {
  await using env = await openEnvironment();
  await rejectedAndStillGood(t, env, INVALID_REQUEST, {
    "missing": (flow) => redeem(env, flow, { form: { redirect_uri: undefined } }),
    "empty": (flow) => redeem(env, flow, { form: { redirect_uri: "" } }),
  });
});

Deno.test("POST token rejects a redirect_uri that is not PAR's, byte for byte [TA-N11, TA4]", async (t) => {
  await using env = await openEnvironment();
  const to = (redirect_uri: string | undefined): Attempt => (flow) =>
    redeem(env, flow, { form: { redirect_uri } });
  await rejectedAndStillGood(t, env, INVALID_GRANT, {
    "different": to("https://shop.example/other"),
    "trailing slash": to("https://shop.example/callback/"),
    "the other registered one": to(SHOP_REDIRECTS[1]),
    "with a query": to("https://shop.example/callback?a=b"),
    "empty query": to("https://shop.example/callback?"),
    "host in upper case": to("https://SHOP.example/callback"),
    "port 443": to("https://shop.example:443/callback"),
    "percent-encoded": to("https://shop.example/%63allback"),
    "space behind": to("https://shop.example/callback "),
  });
});

Deno.test("POST token rejects another DPoP key than PAR's [TA-N12, TA-N13, TA6]", async (t) => {
  await using env = await openEnvironment();
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

Deno.test("POST token rejects a code without DPoP, bound or not, and keeps it [TA-N14]", async () => {
  await using env = await openEnvironment();
  const bound = await issueCode(env, { form: { dpop_jkt: await thumbprint(await dpopKey()) } });
  for (const flow of [bound, await issueCode(env)]) {
    const form = await codeForm(env, flow);
    await rejectedOnce(env, INVALID_PROOF, () => postForm(env, "/BANKA/token.oauth2/v1", form, env.tpp));
    await assertAccepted(codeGrant(env), await redeem(env, flow));
  }
});

Deno.test("POST token voids a code at the fifth wrong redemption [TA8]", async (t) => {
  await using env = await openEnvironment();
  const attempts: readonly Attempt[] = [
    (flow) => redeem(env, flow, { form: { code_verifier: "x".repeat(43) } }),
    (flow) => redeem(env, flow, { form: { redirect_uri: SHOP_REDIRECTS[1] } }),
    (flow) => redeem(env, flow, { form: { redirect_uri: `${SHOP_REDIRECTS[0]}/` } }),
    (flow) => redeem(env, flow, { bank: "BANKB" }),
    (flow) => redeem(env, flow, { form: { code_verifier: undefined } }),
  ];
  for (const wrong of [4, 5]) {
    await t.step(`after ${wrong}`, async () => {
      const flow = await issueCode(env);
      for (const attempt of attempts.slice(0, wrong)) {
        await rejectedOnce(env, INVALID_GRANT, () => attempt(flow));
      }
      const right = await redeem(env, flow);
      if (wrong === 4) await assertAccepted(codeGrant(env), right);
      else await assertApiError(right, INVALID_GRANT);
    });
  }
});

Deno.test("POST token voids no code by redemptions of another client, which get one and the same answer [TA8]", async () => {
  await using env = await openEnvironment();
  const flow = await issueCode(env);
  for (let attempt = 0; attempt < 6; attempt++) {
    await rejectedOnce(env, INVALID_GRANT, () => redeem(env, flow, { client: env.otherTpp }));
  }
  const [code] = await env.store.list<{ failures: number }>({ prefix: ["authorization_code"], limit: 2 });
  assertEquals(code?.value.failures, 0);
  await assertAccepted(codeGrant(env), await redeem(env, flow));
});

Deno.test("POST token counts no failure where client or proof did not hold [TA8]", async () => {
  await using env = await openEnvironment();
  const flow = await issueCode(env);
  const stolen: Changes = { claims: { aud: "https://other.example" } };
  for (let round = 0; round < 6; round++) {
    const form = await authentication(env, env.tpp, "BANKA", stolen);
    await assertApiError(await redeem(env, flow, { form }), [401, "invalid_client"]);
    await assertApiError(await redeem(env, flow, { proof: "x" }), INVALID_PROOF);
  }
  await assertAccepted(codeGrant(env), await redeem(env, flow));
});

Deno.test("POST token gives nothing for a code with the other grant's type [TC2]", async () => {
  await using env = await openEnvironment();
  const flow = await issueCode(env);
  const form = { code: flow.code, redirect_uri: SHOP_REDIRECTS[0], scope: undefined };
  await assertApiError(await requestToken(env, env.tpp, "BANKA", { form }), [400, "invalid_scope"]);
  await assertAccepted(codeGrant(env), await redeem(env, flow));
});

/** Each attempt uses a fresh code: it is rejected like this, only a count changes, and the code redeems afterwards. */
async function rejectedAndStillGood(
  t: Deno.TestContext,
  env: Environment,
  expected: Expected,
  attempts: Readonly<Record<string, Attempt>>,
): Promise<void> {
  await steps(t, attempts, async (attempt) => {
    const flow = await issueCode(env);
    await rejectedOnce(env, expected, () => attempt(flow));
    await assertAccepted(codeGrant(env), await redeem(env, flow));
  });
}

async function rejectedOnce(
  env: Environment,
  expected: Expected,
  send: () => Promise<Response>,
): Promise<void> {
  const before = await withoutFailures(env);
  await assertApiError(await send(), expected);
  assertEquals(await withoutFailures(env), before);
}

/** The store, leaving out how often codes were tried in vain. */
async function withoutFailures(env: Environment): Promise<unknown> {
  return (await env.snapshot()).map(({ key, value, version }) =>
    key[0] === "authorization_code"
      ? { key, value: { ...value as object, failures: 0 } }
      : { key, value, version }
  );
}
