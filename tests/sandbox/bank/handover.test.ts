/** The bank takes exactly the handover JWTs that the platform makes for it, each once. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { BankBrowser } from "support/bank_browser.ts";
import { type BanksEnvironment, openBanksEnvironment } from "support/banks_environment.ts";
import { furtherClaims, platformSigner, sealHandover, type SealLayers } from "support/bank_visits.ts";
import { steps } from "support/steps.ts";
import { toBank } from "testing/authorization_flow.ts";
import { AUTH_URL, START } from "testing/environment.ts";
import { type JsonObject, signJwt } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";

const now = START / 1000;

async function arrival(env: BanksEnvironment, token: string): Promise<string> {
  const { status, html } = await new BankBrowser(env.banks).open(`/BANKA/sca?oAuthUrl=${token}`);
  if (status === 200 && html.includes('id="login"')) return "login page";
  return `${status} ${
    env.bankEvents.findLast(({ event }) => event === "sca.arrival_refused")?.fields["reason"]
  }`;
}

Deno.test("GET sca shows the login page for a JWT of the platform, and tolerates clocks 30 s apart", async () => {
  await using env = await openBanksEnvironment();
  const flow = await toBank(env);
  const ahead = { iat: now + 30, nbf: now + 30, exp: now + 330 };
  const late = { iat: now - 329, nbf: now - 329, exp: now - 29 };
  for (const claims of [{}, ahead, late]) {
    assertEquals(await arrival(env, await sealHandover(env, flow, claims)), "login page");
  }
});

const wrongClaims: Record<string, [JsonObject, string]> = {
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

Deno.test("GET sca rejects a JWT with wrong claims, and asks the platform for nothing", async (t) => {
  await using env = await openBanksEnvironment();
  const flow = await toBank(env);
  await steps(t, wrongClaims, async ([claims, reason]) => {
    assertEquals(await arrival(env, await sealHandover(env, flow, claims)), `400 ${reason}`);
  });
  const asked = new Set(env.bankRequests.map(({ url }) => url));
  assertEquals([...asked], [`${AUTH_URL}/jwks`]);
});

Deno.test("GET sca rejects wrong layers", async () => {
  await using env = await openBanksEnvironment();
  const flow = await toBank(env);
  const [outsider, platform] = [await testKey(10), await platformSigner()];
  const cases: [SealLayers, string][] = [
    [{ signer: { ...platform, key: outsider } }, "inner layer: JWSSignatureVerificationFailed"],
    [{ recipient: outsider }, "outer layer: JWEDecryptionFailed"],
    [{ outer: { kid: "BANKB-dec-00000000000000000" } }, "encrypted to another key"],
    [{ outer: { cty: "json" } }, "outer layer: another form"],
    [{ outer: { enc: "A128GCM" } }, "outer layer: another form"],
    [{ inner: { typ: "dpop+jwt" } }, "inner header: another form"],
    [{ inner: { kid: "" } }, "inner header: another form"],
    [{ content: JSON.stringify(furtherClaims(env, flow)) }, "content is not a compact JWS"],
    [{ content: await sealHandover(env, flow) }, "content is not a compact JWS"],
  ];
  for (const [layers, reason] of cases) {
    assertEquals(await arrival(env, await sealHandover(env, flow, {}, layers)), `400 ${reason}`);
  }
  const sealed = await sealHandover(env, flow);
  assertEquals(await arrival(env, await signJwt(platform, {})), "400 not a compact JWE");
  assertEquals(await arrival(env, `${sealed}%0A`), "400 not a compact JWE");
  assertEquals(await arrival(env, `${sealed}&oAuthUrl=x`), "400 oAuthUrl is not there once");
});

Deno.test("GET sca takes a JWT once; a rejected one and HEAD do not use up the jti", async () => {
  await using env = await openBanksEnvironment();
  const flow = await toBank(env);
  const jti = "one";
  const elsewhere = await sealHandover(env, flow, { jti, aud: "BANKC" });
  assertEquals(await arrival(env, elsewhere), "400 aud is not this bank");
  const token = await sealHandover(env, flow, { jti });
  const head = await new BankBrowser(env.banks).send(`/BANKA/sca?oAuthUrl=${token}`, { method: "HEAD" });
  assertEquals(head.status, 405);
  assertEquals(await arrival(env, token), "login page");
  assertEquals(await arrival(env, token), "400 jti was used before");
  assertEquals(await arrival(env, await sealHandover(env, flow, { jti })), "400 jti was used before");
});

Deno.test("GET sca tells every rejection in the same words", async () => {
  await using env = await openBanksEnvironment();
  const browser = new BankBrowser(env.banks);
  const token = await sealHandover(env, await toBank(env), { exp: now - 60, iat: now - 90 });
  const expired = await browser.open(`/BANKA/sca?oAuthUrl=${token}`);
  const unreadable = await browser.open("/BANKA/sca?oAuthUrl=a.b.c.d.e");
  assertEquals(expired.html, unreadable.html);
  assertStringIncludes(expired.html, "Go back to the shop");
});

Deno.test("platform keys are fetched again for an unknown kid", async () => {
  await using env = await openBanksEnvironment();
  const flow = await toBank(env);
  const former = { ...await platformSigner(), kid: "formerSigningKidOf27Charsxx" };
  const keys = [{ ...former.key.publicJwk, kid: former.kid, x5t: former.kid, use: "sig", alg: "PS256" }];
  const platformKeys = await (await env.browser(new Request(`${AUTH_URL}/jwks`))).json();
  const published = [{ keys }, platformKeys];
  env.inPlaceOfPlatform = ({ url }) => url.endsWith("/jwks") ? Response.json(published.shift()) : undefined;
  assertEquals(await arrival(env, await sealHandover(env, flow, {}, { signer: former })), "login page");
  assertEquals(published.length, 0); // the platform's signature over the consent names its present key

  const padded = { inner: { kid: `${(await platformSigner()).kid}=` } }; // padding does not count (Decision A11)
  assertEquals(await arrival(env, await sealHandover(env, flow, {}, padded)), "login page");
  const unknown = { inner: { kid: "unknownSigningKidOf27Charsx" } };
  const token = await sealHandover(env, flow, {}, unknown);
  assertEquals(await arrival(env, token), "400 kid is not the platform's");
});
