/** Participants of a test environment: they onboard at the directory with CSRs of pool keys and register by DCR. */
import "reflect-metadata";
import { type AnswerOf, bodyOf, firstOf, present, type RegisteredClient } from "./answers.ts";
import { Pkcs10CertificateRequestGenerator } from "@peculiar/x509";
import type { Onboarded } from "./directory_answers.ts";
import { type TestKey, testKey } from "./keys.ts";
import { type JsonObject, signJwt } from "./jwts.ts";
import { type Addresses, addressesOf, BASE_URL, DIRECTORY_URL } from "./addresses.ts";
import { ADMIN_TOKEN, throughProxy } from "./through_proxy.ts";

/** A key with its certificate. */
export interface CertifiedKey {
  readonly key: TestKey;
  /** x5t of the certificate. */
  readonly kid: string;
  /** DER, base64. */
  readonly certificate: string;
}

/** A participant with keys, a software statement and a registration. */
export interface Participant {
  readonly name: string;
  readonly role: "PISP" | "ASPSP";
  readonly orgId: string;
  readonly clientId: string;
  readonly redirectUris: readonly string[];
  readonly signing: CertifiedKey;
  readonly transport: CertifiedKey;
  /** Only for banks with an encryption key. */
  readonly encryption?: CertifiedKey;
  readonly statement: string;
}

/** A participant to onboard; `keys` are pool numbers, or keys: signing, transport, encryption. */
export interface Onboarding {
  readonly name: string;
  readonly role: "PISP" | "ASPSP";
  readonly orgId?: string;
  readonly keys: readonly [number | TestKey, number | TestKey, (number | TestKey)?];
  readonly redirectUris: readonly string[];
  readonly consentManagedByBank?: boolean;
  readonly resultsOnBackChannel?: boolean;
  readonly paymentOrdersUri?: string | undefined;
  readonly eventNotificationUri?: string | undefined;
}

interface Host {
  fetch(request: Request): Promise<Response>;
}

/** The parts of an environment that administering the directory needs. */
export interface Office {
  readonly now: number;
  readonly directory: Host;
  /** The directory's; `Production` without it. */
  readonly softwareEnvironment?: "Production" | "Sandbox";
}

interface Fixture extends Office {
  readonly platform: { readonly api: Host };
}

/** Onboards and registers. */
export async function onboard(env: Fixture, who: Onboarding): Promise<Participant> {
  const participant = await onboardOnly(env, who);
  const response = await register(env, participant);
  if (response.status !== 201) {
    throw new Error(`registration of ${who.name}: ${response.status} ${await response.text()}`);
  }
  await response.body?.cancel();
  return participant;
}

/** Onboards at the directory without registering at the platform. */
export async function onboardOnly(env: Office, who: Onboarding): Promise<Participant> {
  const purposes = ["signing", "transport", "encryption"] as const;
  const keys = await Promise.all(
    who.keys.filter((key) => key !== undefined).map((key) => typeof key === "number" ? testKey(key) : key),
  );
  const csrs = await Promise.all(
    keys.map((key, index) => signingRequest(key, `${who.name} ${purposes[index]}`)),
  );
  const response = await adminCall(env, "POST", "/participants", {
    org_id: who.orgId, // absent if undefined, as each member here
    org_name: who.name,
    registration_number: "12345678",
    role: who.role,
    contacts: [
      { type: "business", name: "B", email: "b@example.com", phone: "+442079460000" },
      { type: "technical", name: "T", email: "t@example.com", phone: "+442079460001" },
    ],
    software: {
      client_name: `${who.name} app`,
      description: "An app",
      version: "1.0",
      client_uri: "https://www.example.com",
      logo_uri: "https://www.example.com/logo.png",
      redirect_uris: who.redirectUris,
      environment: env.softwareEnvironment ?? "Production",
    },
    ...(who.role === "PISP" ? {} : { consent_managedby_bank: who.consentManagedByBank ?? false }),
    ...(who.resultsOnBackChannel === true ? { results_on_back_channel: true } : {}),
    payment_orders_uri: who.paymentOrdersUri,
    event_notification_uri: who.eventNotificationUri,
    csrs: Object.fromEntries(csrs.map((csr, index) => [purposes[index], csr])),
  });
  if (response.status !== 201) {
    throw new Error(`onboarding of ${who.name}: ${response.status} ${await response.text()}`);
  }
  const made = await bodyOf<Onboarded>(response);
  const certified = (use: string, index: number): CertifiedKey => {
    const jwk = present(made.jwks.keys.find((entry) => entry.use === use));
    const key = keys[index];
    if (key === undefined) throw new Error(`no key ${index}`);
    return { key, kid: jwk.kid, certificate: firstOf(jwk.x5c) };
  };
  return {
    name: who.name,
    role: who.role,
    orgId: made.org_id,
    clientId: made.software_client_id,
    redirectUris: who.redirectUris,
    signing: certified("sig", 0),
    transport: certified("tls", 1),
    ...(who.keys[2] === undefined ? {} : { encryption: certified("enc", 2) }),
    statement: present(made.software_statement),
  };
}

/** A call of the directory's admin API. */
export function adminCall(env: Office, method: string, path: string, body?: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" };
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  return env.directory.fetch(new Request(`${DIRECTORY_URL}${path}`, init));
}

/** The claims of a valid registration JWT. */
export function registrationClaims(
  env: { readonly now: number; readonly addresses?: Addresses },
  participant: Participant,
): JsonObject {
  const iat = Math.floor(env.now / 1000);
  const pisp = participant.role === "PISP";
  return {
    iss: participant.name,
    iat,
    exp: iat + 300,
    aud: addressesOf(env).registrationAudience,
    jti: crypto.randomUUID(),
    redirect_uris: participant.redirectUris,
    token_endpoint_auth_method: "private_key_jwt",
    grant_types: pisp ? ["client_credentials", "authorization_code"] : ["authorization_code"],
    response_types: ["code"],
    software_id: participant.clientId,
    scope: pisp ? "payments" : "bank",
    software_statement: participant.statement,
    application_type: "web",
    request_object_signing_alg: "PS256",
    token_endpoint_auth_signing_alg: "PS256",
    id_token_signed_response_alg: "PS256",
  };
}

/** Registers, or sends the given registration JWT. */
export async function register(
  env: Fixture,
  participant: Participant,
  jwt?: string,
): Promise<AnswerOf<RegisteredClient>> {
  const body = jwt ?? await signJwt(participant.signing, registrationClaims(env, participant));
  const headers = { "content-type": "application/jose" };
  const request = new Request(`${BASE_URL}/register/v1`, { method: "POST", headers, body });
  return await env.platform.api.fetch(throughProxy(request, participant));
}

/** A PEM signing request for a pool key. */
export async function signingRequest(key: TestKey, commonName: string): Promise<string> {
  const keys = { privateKey: await pkcs1(key, "sign"), publicKey: await pkcs1(key, "verify") };
  const signingAlgorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: `CN=${commonName}`,
    keys,
    signingAlgorithm,
  });
  return request.toString("pem");
}

function pkcs1(key: TestKey, use: "sign" | "verify"): Promise<CryptoKey> {
  const jwk = use === "sign" ? key.privateJwk : key.publicJwk;
  return crypto.subtle.importKey("jwk", { ...jwk }, { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, true, [
    use,
  ]);
}
