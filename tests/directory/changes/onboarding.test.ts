/** POST /participants: what a participant gets, and what is rejected. */
import "reflect-metadata";
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
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
  makeAuthority,
  openDirectoryEnvironment,
  signingRequest,
  START,
  testAuthority,
  thirdParty,
} from "testing/directory_environment.ts";
import { testKey } from "testing/keys.ts";

const CLIENT_ID = /^SC-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

Deno.test("POST /participants answers the onboarding artifacts [E1][E4]", async () => {
  await using env = await openDirectoryEnvironment();
  const { status, headers, body } = await env.admin("POST", "/participants", await thirdParty([0, 1]));
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
  assertEquals(body.jwks.keys.map((key) => key.use).sort(), ["sig", "tls"]);
  const published = await env.get("/participants/SHOP/jwks");
  assertEquals(published.body, body.jwks);
});

Deno.test("POST /participants publishes each key under the x5t of its certificate [E4]", async () => {
  await using env = await openDirectoryEnvironment();
  const { body } = await env.admin(
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
    const der = new X509Certificate(body.certificates[name] ?? "").rawData;
    const x5t = await digest("SHA-1", der);
    const jwk = body.jwks.keys.find((key) => key.use === use);
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
  await using env = await openDirectoryEnvironment();
  const { body } = await env.admin(
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
    const certificate = new X509Certificate(new Map(Object.entries(body.certificates)).get(name) ?? "");
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
  await using env = await openDirectoryEnvironment({ ca });
  const { body } = await env.admin("POST", "/participants", await thirdParty([0, 1]));
  const certificate = new X509Certificate(body.certificates.signing ?? "");
  assertEquals(certificate.notBefore, new Date("2026-02-01T09:58:00Z"));
  assertEquals(certificate.notAfter, end);
  env.now = end.getTime();
  const late = await env.admin("POST", "/participants", await thirdParty([2, 3], { org_id: "LATE" }));
  assertEquals(late.status, 503);
  assertEquals(late.body.error, "temporarily_unavailable");
});

Deno.test("POST /participants writes any legal name into the certificate as text, cut at 64 characters [E1]", async () => {
  await using env = await openDirectoryEnvironment();
  const names = ["#0c0441424344", 'Zoë "Z", O=Other\\, Inc.', `Sociedad ${"ñ".repeat(100)}`];
  for (const [index, org_name] of names.entries()) {
    const request = await thirdParty([index * 2, index * 2 + 1], { org_id: undefined, org_name });
    const { status, body } = await env.admin("POST", "/participants", request);
    assertEquals(status, 201);
    assertMatch(body.org_id, /^ORG-[0-9a-f]{20}$/);
    const subject = new X509Certificate(body.certificates.signing ?? "").subjectName;
    assertEquals(subject.getField("O"), [org_name.slice(0, 64)]);
    assertEquals(subject.getField("CN"), [body.software_client_id]);
  }
});

Deno.test("POST /participants takes a bank in with its code, screen and order address [E1]", async () => {
  await using env = await openDirectoryEnvironment();
  const { status, body } = await env.admin("POST", "/participants", await bank([0, 1]));
  assertEquals(status, 201);
  assertEquals(body.org_id, "BANKA");
  const record = (await env.admin("GET", "/participants/BANKA")).body;
  assertEquals(record.role, "ASPSP");
  assertEquals(record.consent_managedby_bank, true);
  assertEquals(record.payment_orders_uri, "https://bank-a.example/orders");
});

async function digest(hash: string, der: ArrayBuffer): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest(hash, der));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}
