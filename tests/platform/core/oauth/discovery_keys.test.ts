import { assertEquals, assertNotEquals } from "@std/assert";
import "reflect-metadata";
import { X509Certificate } from "@peculiar/x509";
import { CompactEncrypt, importJWK } from "jose";
import { bodyOf, type PlatformKeys } from "testing/answers.ts";
import { IMPLICIT, returnTo, signedReturn } from "testing/bank_return.ts";
import { good } from "testing/flows.ts";
import { authorize, Browser, openHandover, toBank } from "testing/authorization_flow.ts";
import { assertBrowserHeaders, assertCodeAnswer, BROWSER_HEADERS } from "testing/front_channel.ts";
import { platformKeySet } from "testing/platform_keys.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";

const JWKS = "https://auth.platform.example/jwks";

interface PublicKey {
  readonly kid: string;
  readonly use: string;
  readonly n: string;
  readonly e: string;
  readonly [member: string]: unknown;
}

const keysIn = (set: string): PlatformKeys["keys"] => (JSON.parse(set) as PlatformKeys).keys;

Deno.test("GET jwks: one sig and one enc key, each with kid and use, cacheable for 300 s [MD6] [MD8] [MD-N6] [A11]", async () => {
  await using env = await openEnvironment();
  const answer = await env.browser(new Request(JWKS));
  assertEquals([answer.status, answer.headers.get("content-type")], [200, "application/json"]);
  assertBrowserHeaders(answer, { ...BROWSER_HEADERS, "cache-control": "public, max-age=300" });
  const body = await bodyOf<PlatformKeys>(answer);
  assertEquals(Object.keys(body), ["keys"]);
  const [sig, enc] = body.keys;
  assertEquals(body.keys.length, 2);
  assertEquals([sig?.use, sig?.kty, sig?.alg], ["sig", "RSA", "PS256"]);
  assertEquals([enc?.use, enc?.kty, enc?.alg], ["enc", "RSA", "RSA-OAEP-256"]);
  assertNotEquals(sig?.kid, enc?.kid);
});

Deno.test("GET jwks shows public members alone, and no pointers [MD-N5] [MD6]", async () => {
  await using env = await openEnvironment();
  const allowed = {
    sig: ["alg", "e", "kid", "kty", "n", "use", "x5c", "x5t", "x5t#S256"],
    enc: ["alg", "e", "kid", "kty", "n", "use"],
  };
  for (const key of await publishedKeys(env)) {
    assertEquals(Object.keys(key).toSorted(), allowed[key.use as "sig" | "enc"]);
  }
  const text = await (await env.browser(new Request(JWKS))).text();
  const secrets = keysIn(await platformKeySet()).flatMap((key) =>
    (["d", "p", "q", "dp", "dq", "qi"] as const).map((member) => key[member] ?? "")
  );
  assertEquals(secrets.length, 12);
  for (const secret of secrets) assertEquals(text.includes(secret), false);
});

Deno.test("GET jwks: RSA of at least 2048 bits, a pair for each purpose, none of a participant [MD6] [MD7] [FAPI-G6]", async () => {
  await using env = await openEnvironment();
  const keys = await publishedKeys(env);
  const certified = [env.tpp, env.otherTpp, env.bankA, env.bankB].flatMap((participant) =>
    [participant.signing, participant.transport, participant.encryption].flatMap((key) =>
      key?.key.publicJwk.n ?? []
    )
  );
  for (const { n, e } of keys) {
    const modulus = Uint8Array.fromBase64(n, { alphabet: "base64url" });
    assertEquals([modulus.length >= 256, (modulus[0] ?? 0) >= 128, e], [true, true, "AQAB"]);
    assertEquals(certified.includes(n), false);
  }
  assertEquals(new Set(keys.map(({ n }) => n)).size, keys.length);
});

Deno.test("GET jwks: the signing key is its certificate's, and its kid, x5t and x5t#S256 are that certificate's [A11] [MD6]", async () => {
  await using env = await openEnvironment();
  const sig = (await publishedKeys(env)).find(({ use }) => use === "sig");
  const [certificate] = sig?.["x5c"] as string[];
  const der = Uint8Array.fromBase64(certificate ?? "");
  assertEquals([sig?.kid, sig?.["x5t"], sig?.["x5t#S256"]], [
    await digest("SHA-1", der),
    await digest("SHA-1", der),
    await digest("SHA-256", der),
  ]);
  const certified = await crypto.subtle.exportKey("jwk", await new X509Certificate(der).publicKey.export());
  assertEquals([certified.n, certified.e], [sig?.n, sig?.e]);
});

Deno.test("Key rotation: all keys are published, the first signs, every enc key still opens returns [MD8] [BR2]", async (t) => {
  const [current, former] = [await platformKeySet(10, 11), await platformKeySet(12, 13)];
  const rotated = JSON.stringify({ keys: [current, former].flatMap(keysIn) });
  await using env = await openEnvironment({ environment: { PLATFORM_KEYS: rotated } });
  const keys = await publishedKeys(env);
  assertEquals(keys.map(({ use }) => use), ["sig", "enc", "sig", "enc"]);
  assertEquals(new Set(keys.map(({ kid }) => kid)).size, 4);
  await t.step("the first sig key signs", async () => {
    const { requestUri } = await toBank(env, { body: IMPLICIT });
    const departure = await authorize(new Browser(env), env.tpp, requestUri);
    assertEquals((await openHandover(env.bankA, departure)).header["kid"], keys[0]?.kid);
  });
  await stepsOf(t, keys.filter(({ use }) => use === "enc"), (enc) => `sealed to ${enc.kid}`, async (enc) => {
    const flow = await toBank(env, { body: IMPLICIT });
    const jws = new TextEncoder().encode(await signedReturn(env, flow));
    const token = await new CompactEncrypt(jws)
      .setProtectedHeader({ alg: "RSA-OAEP-256", enc: "A256GCM", cty: "JWT", kid: enc.kid })
      .encrypt(await importJWK({ ...enc }, "RSA-OAEP-256"));
    await assertCodeAnswer(await flow.browser.open(returnTo("BANKA", token)));
  });
});

async function publishedKeys(env: Environment): Promise<PublicKey[]> {
  return (await good<{ keys: PublicKey[] }>(env.browser(new Request(JWKS)), 200)).keys;
}

async function digest(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest(name, bytes)).toBase64({
    alphabet: "base64url",
    omitPadding: true,
  });
}
