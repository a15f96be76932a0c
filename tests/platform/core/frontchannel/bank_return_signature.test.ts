/**
 * Who signed a bank's return. `tests/attacks/jwt_*.test.ts` has the returns with a wrong signature, header, time or id.
 */
import { assertEquals } from "@std/assert";
import { assertNotAuthentic, IMPLICIT, sealedReturn, signedReturn } from "testing/bank_return.ts";
import { type AtBank, returnClaims, toBank } from "testing/authorization_flow.ts";
import { assertCodeAnswer } from "testing/front_channel.ts";
import { type JsonObject, signJwt } from "testing/jwts.ts";
import { adminCall } from "testing/participants.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";

Deno.test("GET authorization.sca.oauth2 takes no bank's word for another [BR-N6] [BR-N7] [BR8] [J29] [AUT-11] [CT17]", async (t) => {
  await using env = await openEnvironment();
  const atA = await toBank(env, { body: IMPLICIT });
  const atB = await toBank(env, { bank: env.bankB, body: IMPLICIT });
  const underKidOfB = { key: env.bankA.signing.key, kid: env.bankB.signing.kid };
  const byB = (claims: JsonObject): Promise<string> =>
    signJwt(env.bankB.signing, { ...claimsOf(env, atA), ...claims });
  const returns = {
    "[BR-N6] signed by bank B as itself, on A's path": [byB({ iss: "BANKB", bank_id: "BANKB" }), "BANKA"],
    "[BR-N6] signed by bank B as bank A": [byB({}), "BANKA"],
    "[BR-N7] signed by A with bank_id B": [signedReturn(env, atA, { claims: { bank_id: "BANKB" } }), "BANKA"],
    "A's answer on B's path": [signedReturn(env, atA), "BANKB"],
    "A's answer as B on B's path": [
      signedReturn(env, atA, { claims: { iss: "BANKB", bank_id: "BANKB" } }),
      "BANKB",
    ],
    "B's good answer to a customer of A [BR8]": [byB({ iss: "BANKB", bank_id: "BANKB" }), "BANKB"],
    "for bank B's flow, signed by A under B's kid": [signJwt(underKidOfB, claimsOf(env, atB)), "BANKB"],
    "signed by the TPP": [signJwt(env.tpp.signing, claimsOf(env, atA)), "BANKA"],
    "bank_id in lower case": [signedReturn(env, atA, { claims: { bank_id: "banka" } }), "BANKA"],
    "bank_id missing": [signedReturn(env, atA, { claims: { bank_id: undefined } }), "BANKA"],
    "bank_id an array": [signedReturn(env, atA, { claims: { bank_id: ["BANKA"] } }), "BANKA"],
  } as const;
  await steps(t, returns, async ([jws, path]) => {
    await assertNotAuthentic(env, atA.browser, await sealedReturn(env, path, await jws));
  });
  await t.step("both flows end well all the same", async () => {
    for (const flow of [atA, atB]) {
      const path = await sealedReturn(env, flow.bank.orgId, await signedReturn(env, flow));
      await assertCodeAnswer(await flow.browser.open(path), flow.bank.orgId);
    }
  });
});

Deno.test("GET authorization.sca.oauth2 takes the kid with or without its padding [BR4] [A11]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const twice = await signedReturn(env, flow, { header: { kid: `${env.bankA.signing.kid}==` } });
  await assertNotAuthentic(env, flow.browser, await sealedReturn(env, "BANKA", twice));
  const jws = await signedReturn(env, flow, { header: { kid: `${env.bankA.signing.kid}=` } });
  await assertCodeAnswer(await flow.browser.open(await sealedReturn(env, "BANKA", jws)));
});

Deno.test("GET authorization.sca.oauth2 rejects a key from the moment the platform knows it revoked [BR4] [J35]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const path = `/participants/BANKA/keys/${env.bankA.signing.kid}/revoke`;
  assertEquals((await adminCall(env, "POST", path, { reason: "key compromised" })).status, 200);
  env.now += 301_000; // key sets are kept 300 s
  const jws = await signedReturn(env, flow);
  await assertNotAuthentic(env, flow.browser, await sealedReturn(env, "BANKA", jws));
});

function claimsOf(env: Environment, flow: AtBank): JsonObject {
  return returnClaims(env, flow.bank, flow.handover);
}
