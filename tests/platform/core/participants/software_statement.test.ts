/** What a software statement says, whole, and the words of each fault (contract DC2, DC3). */
import { assertEquals } from "@std/assert";
import { type JsonObject, signJwt, withChanges } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import {
  statementEnd,
  statementId,
  verifySoftwareStatement,
} from "../../../../src/platform/core/participants/software_statement.ts";

const SECONDS = 1_800_000_000;
const ISSUER = "https://directory.example";
const CLAIMS = {
  iss: ISSUER,
  iat: SECONDS,
  exp: SECONDS + 3600,
  jti: "statement-1",
  software_client_id: "SC-58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11",
  software_id: "software-1",
  software_client_name: "Shop",
  software_client_status: "Active",
  software_environment: "production",
  software_roles: ["PISP"],
  software_redirect_uris: ["https://shop.example/back"],
  org_id: "SHOP",
  org_name: "Shop Ltd",
  org_jwks_endpoint: "https://keys.example/jwks",
  org_jwks_revoked_endpoint: "https://keys.example/revoked",
};
const OPTIONAL = {
  software_client_uri: "https://shop.example",
  logo_uri: "http://localhost:8000/logo.svg",
  registration_number: "123",
  payment_orders_uri: "https://shop.example/orders",
  event_notification_uri: "https://shop.example/events",
};

/** What comes of a statement with these claims: the statement without its text, or the fault. */
async function verified(changes: JsonObject, loopbackHttp = true): Promise<unknown> {
  const signer = { key: await testKey(14), kid: "directory" };
  const text = await signJwt(signer, withChanges(CLAIMS, changes));
  const key = await signer.key.publicKey("verify");
  const deps = {
    findDirectoryKey: (kid: string) => Promise.resolve(kid === "directory" ? key : undefined),
    directoryIssuer: ISSUER,
    environment: "production",
    urls: { allowedHosts: ["keys.example"], loopbackHttp },
  };
  const result = await verifySoftwareStatement(deps, text, () => SECONDS * 1000);
  if (!result.ok) return result.fault;
  assertEquals(result.value.text, text);
  assertEquals([statementId(text), statementEnd(text)], ["statement-1", (SECONDS + 3600) * 1000]);
  const { text: _, ...rest } = result.value;
  return rest;
}

const PISP = {
  clientId: CLAIMS.software_client_id,
  role: "PISP",
  softwareId: "software-1",
  orgId: "SHOP",
  orgName: "Shop Ltd",
  softwareName: "Shop",
  redirectUris: ["https://shop.example/back"],
  jwksUri: "https://keys.example/jwks",
  revokedJwksUri: "https://keys.example/revoked",
  consentManagedByBank: false,
  resultsOnBackChannel: false,
  issuedAt: SECONDS,
};

Deno.test("a statement is decoded once, with what its role may have [DC2]", async () => {
  assertEquals(await verified({}), PISP);
  const linked = { clientUri: "https://shop.example/", logoUri: "http://localhost:8000/logo.svg" };
  const more = { registrationNumber: "123", paymentOrdersUri: OPTIONAL.payment_orders_uri };
  const events = { eventNotificationUri: OPTIONAL.event_notification_uri };
  const flags = { consent_managedby_bank: true, results_on_back_channel: true };
  assertEquals(await verified({ ...OPTIONAL, ...flags }), { ...PISP, ...linked, ...more, ...events });
  const bank = { software_roles: ["ASPSP"], org_id: "BANKA" };
  const asBank = { ...PISP, role: "ASPSP", orgId: "BANKA" };
  assertEquals(await verified(bank), asBank);
  assertEquals(await verified({ ...bank, ...OPTIONAL, ...flags }), {
    ...asBank,
    ...linked,
    ...more,
    consentManagedByBank: true,
    resultsOnBackChannel: true,
  });
  assertEquals(await verified(OPTIONAL, false), { ...PISP, clientUri: linked.clientUri, ...more, ...events });
  for (
    const uri of ["javascript:alert(1)", "http://shop.example/", "shop", "https://me:secret@shop.example/"]
  ) {
    assertEquals(await verified({ software_client_uri: uri, logo_uri: uri }), PISP, uri);
  }
});

const INVALID = "registration.invalid_software_statement";
const UNAPPROVED = "registration.unapproved_software_statement";
const WRITTEN = "as the directory writes a software statement";

Deno.test("each claim that is missing, of another type, empty or too long is named [DC2]", async () => {
  const required = Object.keys(CLAIMS);
  const all = [...required, ...Object.keys(OPTIONAL)];
  const isText = (name: string): boolean => !/^(iss|iat|exp)$|status|environment|roles|redirect/.test(name);
  const wrong: readonly (readonly [unknown, readonly string[]])[] = [
    [undefined, required],
    [null, all],
    [{}, all],
    ["", all.filter(isText)],
    ["x".repeat(2049), all.filter(isText).slice(0, 5)],
  ];
  for (const [value, names] of wrong) {
    const found = await verified(Object.fromEntries(names.map((name) => [name, value])));
    const { at, ...fault } = found as { readonly at: string };
    assertEquals(fault as unknown, { reason: INVALID, expected: WRITTEN, part: "claims" });
    assertEquals(at.replace("software_statement ", "").split(", ").toSorted(), names.toSorted());
  }
  const lists: JsonObject[] = [
    { software_roles: [] },
    { software_roles: ["PISP", "ASPSP"] },
    { software_redirect_uris: [] },
  ];
  for (const changes of lists) {
    const [name] = Object.keys(changes);
    assertEquals(await verified(changes), {
      reason: INVALID,
      at: `software_statement ${name}`,
      expected: WRITTEN,
      part: "claims",
    });
  }
  const both = await verified({ software_redirect_uris: [""], consent_managedby_bank: "yes" });
  const at = "software_statement software_redirect_uris.0, consent_managedby_bank";
  assertEquals(both, { reason: INVALID, at, expected: WRITTEN, part: "claims" });
  const longest = "x".repeat(2048);
  assertEquals(await verified({ software_client_name: longest, software_id: "x" }), {
    ...PISP,
    softwareName: longest,
    softwareId: "x",
  });
});

Deno.test("a statement that is not for this platform says which claim, what was expected and what it is [DC3]", async () => {
  const host = "on an allowed host";
  const elsewhere = "https://evil.example/jwks";
  const rows:
    readonly (readonly [JsonObject, reason: string, at: string, expected: string, received?: string])[] = [
      [{ iss: "https://other.example" }, UNAPPROVED, "iss", `'${ISSUER}'`, "'https://other.example'"],
      [{ software_client_status: "Revoked" }, UNAPPROVED, "software_client_status", "Active", "'Revoked'"],
      [{ software_environment: "sandbox" }, UNAPPROVED, "software_environment", "'production'", "'sandbox'"],
      [{ org_jwks_endpoint: elsewhere }, UNAPPROVED, "key set URL", host, `'${elsewhere}'`],
      [{ org_jwks_revoked_endpoint: elsewhere }, UNAPPROVED, "key set URL", host, `'${elsewhere}'`],
      [{ software_client_id: "SC-1" }, INVALID, "software_client_id", "SC- and a UUID", "'SC-1'"],
      [{ software_roles: ["AISP"] }, UNAPPROVED, "software_roles", "PISP or ASPSP", "'AISP'"],
      [
        { software_roles: ["ASPSP"], org_id: "register" },
        UNAPPROVED,
        "org_id",
        "a bank code that is not reserved",
        "'register'",
      ],
    ];
  for (const [changes, reason, at, expected, received] of rows) {
    assertEquals(await verified(changes), { reason, at: `software_statement ${at}`, expected, received }, at);
  }
  assertEquals(
    (await verified({ org_id: "register" }) as typeof PISP).orgId,
    "register",
    "a TPP has no paths",
  );
});

Deno.test("nothing is read of what is no statement", () => {
  assertEquals([statementId("a.b"), statementEnd("a.b")], [undefined, undefined]);
  const part = (value: unknown): string =>
    btoa(JSON.stringify(value)).replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_");
  const of = (claims: unknown): string => `${part({ alg: "PS256", typ: "JWT" })}.${part(claims)}.AAAA`;
  assertEquals([statementId(of({ jti: 5 })), statementEnd(of({ exp: "5" }))], [undefined, undefined]);
  assertEquals([statementId(of({ jti: "5" })), statementEnd(of({ exp: 5 }))], ["5", 5000]);
});
