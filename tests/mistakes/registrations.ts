/** Mistakes in a registration. A registration of a registered TPP is an update, so its statement is verified too. */
import { type JsonObject, seconds, signJwt, withChanges } from "testing/jwts.ts";
import { registrationClaims } from "testing/participants.ts";
import { type Area, membersOf, mistake } from "./mistake.ts";
import type { Workbench } from "./workbench.ts";

async function registering(
  { env, addresses }: Workbench,
  { claims = {}, header = {}, type = "application/jose", jwt }: {
    readonly claims?: JsonObject;
    readonly header?: JsonObject;
    readonly type?: string;
    readonly jwt?: string;
  },
): Promise<Response> {
  const body = jwt ??
    await signJwt(env.tpp.signing, withChanges(registrationClaims(env, env.tpp), claims), header);
  const headers = { "content-type": type };
  return await env.api(
    new Request(`${addresses.baseUrl}/register/v1`, { method: "POST", headers, body }),
    env.tpp,
  );
}

const AUDIENCE = ({ addresses }: Workbench): string => `'${addresses.registrationAudience}'`;

const claim = membersOf("registration JWT", (bench, claims) => registering(bench, { claims }));

/** A statement with another segment, such as an altered signature. */
function altered(statement: string): string {
  const [header, claims, signature = ""] = statement.split(".");
  return `${header}.${claims}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
}

export const REGISTRATIONS: Area = {
  name: "registrations",
  role: "TPP",
  mistakes: [
    claim("aud", ({ addresses }) => `${addresses.directoryUrl}/`, AUDIENCE, "is the directory"),
    claim("aud", ({ addresses }) => [addresses.registrationAudience], "registration audience", "is an array"),
    claim("iss", () => "Somebody", ({ env }) => `'${env.tpp.orgId}'`, "is another name"),
    claim("exp", ({ env }) => seconds(env) - 100, "later than now", "has passed"),
    claim("exp", ({ env }) => seconds(env) + 86_400, "at most 3600 s after iat", "is a day ahead"),
    claim("jti", () => undefined, "a string of 1 to 256 characters", "is missing"),
    claim("token_endpoint_auth_method", () => "client_secret_basic", "'private_key_jwt'", "is a secret"),
    claim("application_type", () => "native", "'web'", "is native"),
    claim("scope", () => "openid", "'payments'", "is openid"),
    claim("grant_types", () => ["client_credentials"], "authorization_code", "lack the code"),
    claim("response_types", () => ["token"], "'code'", "are token"),
    claim("software_id", () => "my-app", ({ env }) => `'${env.tpp.clientId}'`, "is a name of one's own"),
    claim(
      "redirect_uris",
      () => ["https://other.example/callback"],
      ({ env }) => `'${env.tpp.redirectUris[0]}'`,
      "are not in the statement",
    ),
    claim("redirect_uris", () => undefined, "1 to 4 URLs", "are missing"),
    claim("id_token_signed_response_alg", () => "RS256", "'PS256'", "is RS256"),
    mistake([
      "kid of the transport key",
      "registration JWT header kid",
      ({ env }) => `'${env.tpp.signing.kid}'`,
    ], (bench) => registering(bench, { header: { kid: bench.env.tpp.transport.kid } })),
    mistake(
      ["no typ", "registration JWT header typ", "JWT"],
      (bench) => registering(bench, { header: { typ: undefined } }),
    ),
    mistake(
      ["an altered statement", "software_statement signature", "the key that kid names"],
      (bench) => registering(bench, { claims: { software_statement: altered(bench.env.tpp.statement) } }),
    ),
    mistake(
      ["no statement", "software_statement", "the signed software statement"],
      (bench) => registering(bench, { claims: { software_statement: undefined } }),
    ),
    mistake(
      ["the statement that is registered already", "statement", "issued later"],
      (bench) => registering(bench, {}),
    ),
    mistake(
      ["a JSON body", "Content-Type", "application/jose"],
      (bench) => registering(bench, { type: "application/json" }),
    ),
    mistake(
      ["a body that is not a JWT", "registration JWT", "a compact JWS"],
      (bench) => registering(bench, { jwt: "{}" }),
    ),
  ],
};
