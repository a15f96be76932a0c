import { assert, assertEquals, assertRejects } from "@std/assert";
import { createLocalJWKSet, exportJWK, generateKeyPair } from "jose";
import {
  type PayloadSigner,
  type SignatureProfile,
  signPayload,
  verifyPayload,
} from "../../../src/client/party/payload_signature.ts";
import { openSigner } from "../../../src/client/party/signer.ts";

const body = new TextEncoder().encode(
  '{"Data":{"Initiation":{"InstructedAmount":{"Amount":"165.88","Currency":"GBP"}}},"Risk":{}}',
);
const pair = await generateKeyPair("PS256", { extractable: true });
const keys = createLocalJWKSet({
  keys: [{ ...await exportJWK(pair.publicKey), kid: "90210ABAD", use: "sig" }],
});

// contract SG7
const vectors: readonly { profile: SignatureProfile; header: string; length: number; sha256: string }[] = [
  {
    profile: "a",
    header: '{"alg":"PS256","kid":"90210ABAD","b64":false,"http://openbanking.org.uk/iat":1501497671,' +
      '"http://openbanking.org.uk/iss":"ORG-1/SC-1","http://openbanking.org.uk/tan":"directory.example",' +
      '"crit":["b64","http://openbanking.org.uk/iat","http://openbanking.org.uk/iss","http://openbanking.org.uk/tan"]}',
    length: 487,
    sha256: "41afed1744b5354ed1928da7f7a0b1e8b1b4d60ced6c1719c2af4eddecb7edcd",
  },
  {
    profile: "b",
    header: '{"alg":"PS256","kid":"90210ABAD","http://openbanking.org.uk/iat":1501497671,' +
      '"http://openbanking.org.uk/iss":"ORG-1/SC-1","http://openbanking.org.uk/tan":"directory.example",' +
      '"crit":["http://openbanking.org.uk/iat","http://openbanking.org.uk/iss","http://openbanking.org.uk/tan"]}',
    length: 494,
    sha256: "b9700ea07959158f8d5ff7429745fd59ff0d4c80e66457176ccc7b3155611061",
  },
];

for (const vector of vectors) {
  Deno.test(`signPayload signs the signing input of profile ${vector.profile} [SG7]`, async () => {
    const [header = "", middle, signature = ""] = (await sign(vector.profile)).split(".");
    assertEquals(new TextDecoder().decode(bytesOf(header)), vector.header);
    assertEquals(middle, "");
    const input = new Uint8Array([
      ...new TextEncoder().encode(`${header}.`),
      ...(vector.profile === "a" ? body : new TextEncoder().encode(decodeText(body))),
    ]);
    assertEquals(input.length, vector.length);
    assertEquals(new Uint8Array(await crypto.subtle.digest("SHA-256", input)).toHex(), vector.sha256);
    const pss = { name: "RSA-PSS", saltLength: 32 };
    assert(await crypto.subtle.verify(pss, pair.publicKey, bytesOf(signature), input));
  });

  Deno.test(`verifyPayload accepts its own profile ${vector.profile} and says which it was`, async () => {
    assertEquals(await verifyPayload(await sign(vector.profile), body, keys), vector.profile);
  });

  Deno.test(`verifyPayload rejects one changed byte in profile ${vector.profile} [JWS-14]`, async () => {
    const signature = await sign(vector.profile);
    const changed = body.with(body.length - 1, 0x20);
    await assertRejects(() => verifyPayload(signature, changed, keys));
  });
}

Deno.test("verifyPayload rejects what is no detached JWS", async (t) => {
  const [header = "", , signature = ""] = (await sign("b")).split(".");
  const cases: Readonly<Record<string, string>> = {
    "payload attached": `${header}.${decodeText(body)}.${signature}`,
    "no signature": `${header}..`,
    "two parts": `${header}.${signature}`,
    "padding": `${header}..${signature}=`,
    "b64 false that crit does not name": `${
      encoded({ alg: "PS256", kid: "90210ABAD", b64: false })
    }..${signature}`,
    "b64 true": `${encoded({ alg: "PS256", kid: "90210ABAD", b64: true, crit: ["b64"] })}..${signature}`,
    "alg none": `${encoded({ alg: "none" })}..${signature}`,
    "unknown kid": `${encoded({ alg: "PS256", kid: "other" })}..${signature}`,
  };
  for (const [name, value] of Object.entries(cases)) {
    await t.step(name, () => assertRejects(() => verifyPayload(value, body, keys)).then(() => undefined));
  }
});

async function sign(profile: SignatureProfile): Promise<string> {
  const signer: PayloadSigner = {
    ...await openSigner("90210ABAD", pair.privateKey),
    iss: "ORG-1/SC-1",
    tan: "directory.example",
    profile,
  };
  return await signPayload(signer, body, 1_501_497_671_000);
}

function encoded(header: Record<string, unknown>): string {
  return decodeText(new TextEncoder().encode(JSON.stringify(header)));
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}

function decodeText(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}
