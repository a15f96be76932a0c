/** POST /participants: rejected requests and their messages. A rejected request writes no data. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "testing/jwts.ts";
import { present } from "testing/answers.ts";
import { bank, openDirectoryEnvironment, software, thirdParty } from "testing/directory_environment.ts";

type Case = [name: string, of: "pisp" | "bank", changes: JsonObject, words: string];

const REJECTED: readonly Case[] = [
  [
    "5 redirect URIs",
    "pisp",
    withSoftware({ redirect_uris: [1, 2, 3, 4, 5].map((n) => `https://shop.example/${n}`) }),
    "software.redirect_uris: must have 1 to 4 members",
  ],
  [
    "no redirect URI",
    "pisp",
    withSoftware({ redirect_uris: [] }),
    "software.redirect_uris: must have 1 to 4 members",
  ],
  [
    "2 redirect URIs of a bank",
    "bank",
    withSoftware({ redirect_uris: ["https://b.example/1", "https://b.example/2"] }),
    "software.redirect_uris: must have exactly 1 member",
  ],
  [
    "a redirect URI twice",
    "pisp",
    withSoftware({ redirect_uris: ["https://shop.example", "https://shop.example/"] }),
    "software.redirect_uris: must not have an address twice",
  ],
  [
    "a redirect URI with a fragment",
    "pisp",
    withSoftware({ redirect_uris: ["https://shop.example/#"] }),
    "software.redirect_uris.0: must not have a fragment",
  ],
  [
    "a redirect URI with a user",
    "pisp",
    withSoftware({ redirect_uris: ["https://a@shop.example/"] }),
    "software.redirect_uris.0: must not have a user name or password",
  ],
  [
    "a redirect URI with a wildcard",
    "pisp",
    withSoftware({ redirect_uris: ["https://*.shop.example/"] }),
    "software.redirect_uris.0: must not have a wildcard",
  ],
  [
    "a redirect URI of 2049 characters",
    "pisp",
    withSoftware({ redirect_uris: [`https://shop.example/${"a".repeat(2028)}`] }),
    "software.redirect_uris.0: must have at most 2048 characters",
  ],
  [
    "plain http elsewhere than on loopback",
    "pisp",
    withSoftware({ redirect_uris: ["http://shop.example/"] }),
    "software.redirect_uris.0: must be https",
  ],
  [
    "another environment",
    "pisp",
    withSoftware({ environment: "Production" }),
    "software.environment: must be Sandbox",
  ],
  ["an unknown member", "pisp", { admin: true }, "body: has unknown members (admin)"],
  [
    "an unknown member of the software",
    "pisp",
    withSoftware({ jwks_uri: "https://x.example" }),
    "software: has unknown members (jwks_uri)",
  ],
  ["a bank's members for a third party", "pisp", {
    consent_managedby_bank: true,
    payment_orders_uri: "https://x.example/",
  }, "body: has unknown members (consent_managedby_bank, payment_orders_uri)"],
  [
    "a third party's address for events with plain http",
    "pisp",
    { event_notification_uri: "http://shop.example/events" },
    "event_notification_uri: must be https",
  ],
  [
    "an address for events on a private address",
    "pisp",
    { event_notification_uri: "https://10.0.0.7/events" },
    "event_notification_uri: must name a public host",
  ],
  ["a third party's member for a bank", "bank", {
    event_notification_uri: "https://x.example/",
  }, "body: has unknown members (event_notification_uri)"],
  ["a bank without its code", "bank", { org_id: undefined }, "org_id: must be 2 to 32 letters"],
  ["a bank code with a slash", "bank", { org_id: "BANK/A" }, "org_id: must be 2 to 32 letters"],
  ...["health", "OPERATIONS", "docs", "jwks", "assets", "register", "problem", "__proto__", "constructor"]
    .map((
      code,
    ): Case => [`the reserved name ${code}`, "bank", { org_id: code }, "org_id: is a reserved name"]),
  ["a bank code with a dot", "bank", { org_id: ".well-known" }, "org_id: must be 2 to 32 letters"],
  ["a bank code with a file name", "bank", { org_id: "openapi.json" }, "org_id: must be 2 to 32 letters"],
  [
    "a bank that does not say whose consent screen",
    "bank",
    { consent_managedby_bank: undefined },
    "consent_managedby_bank: must be true or false",
  ],
  ["an unknown role", "pisp", { role: "AISP" }, "role: must be PISP or ASPSP"],
  ["no technical contact", "pisp", {
    contacts: [{ type: "business", name: "A", email: "a@b.example", phone: "12345" }],
  }, "contacts: must have a technical contact"],
  ["an address that no mail can be sent to", "pisp", {
    contacts: [
      { type: "business", name: "A", email: "a@b.example", phone: "12345" },
      { type: "technical", name: "A", email: `${"a".repeat(65)}@b.example`, phone: "12345" },
    ],
  }, "contacts.1.email: must be an e-mail address"],
  [
    "a name with direction marks",
    "pisp",
    { org_name: "Bank\u202eA" },
    "org_name: must not have control or format characters",
  ],
  [
    "a name that cannot be seen",
    "pisp",
    { org_name: "\u3164\u115f" },
    "org_name: must have a letter or digit that can be seen",
  ],
  [
    "no transport request",
    "pisp",
    { csrs: { signing: "x" } },
    "csrs.transport: must be a PEM certificate signing request",
  ],
  [
    "an address too many for one statement",
    "pisp",
    withSoftware({ redirect_uris: [1, 2, 3, 4].map((n) => `https://shop.example/${n}${"a".repeat(2000)}`) }),
    "software: its addresses and texts make a statement of more than 8192 characters",
  ],
];

for (const [name, of, changes, words] of REJECTED) {
  Deno.test(`POST /participants rejects ${name} [E1]`, async () => {
    await using env = await openDirectoryEnvironment();
    const request = of === "bank" ? await bank([0, 1], changes) : await thirdParty([0, 1], changes);
    const { status, headers, body } = await env.admin("POST", "/participants", request);
    assertEquals([status, body.error], [400, "invalid_request"]);
    assertEquals(headers.get("cache-control"), "no-store");
    assertStringIncludes(body.error_description, words);
    assertEquals((await env.get("/participants")).body, []);
  });
}

Deno.test("POST /participants names all faults at once, in safe characters, without their values [E1]", async () => {
  await using env = await openDirectoryEnvironment();
  const request = await thirdParty([0, 1], {
    org_name: ' <b>"ñ\\',
    registration_number: "",
    software: { evil: "<script>" },
    'x"y': 1,
  });
  const { status, body } = await env.admin("POST", "/participants", request);
  assertEquals(status, 400);
  const faults = present(body.error_description).split("; ");
  assert(faults.length >= 9, body.error_description);
  assertMatch(body.error_description, /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
  for (const quoted of ["<script", "<b>", 'x"y', "x'y"]) {
    assert(!(body.error_description ?? quoted).includes(quoted));
  }
});

function withSoftware(changes: JsonObject): JsonObject {
  return { software: { ...software(), ...changes } };
}
