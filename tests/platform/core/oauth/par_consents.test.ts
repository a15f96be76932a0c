/** `POST /{BANK}/par.oauth2/v1`: the consent that a pushed request is for, and the PKCE challenge that it may not reuse. */
import { assertEquals } from "@std/assert";
import { rejectionOf } from "testing/answers.ts";
import { good, pay, push, verifierOf } from "testing/flows.ts";
import { authorised, returnPath, toBank } from "testing/authorization_flow.ts";

import { assertApiError, assertRejected, awaitingConsent, issueCode } from "testing/oauth_requests.ts";
import { type Environment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { sha256 } from "../../../../src/base/kernel/identifiers.ts";

const INVALID_REQUEST = [400, "invalid_request"] as const;

test("POST par wants a consent of this client at this bank that awaits authorisation [PA-N9, PA8]", async ({ env, t }) => {
  const consentId = await awaitingConsent(env);
  const push = (consent_id: string | undefined): () => Promise<Response> => () =>
    pushFresh(env, { form: { consent_id } });
  const cases: Record<string, () => Promise<Response>> = {
    "missing": push(undefined),
    "empty": push(""),
    "no UUID": push("1"),
    "UUID and more": push(`${consentId}0`),
    "newline behind": push(`${consentId}\n`),
    "__proto__": push("__proto__"),
    "10 kB": push("a".repeat(10_000)),
    "unknown": push("5c1f2f0e-6d0c-4a51-9d8e-0a3a1f6e4b11"),
    "another client's": () => pushFresh(env, { client: env.otherTpp, form: { consent_id: consentId } }),
    "another bank's": () => pushFresh(env, { bank: "BANKB", form: { consent_id: consentId } }),
    "Authorized": push((await issueCode(env)).consentId),
    "Consumed": push(await consumed(env)),
    "Rejected by the customer": push(await rejected(env)),
  };
  await steps(t, cases, async (send) => {
    await assertRejected(env, INVALID_REQUEST, async () => {
      const response = await send();
      const { error_description: description } = await rejectionOf(response.clone());
      assertEquals(
        description.replace(/; got '[^']*'\.$/, "."), // the same for all but the caller's own value: it reveals no consent
        "consent_id must be the ConsentId of a consent that you created at this bank and that awaits authorisation.",
      );
      return response;
    });
  });
  assertEquals((await pushFresh(env, { form: { consent_id: consentId } })).status, 201);
});

test("POST par rejects a consent whose time has run out [PA-N9, C1]", async ({ env }) => {
  const consentId = await awaitingConsent(env);
  env.now += 86_399_999;
  assertEquals((await pushFresh(env, { form: { consent_id: consentId } })).status, 201);
  env.now += 1;
  await assertRejected(env, INVALID_REQUEST, () => pushFresh(env, { form: { consent_id: consentId } }));
});

test("POST par takes one consent as often as it is pushed, until it is authorised [PA14, FAPI-D7]", async ({ env }) => {
  const consentId = await awaitingConsent(env);
  const first = await good(push(env, consentId), 201);
  const second = await good(push(env, consentId), 201); // the same challenge: no code was issued for it
  assertEquals(first.request_uri === second.request_uri, false);
});

test("POST par rejects a challenge that has led to a code, for 24 hours and this client [PA14]", async ({ env }) => {
  const { consentId: spentBy } = await issueCode(env);
  const code_challenge = await sha256(await verifierOf(spentBy));
  const issuedAt = env.now;
  const again = async (): Promise<Response> =>
    push(env, await awaitingConsent(env), { form: { code_challenge } });
  await assertApiError(await again(), INVALID_REQUEST);
  env.now = issuedAt + 86_399_999;
  await assertApiError(await again(), INVALID_REQUEST);
  env.now = issuedAt + 86_400_000;
  assertEquals((await again()).status, 201);
});

/** A push with a challenge of its own, so that only the consent can be wrong. */
async function pushFresh(
  env: Environment,
  options: NonNullable<Parameters<typeof push>[2]>,
): Promise<Response> {
  const code_challenge = await sha256(crypto.randomUUID());
  return await push(env, "", { ...options, form: { code_challenge, ...options.form } });
}

async function consumed(env: Environment): Promise<string> {
  const flow = await authorised(env);
  await good(pay(env, flow), 201);
  return flow.consentId;
}

async function rejected(env: Environment): Promise<string> {
  const { browser, bank, handover, consentId } = await toBank(env);
  await browser.open(await returnPath(env, bank, handover, { claims: { status_code: "failure" } }));
  return consentId;
}
