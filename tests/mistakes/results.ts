/** Mistakes of a bank in its result JWT. The customer sees a page or the TPP; the bank reads its trace. */
import { type HandoverClaims, putAccounts, returnClaims, toBank } from "testing/authorization_flow.ts";
import { type Changes, type JsonObject, sealToPlatform, seconds, signJwt } from "testing/jwts.ts";
import type { Area, Mistake } from "./mistake.ts";
import type { Workbench } from "./workbench.ts";

interface ResultChanges {
  readonly claims?: (bench: Workbench, handover: HandoverClaims) => Changes["claims"];
  readonly header?: (bench: Workbench) => Changes["header"];
  /** Signs with the transport key. */
  readonly wrongKey?: true;
  /** Whether the accounts are reported before. */
  readonly accounts?: boolean;
  /** The value that the return has in place of the encrypted result. */
  readonly sealed?: (bench: Workbench, jws: string, claims: JsonObject) => string | Promise<string>;
  readonly parameter?: string;
}

/** A customer returns with a changed result. */
async function returning(bench: Workbench, changes: ResultChanges): Promise<Response> {
  const { env } = bench;
  const { sealed = (_, jws) => sealToPlatform(env, jws), parameter = "oAuthUrl", accounts = false } = changes;
  const { browser, handover, consentId } = await toBank(env);
  if (accounts) await (await putAccounts(env, env.bankA, consentId)).body?.cancel();
  const claims = returnClaims(env, env.bankA, handover, changes.claims?.(bench, handover));
  const { signing, transport } = env.bankA;
  const signer = changes.wrongKey === undefined ? signing : { key: transport.key, kid: signing.kid };
  const jws = await signJwt(signer, claims, changes.header?.(bench));
  const query = new URLSearchParams({ [parameter]: await sealed(bench, jws, claims) });
  return await browser.open(`/BANKA/authorization.sca.oauth2?${query}`);
}

function result(name: string, part: string, expected: Mistake["expected"], changes: ResultChanges): Mistake {
  return {
    name,
    part: `${part} must be`,
    expected,
    make: (bench) => returning(bench, changes),
    told: ({ tracesOfBank }, answer) => tracesOfBank(`/${answer.headers.get("x-fapi-interaction-id")}`),
  };
}

function claim(
  name: string,
  value: (bench: Workbench, handover: HandoverClaims) => unknown,
  expected: Mistake["expected"],
  how: string,
): Mistake {
  return result(`${name} ${how}`, name, expected, {
    claims: (bench, handover) => ({ [name]: value(bench, handover) }),
    accounts: ["sub", "status_code"].includes(name),
  });
}

const PLATFORM = ({ addresses }: Workbench): string => `'${addresses.authUrl}'`;
const REASONS = "success, 200, failure or insufficient_funds";

export const RESULTS: Area = {
  name: "result JWTs",
  role: "bank",
  mistakes: [
    claim("aud", ({ addresses }) => `${addresses.authUrl}/BANKA`, PLATFORM, "is the bank's issuer"),
    claim("aud", ({ addresses }) => [addresses.authUrl], PLATFORM, "is an array"),
    claim("iss", ({ env }) => env.bankA.clientId, "'BANKA'", "is the client id"),
    claim("bank_id", () => "Bank A", "'BANKA'", "is the bank's name"),
    claim("bank_id", () => undefined, "'BANKA'", "is missing"),
    claim("jti", () => undefined, "a string of 1 to 256 characters", "is missing"),
    claim("correlation_id", () => undefined, "a string of 1 to 256 characters", "is missing"),
    claim("correlation_id", () => crypto.randomUUID(), "that of a session with this bank", "is made up"),
    claim("ref_id", (_, { correlation_id: id }) => id, "the consent of this session", "is the correlation"),
    claim("debtor_account_present", () => false, "a string of 1 to 256 characters", "is a boolean"),
    claim("debtor_account_present", () => "true", "false", "contradicts the handover"),
    claim(
      "transaction_digest",
      () => "A".repeat(43),
      "that of the handover JWT, or none",
      "is of another payment",
    ),
    claim("exp", ({ env }) => seconds(env) - 100, "later than now", "has passed"),
    claim("exp", ({ env }) => seconds(env) + 3600, "s after iat", "is an hour ahead"),
    claim("exp", () => undefined, "a number of Unix seconds", "is missing"),
    claim("iat", () => undefined, "a number of Unix seconds", "is missing"),
    claim("iat", ({ env }) => seconds(env) * 1000, "at most 30 s ahead", "is in milliseconds"),
    claim("nbf", ({ env }) => seconds(env) + 120, "at most 30 s ahead", "is two minutes ahead"),
    claim("status_code", () => "SUCCESS", REASONS, "is in upper case"),
    claim("status_code", () => undefined, REASONS, "is missing"),
    claim("sub", () => undefined, "1 to 255 characters", "is missing"),
    claim("sub", () => "GB33BUKB20201555555555", "not an account number", "is an account number"),
    claim("sub", () => "customer-2", "the Data.Sub of the reported accounts", "is another customer"),
    result("success without accounts", "the payer's accounts", "reported on the back channel", {}),
    result("kid of the transport key", "header kid", "a current signing key of the bank", {
      header: ({ env }) => ({ kid: env.bankA.transport.kid }),
    }),
    result("no kid", "header kid", "a base64url SHA-1", { header: () => ({ kid: undefined }) }),
    result("no typ", "header typ", "JWT", { header: () => ({ typ: undefined }) }),
    result("a key set in the header", "header jku", "absent", {
      header: () => ({ jku: "https://bank.example/jwks" }),
    }),
    result("signed with the transport key", "signature", "made with the key that kid names", {
      wrongKey: true,
    }),
    result("signed, but not encrypted", "encrypted token", "a compact JWE", { sealed: (_, jws) => jws }),
    result("encrypted, but not signed", "token", "a compact JWS", {
      sealed: ({ env }, _, claims) => sealToPlatform(env, JSON.stringify(claims)),
    }),
    result("encrypted under the bank's own kid", "outer header kid", "a published use: enc key", {
      sealed: ({ env }, jws) => sealToPlatform(env, jws, { kid: env.bankA.signing.kid }),
    }),
    result("cty of JSON", "outer header cty", "JWT or absent", {
      sealed: ({ env }, jws) => sealToPlatform(env, jws, { cty: "json" }),
    }),
    result("compressed", "outer header", "without members other than", {
      sealed: ({ env }, jws) => sealToPlatform(env, jws, { zip: "DEF" }),
    }),
    result("another parameter", "oAuthUrl", "given once", { parameter: "response" }),
  ],
};
