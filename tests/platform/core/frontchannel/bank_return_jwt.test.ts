/**
 * Who signed a bank's return. `tests/attacks/jwt_*.test.ts` has the returns with a wrong signature, header, time or id.
 * The envelope of a bank's return. `tests/attacks/jwt_sealing.test.ts` has its headers and what may be inside.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { assertNotAuthentic, IMPLICIT, returnTo, sealedReturn, signedReturn } from "testing/bank_return.ts";
import { type AtBank, Browser, returnClaims, toBank } from "testing/authorization_flow.ts";
import {
  assertCodeAnswer,
  assertErrorAnswer,
  assertPage,
  codesIssued,
  consentStatus,
} from "testing/front_channel.ts";
import { type JsonObject, platformEncryptionKey, sealToPlatform, signJwt } from "testing/jwts.ts";
import { type Environment, START } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { transactionDigestOf } from "support/transaction_digest.ts";
import { test } from "support/environment_test.ts";
import { consentBody } from "testing/flows.ts";
import { adminCall } from "testing/participants.ts";
import { testKey } from "testing/keys.ts";
import { rawJwe, segment } from "testing/raw_jws.ts";
import { unchanged } from "testing/store_contents.ts";

test("GET authorization.sca.oauth2 rejects claims that are not of this bank, this platform and this flow [BR-N8] [BR-N12] [BR-N19] [BR5] [BR7] [BR10] [BR20] [A2] [B3] [CT17] [AUT-11]", async ({ env, t }) => {
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
    "[BR-N19] transaction_digest of another consent": {
      transaction_digest: transactionDigestOf(consentBody()),
    },
    "[BR-N19] transaction_digest empty": { transaction_digest: "" },
    "[BR-N19] transaction_digest null": { transaction_digest: null },
    "[BR-N19] transaction_digest an array": { transaction_digest: [flow.handover.transaction_digest] },
  };
  for (const [name, claims] of Object.entries(ofAnotherFlow)) {
    await t.step(name, async () => await assertUnusable(env, flow, claims));
  }
  await t.step("the flow ends well all the same [BR14]", async () => {
    const jws = await signedReturn(env, flow);
    await assertCodeAnswer(await flow.browser.open(await sealedReturn(env, "BANKA", jws)));
  });
});

test("GET authorization.sca.oauth2 takes a return without its optional claims, and with others [BR6]", async ({ env, t }) => {
  const accepted: Record<string, JsonObject> = {
    "no nbf": { nbf: undefined },
    "[BR20] no transaction_digest": { transaction_digest: undefined },
    "a member nobody knows": { auth_time: START / 1000 },
  };
  await steps(t, accepted, async (claims) => {
    const flow = await toBank(env, { body: IMPLICIT });
    const jws = await signedReturn(env, flow, { claims });
    await assertCodeAnswer(await flow.browser.open(await sealedReturn(env, "BANKA", jws)));
  });
});

test("GET authorization.sca.oauth2 spends jti once per bank, until the JWT has expired [BR-N10] [BR7] [AUT-11]", async ({ env }) => {
  const first = await toBank(env, { body: IMPLICIT });
  const second = await toBank(env, { body: IMPLICIT });
  const jti = crypto.randomUUID();
  const answer = await signedReturn(env, first, { claims: { jti } });
  await assertCodeAnswer(await first.browser.open(await sealedReturn(env, "BANKA", answer)));
  const again = await signedReturn(env, second, { claims: { jti } });
  const replayed = await sealedReturn(env, "BANKA", again);
  const rejection = await unchanged(env, () => second.browser.open(replayed));
  await assertErrorAnswer(rejection, "server_error");
  assertEquals([await codesIssued(env), await consentStatus(env, second)], [1, "AwaitingAuthorisation"]);
  const atB = await toBank(env, { bank: env.bankB, body: IMPLICIT });
  const byB = await signedReturn(env, atB, { claims: { jti } });
  await assertCodeAnswer(await atB.browser.open(await sealedReturn(env, "BANKB", byB)), "BANKB");
  const fresh = await signedReturn(env, second);
  await assertCodeAnswer(await second.browser.open(await sealedReturn(env, "BANKA", fresh)));
});

test("GET authorization.sca.oauth2 does not spend the jti of a return that was rejected [BR14]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const jti = crypto.randomUUID();
  const bad = await signedReturn(env, flow, { claims: { jti, aud: "https://evil.example" } });
  await assertNotAuthentic(env, flow.browser, await sealedReturn(env, "BANKA", bad));
  const good = await signedReturn(env, flow, { claims: { jti } });
  await assertCodeAnswer(await flow.browser.open(await sealedReturn(env, "BANKA", good)));
});

test("GET authorization.sca.oauth2 answers 404 for an unknown bank [A4]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const path = await sealedReturn(env, "BANKC", await signedReturn(env, flow));
  const answer = await unchanged(env, () => flow.browser.open(path));
  assertEquals(answer.status, 404);
});

/** The bank signed it for this flow and this browser, but it cannot count: the customer goes back to the TPP (Decision G1). */
async function assertUnusable(env: Environment, flow: AtBank, claims: JsonObject): Promise<void> {
  const path = await sealedReturn(env, "BANKA", await signedReturn(env, flow, { claims }));
  await assertErrorAnswer(await unchanged(env, () => flow.browser.open(path)), "server_error");
  assertEquals(await consentStatus(env, flow), "AwaitingAuthorisation");
  await assertPage(await unchanged(env, () => new Browser(env).open(path)), 400, "other_browser");
  assertStringIncludes(env.logged.join("\n"), '"event":"bank_return.unusable"');
}

test("GET authorization.sca.oauth2 takes no bank's word for another [BR-N6] [BR-N7] [BR8] [J29] [AUT-11] [CT17]", async ({ env, t }) => {
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

test("GET authorization.sca.oauth2 takes the kid with or without its padding [BR4] [A11]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const twice = await signedReturn(env, flow, { header: { kid: `${env.bankA.signing.kid}==` } });
  await assertNotAuthentic(env, flow.browser, await sealedReturn(env, "BANKA", twice));
  const jws = await signedReturn(env, flow, { header: { kid: `${env.bankA.signing.kid}=` } });
  await assertCodeAnswer(await flow.browser.open(await sealedReturn(env, "BANKA", jws)));
});

test("GET authorization.sca.oauth2 rejects a key from the moment the platform knows it revoked [BR4] [J35]", async ({ env }) => {
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

const PATH = "/BANKA/authorization.sca.oauth2";

test("GET authorization.sca.oauth2 rejects what is not exactly one sealed JWT [BR-N1] [BR1] [BR14] [BR17] [A10]", async ({ env, t }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const jws = await signedReturn(env, flow);
  const sealed = await sealToPlatform(env, jws);
  const segments = sealed.split(".");
  const flattened = { protected: segments[0], encrypted_key: segments[1], iv: segments[2] };
  const cases = {
    "missing": PATH,
    "empty": `${PATH}?oAuthUrl=`,
    "another parameter's name": `${PATH}?oauthurl=${sealed}`,
    "twice": `${PATH}?oAuthUrl=${sealed}&oAuthUrl=${sealed}`,
    "twice, once empty": `${PATH}?oAuthUrl=&oAuthUrl=${sealed}`,
    "not a JWE": returnTo("BANKA", "hello"),
    "signed only": returnTo("BANKA", jws),
    "four segments": returnTo("BANKA", segments.slice(0, 4).join(".")),
    "six segments": returnTo("BANKA", `${sealed}.AAAA`),
    "an empty segment": returnTo("BANKA", sealed.replace(`.${segments[1]}.`, "..")),
    "a newline behind": returnTo("BANKA", `${sealed}\n`),
    "a space in front": returnTo("BANKA", ` ${sealed}`),
    "padding": returnTo("BANKA", sealed.replace(".", "=.")),
    "JSON serialisation": returnTo("BANKA", JSON.stringify(flattened)),
    "an outer header that is no JSON": returnTo("BANKA", [segment("{"), ...segments.slice(1)].join(".")),
    "an outer header that is an array": returnTo("BANKA", [segment([]), ...segments.slice(1)].join(".")),
  };
  for (const [name, path] of Object.entries(cases)) {
    await t.step(name, () => assertNotAuthentic(env, flow.browser, path));
  }
  await t.step("more than 8 KiB, though it would decrypt", async () => {
    const long = await signedReturn(env, flow, { claims: { padding: "x".repeat(4000) } });
    const path = await sealedReturn(env, "BANKA", long);
    assertEquals([long.length < 8192, path.length > 8192 + 100], [true, true]);
    await assertNotAuthentic(env, flow.browser, path);
  });
  await t.step("1 MB", () => assertNotAuthentic(env, flow.browser, returnTo("BANKA", "A".repeat(1e6))));
  await t.step("none of it touched the flow, and 7 KiB are fine [BR14]", async () => {
    const long = await signedReturn(env, flow, { claims: { padding: "x".repeat(3200) } });
    const path = await sealedReturn(env, "BANKA", long);
    assertEquals(path.length > 7 * 1024, true);
    await assertCodeAnswer(await flow.browser.open(path));
  });
});

test("GET authorization.sca.oauth2 rejects a JWE to another key or altered in any part [BR-N2] [BR17]", async ({ env, t }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const jws = await signedReturn(env, flow);
  const sealed = await sealToPlatform(env, jws);
  const { kid } = await platformEncryptionKey(env);
  const outsider = await (await testKey(10)).publicKey("encrypt");
  const good = { alg: "RSA-OAEP-256", enc: "A256GCM", cty: "JWT", kid };
  await t.step("sealed to an outsider's key under the platform's kid", async () => {
    const token = await rawJwe({ header: good, plaintext: jws, to: outsider });
    await assertNotAuthentic(env, flow.browser, returnTo("BANKA", token));
  });
  for (const [index, part] of ["header", "encrypted key", "iv", "ciphertext", "tag"].entries()) {
    await t.step(`${part} altered`, async () => {
      await assertNotAuthentic(env, flow.browser, returnTo("BANKA", altered(sealed, index)));
    });
    await t.step(`${part} cut short`, async () => {
      const segments = sealed.split(".");
      segments[index] = (segments[index] ?? "").slice(0, -4);
      await assertNotAuthentic(env, flow.browser, returnTo("BANKA", segments.join(".")));
    });
  }
  await t.step("an encrypted key of another length", async () => {
    const segments = sealed.split(".");
    segments[1] = "AAAA";
    await assertNotAuthentic(env, flow.browser, returnTo("BANKA", segments.join(".")));
  });
  await assertCodeAnswer(await flow.browser.open(returnTo("BANKA", sealed)));
});

/** The token with one bit of a segment's first byte flipped. */
function altered(token: string, index: number): string {
  const segments = token.split(".");
  const bytes = Uint8Array.fromBase64(segments[index] ?? "", { alphabet: "base64url" });
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  segments[index] = segment(bytes);
  return segments.join(".");
}
