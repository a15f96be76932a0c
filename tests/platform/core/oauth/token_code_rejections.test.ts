/** `POST /{BANK}/token.oauth2/v1`, authorization code: wrong redemptions, which leave the code good until the fifth. */

import { verifierOf } from "testing/flows.ts";
import { redeem } from "testing/authorization_flow.ts";
import {
  assertAccepted,
  assertApiError,
  codeGrant,
  type Expected,
  issueCode,
} from "testing/oauth_requests.ts";
import { type Environment, SHOP_REDIRECTS } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { type Attempt, INVALID_GRANT, rejectedOnce } from "./code_attempts.ts";
import { sha256 } from "../../../../src/base/kernel/identifiers.ts";

const INVALID_REQUEST = [400, "invalid_request"] as const;

test("POST token rejects another client's code [TA-N7, TA3, AUT-14]", async ({ env, t }) => {
  const { otherTpp, tpp } = env;
  await rejectedAndStillGood(t, env, INVALID_GRANT, {
    "with its own redirect_uri": (flow) => redeem(env, flow, { client: otherTpp }),
    "with the owner's redirect_uri": (flow) =>
      redeem(env, flow, { client: otherTpp, form: { redirect_uri: tpp.redirectUris[0] } }),
    "by the bank": (flow) => redeem(env, flow, { client: env.bankA }),
  });
});

test("POST token rejects a code at another bank [TA-N8, A3]", async ({ env, t }) => {
  await rejectedAndStillGood(t, env, INVALID_GRANT, {
    "code of bank A at bank B": (flow) => redeem(env, flow, { bank: "BANKB" }),
  });
});

test("POST token rejects a missing code_verifier with invalid_grant [TA-N9, FAPI-D9]", async ({ env, t }) => {
  await rejectedAndStillGood(t, env, INVALID_GRANT, {
    "missing": (flow) => redeem(env, flow, { form: { code_verifier: undefined } }),
    "empty": (flow) => redeem(env, flow, { form: { code_verifier: "" } }),
  });
});

test("POST token rejects a wrong code_verifier [TA-N10, TA5, AUT-14]", async ({ env, t }) => {
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

test("POST token rejects verifiers out of bounds, though their challenge fits [TA-N10, 2.3]", async ({ env, t }) => {
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

test("POST token accepts verifiers of 43 to 128 unreserved characters [TA5, FM4]", async ({ env, t }) => {
  for (const code_verifier of ["-._~".repeat(11), "Az09-._~".repeat(16)]) {
    await t.step(`${code_verifier.length} characters`, async () => {
      const flow = await issueCode(env, { form: { code_challenge: await sha256(code_verifier) } });
      await assertAccepted(codeGrant(env), await redeem(env, flow, { form: { code_verifier } }));
    });
  }
});

test("POST token rejects a missing redirect_uri [TA-N11, TA2]", async ({ env, t }) => {
  await rejectedAndStillGood(t, env, INVALID_REQUEST, {
    "missing": (flow) => redeem(env, flow, { form: { redirect_uri: undefined } }),
    "empty": (flow) => redeem(env, flow, { form: { redirect_uri: "" } }),
  });
});

test("POST token rejects a redirect_uri that is not PAR's, byte for byte [TA-N11, TA4]", async ({ env, t }) => {
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
