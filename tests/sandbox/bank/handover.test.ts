/** The bank takes exactly the handover JWTs that the platform makes for it, each once. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { CompactSign } from "jose";
import { BankBrowser } from "support/bank_browser.ts";
import { AUTH_URL } from "support/bank_platform_double.ts";
import {
  type BankEnvironment,
  bankEnvironment,
  handoverClaims,
  sealHandover,
  type SealLayers,
  START_MS,
} from "support/bank_environment.ts";

const now = START_MS / 1000;

async function arrival(env: BankEnvironment, token: string): Promise<string> {
  const browser = new BankBrowser(env.banks);
  const { status, html } = await browser.open(`/BANKA/sca?oAuthUrl=${token}`);
  if (status === 200 && html.includes('id="login"')) return "login page";
  return `${status} ${env.events.findLast(({ event }) => event === "sca.arrival_refused")?.fields["reason"]}`;
}

Deno.test("GET sca shows the login page for a JWT of the platform", async () => {
  using env = await bankEnvironment();
  assertEquals(await arrival(env, await sealHandover(env)), "login page");
});

Deno.test("GET sca tolerates clocks 30 s apart", async () => {
  using env = await bankEnvironment();
  const ahead = { iat: now + 30, nbf: now + 30, exp: now + 330 };
  const late = { iat: now - 329, nbf: now - 329, exp: now - 29 };
  assertEquals(await arrival(env, await sealHandover(env, ahead)), "login page");
  assertEquals(await arrival(env, await sealHandover(env, late)), "login page");
});

const wrongClaims: Record<string, [Record<string, unknown>, string]> = {
  "aud of another bank": [{ aud: "BANKC" }, "aud is not this bank"],
  "aud in another case": [{ aud: "banka" }, "aud is not this bank"],
  "aud as an array": [{ aud: ["BANKA"] }, "inner layer: another form"],
  "iss of the bank's issuer": [{ iss: `${AUTH_URL}/BANKA` }, "iss is not the platform"],
  "iss with a slash": [{ iss: `${AUTH_URL}/` }, "iss is not the platform"],
  "no iss": [{ iss: undefined }, "inner layer: another form"],
  "expired": [{ iat: now - 330, nbf: now - 330, exp: now - 30 }, "inner layer: JWTExpired"],
  "iat ahead": [{ iat: now + 31, exp: now + 300 }, "from the future"],
  "nbf ahead": [{ nbf: now + 31 }, "inner layer: JWTClaimValidationFailed"],
  "a life of 301 s": [{ exp: now + 301 }, "lives too long"],
  "no exp": [{ exp: undefined }, "inner layer: another form"],
  "no jti": [{ jti: undefined }, "inner layer: another form"],
  "no act": [{ act: undefined }, "inner layer: another form"],
  "a boolean debtor_account_present": [{ debtor_account_present: false }, "inner layer: another form"],
  "a ref_id that is a path": [{ ref_id: "../../register/v1" }, "inner layer: another form"],
};

for (const [name, [claims, reason]] of Object.entries(wrongClaims)) {
  Deno.test(`GET sca rejects a JWT with ${name}`, async () => {
    using env = await bankEnvironment();
    assertEquals(await arrival(env, await sealHandover(env, claims)), `400 ${reason}`);
    assertEquals(env.platform.calls.length, 0);
  });
}

Deno.test("GET sca rejects wrong layers", async () => {
  using env = await bankEnvironment();
  const { outsider } = env;
  const cases: [SealLayers, string][] = [
    [{ signer: outsider }, "inner layer: JWSSignatureVerificationFailed"],
    [{ recipient: outsider }, "outer layer: JWEDecryptionFailed"],
    [{ outer: { kid: "BANKB-dec-00000000000000000" } }, "encrypted to another key"],
    [{ outer: { cty: "json" } }, "outer layer: another form"],
    [{ outer: { enc: "A128GCM" } }, "outer layer: another form"],
    [{ inner: { typ: "dpop+jwt" } }, "inner header: another form"],
    [{ inner: { kid: "" } }, "inner header: another form"],
    [{ content: JSON.stringify(handoverClaims(START_MS)) }, "content is not a compact JWS"],
    [{ content: await sealHandover(env) }, "content is not a compact JWS"],
  ];
  for (const [layers, reason] of cases) {
    assertEquals(await arrival(env, await sealHandover(env, {}, layers)), `400 ${reason}`);
  }
  const signedOnly = await new CompactSign(new TextEncoder().encode("{}")).setProtectedHeader({
    alg: "PS256",
  })
    .sign(await env.platform.signing.privateKey("sign"));
  assertEquals(await arrival(env, signedOnly), "400 not a compact JWE");
  assertEquals(await arrival(env, `${await sealHandover(env)}%0A`), "400 not a compact JWE");
  assertEquals(await arrival(env, `${await sealHandover(env)}&oAuthUrl=x`), "400 oAuthUrl is not there once");
});

Deno.test("GET sca takes a JWT once, and a rejected one does not use up the jti", async () => {
  using env = await bankEnvironment();
  const jti = "one";
  assertEquals(
    await arrival(env, await sealHandover(env, { jti, aud: "BANKC" })),
    "400 aud is not this bank",
  );
  const token = await sealHandover(env, { jti });
  assertEquals(await arrival(env, token), "login page");
  assertEquals(await arrival(env, token), "400 jti was used before");
  assertEquals(await arrival(env, await sealHandover(env, { jti })), "400 jti was used before");
});

Deno.test("HEAD sca does not use up the JWT", async () => {
  using env = await bankEnvironment();
  const token = await sealHandover(env);
  const head = new Request(`http://localhost:8443/BANKA/sca?oAuthUrl=${token}`, { method: "HEAD" });
  assertEquals((await env.banks.fetch(head)).status, 405);
  assertEquals(await arrival(env, token), "login page");
});

Deno.test("GET sca tells every rejection in the same words", async () => {
  using env = await bankEnvironment();
  const browser = new BankBrowser(env.banks);
  const expired = await browser.open(
    `/BANKA/sca?oAuthUrl=${await sealHandover(env, { exp: now - 60, iat: now - 90 })}`,
  );
  const unreadable = await browser.open("/BANKA/sca?oAuthUrl=a.b.c.d.e");
  assertEquals(expired.html, unreadable.html);
  assertStringIncludes(expired.html, "Go back to the shop");
});

Deno.test("platform keys are fetched again for an unknown kid", async () => {
  using env = await bankEnvironment();
  assertEquals(await arrival(env, await sealHandover(env)), "login page");
  assertEquals(env.platform.keySetRequests, 1);

  env.platform.kid = "rotatedSigningKidOf27Charsx";
  const rotated = { inner: { kid: "rotatedSigningKidOf27Charsx=" } }; // padding does not count (Decision A11)
  assertEquals(await arrival(env, await sealHandover(env, {}, rotated)), "login page");
  assertEquals(env.platform.keySetRequests, 2);

  const unknown = { inner: { kid: "unknownSigningKidOf27Charsx" } };
  assertEquals(await arrival(env, await sealHandover(env, {}, unknown)), "400 kid is not the platform's");
});
