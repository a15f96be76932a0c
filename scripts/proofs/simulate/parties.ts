/** Who takes part: two TPPs, two banks, the directory and the platform's keys. The same in every run. */
import { readConfig } from "../../../src/platform/config/config.ts";
import { RATE_GROUPS } from "../../../src/platform/config/rate_policies.ts";
import { certificateOf } from "./certificates.ts";
import { hashOf, primitives } from "./fast_crypto.ts";
import { base64url, type NamedModulus, publicJwk, signedJwt } from "./jwts.ts";

export const API = "https://api.platform.example";
export const AUTH = "https://auth.platform.example";
export const DIRECTORY = "https://directory.example";
export const PROXY_SECRET = "a-secret-between-proxy-and-platform-0123456789";
/** The token of the one operator. */
export const OPERATOR_TOKEN = "operator-token-of-the-simulation-0123456789abcdef";
/** Wraps the data keys. */
export const WRAPPING_KEY = `simulation ${btoa("a wrapping key of the simulation")}`;
const REGISTRATION_AUDIENCE = `${DIRECTORY}/registration`;
/** Where every run begins: 2040-01-15T12:00:00Z. */
export const START = Date.UTC(2040, 0, 15, 12);
const YEAR_SECONDS = 366 * 86_400;

/** A key and its certificate, DER in base64. */
export interface CertifiedModulus extends NamedModulus {
  readonly certificate: string;
}

/** A participant. */
export interface Party {
  readonly name: string;
  readonly role: "PISP" | "ASPSP";
  readonly orgId: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly signing: CertifiedModulus;
  readonly transport: CertifiedModulus;
  readonly encryption: CertifiedModulus;
  /** Of DPoP proofs. */
  readonly proof: string;
  readonly consentManagedByBank: boolean;
  /** Banks that have orders pushed. */
  readonly paymentOrdersUri?: string;
  /** TPPs that have events pushed. */
  readonly eventNotificationUri?: string;
}

/** A key that follows from its name. */
export function certified(name: string): CertifiedModulus {
  const n = primitives.current.modulusOf(name);
  const certificate = certificateOf(n, name);
  return { n, kid: base64url(hashOf(certificate, "sha1")), certificate: certificate.toBase64() };
}

function party(
  name: string,
  orgId: string,
  number: number,
  bank?: Pick<Party, "consentManagedByBank" | "paymentOrdersUri">,
): Party {
  const isBank = bank !== undefined;
  return {
    name,
    orgId,
    role: isBank ? "ASPSP" : "PISP",
    clientId: `SC-00000000-0000-4000-8000-00000000000${number}`,
    redirectUri: isBank
      ? `https://${orgId.toLowerCase()}.example/sca`
      : `https://shop${number}.example/callback`,
    signing: certified(`${name} signing`),
    transport: certified(`${name} transport`),
    encryption: certified(`${name} encryption`),
    proof: primitives.current.modulusOf(`${name} proof`),
    ...(bank ?? { consentManagedByBank: false }),
  };
}

/** The TPPs: the second one has its events pushed. */
export const TPPS: readonly Party[] = [
  party("First Shop", "ORG-1", 1),
  { ...party("Second Shop", "ORG-2", 2), eventNotificationUri: "https://shop2.example/events" },
];
/** The banks by code: BANKA has the platform's consent screen, BANKB its own. Both have orders pushed to them. */
export const BANKS: Readonly<Record<string, Party>> = {
  BANKA: party("Bank A", "BANKA", 3, {
    consentManagedByBank: false,
    paymentOrdersUri: "https://banka.example/orders",
  }),
  BANKB: party("Bank B", "BANKB", 4, {
    consentManagedByBank: true,
    paymentOrdersUri: "https://bankb.example/orders",
  }),
};
/** All of them. */
export const PARTIES: readonly Party[] = [...TPPS, ...Object.values(BANKS)];

/** The directory's key of software statements. */
export const STATEMENT_KEY = certified("directory statements");
const PLATFORM_SIGNING = certified("platform signing");
/** The key to which banks seal what they send to the platform. */
export const PLATFORM_ENCRYPTION: NamedModulus = {
  kid: "platform-enc",
  n: primitives.current.modulusOf("platform encryption"),
};

/** A party's software statement, issued at `at` (ms). */
export function statementOf(who: Party, at: number): string {
  const iat = Math.floor(at / 1000);
  const jwks = `${DIRECTORY}/participants/${who.orgId}/jwks`;
  return signedJwt(STATEMENT_KEY.n, { typ: "JWT", kid: STATEMENT_KEY.kid }, {
    iss: DIRECTORY,
    iat,
    exp: iat + YEAR_SECONDS,
    jti: `statement ${who.orgId} ${iat}`,
    software_client_id: who.clientId,
    software_id: who.clientId,
    software_client_name: `${who.name} app`,
    software_client_uri: `https://www.${who.orgId.toLowerCase()}.example/`,
    software_client_status: "Active",
    software_environment: "Production",
    software_roles: [who.role],
    software_redirect_uris: [who.redirectUri],
    org_id: who.orgId,
    org_name: who.name,
    org_jwks_endpoint: jwks,
    org_jwks_revoked_endpoint: `${jwks}/revoked`,
    consent_managedby_bank: who.consentManagedByBank,
    ...(who.role === "ASPSP" ? { results_on_back_channel: true } : {}),
    ...(who.paymentOrdersUri === undefined ? {} : { payment_orders_uri: who.paymentOrdersUri }),
    ...(who.eventNotificationUri === undefined ? {} : { event_notification_uri: who.eventNotificationUri }),
  });
}

/** The registration JWT of a party. */
export function registrationOf(who: Party, at: number): string {
  const iat = Math.floor(at / 1000);
  const isTpp = who.role === "PISP";
  return signedJwt(who.signing.n, { typ: "JWT", kid: who.signing.kid }, {
    iss: who.name,
    iat,
    exp: iat + 300,
    aud: REGISTRATION_AUDIENCE,
    jti: `registration ${who.orgId}`,
    redirect_uris: [who.redirectUri],
    token_endpoint_auth_method: "private_key_jwt",
    grant_types: isTpp ? ["client_credentials", "authorization_code"] : ["authorization_code"],
    response_types: ["code"],
    software_id: who.clientId,
    scope: isTpp ? "payments" : "bank",
    software_statement: statementOf(who, at - 60_000),
    application_type: "web",
    request_object_signing_alg: "PS256",
    token_endpoint_auth_signing_alg: "PS256",
    id_token_signed_response_alg: "PS256",
  });
}

const PRIVATE = Object.fromEntries(["d", "p", "q", "dp", "dq", "qi"].map((name) => [name, name]));

/** The platform's configuration: no limit is met, everything is logged. */
export const CONFIG = readConfig({
  PLATFORM_BASE_URL: API,
  PLATFORM_AUTH_URL: AUTH,
  PLATFORM_STORE_URL: "/simulation/never-opened.kv",
  PLATFORM_WRAPPING_KEYS: "/simulation/never-read.keys",
  PLATFORM_DIRECTORY_ISSUER: DIRECTORY,
  PLATFORM_DIRECTORY_JWKS_URI: `${DIRECTORY}/jwks`,
  PLATFORM_DIRECTORY_HOSTS: new URL(DIRECTORY).host,
  PLATFORM_REGISTRATION_AUDIENCE: REGISTRATION_AUDIENCE,
  PLATFORM_PROXY_SECRET: PROXY_SECRET,
  PLATFORM_ENVIRONMENT: "Production",
  PLATFORM_FOUR_EYES: "none", // its operator is one person
  PLATFORM_LOG_LEVEL: "info",
  PLATFORM_RATE_LIMITS: RATE_GROUPS.map((group) => `${group}=100000/100000`).join(),
  PLATFORM_KEYS: JSON.stringify({
    keys: [
      {
        ...publicJwk(PLATFORM_SIGNING.n),
        ...PRIVATE,
        use: "sig",
        kid: PLATFORM_SIGNING.kid,
        x5t: PLATFORM_SIGNING.kid,
        "x5t#S256": base64url(hashOf(Uint8Array.fromBase64(PLATFORM_SIGNING.certificate))),
        x5c: [PLATFORM_SIGNING.certificate],
      },
      { ...publicJwk(PLATFORM_ENCRYPTION.n), ...PRIVATE, use: "enc", kid: PLATFORM_ENCRYPTION.kid },
    ],
  }),
});
