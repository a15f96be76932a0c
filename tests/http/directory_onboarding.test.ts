/** POST /participants: what a participant gets, and what is refused. */
import "reflect-metadata";
import { assert, assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "@std/assert";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
} from "@peculiar/x509";
import {
  bank,
  type Json,
  makeAuthority,
  openDirectoryWorld,
  signingRequest,
  software,
  START,
  testAuthority,
  thirdParty,
} from "../support/directory_world.ts";
import { testKey } from "../support/keys.ts";

const CLIENT_ID = /^SC-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

Deno.test("POST /participants answers the onboarding artifacts [E1][E4]", async () => {
  await using world = await openDirectoryWorld();
  const { status, headers, body } = await world.admin("POST", "/participants", await thirdParty([0, 1]));
  assertEquals(status, 201);
  assertEquals(headers.get("cache-control"), "no-store");
  assertEquals(headers.get("content-type"), "application/json");
  assertEquals(Object.keys(body).sort(), [
    "ca",
    "certificates",
    "jwks",
    "org_id",
    "software_client_id",
    "software_statement",
  ]);
  assertEquals(body.org_id, "SHOP");
  assertMatch(body.software_client_id, CLIENT_ID);
  assertEquals(Object.keys(body.certificates).sort(), ["signing", "transport"]);
  assertEquals(body.jwks.keys.map((key: Json) => key.use).sort(), ["sig", "tls"]);
  const published = await world.get("/participants/SHOP/jwks");
  assertEquals(published.body, body.jwks);
});

Deno.test("POST /participants publishes each key under the x5t of its certificate [E4]", async () => {
  await using world = await openDirectoryWorld();
  const { body } = await world.admin(
    "POST",
    "/participants",
    await thirdParty([0, 1], {
      csrs: {
        signing: await signingRequest(0),
        transport: await signingRequest(1),
        encryption: await signingRequest(2),
      },
    }),
  );
  const alg = { sig: "PS256", tls: undefined, enc: "RSA-OAEP-256" };
  for (
    const [name, use, number] of [["signing", "sig", 0], ["transport", "tls", 1], [
      "encryption",
      "enc",
      2,
    ]] as const
  ) {
    const der = new X509Certificate(body.certificates[name]).rawData;
    const x5t = await digest("SHA-1", der);
    const jwk = body.jwks.keys.find((key: Json) => key.use === use);
    assertEquals(jwk, {
      kty: "RSA",
      use,
      kid: x5t,
      ...(alg[use] === undefined ? {} : { alg: alg[use] }),
      n: (await testKey(number)).publicJwk.n,
      e: "AQAB",
      x5c: [new Uint8Array(der).toBase64()],
      x5t,
      "x5t#S256": await digest("SHA-256", der),
    });
  }
});

Deno.test("POST /participants certifies for one purpose each, from its own data alone [E1]", async () => {
  await using world = await openDirectoryWorld();
  const { body } = await world.admin(
    "POST",
    "/participants",
    await thirdParty([0, 1], {
      csrs: {
        signing: await signingRequest(0),
        transport: await signingRequest(1),
        encryption: await signingRequest(2),
      },
    }),
  );
  const authority = new X509Certificate(body.ca);
  assertEquals(
    authority.serialNumber,
    new X509Certificate((await testAuthority()).certificatePem).serialNumber,
  );
  const usages = {
    signing: KeyUsageFlags.digitalSignature | KeyUsageFlags.nonRepudiation,
    transport: KeyUsageFlags.digitalSignature,
    encryption: KeyUsageFlags.keyEncipherment,
  };
  const serials = new Set<string>();
  for (const [name, usage] of Object.entries(usages)) {
    const certificate = new X509Certificate(body.certificates[name]);
    assert(await certificate.verify({ publicKey: authority.publicKey, date: new Date(START) }));
    assertEquals(certificate.issuer, authority.subject);
    assertEquals(certificate.subject, `O=Shop Limited, OU=SHOP, CN=${body.software_client_id}`);
    assertEquals(certificate.notBefore.getTime(), START - 5 * 60_000);
    assertEquals(certificate.notAfter.getTime(), START + 397 * 86_400_000);
    assertEquals(certificate.getExtension(BasicConstraintsExtension)?.ca, false);
    assertEquals(certificate.getExtension(KeyUsagesExtension)?.usages, usage);
    assertEquals(certificate.getExtension(KeyUsagesExtension)?.critical, true);
    const extended = certificate.getExtension(ExtendedKeyUsageExtension)?.usages ?? [];
    assertEquals([...extended].join(), name === "transport" ? "1.3.6.1.5.5.7.3.2" : ""); // clientAuth
    const authorityKeyId = authority.getExtension(SubjectKeyIdentifierExtension)?.keyId;
    assertEquals(certificate.getExtension(AuthorityKeyIdentifierExtension)?.keyId, authorityKeyId);
    assertNotEquals(certificate.getExtension(SubjectKeyIdentifierExtension)?.keyId, undefined);
    assertMatch(certificate.serialNumber, /^01[0-9a-f]{32}$/);
    serials.add(certificate.serialNumber);
  }
  assertEquals(serials.size, 3);
});

Deno.test("POST /participants never certifies longer than its own authority lives [E1]", async () => {
  const end = new Date("2026-03-01T00:00:00Z");
  const ca = await makeAuthority(new Date("2026-02-01T09:58:00Z"), end);
  await using world = await openDirectoryWorld({ ca });
  const { body } = await world.admin("POST", "/participants", await thirdParty([0, 1]));
  const certificate = new X509Certificate(body.certificates.signing);
  assertEquals(certificate.notBefore, new Date("2026-02-01T09:58:00Z"));
  assertEquals(certificate.notAfter, end);
  world.now = end.getTime();
  const late = await world.admin("POST", "/participants", await thirdParty([2, 3], { org_id: "LATE" }));
  assertEquals(late.status, 503);
  assertEquals(late.body.error, "temporarily_unavailable");
});

Deno.test("POST /participants writes any legal name into the certificate as text, cut at 64 characters [E1]", async () => {
  await using world = await openDirectoryWorld();
  const names = ["#0c0441424344", 'Zoë "Z", O=Other\\, Inc.', `Sociedad ${"ñ".repeat(100)}`];
  for (const [index, org_name] of names.entries()) {
    const request = await thirdParty([index * 2, index * 2 + 1], { org_id: undefined, org_name });
    const { status, body } = await world.admin("POST", "/participants", request);
    assertEquals(status, 201);
    assertMatch(body.org_id, /^ORG-[0-9a-f]{20}$/);
    const subject = new X509Certificate(body.certificates.signing).subjectName;
    assertEquals(subject.getField("O"), [org_name.slice(0, 64)]);
    assertEquals(subject.getField("CN"), [body.software_client_id]);
  }
});

Deno.test("POST /participants takes a bank in with its code, screen and order address [E1]", async () => {
  await using world = await openDirectoryWorld();
  const { status, body } = await world.admin("POST", "/participants", await bank([0, 1]));
  assertEquals(status, 201);
  assertEquals(body.org_id, "BANKA");
  const record = (await world.admin("GET", "/participants/BANKA")).body;
  assertEquals(record.role, "ASPSP");
  assertEquals(record.consent_managedby_bank, true);
  assertEquals(record.payment_orders_uri, "https://bank-a.example/orders");
});

const REFUSED: readonly [name: string, of: "pisp" | "bank", changes: Json, words: string][] = [
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
  ["a bank without its code", "bank", { org_id: undefined }, "org_id: must be 2 to 32 letters"],
  ["a bank code with a slash", "bank", { org_id: "BANK/A" }, "org_id: must be 2 to 32 letters"],
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
  [
    "a name with direction marks",
    "pisp",
    { org_name: "Bank\u202eA" },
    "org_name: must not have control or format characters",
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

for (const [name, of, changes, words] of REFUSED) {
  Deno.test(`POST /participants refuses ${name} [E1]`, async () => {
    await using world = await openDirectoryWorld();
    const request = of === "bank" ? await bank([0, 1], changes) : await thirdParty([0, 1], changes);
    const { status, headers, body } = await world.admin("POST", "/participants", request);
    assertEquals([status, body.error], [400, "invalid_request"]);
    assertEquals(headers.get("cache-control"), "no-store");
    assertStringIncludes(body.error_description, words);
    assertEquals((await world.get("/participants")).body, []);
  });
}

Deno.test("POST /participants names all faults at once, in safe characters, without their values [E1]", async () => {
  await using world = await openDirectoryWorld();
  const request = await thirdParty([0, 1], {
    org_name: ' <b>"ñ\\',
    registration_number: "",
    software: { evil: "<script>" },
    'x"y': 1,
  });
  const { status, body } = await world.admin("POST", "/participants", request);
  assertEquals(status, 400);
  const faults = body.error_description.split("; ");
  assert(faults.length >= 9, body.error_description);
  assertMatch(body.error_description, /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
  for (const quoted of ["<script", "<b>", 'x"y', "x'y"]) assert(!body.error_description.includes(quoted));
});

Deno.test("POST /participants in production takes no loopback and no addresses in place of names [E1]", async () => {
  await using world = await openDirectoryWorld({ environment: "Production", loopbackRedirects: false });
  for (
    const address of [
      "http://localhost:8444/callback",
      "https://localhost/",
      "https://127.0.0.1/",
      "https://10.0.0.1/",
      "https://[::1]/",
      "https://intranet/",
    ]
  ) {
    const request = await thirdParty(
      [0, 1],
      withSoftware({ environment: "Production", redirect_uris: [address] }),
    );
    const { status, body } = await world.admin("POST", "/participants", request);
    assertEquals(status, 400, address);
    assertStringIncludes(body.error_description, "software.redirect_uris.0: must ");
  }
});

Deno.test("POST /participants refuses an org_id that is taken in any case [E1]", async () => {
  await using world = await openDirectoryWorld();
  assertEquals((await world.admin("POST", "/participants", await bank([0, 1]))).status, 201);
  const again = await world.admin("POST", "/participants", await bank([2, 3], { org_id: "bankA" }));
  assertEquals([again.status, again.body.error], [409, "conflict"]);
  assertStringIncludes(again.body.error_description, "org_id");
  assertEquals((await world.get("/participants/bankA/jwks")).status, 404);
});

Deno.test("POST /participants gives one org_id to one of two that ask at the same time [E1]", async () => {
  await using world = await openDirectoryWorld();
  const answers = await Promise.all([
    world.admin("POST", "/participants", await bank([0, 1])),
    world.admin("POST", "/participants", await bank([2, 3])),
  ]);
  assertEquals(answers.map(({ status }) => status).sort(), [201, 409]);
  assertEquals((await world.get("/participants")).body.length, 1);
});

function withSoftware(changes: Json): Json {
  return { software: { ...software(), ...changes } };
}

async function digest(hash: string, der: ArrayBuffer): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest(hash, der));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}
