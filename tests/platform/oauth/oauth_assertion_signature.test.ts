/** Client assertions at the token endpoint (both grants) and PAR: algorithm, signature and key. */
import { assertEquals } from "@std/assert";
import {
  asAssertion,
  assertionClaims,
  headed,
  signedBy,
  type WithAssertion,
} from "../../support/assertions.ts";
import { clientAssertion } from "../../../scripts/testing/jwts.ts";
import type { TestKey } from "../../../scripts/testing/keys.ts";
import {
  acceptedEverywhere,
  type Case,
  clientCredentials,
  pushing,
  rejectedEverywhere,
} from "../../../scripts/testing/oauth_requests.ts";
import { adminCall } from "../../../scripts/testing/participants.ts";
import { openEnvironment } from "../../../scripts/testing/environment.ts";
import { importPrivate, rawJws, segment } from "../../../scripts/testing/raw_jws.ts";

const UNAUTHENTICATED = [401, "invalid_client"] as const;

Deno.test("POST token, par reject an assertion by another RSA algorithm and the right key [CA-N5]", async (t) => {
  await using env = await openEnvironment();
  const { key, kid } = env.tpp.signing;
  const pkcs1 = await importPrivate(key.privateJwk, { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, "sign");
  const pss384 = await importPrivate(key.privateJwk, { name: "RSA-PSS", hash: "SHA-384" }, "sign");
  const by = (algorithm: AlgorithmIdentifier | RsaPssParams, signer: CryptoKey, alg: string): Case => () =>
    signedBy(env, { alg, kid }, (input) => crypto.subtle.sign(algorithm, signer, input));
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    "RS256": by({ name: "RSASSA-PKCS1-v1_5" }, pkcs1, "RS256"),
    "RS256 that says PS256": by({ name: "RSASSA-PKCS1-v1_5" }, pkcs1, "PS256"),
    "PS384": by({ name: "RSA-PSS", saltLength: 48 }, pss384, "PS384"),
    "PS256 that says ps256": () => headed(env, key, { alg: "ps256", kid }),
    "PS256 without alg": () => headed(env, key, { kid }),
    "salt of 20 bytes": async () =>
      asAssertion(
        await rawJws(await key.privateKey("sign"), { alg: "PS256", kid }, assertionClaims(env), 20),
      ),
    "no salt": async () =>
      asAssertion(
        await rawJws(await key.privateKey("sign"), { alg: "PS256", kid }, assertionClaims(env), 0),
      ),
  });
});

Deno.test("POST token, par reject an assertion without signature or with a MAC [CA-N6]", async (t) => {
  await using env = await openEnvironment();
  const { key, kid } = env.tpp.signing;
  const spki = new Uint8Array(await crypto.subtle.exportKey("spki", await key.publicKey("verify")));
  const lines = spki.toBase64().match(/.{1,64}/g)?.join("\n");
  const pem = `-----BEGIN PUBLIC KEY-----\n${lines}\n-----END PUBLIC KEY-----\n`;
  const unsigned = (alg: string): Case => () =>
    asAssertion(`${segment({ alg, kid })}.${segment(assertionClaims(env))}.`);
  const keptSignature = async (alg: string): Promise<WithAssertion> => {
    const [, payload, signature] = (await clientAssertion(env, env.tpp, "BANKA")).split(".");
    return asAssertion(`${segment({ alg, kid })}.${payload}.${signature}`);
  };
  const mac = (secret: Uint8Array<ArrayBuffer>): Case => async () => {
    const hmac = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, [
      "sign",
    ]);
    return signedBy(env, { alg: "HS256", kid }, (input) => crypto.subtle.sign("HMAC", hmac, input));
  };
  const text = (value: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(value);
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    "none": unsigned("none"),
    "noNE": unsigned("noNE"),
    "None": unsigned("None"),
    "none, two segments": () =>
      asAssertion(`${segment({ alg: "none", kid })}.${segment(assertionClaims(env))}`),
    "none, signature kept": () => keptSignature("none"),
    "PS256, no signature": unsigned("PS256"),
    "HS256 keyed with the public key's PEM": mac(text(pem)),
    "HS256 keyed with the PEM, trimmed": mac(text(pem.trim())),
    "HS256 keyed with the DER": mac(spki),
    "HS256 keyed with the modulus": mac(text(key.publicJwk.n)),
  });
});

Deno.test("POST token, par reject a kid that is not a signing key of this client [CA-N7] [CA6]", async (t) => {
  await using env = await openEnvironment();
  const { tpp, otherTpp } = env;
  const by = ({ key }: { key: TestKey }, kid: unknown): Case => () => headed(env, key, { alg: "PS256", kid });
  await rejectedEverywhere(t, env, UNAUTHENTICATED, {
    "missing": by(tpp.signing, undefined),
    "empty": by(tpp.signing, ""),
    "unknown": by(tpp.signing, "A".repeat(27)),
    "number": by(tpp.signing, 1),
    "null": by(tpp.signing, null),
    "array": by(tpp.signing, [tpp.signing.kid]),
    "object": by(tpp.signing, { kid: tpp.signing.kid }),
    "10 kB": by(tpp.signing, "k".repeat(10_000)),
    "path": by(tpp.signing, "../../etc/passwd"),
    "SQL": by(tpp.signing, "' OR 1=1 --"),
    "__proto__": by(tpp.signing, "__proto__"),
    "constructor": by(tpp.signing, "constructor"),
    "another client's, by this client's key": by(tpp.signing, otherTpp.signing.kid),
    "another client's, by that key": by(otherTpp.signing, otherTpp.signing.kid),
    "this client's, by another client's key": by(otherTpp.signing, tpp.signing.kid),
    "the transport key's, by that key": by(tpp.transport, tpp.transport.kid),
    "the signing key's, by the transport key": by(tpp.transport, tpp.signing.kid),
    "an encryption key's, by that key": async () => {
      const sealing = { ...env.bankA, signing: env.bankA.encryption ?? env.bankA.transport };
      return { client: env.bankA, ...asAssertion(await clientAssertion(env, sealing, "BANKA")) };
    },
  });
});

Deno.test("POST token, par reject a revoked signing key once the key set is 300 s old [CA-N7]", async (t) => {
  await using env = await openEnvironment();
  const path = `/participants/${env.tpp.orgId}/keys/${env.tpp.signing.kid}/revoke`;
  const endpoints = [clientCredentials(env), await pushing(env)]; // a code would not live that long
  await acceptedEverywhere(t, env, { "before": () => ({}) }, endpoints);
  assertEquals((await adminCall(env, "POST", path, { reason: "stolen" })).status, 200);
  env.now += 300_000;
  await rejectedEverywhere(t, env, UNAUTHENTICATED, { "after": () => ({}) }, endpoints);
});
