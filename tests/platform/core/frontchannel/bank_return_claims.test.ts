import { assertEquals, assertStringIncludes } from "@std/assert";
import { assertNotAuthentic, IMPLICIT, sealedReturn, signedReturn } from "testing/bank_return.ts";
import { type AtBank, Browser, toBank } from "testing/authorization_flow.ts";
import {
  assertCodeAnswer,
  assertErrorAnswer,
  assertNothingChanges,
  assertPage,
  codesIssued,
  consentStatus,
} from "testing/front_channel.ts";
import type { JsonObject } from "testing/jwts.ts";
import { type Environment, openEnvironment, START } from "testing/environment.ts";
import { steps } from "support/steps.ts";

const NOW = START / 1000;

Deno.test("GET authorization.sca.oauth2 rejects claims that are not of this bank, this platform and this flow [BR-N8] [BR-N12] [BR5] [BR7] [BR10] [A2] [B3] [CT17] [AUT-11]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const other = await toBank(env, { body: IMPLICIT });
  const cases: Record<string, JsonObject> = {
    "[BR-N8] iss missing": { iss: undefined },
    "[BR-N8] iss of another bank": { iss: "BANKB" },
    "[BR-N8] iss the bank's client id": { iss: env.bankA.clientId },
    "[BR-N8] iss the platform": { iss: "https://auth.platform.example" },
    "[BR-N8] iss an array": { iss: ["BANKA"] },
    "[BR-N8] aud another host": { aud: "https://auth.evil.example" },
    "[BR-N8] aud the bank's issuer": { aud: "https://auth.platform.example/BANKA" },
    "[BR-N8] aud the API host": { aud: "https://api.platform.example" },
    "[BR-N8] aud the TPP's redirect": { aud: "https://shop.example/callback" },
    "[BR9] correlation_id missing": { correlation_id: undefined },
    "[BR9] correlation_id unknown": { correlation_id: crypto.randomUUID() },
    "[BR9] correlation_id in upper case": { correlation_id: flow.handover.correlation_id.toUpperCase() },
    "[BR9] correlation_id an array": { correlation_id: [flow.handover.correlation_id] },
    "[BR-N12] ref_id missing": { ref_id: undefined },
    "[BR-N12] debtor_account_present boolean": { debtor_account_present: true },
    "[BR-N12] debtor_account_present missing": { debtor_account_present: undefined },
    "bank_id missing": { bank_id: undefined },
  };
  await steps(t, cases, async (claims) => {
    const jws = await signedReturn(env, flow, { claims });
    await assertNotAuthentic(env, flow.browser, await sealedReturn(env, "BANKA", jws));
  });
  const ofAnotherFlow: Record<string, JsonObject> = {
    "[BR-N12] ref_id of another consent": { ref_id: other.consentId },
    "[BR-N12] ref_id in upper case": { ref_id: flow.consentId.toUpperCase() },
    "[BR-N12] ref_id of nothing": { ref_id: crypto.randomUUID() },
    "[BR-N12] debtor_account_present flipped": { debtor_account_present: "false" },
    "[BR-N12] debtor_account_present in capitals": { debtor_account_present: "True" },
  };
  for (const [name, claims] of Object.entries(ofAnotherFlow)) {
    await t.step(name, async () => await assertUnusable(env, flow, claims));
  }
  await t.step("the flow ends well all the same [BR14]", async () => {
    const jws = await signedReturn(env, flow);
    await assertCodeAnswer(await flow.browser.open(await sealedReturn(env, "BANKA", jws)));
  });
});

Deno.test("GET authorization.sca.oauth2 judges exp, iat and nbf [BR-N9] [BR6] [AUT-11]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const rejected: Record<string, JsonObject> = {
    "exp past by 30 s": { iat: NOW - 100, nbf: undefined, exp: NOW - 30 },
    "iat +31 s": { iat: NOW + 31 },
    "nbf +31 s": { nbf: NOW + 31 },
  };
  for (const [name, claims] of Object.entries(rejected)) {
    await t.step(name, async () => await assertUnusable(env, flow, claims));
  }
});

Deno.test("GET authorization.sca.oauth2 allows the clocks to differ [BR6] [FAPI-D4]", async (t) => {
  await using env = await openEnvironment();
  const accepted: Record<string, JsonObject> = {
    "exp past by 29 s": { iat: NOW - 100, nbf: undefined, exp: NOW - 29 },
    "no nbf": { nbf: undefined },
    "a member nobody knows": { auth_time: NOW },
  };
  await steps(t, accepted, async (claims) => {
    const flow = await toBank(env, { body: IMPLICIT });
    const jws = await signedReturn(env, flow, { claims });
    await assertCodeAnswer(await flow.browser.open(await sealedReturn(env, "BANKA", jws)));
  });
});

Deno.test("GET authorization.sca.oauth2 spends jti once per bank, until the JWT has expired [BR-N10] [BR7] [AUT-11]", async () => {
  await using env = await openEnvironment();
  const first = await toBank(env, { body: IMPLICIT });
  const second = await toBank(env, { body: IMPLICIT });
  const jti = crypto.randomUUID();
  const answer = await signedReturn(env, first, { claims: { jti } });
  await assertCodeAnswer(await first.browser.open(await sealedReturn(env, "BANKA", answer)));
  const again = await signedReturn(env, second, { claims: { jti } });
  const replayed = await sealedReturn(env, "BANKA", again);
  const rejection = await assertNothingChanges(env, () => second.browser.open(replayed));
  await assertErrorAnswer(rejection, "server_error");
  assertEquals([await codesIssued(env), await consentStatus(env, second)], [1, "AwaitingAuthorisation"]);
  const atB = await toBank(env, { bank: env.bankB, body: IMPLICIT });
  const byB = await signedReturn(env, atB, { claims: { jti } });
  await assertCodeAnswer(await atB.browser.open(await sealedReturn(env, "BANKB", byB)), "BANKB");
  const fresh = await signedReturn(env, second);
  await assertCodeAnswer(await second.browser.open(await sealedReturn(env, "BANKA", fresh)));
});

Deno.test("GET authorization.sca.oauth2 does not spend the jti of a return that was rejected [BR14]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const jti = crypto.randomUUID();
  const bad = await signedReturn(env, flow, { claims: { jti, aud: "https://evil.example" } });
  await assertNotAuthentic(env, flow.browser, await sealedReturn(env, "BANKA", bad));
  const good = await signedReturn(env, flow, { claims: { jti } });
  await assertCodeAnswer(await flow.browser.open(await sealedReturn(env, "BANKA", good)));
});

Deno.test("GET authorization.sca.oauth2 answers 404 for an unknown bank [A4]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const path = await sealedReturn(env, "BANKC", await signedReturn(env, flow));
  const answer = await assertNothingChanges(env, () => flow.browser.open(path));
  assertEquals(answer.status, 404);
});

/** The bank signed it for this flow and this browser, but it cannot count: the customer goes back to the TPP (Decision G1). */
async function assertUnusable(env: Environment, flow: AtBank, claims: JsonObject): Promise<void> {
  const path = await sealedReturn(env, "BANKA", await signedReturn(env, flow, { claims }));
  await assertErrorAnswer(await assertNothingChanges(env, () => flow.browser.open(path)), "server_error");
  assertEquals(await consentStatus(env, flow), "AwaitingAuthorisation");
  await assertPage(await assertNothingChanges(env, () => new Browser(env).open(path)), 400, "other_browser");
  assertStringIncludes(env.logged.join("\n"), '"event":"bank_return.unusable"');
}
