/** Software statements: what they say, who can verify them, and that a newer one is always newer. */
import { assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "@std/assert";
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { firstOf } from "testing/answers.ts";
import {
  bank,
  type DirectoryEnvironment,
  ISSUER,
  openDirectoryEnvironment,
  START,
  thirdParty,
} from "testing/directory_environment.ts";

const NOW = START / 1000;

Deno.test("POST /participants states a third party's software [interface: software statement]", async () => {
  await using env = await openDirectoryEnvironment();
  const { body } = await env.admin("POST", "/participants", await thirdParty([0, 1]));
  const { jti, ...claims } = decodeJwt(body.software_statement ?? "");
  assertMatch(String(jti), /^[0-9a-f]{8}-/);
  assertEquals<object>(claims, {
    iss: ISSUER,
    iat: NOW,
    exp: NOW + 365 * 86_400,
    org_id: "SHOP",
    org_name: "Shop Limited",
    org_type: "third party provider",
    registration_number: "900123456-7",
    software_id: body.software_client_id,
    software_client_id: body.software_client_id,
    software_client_name: "Shop checkout",
    software_client_description: "Pays for goods",
    software_client_uri: "https://shop.example/",
    software_client_status: "Active",
    software_version: "1.2.3",
    software_environment: "Sandbox",
    software_roles: ["PISP"],
    software_redirect_uris: ["https://shop.example/callback", "http://localhost:8444/callback"],
    logo_uri: "https://shop.example/logo.svg",
    consent_managedby_bank: false,
    org_jwks_endpoint: `${ISSUER}/participants/SHOP/jwks`,
    org_jwks_revoked_endpoint: `${ISSUER}/participants/SHOP/jwks/revoked`,
    id_token_signed_response_alg: "PS256",
  });
});

Deno.test("POST /participants states a bank's screen and order address [interface: software statement]", async () => {
  await using env = await openDirectoryEnvironment();
  const { body } = await env.admin("POST", "/participants", await bank([0, 1]));
  const claims = decodeJwt(body.software_statement ?? "");
  assertEquals(claims["org_type"], "bank");
  assertEquals(claims["software_roles"], ["ASPSP"]);
  assertEquals(claims["consent_managedby_bank"], true);
  assertEquals(claims["payment_orders_uri"], "https://bank-a.example/orders");
});

Deno.test("GET /jwks verifies statements: PS256, typ JWT, kid the RFC 7638 thumbprint [E2]", async () => {
  await using env = await openDirectoryEnvironment();
  const { body } = await env.admin("POST", "/participants", await thirdParty([0, 1]));
  const jwks = (await env.get("/jwks")).body;
  assertEquals(jwks.keys.map((key) => Object.keys(key).sort()), [["alg", "e", "kid", "kty", "n", "use"]]);
  const { protectedHeader } = await jwtVerify(body.software_statement ?? "", createLocalJWKSet(jwks), {
    algorithms: ["PS256"],
    issuer: ISSUER,
    currentDate: new Date(START),
  });
  assertEquals(protectedHeader, { alg: "PS256", typ: "JWT", kid: firstOf(jwks.keys).kid });
});

Deno.test("POST statement issues a newer one with changed members, and keeps the others [E3]", async () => {
  await using env = await openDirectoryEnvironment();
  const first = (await env.admin("POST", "/participants", await bank([0, 1]))).body.software_statement;
  env.now += 1000;
  const { status, headers, body } = await env.admin("POST", "/participants/BANKA/statement", {
    redirect_uris: ["https://bank-a.example/new-sca"],
    consent_managedby_bank: false,
    description: "The bank",
    payment_orders_uri: null,
  });
  assertEquals([status, headers.get("cache-control")], [200, "no-store"]);
  const [before, after] = [decodeJwt(first ?? ""), decodeJwt(body.software_statement ?? "")];
  assertNotEquals(before.jti, after.jti);
  assertEquals(after.iat, NOW + 1);
  assertEquals(after["software_redirect_uris"], ["https://bank-a.example/new-sca"]);
  assertEquals(after["consent_managedby_bank"], false);
  assertEquals(after["software_client_description"], "The bank");
  assertEquals("payment_orders_uri" in after, false);
  assertEquals(after["software_client_name"], before["software_client_name"]);
  assertEquals(decodeProtectedHeader(body.software_statement), decodeProtectedHeader(first ?? ""));
});

Deno.test("a statement has the address for events that its TPP names, moves or removes [SS11]", async () => {
  await using env = await openDirectoryEnvironment();
  const uri = "https://shop.example/events";
  const own = { ...await thirdParty([0, 1]), event_notification_uri: uri };
  const onboarded = await env.admin("POST", "/participants", own);
  assertEquals(decodeJwt(onboarded.body.software_statement ?? "")["event_notification_uri"], uri);
  assertEquals(await recorded(env), uri);
  for (
    const [change, expected] of [["https://shop.example/new", "https://shop.example/new"], [null, undefined]]
  ) {
    env.now += 1000;
    const changes = { event_notification_uri: change };
    const { body } = await env.admin("POST", "/participants/SHOP/statement", changes);
    assertEquals(decodeJwt(body.software_statement ?? "")["event_notification_uri"], expected);
    assertEquals(await recorded(env), change);
    const again = await env.admin("POST", "/participants/SHOP/statement", {});
    assertEquals(decodeJwt(again.body.software_statement)["event_notification_uri"], expected);
  }
  await env.admin("POST", "/participants", await bank([2, 3]));
  const ofBank = await env.admin("POST", "/participants/BANKA/statement", { event_notification_uri: uri });
  assertEquals(ofBank.status, 400);
});

async function recorded(env: DirectoryEnvironment): Promise<unknown> {
  return (await env.admin("GET", "/participants/SHOP")).body.event_notification_uri;
}

Deno.test("POST statement takes no body, an empty object, or what it must reject [E3]", async () => {
  await using env = await openDirectoryEnvironment();
  await env.admin("POST", "/participants", await thirdParty([0, 1]));
  assertEquals((await env.admin("POST", "/participants/SHOP/statement")).status, 200);
  assertEquals((await env.admin("POST", "/participants/SHOP/statement", {})).status, 200);
  const rejected: readonly [unknown, string][] = [
    [{ org_name: "Another" }, "body: has unknown members (org_name)"],
    [{ consent_managedby_bank: true }, "body: has unknown members (consent_managedby_bank)"],
    [{ redirect_uris: [] }, "redirect_uris: must have 1 to 4 members"],
    [{ redirect_uris: ["http://shop.example/"] }, "redirect_uris.0: must be https"],
    [[], "body: must be an object"],
  ];
  for (const [changes, words] of rejected) {
    const { status, body } = await env.admin("POST", "/participants/SHOP/statement", changes);
    assertEquals([status, body.error], [400, "invalid_request"]);
    assertStringIncludes(body.error_description, words);
  }
});

Deno.test("POST statement never repeats an iat, also within one second and at the same time [E3]", async () => {
  await using env = await openDirectoryEnvironment();
  const first = (await env.admin("POST", "/participants", await thirdParty([0, 1]))).body.software_statement;
  const parallel = await Promise.all([1, 2, 3].map(() => env.admin("POST", "/participants/SHOP/statement")));
  const later = await env.admin("POST", "/participants/SHOP/statement");
  const statements = [
    first,
    ...parallel.map(({ body }) => body.software_statement),
    later.body.software_statement,
  ];
  const iats = statements.map((statement) => decodeJwt(statement ?? "").iat);
  assertEquals([...iats].sort(), [NOW, NOW + 1, NOW + 2, NOW + 3, NOW + 4]);
  assertEquals(iats.at(-1), NOW + 4);
});

Deno.test("POST statement keeps iat within what relying parties tolerate: 429 beyond [E3]", async () => {
  await using env = await openDirectoryEnvironment();
  await env.admin("POST", "/participants", await thirdParty([0, 1]));
  for (let count = 0; count < 15; count++) await env.admin("POST", "/participants/SHOP/statement");
  const { status, headers } = await env.admin("POST", "/participants/SHOP/statement");
  assertEquals([status, headers.get("retry-after")], [429, "1"]);
  env.now += 1000;
  const next = await env.admin("POST", "/participants/SHOP/statement");
  assertEquals(decodeJwt(next.body.software_statement).iat, NOW + 16);
});

Deno.test("POST statement never goes back when the clock does [E3]", async () => {
  await using env = await openDirectoryEnvironment();
  await env.admin("POST", "/participants", await thirdParty([0, 1]));
  env.now -= 5000;
  const { body } = await env.admin("POST", "/participants/SHOP/statement");
  assertEquals(decodeJwt(body.software_statement ?? "").iat, NOW + 1);
});

Deno.test("POST statement says what status the software has, and is rejected once it is revoked [E3]", async () => {
  await using env = await openDirectoryEnvironment();
  await env.admin("POST", "/participants", await thirdParty([0, 1]));
  await env.admin("PUT", "/participants/SHOP/software/status", { status: "Inactive", reason: "holidays" });
  const { body } = await env.admin("POST", "/participants/SHOP/statement");
  assertEquals(decodeJwt(body.software_statement ?? "")["software_client_status"], "Inactive");
  await env.admin("PUT", "/participants/SHOP/software/status", { status: "Revoked", reason: "closed" });
  assertEquals((await env.admin("POST", "/participants/SHOP/statement")).status, 409);
});
