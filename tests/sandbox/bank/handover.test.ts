/** The bank takes exactly the hand-over JWTs that the platform makes for it, each once. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { CompactSign } from "jose";
import { BankBrowser } from "../../support/bank_browser.ts";
import { AUTH_URL } from "../../support/bank_platform_double.ts";
import {
  type BankWorld,
  bankWorld,
  handoverClaims,
  sealHandover,
  type SealLayers,
  START_MS,
} from "../../support/bank_environment.ts";

const now = START_MS / 1000;

async function arrival(world: BankWorld, token: string): Promise<string> {
  const browser = new BankBrowser(world.banks);
  const { status, html } = await browser.open(`/BANKA/sca?oAuthUrl=${token}`);
  if (status === 200 && html.includes('id="login"')) return "login page";
  return `${status} ${
    world.events.findLast(({ event }) => event === "sca.arrival_refused")?.fields["reason"]
  }`;
}

Deno.test("GET sca shows the login page for a JWT of the platform", async () => {
  using world = await bankWorld();
  assertEquals(await arrival(world, await sealHandover(world)), "login page");
});

Deno.test("GET sca tolerates clocks 30 s apart", async () => {
  using world = await bankWorld();
  const ahead = { iat: now + 30, nbf: now + 30, exp: now + 330 };
  const late = { iat: now - 329, nbf: now - 329, exp: now - 29 };
  assertEquals(await arrival(world, await sealHandover(world, ahead)), "login page");
  assertEquals(await arrival(world, await sealHandover(world, late)), "login page");
});

const wrongClaims: Record<string, [Record<string, unknown>, string]> = {
  "aud of another bank": [{ aud: "BANKC" }, "aud is not this bank"],
  "aud in another case": [{ aud: "banka" }, "aud is not this bank"],
  "aud as an array": [{ aud: ["BANKA"] }, "inner layer: ZodError"],
  "iss of the bank's issuer": [{ iss: `${AUTH_URL}/BANKA` }, "iss is not the platform"],
  "iss with a slash": [{ iss: `${AUTH_URL}/` }, "iss is not the platform"],
  "no iss": [{ iss: undefined }, "inner layer: ZodError"],
  "expired": [{ iat: now - 330, nbf: now - 330, exp: now - 30 }, "inner layer: JWTExpired"],
  "iat ahead": [{ iat: now + 31, exp: now + 300 }, "from the future"],
  "nbf ahead": [{ nbf: now + 31 }, "inner layer: JWTClaimValidationFailed"],
  "a life of 301 s": [{ exp: now + 301 }, "lives too long"],
  "no exp": [{ exp: undefined }, "inner layer: ZodError"],
  "no jti": [{ jti: undefined }, "inner layer: ZodError"],
  "no act": [{ act: undefined }, "inner layer: ZodError"],
  "a boolean debtor_account_present": [{ debtor_account_present: false }, "inner layer: ZodError"],
  "a ref_id that is a path": [{ ref_id: "../../register/v1" }, "inner layer: ZodError"],
};

for (const [name, [claims, reason]] of Object.entries(wrongClaims)) {
  Deno.test(`GET sca refuses a JWT with ${name}`, async () => {
    using world = await bankWorld();
    assertEquals(await arrival(world, await sealHandover(world, claims)), `400 ${reason}`);
    assertEquals(world.platform.calls.length, 0);
  });
}

Deno.test("GET sca refuses wrong layers", async () => {
  using world = await bankWorld();
  const { stranger } = world;
  const cases: [SealLayers, string][] = [
    [{ signer: stranger }, "inner layer: JWSSignatureVerificationFailed"],
    [{ recipient: stranger }, "outer layer: JWEDecryptionFailed"],
    [{ outer: { kid: "BANKB-dec-00000000000000000" } }, "encrypted to another key"],
    [{ outer: { cty: "json" } }, "outer layer: ZodError"],
    [{ outer: { enc: "A128GCM" } }, "outer layer: ZodError"],
    [{ inner: { typ: "dpop+jwt" } }, "inner header: ZodError"],
    [{ inner: { kid: "" } }, "inner header: ZodError"],
    [{ content: JSON.stringify(handoverClaims(START_MS)) }, "content is not a compact JWS"],
    [{ content: await sealHandover(world) }, "content is not a compact JWS"],
  ];
  for (const [layers, reason] of cases) {
    assertEquals(await arrival(world, await sealHandover(world, {}, layers)), `400 ${reason}`);
  }
  const signedOnly = await new CompactSign(new TextEncoder().encode("{}")).setProtectedHeader({
    alg: "PS256",
  })
    .sign(await world.platform.signing.privateKey("sign"));
  assertEquals(await arrival(world, signedOnly), "400 not a compact JWE");
  assertEquals(await arrival(world, `${await sealHandover(world)}%0A`), "400 not a compact JWE");
  assertEquals(
    await arrival(world, `${await sealHandover(world)}&oAuthUrl=x`),
    "400 oAuthUrl is not there once",
  );
});

Deno.test("GET sca takes a JWT once, and a refused one does not use up the jti", async () => {
  using world = await bankWorld();
  const jti = "one";
  assertEquals(
    await arrival(world, await sealHandover(world, { jti, aud: "BANKC" })),
    "400 aud is not this bank",
  );
  const token = await sealHandover(world, { jti });
  assertEquals(await arrival(world, token), "login page");
  assertEquals(await arrival(world, token), "400 jti was used before");
  assertEquals(await arrival(world, await sealHandover(world, { jti })), "400 jti was used before");
});

Deno.test("HEAD sca does not use up the JWT", async () => {
  using world = await bankWorld();
  const token = await sealHandover(world);
  const head = new Request(`http://localhost:8443/BANKA/sca?oAuthUrl=${token}`, { method: "HEAD" });
  assertEquals((await world.banks.fetch(head)).status, 405);
  assertEquals(await arrival(world, token), "login page");
});

Deno.test("GET sca tells every refusal in the same words", async () => {
  using world = await bankWorld();
  const browser = new BankBrowser(world.banks);
  const expired = await browser.open(
    `/BANKA/sca?oAuthUrl=${await sealHandover(world, { exp: now - 60, iat: now - 90 })}`,
  );
  const unreadable = await browser.open("/BANKA/sca?oAuthUrl=a.b.c.d.e");
  assertEquals(expired.html, unreadable.html);
  assertStringIncludes(expired.html, "Go back to the shop");
});

Deno.test("platform keys are fetched again for an unknown kid, once per 30 s", async () => {
  using world = await bankWorld();
  assertEquals(await arrival(world, await sealHandover(world)), "login page");
  assertEquals(world.platform.keySetRequests, 1);

  world.platform.kid = "rotatedSigningKidOf27Charsx";
  const rotated = { inner: { kid: "rotatedSigningKidOf27Charsx=" } }; // padding does not count (Decision A11)
  assertEquals(await arrival(world, await sealHandover(world, {}, rotated)), "400 kid is not the platform's");
  assertEquals(world.platform.keySetRequests, 1);

  world.platform.nowMs += 30_000;
  assertEquals(await arrival(world, await sealHandover(world, {}, rotated)), "login page");
  assertEquals(world.platform.keySetRequests, 2);
});
