import { assert, assertEquals } from "@std/assert";
import { base64url, calculateJwkThumbprint, flattenedVerify, importJWK } from "jose";
import {
  BANK_RETURN,
  CLIENT_ASSERTION,
  DPOP_PROOF,
  PAYLOAD_PROFILE_A,
  PAYLOAD_PROFILE_B,
  type SignatureVector,
  VECTOR_ACCESS_TOKEN,
  VECTOR_KEY,
  VECTOR_KEY_THUMBPRINT,
} from "../../src/portal/signature_vectors.ts";

const VECTORS: Readonly<Record<string, SignatureVector>> = {
  CLIENT_ASSERTION,
  DPOP_PROOF,
  PAYLOAD_PROFILE_A,
  PAYLOAD_PROFILE_B,
  BANK_RETURN,
};
const OBIE = ["iat", "iss", "tan"].map((name) => `http://openbanking.org.uk/${name}`);
const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

for (const [name, { header, payload, encoded, sha256, signature }] of Object.entries(VECTORS)) {
  Deno.test(`The documentation's example ${name} is true: its hash and its signature`, async () => {
    const body = encoded ? base64url.encode(payload) : payload;
    const input = `${base64url.encode(header)}.${body}`;
    assertEquals(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes(input))).toHex(), sha256);
    const jws = { protected: base64url.encode(header), payload: encoded ? body : bytes(payload), signature };
    const key = await importJWK(VECTOR_KEY, "PS256");
    const crit = Object.fromEntries(OBIE.map((claim) => [claim, true]));
    await flattenedVerify(jws, key, { algorithms: ["PS256"], crit });
  });
}

Deno.test("The documentation's examples of x-jws-signature are the published ones [SG7]", () => {
  assertEquals(
    [PAYLOAD_PROFILE_A.sha256, PAYLOAD_PROFILE_B.sha256],
    [
      "41afed1744b5354ed1928da7f7a0b1e8b1b4d60ced6c1719c2af4eddecb7edcd",
      "b9700ea07959158f8d5ff7429745fd59ff0d4c80e66457176ccc7b3155611061",
    ],
  );
});

Deno.test("The documentation's DPoP example is of its key and its token", async () => {
  assertEquals(await calculateJwkThumbprint(VECTOR_KEY), VECTOR_KEY_THUMBPRINT);
  const hash = await crypto.subtle.digest("SHA-256", bytes(VECTOR_ACCESS_TOKEN));
  const { ath } = JSON.parse(DPOP_PROOF.payload) as { readonly ath: string };
  assertEquals(ath, base64url.encode(new Uint8Array(hash)));
  const { jwk } = JSON.parse(DPOP_PROOF.header) as { readonly jwk: JsonWebKey };
  assert(jwk.n === VECTOR_KEY.n);
});
