/** Registration JWTs and software statements over any claims: registered or rejected, never worse. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { JsonObject } from "../../src/base/jose/compact_jws.ts";
import { asClientId } from "../../src/base/kernel/identifiers.ts";
import {
  type SoftwareStatementDeps,
  verifySoftwareStatement,
} from "../../src/platform/core/participants/software_statement.ts";
import { checkMetadata, decodeMetadata } from "../../src/platform/core/registration/client_metadata.ts";
import { signJwt } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import { mutated, mutatedJson, runs } from "./runs.ts";

const NOW = 2_210_000_000;
const CLOCK = (): number => NOW * 1000;
const CLIENT_ID = "SC-5b3c9e0e-7d0b-4a53-9d53-0c6f1b2a7c11";
const HOME = "https://directory.example/participants/org-1/jwks";
const REDIRECTS = ["https://shop.example/callback", "https://shop.example/other"];
const RULES = { audience: "https://directory.example/registration", loopbackRedirects: false };

const CLAIMS = {
  iss: "https://directory.example",
  iat: NOW,
  exp: NOW + 86_400,
  jti: "1",
  software_client_id: CLIENT_ID,
  software_id: CLIENT_ID,
  software_client_name: "Example Shop",
  software_client_status: "Active",
  software_environment: "Production",
  software_roles: ["PISP"],
  software_redirect_uris: REDIRECTS,
  org_id: "org-1",
  org_name: "Example Shop Ltd",
  org_jwks_endpoint: HOME,
  org_jwks_revoked_endpoint: `${HOME}/revoked`,
  consent_managedby_bank: false,
};

const METADATA = {
  iss: "Example Shop Ltd",
  iat: NOW,
  exp: NOW + 300,
  aud: RULES.audience,
  jti: "1",
  redirect_uris: REDIRECTS,
  token_endpoint_auth_method: "private_key_jwt",
  grant_types: ["client_credentials", "authorization_code"],
  response_types: ["code"],
  software_id: CLIENT_ID,
  scope: "payments",
  software_statement: "x.y.z",
  application_type: "web",
  request_object_signing_alg: "PS256",
};

async function judging(): Promise<
  { deps: SoftwareStatementDeps; sign: (claims: object) => Promise<string> }
> {
  const key = await testKey(14);
  const publicKey = await key.publicKey("verify");
  return {
    deps: {
      findDirectoryKey: (kid) => Promise.resolve(kid === "d" ? publicKey : undefined),
      directoryIssuer: CLAIMS.iss,
      environment: "Production",
      urls: { allowedHosts: ["directory.example"], loopbackHttp: false },
    },
    sign: (claims) => signJwt({ key, kid: "d" }, { ...claims }),
  };
}

const STATEMENT_REASONS = [
  "registration.invalid_software_statement",
  "registration.unapproved_software_statement",
];

Deno.test("verifySoftwareStatement takes or rejects any text and any signed claims", async () => {
  const { deps, sign } = await judging();
  const good = await sign(CLAIMS);
  const text = fc.oneof(fc.string(), mutated(good));
  await fc.assert(
    fc.asyncProperty(text, async (statement) => {
      const read = await verifySoftwareStatement(deps, statement, CLOCK);
      assert(read.ok ? statement === good : STATEMENT_REASONS.includes(read.fault.reason));
    }),
    runs(300),
  );
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(mutatedJson(CLAIMS), async (claims) => {
      fc.pre(typeof claims === "object" && claims !== null && !Array.isArray(claims));
      const read = await verifySoftwareStatement(deps, await sign(claims ?? {}), CLOCK);
      if (!read.ok) return assert(STATEMENT_REASONS.includes(read.fault.reason), read.fault.reason);
      taken += 1;
      const { clientId, role, redirectUris, jwksUri, revokedJwksUri } = read.value;
      assertEquals(
        [jwksUri, revokedJwksUri].map((url) => new URL(url).host),
        Array(2).fill("directory.example"),
      );
      assert(asClientId(clientId) !== undefined && (role === "PISP" || role === "ASPSP"));
      assert(redirectUris.length > 0 && redirectUris.every((uri) => typeof uri === "string"));
    }),
    runs(250),
  );
  assert(taken > 10, `only ${taken} statements were taken`);
});

Deno.test("checkMetadata accepts what the statement allows, or rejects in words that show nothing", async () => {
  const { deps, sign } = await judging();
  const verified = await verifySoftwareStatement(deps, await sign(CLAIMS), CLOCK);
  if (!verified.ok) throw new Error(verified.fault.at);
  const read = (claims: JsonObject) => {
    const decoded = decodeMetadata(claims);
    return decoded.ok ? checkMetadata(decoded.value, verified.value, RULES) : decoded;
  };
  assert(read(METADATA).ok);
  let taken = 0;
  const claims = fc.oneof(mutatedJson(METADATA), fc.dictionary(fc.string(), fc.jsonValue()));
  fc.assert(
    fc.property(claims, (given) => {
      fc.pre(typeof given === "object" && given !== null && !Array.isArray(given));
      const checked = read({ ...given });
      if (!checked.ok) {
        const { at, expected, received = "" } = checked.fault;
        const description = "description" in checked.fault ? String(checked.fault.description) : "";
        for (const shown of [description, at, expected]) {
          assert(/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(shown) && shown.length < 300, shown);
        }
        return assert([...received].length <= 130, received);
      }
      taken += 1;
      const { redirect_uris: redirectUris, grant_types: grantTypes, jti, exp } = checked.value;
      assert(Array.isArray(redirectUris) && redirectUris.length > 0);
      assert(redirectUris.every((uri) => REDIRECTS.includes(uri)));
      assertEquals([...grantTypes].sort(), ["authorization_code", "client_credentials"]);
      assert(jti !== "" && Number.isFinite(exp));
    }),
    runs(2000),
  );
  assert(taken > 20, `only ${taken} were taken`);
});
