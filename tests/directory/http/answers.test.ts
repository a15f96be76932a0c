/** The directory as an HTTP server: who may ask what, how public answers are cached, and how it says no. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { openDirectoryEnvironment, testAuthority, thirdParty } from "testing/directory_environment.ts";
import { onboarded } from "../changes/onboarded.ts";

Deno.test("GET /participants lists what everybody may know, and no more [E2]", async () => {
  await using env = await onboarded();
  const { headers, body } = await env.get("/participants");
  const record = (await env.admin("GET", "/participants/SHOP")).body;
  assertEquals(headers.get("content-type"), "application/json");
  assertEquals(headers.get("vary"), "Accept");
  assertEquals(body, [{
    org_id: "SHOP",
    org_name: "Shop Limited",
    role: "PISP",
    org_status: "Active",
    software_client_id: record.software_client_id,
    software_client_status: "Active",
    since: "2026-02-01T10:00:00.000Z",
  }]);
});

Deno.test("GET /participants lists more than one page of the store [E2]", async () => {
  await using env = await onboarded();
  const { value } = await env.store.get<object>(["directory", "participant", "shop"]).then((entry) =>
    entry ?? { value: {} }
  );
  for (let count = 0; count < 205; count++) {
    const orgId = `ORG-${String(count).padStart(3, "0")}`;
    const write = {
      kind: "set",
      key: ["directory", "participant", orgId.toLowerCase()],
      value: { ...value, orgId },
    } as const;
    await env.store.commit({ checks: [], writes: [write] });
  }
  const { body } = await env.get("/participants");
  assertEquals(new Set(body.map(({ org_id }: { org_id: string }) => org_id)).size, 206);
});

Deno.test("GET /participants draws a page for browsers, with names as text and its style allowed by hash [E2] [W2]", async () => {
  await using env = await openDirectoryEnvironment();
  await env.admin(
    "POST",
    "/participants",
    await thirdParty([0, 1], { org_name: "<script>alert(1)</script>" }),
  );
  const { headers, body } = await env.get("/participants", {
    accept: "text/html,application/xhtml+xml,*/*;q=0.8",
  });
  assertEquals(headers.get("content-type"), "text/html; charset=utf-8");
  const style = /<style>([\s\S]*?)<\/style>/.exec(String(body))?.[1] ?? "";
  assertStringIncludes(style, "color-scheme");
  assertMatch(
    headers.get("content-security-policy") ?? "",
    new RegExp(`^default-src 'none'; style-src 'sha256-${RegExp.escape(await hashOf(style))}';`),
  );
  assertStringIncludes(body, '<!doctype html><html lang="en" dir="ltr">');
  assertStringIncludes(body, "&lt;script&gt;alert(1)&lt;/script&gt;");
  assert(!String(body).includes("<script"));
  assertStringIncludes(body, '<th scope="col">Organisation</th>');
  const read = { accept: "text/html", "accept-language": "fr" };
  const french = await env.get("/participants", read);
  assertStringIncludes(french.body, '<html lang="fr" dir="ltr">');
  assertStringIncludes(french.body, "Registre des participants");
  assertEquals(french.headers.get("vary"), "Accept, Accept-Language");
  const arabic = await env.get("/participants?lang=ar", read);
  assertStringIncludes(arabic.body, '<html lang="ar" dir="rtl">');
  assertStringIncludes(arabic.body, "دليل المشاركين");
});

Deno.test("GET /participants/{org_id} shows administrators the full record [E3]", async () => {
  await using env = await onboarded();
  const { headers, body } = await env.admin("GET", "/participants/SHOP");
  assertEquals(headers.get("cache-control"), "no-store");
  assertEquals(body.registration_number, "900123456-7");
  assertEquals(body.contacts[1], {
    type: "technical",
    name: "Luis Gómez",
    email: "luis@shop.example",
    phone: "+57 601 555 0101",
  });
  assertEquals(body.software.redirect_uris, [
    "https://shop.example/callback",
    "http://localhost:8444/callback",
  ]);
  assertEquals(
    body.keys.map(({ use, status }: { use: string; status: string }) => `${use} ${status}`).sort(),
    ["sig Active", "tls Active"],
  );
  assert(!("payment_orders_uri" in body));
});

Deno.test("GET / leads to the participants, GET /health to the store [E2]", async () => {
  await using env = await openDirectoryEnvironment();
  const home = await env.get("/");
  assertEquals([home.status, home.headers.get("location")], [303, "/participants"]);
  assertEquals((await env.get("/health")).body, { status: "ok" });
});

Deno.test("GET /ca.pem is the authority's certificate [E2]", async () => {
  await using env = await openDirectoryEnvironment();
  const { status, body } = await env.get("/ca.pem");
  assertEquals([status, body.trim()], [200, (await testAuthority()).certificatePem.trim()]);
});

async function hashOf(text: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toBase64();
}
