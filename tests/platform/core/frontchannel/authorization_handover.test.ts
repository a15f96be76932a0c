import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { compactDecrypt, compactVerify, decodeProtectedHeader, importJWK } from "jose";
import type { RevokedKeySet } from "testing/directory_answers.ts";
import {
  clientToken,
  consentBody,
  createConsent,
  DEBTOR_ACCOUNT,
  good,
  push,
  type SentConsent,
} from "testing/flows.ts";
import { bodyOf, type PlatformKeys, present } from "testing/answers.ts";
import { authorize, Browser, openHandover } from "testing/authorization_flow.ts";
import { assertPage, UUID } from "testing/front_channel.ts";
import type { CertifiedKey, Participant } from "testing/participants.ts";
import { AUTH_URL, type Environment, START } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";
import { transactionDigestOf } from "support/transaction_digest.ts";
import { test } from "support/environment_test.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { unchanged } from "testing/store_contents.ts";

const EVERY_MEMBER = consentBody({
  initiation: {
    CreditorAccount: {
      SchemeName: "UK.OBIE.IBAN",
      Identification: "FR1420041010050500013M02606",
      SecondaryIdentification: "Roll 7",
      Name: 'Señor "Ünïcode" \\ Ltd',
    },
    DebtorAccount: { ...DEBTOR_ACCOUNT, SecondaryIdentification: "0001", Name: "A. Payer" },
  },
});

test("JWT to the bank: exactly the contract's claims, each with its value [AZ16] [HO10] [LNK1] [A2] [B3]", async ({ env, t }) => {
  const cases = [
    { name: "implicit consent", bank: env.bankA, body: IMPLICIT, present: "true" },
    { name: "every member of the digest", bank: env.bankA, body: EVERY_MEMBER, present: "true" },
    { name: "explicit consent", bank: env.bankA, body: consentBody(), present: "false" },
    { name: "explicit consent, bank's own screen", bank: env.bankB, body: consentBody(), present: "false" },
  ];
  const iat = START / 1000;
  await stepsOf(t, cases, ({ name }) => name, async ({ bank, body, present }) => {
    const { departure, consentId } = await leaveForBank(env, bank, body);
    const { claims } = await openHandover(bank, departure);
    const { jti, correlation_id, transaction_digest, ...rest } = claims;
    assertEquals(rest, {
      iss: "https://auth.platform.example", // Decision A2: the host, no issuer
      aud: bank.orgId,
      iat,
      nbf: iat,
      exp: iat + 300,
      debtor_account_present: present,
      ref_id: consentId,
      act: { sub: "Example Shop Ltd", registration_no: env.tpp.clientId },
    });
    assertEquals(transaction_digest, transactionDigestOf(body));
    assertMatch(jti, UUID);
    assertMatch(correlation_id, UUID);
    assertNotEquals(jti, correlation_id);
  });
});

test("JWT to the bank: signed with the key that {auth_url}/jwks publishes, kid is the certificate's x5t [AZ16] [A11]", async ({ env }) => {
  const { departure } = await leaveForBank(env, env.bankA);
  const jws = await unsealed(env.bankA, departure);
  const { keys } = await good<PlatformKeys>(env.browser(new Request(`${AUTH_URL}/jwks`)), 200);
  const sig = keys.find(({ use }: { use: string }) => use === "sig");
  const { protectedHeader } = await compactVerify(jws, await importJWK(present(sig), "PS256"));
  assertEquals(protectedHeader, { alg: "PS256", typ: "JWT", kid: sig?.kid });
  const der = Uint8Array.fromBase64(sig?.x5c?.[0] ?? "");
  const x5t = new Uint8Array(await crypto.subtle.digest("SHA-1", der));
  assertEquals(sig?.kid, x5t.toBase64({ alphabet: "base64url", omitPadding: true }));
});

test("JWT to the bank: JWE(JWS) to its enc key, or its tls key where it has none [AZ16] [A10]", async ({ env }) => {
  const cases = [[env.bankA, env.bankA.encryption], [env.bankB, env.bankB.transport]] as const;
  for (const [bank, recipient] of cases) {
    const { departure } = await leaveForBank(env, bank);
    assertEquals(decodeProtectedHeader(sealedIn(departure)), {
      alg: "RSA-OAEP-256",
      enc: "A256GCM",
      cty: "JWT",
      kid: recipient?.kid,
    });
    assertMatch(await unsealed(bank, departure), /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){2}$/);
  }
});

test("JWT to the bank: sealed to a new enc key once the directory has it, never to a revoked one [A9] [A10]", async ({ env }) => {
  await leaveForBank(env, env.bankA);
  const revoked = env.bankA.encryption?.kid ?? "";
  env.network = async (request) => {
    const answer = await env.directory.fetch(request);
    if (!request.url.endsWith("/participants/BANKA/jwks/revoked")) return answer;
    const { keys } = await bodyOf<RevokedKeySet>(answer);
    return Response.json({ keys: [...keys, { kid: revoked, kty: "RSA", use: "enc" }] });
  };
  env.now += 301_000;
  const { departure } = await leaveForBank(env, env.bankA);
  assertEquals(decodeProtectedHeader(sealedIn(departure)).kid, env.bankA.transport.kid);
});

test("JWT to the bank: sent back, it is no answer of the bank [BR-N16] [J29]", async ({ env }) => {
  const { departure, browser } = await leaveForBank(env, env.bankA);
  const path = `/BANKA/authorization.sca.oauth2?${new URLSearchParams({ oAuthUrl: sealedIn(departure) })}`;
  await assertPage(await unchanged(env, () => browser.open(path)), 400, "not_authentic");
});

async function leaveForBank(
  env: Environment,
  bank: Participant,
  body: SentConsent = IMPLICIT,
): Promise<{ departure: Response; consentId: string; browser: Browser }> {
  const bound = await clientToken(env, env.tpp, bank.orgId);
  const consentId = (await createConsent(env, bound, body, bank.orgId)).Data.ConsentId;
  const { request_uri } = await good(push(env, consentId, { bank: bank.orgId }), 201);
  const browser = new Browser(env);
  return { departure: await authorize(browser, env.tpp, request_uri, bank.orgId), consentId, browser };
}

function sealedIn(departure: Response): string {
  return new URL(departure.headers.get("location") ?? "").searchParams.get("oAuthUrl") ?? "";
}

async function unsealed(bank: Participant, departure: Response): Promise<string> {
  const { key }: CertifiedKey = bank.encryption ?? bank.transport;
  const { plaintext } = await compactDecrypt(sealedIn(departure), await key.privateKey("decrypt"));
  return new TextDecoder().decode(plaintext);
}
