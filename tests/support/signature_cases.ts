/**
 * `x-jws-signature` values over a body, wrong in a way that other JWTs cannot be, or in profile A, and unusual ones that
 * are right (contract SG3 to SG5, JWS-01 to JWS-16). `tests/attacks/jwt_*.test.ts` has the other faults, in profile B.
 * Made by hand with WebCrypto, so that any header can be signed.
 */
import { concat, ps256, segment } from "testing/raw_jws.ts";
import { type JsonObject, seconds, withChanges } from "testing/jwts.ts";
import { type TestKey, testKey } from "testing/keys.ts";
import type { ExpectedFault } from "testing/resource_answers.ts";
import { DIRECTORY_URL, type Environment } from "testing/environment.ts";

/** The body to sign and its environment, whose TPP signs. */
export interface SignatureFixture {
  readonly env: Environment;
  readonly body: string;
}

/** One signature and what it is answered with; no fault means that it is good. */
export interface SignatureCase {
  readonly name: string;
  readonly fault?: ExpectedFault;
  readonly make: (fixture: SignatureFixture) => Promise<string>;
}

const IAT = "http://openbanking.org.uk/iat";
const ISS = "http://openbanking.org.uk/iss";
const TAN = "http://openbanking.org.uk/tan";
const OBIE = [IAT, ISS, TAN];
const MALFORMED: ExpectedFault = ["Signature.Malformed", "x-jws-signature"];
const INVALID: ExpectedFault = ["Signature.Invalid", "x-jws-signature"];

/** The header of a good signature by the environment's TPP. */
export function goodHeader(env: Environment, profile: "A" | "B"): JsonObject {
  const claims = {
    [IAT]: seconds(env),
    [ISS]: `${env.tpp.orgId}/${env.tpp.clientId}`,
    [TAN]: new URL(DIRECTORY_URL).host,
  };
  const base = { alg: "PS256", kid: env.tpp.signing.kid, ...claims };
  return profile === "A" ? { ...base, b64: false, crit: ["b64", ...OBIE] } : { ...base, crit: OBIE };
}

/** A detached signature over exactly this header, of the body as it is (`raw`) or base64url. */
export async function signDetachedBy(
  key: TestKey,
  header: JsonObject | string,
  body: string,
  raw: boolean,
): Promise<string> {
  const input = concat(`${segment(header)}.`, raw ? body : segment(body));
  return `${segment(header)}..${await ps256(await key.privateKey("sign"), input)}`;
}

function header(
  profile: "A" | "B",
  name: string,
  changes: (env: Environment) => JsonObject,
  fault?: ExpectedFault,
): SignatureCase {
  return {
    name: `${name} (profile ${profile})`,
    ...(fault === undefined ? {} : { fault }),
    make: async ({ env, body }) => {
      const members = withChanges(goodHeader(env, profile), changes(env));
      return await signDetachedBy(env.tpp.signing.key, members, body, profile === "A");
    },
  };
}

function inBoth(
  name: string,
  changes: (env: Environment) => JsonObject,
  fault?: ExpectedFault,
): SignatureCase[] {
  return [header("A", name, changes, fault), header("B", name, changes, fault)];
}

function text(
  name: string,
  change: (good: string, fixture: SignatureFixture) => string,
  fault: ExpectedFault,
): SignatureCase {
  return {
    name,
    fault,
    make: async (fixture) =>
      change(
        await signDetachedBy(fixture.env.tpp.signing.key, goodHeader(fixture.env, "B"), fixture.body, false),
        fixture,
      ),
  };
}

const wrong = (member: string): ExpectedFault => ["Signature.InvalidClaim", member];
const b64 = (name: string, value: unknown, crit: unknown, fault: ExpectedFault): SignatureCase =>
  header("A", name, () => ({ b64: value, crit }), fault);
const now = (shift: number) => (env: Environment): JsonObject => ({ [IAT]: seconds(env) + shift });

/** Each is rejected with 400 and its fault. */
export const REJECTED_SIGNATURES: readonly SignatureCase[] = [
  text("empty [JWS-01] [RP-N2]", () => "", ["Signature.Missing", "x-jws-signature"]),
  text(
    "attached, the body itself [JWS-03] [RP-N6]",
    (good, { body }) => good.replace("..", `.${segment(body)}.`),
    MALFORMED,
  ),
  text(
    "attached, another body [JWS-03] [RP-N6]",
    (good) => good.replace("..", `.${segment("{}")}.`),
    MALFORMED,
  ),
  ...["RS256", "none", "HS256", "ES256", "ps256"].map((alg) =>
    header("A", `alg ${alg} [JWS-05] [RP-N5]`, () => ({ alg }), wrong("alg"))
  ),
  header("A", "alg absent [JWS-06]", () => ({ alg: undefined }), ["Signature.MissingClaim", "alg"]),
  header("A", "kid absent [JWS-06] [RP-N4]", () => ({ kid: undefined }), ["Signature.MissingClaim", "kid"]),
  header("A", "kid empty [JWS-06]", () => ({ kid: "" }), wrong("kid")),
  header("A", "kid number [JWS-06]", () => ({ kid: 7 }), wrong("kid")),
  ...inBoth("crit absent [JWS-06]", () => ({ crit: undefined }), wrong("crit")),
  header("A", "crit lacks b64 [JWS-07] [RP-N7]", () => ({ crit: OBIE }), wrong("crit")),
  header("B", "crit lacks iat [JWS-07]", () => ({ crit: [ISS, TAN] }), wrong("crit")),
  header(
    "B",
    "crit names b64, which is absent [JWS-08] [RP-N7]",
    () => ({ crit: ["b64", ...OBIE] }),
    wrong("crit"),
  ),
  header("B", "crit names exp [JWS-08] [RP-N7]", () => ({ crit: [...OBIE, "exp"] }), wrong("crit")),
  header(
    "B",
    "crit names an unknown member that is there [JWS-08] [RP-N7]",
    () => ({ odd: 1, crit: [...OBIE, "odd"] }),
    wrong("odd"),
  ),
  header("B", "crit names iat twice [JWS-08]", () => ({ crit: [IAT, IAT, ISS, TAN] }), wrong("crit")),
  header("B", "crit names only two, one twice [JWS-08]", () => ({ crit: [IAT, ISS, ISS] }), wrong("crit")),
  header(
    "B",
    "crit empty [RP-N7]",
    () => ({ [IAT]: undefined, [ISS]: undefined, [TAN]: undefined, crit: [] }),
    wrong("crit"),
  ),
  header("B", "crit text [RP-N7]", () => ({ crit: IAT }), wrong("crit")),
  b64("b64 true [JWS-09] [RP-N7]", true, ["b64", ...OBIE], wrong("b64")),
  b64("b64 the text false [RP-N7]", "false", ["b64", ...OBIE], wrong("b64")),
  b64("b64 null [RP-N7]", null, ["b64", ...OBIE], wrong("b64")),
  b64("b64 false without crit [JWS-09] [RP-N7]", false, undefined, wrong("crit")),
  header("A", "typ JWT [RP-N5]", () => ({ typ: "JWT" }), wrong("typ")),
  ...inBoth("cty text/plain", () => ({ cty: "text/plain" }), wrong("cty")),
  header("B", "member exp [RP-N5]", () => ({ exp: 1 }), wrong("exp")),
  header("A", "iat 10 minutes ahead [JWS-10]", now(600), wrong(IAT)),
  header("A", "iat 61 s ahead [JWS-10]", now(61), wrong(IAT)),
  header("A", "iat over an hour old [JWS-10]", now(-3601), wrong(IAT)),
  header("B", "iat text [JWS-10]", (env) => ({ [IAT]: String(seconds(env)) }), wrong(IAT)),
  header("B", "iat null [JWS-10]", () => ({ [IAT]: null }), wrong(IAT)),
  ...inBoth(
    "iss of another client [JWS-11]",
    ({ otherTpp }) => ({ [ISS]: `${otherTpp.orgId}/${otherTpp.clientId}` }),
    wrong(ISS),
  ),
  header("B", "iss of the bank [JWS-11]", ({ bankA }) => ({ [ISS]: bankA.orgId }), wrong(ISS)),
  header("B", "iss array of the right name [JWS-11]", ({ tpp }) => ({ [ISS]: [tpp.clientId] }), wrong(ISS)),
  ...inBoth("tan wrong [JWS-12]", () => ({ [TAN]: "openbanking.org.uk" }), wrong(TAN)),
  header("A", "kid unknown [JWS-12] [RP-N4]", () => ({ kid: "A".repeat(27) }), wrong("kid")),
  {
    name: "the DPoP key under the signing key's kid [JWS-16]",
    fault: INVALID,
    make: async ({ env, body }) => await signDetachedBy(await testKey(9), goodHeader(env, "B"), body, false),
  },
  {
    name: "base64url payload signed although b64 is false [RP-N9]",
    fault: INVALID,
    make: ({ env, body }) => signDetachedBy(env.tpp.signing.key, goodHeader(env, "A"), body, false),
  },
  {
    name: "raw payload signed although b64 is absent [RP-N9]",
    fault: INVALID,
    make: ({ env, body }) => signDetachedBy(env.tpp.signing.key, goodHeader(env, "B"), body, true),
  },
];

const NO_CLAIMS = { [IAT]: undefined, [ISS]: undefined, [TAN]: undefined };

/** Each is good. */
export const ACCEPTED_SIGNATURES: readonly SignatureCase[] = [
  ...inBoth("as it should be [JWS-13] [RP-N8]", () => ({})),
  ...inBoth("typ JOSE, cty application/json", () => ({ typ: "JOSE", cty: "application/json" })),
  ...inBoth("cty json", () => ({ cty: "json" })),
  ...inBoth("iss the client id alone", ({ tpp }) => ({ [ISS]: tpp.clientId })),
  ...inBoth("iss the organisation alone", ({ tpp }) => ({ [ISS]: tpp.orgId })),
  header("A", "iat 60 s ahead [JWS-10]", now(60)),
  header("A", "iat an hour old [JWS-10]", now(-3600)),
  header(
    "A",
    "no OBIE claims: checked when present, Decision C5 [JWS-06] [RP-N8]",
    () => ({ ...NO_CLAIMS, crit: ["b64"] }),
  ),
  header(
    "B",
    "no OBIE claims: checked when present, Decision C5 [JWS-06]",
    () => ({ ...NO_CLAIMS, crit: undefined }),
  ),
  header(
    "B",
    "iat alone: checked when present, Decision C5 [JWS-06]",
    () => ({ [ISS]: undefined, [TAN]: undefined, crit: [IAT] }),
  ),
  header("B", "crit in another order", () => ({ crit: [TAN, IAT, ISS] })),
];
