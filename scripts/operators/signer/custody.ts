/** Keys of the platform in tokens: what `deno task signer` makes, judges and certifies instead of a file's private keys. */
import "reflect-metadata";
import { Name, Pkcs10CertificateRequestGenerator } from "@peculiar/x509";
import { cryptoWithSign } from "../../../src/base/jose/token_crypto.ts";
import { sha256Bytes } from "../../../src/base/kernel/identifiers.ts";
import type { Token as KeysOfToken, TokenKey } from "../../../src/base/jose/own_key.ts";
import type { Custody } from "../platform_keys/making.ts";
import type { KeysInToken } from "../directory_keys/main.ts";
import type { Modulus, Token } from "./token.ts";

/** A file of keys, as far as its keys are found in a token. */
interface KeyNames {
  readonly keys: readonly { readonly kid: string; readonly n: string }[];
}

/** Of an authority's key. */
const AUTHORITY_BITS = 3072;
const PKCS1 = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" } as const;
const PSS = { name: "RSA-PSS", hash: "SHA-256", saltLength: 32 } as const;

/** New keys are made in the first token. A key signs its own certificate and request with PS256, as everything else. */
export function inTokens(
  tokens: readonly [Token, ...Token[]],
  { owner, now }: { readonly owner: "platform" | "directory"; readonly now: number },
): Custody & { readonly tokenOf: (file: KeyNames) => KeysOfToken } {
  const [first] = tokens;
  return {
    async make(use, bits) {
      const label = `${owner} ${use} ${new Date(now).toISOString().slice(0, 10)}`;
      const modulus = await first.make(use === "sig" ? "sign" : "decrypt", bits, label);
      return { kty: "RSA", n: modulus.toBase64({ alphabet: "base64url", omitPadding: true }), e: "AQAB" };
    },
    async certifier({ kty, n, e }) {
      const publicKey = await crypto.subtle.importKey("jwk", { kty, n, e }, PSS, true, ["verify"]);
      const signing = tokenKey(tokens, n);
      return {
        keys: { privateKey: publicKey, publicKey }, // the private one is in the token
        signingAlgorithm: PSS,
        crypto: cryptoWithSign((data) => signing.sign(data)),
      };
    },
    tokenOf: ({ keys }) => ({ key: (kid) => tokenKey(tokens, keys.find((key) => key.kid === kid)?.n ?? "") }),
    afterMake: (file) =>
      `The private keys are in the token ${first.label} and cannot leave it. ${file} has the public ones.`,
  };
}

/** The directory's keys of software statements, which have no certificates. */
export function statementKeysIn({ make, tokenOf }: ReturnType<typeof inTokens>): KeysInToken {
  return { make: (bits) => make("sig", bits), tokenOf };
}

function tokenKey(tokens: readonly Token[], n: string): TokenKey {
  const modulus = Uint8Array.fromBase64(n, { alphabet: "base64url" });
  return {
    async sign(input) {
      return await (await holder(tokens, modulus)).sign(modulus, await sha256Bytes(input));
    },
    decrypt: async (encrypted) => await (await holder(tokens, modulus)).decrypt(modulus, encrypted),
  };
}

async function holder(tokens: readonly Token[], modulus: Modulus): Promise<Token> {
  for (const token of tokens) if (await token.find(modulus) === "kept") return token;
  throw new Error("names a key that no token has, or that could leave it");
}

/**
 * Makes the key of a certificate authority in a token. Returns its signing request (PKCS 10, PEM).
 *
 * @param subject as `O=Example, CN=Participants Authority 1`
 */
export async function authorityRequest(token: Token, subject: string, now: number): Promise<string> {
  const name = new Name(subject).toString(); // before a key is made
  const modulus = await token.make(
    "sign",
    AUTHORITY_BITS,
    `authority ${new Date(now).toISOString().slice(0, 10)}`,
  );
  const jwk = { kty: "RSA", n: modulus.toBase64({ alphabet: "base64url", omitPadding: true }), e: "AQAB" };
  const publicKey = await crypto.subtle.importKey("jwk", jwk, PKCS1, true, ["verify"]);
  const request = await Pkcs10CertificateRequestGenerator.create({
    name,
    keys: { privateKey: publicKey, publicKey }, // the private one is in the token
    signingAlgorithm: PKCS1,
  }, cryptoWithSign(async (data) => await token.certify(modulus, await sha256Bytes(data))));
  return request.toString("pem");
}
