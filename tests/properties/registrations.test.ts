/** Registration JWTs and software statements over any claims: registered or rejected, never worse. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { asClientId } from "../../src/base/kernel/identifiers.ts";
import { ApiError } from "../../src/base/kernel/api_error.ts";
import {
  type SoftwareStatement,
  type SoftwareStatementDeps,
  verifySoftwareStatement,
} from "../../src/platform/participants/software_statement.ts";
import { readRegistration } from "../../src/platform/registration/registration_jwt.ts";
import { signJwt } from "../../scripts/testing/jwts.ts";
import { testKey } from "../../scripts/testing/keys.ts";
import { attempt, attemptLater, mutated, mutatedJson, runs } from "./runs.ts";

const NOW = 2_210_000_000;
const CLIENT_ID = "SC-5b3c9e0e-7d0b-4a53-9d53-0c6f1b2a7c11";
const HOME = "https://directory.example/participants/org-1/jwks";
const REDIRECTS = ["https://shop.example/callback", "https://shop.example/other"];
const RULES = { audience: "https://directory.example/registration", now: NOW, loopbackRedirects: false };

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
      const read = await attemptLater(() => verifySoftwareStatement(deps, statement, NOW));
      assert(read instanceof ApiError ? STATEMENT_REASONS.includes(read.reason) : statement === good);
    }),
    runs(300),
  );
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(mutatedJson(CLAIMS), async (claims) => {
      fc.pre(typeof claims === "object" && claims !== null && !Array.isArray(claims));
      const read = await attemptLater(async () =>
        verifySoftwareStatement(deps, await sign(claims ?? {}), NOW)
      );
      if (read instanceof ApiError) return assert(STATEMENT_REASONS.includes(read.reason), read.reason);
      taken += 1;
      assertEquals(
        [read.jwksUri, read.revokedJwksUri].map((url) => new URL(url).host),
        Array(2).fill("directory.example"),
      );
      assert(asClientId(read.clientId) !== undefined && (read.role === "PISP" || read.role === "ASPSP"));
      assert(read.redirectUris.length > 0 && read.redirectUris.every((uri) => typeof uri === "string"));
    }),
    runs(250),
  );
  assert(taken > 10, `only ${taken} statements were taken`);
});

Deno.test("readRegistration registers what the statement allows, or rejects in words that show nothing", async () => {
  const { deps, sign } = await judging();
  const statement: SoftwareStatement = await verifySoftwareStatement(deps, await sign(CLAIMS), NOW);
  assertEquals(readRegistration(METADATA, statement, RULES).redirectUris, REDIRECTS);
  let taken = 0;
  const claims = fc.oneof(mutatedJson(METADATA), fc.dictionary(fc.string(), fc.jsonValue()));
  fc.assert(
    fc.property(claims, (given) => {
      fc.pre(typeof given === "object" && given !== null && !Array.isArray(given));
      const read = attempt(() => readRegistration({ ...given }, statement, RULES));
      if (read instanceof ApiError) {
        assert(/^registration\.invalid_(client_metadata|redirect_uri)$/.test(read.reason), read.reason);
        const { description = "" } = read.parts;
        return assert(
          /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(description) && description.length < 300,
          description,
        );
      }
      taken += 1;
      assert(read.redirectUris.every((uri) => REDIRECTS.includes(uri)) && read.redirectUris.length > 0);
      assertEquals([...read.grantTypes].sort(), ["authorization_code", "client_credentials"]);
      assert(read.jti !== "" && Number.isFinite(read.expiresAt));
    }),
    runs(2000),
  );
  assert(taken > 20, `only ${taken} were taken`);
});
