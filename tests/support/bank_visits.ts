/** What a sandbox bank receives from the platform and returns to it, made and opened with the platform's own keys. */
import { compactDecrypt, CompactEncrypt, decodeProtectedHeader, type JWTPayload, jwtVerify } from "jose";
import type { Participant } from "testing/participants.ts";
import { AUTH_URL } from "testing/environment.ts";
import { type AtBank, type HandoverClaims } from "testing/authorization_flow.ts";
import { consentBody, type SentConsent } from "testing/flows.ts";
import { type JsonObject, seconds, type Signer, signJwt, withChanges } from "testing/jwts.ts";
import { type TestKey, testKey } from "testing/keys.ts";
import { platformKeySet } from "testing/platform_keys.ts";
import type { BankBrowser } from "./bank_browser.ts";
import type { BanksEnvironment } from "./banks_environment.ts";

/** The consent of these tests, implicit with an account. The payee's name has characters that a page must escape. */
export function consentFrom(debtorAccount?: string): SentConsent {
  const scheme = { SchemeName: "UK.OBIE.IBAN" };
  return consentBody({
    initiation: {
      CreditorAccount: { ...scheme, Identification: "FR1420041010050500013M02606", Name: "Demo <Shop>" },
      DebtorAccount: debtorAccount === undefined ? undefined : { ...scheme, Identification: debtorAccount },
    },
  });
}

/** The platform as a signer. */
export async function platformSigner(): Promise<Signer> {
  const { keys } = JSON.parse(await platformKeySet()) as { keys: { readonly kid: string }[] };
  return { key: await testKey(12), kid: keys[0]?.kid ?? "" };
}

/** Deviations of a handover JWT from the platform's. */
export interface SealLayers {
  readonly signer?: Signer;
  readonly recipient?: TestKey;
  readonly inner?: JsonObject;
  readonly outer?: JsonObject;
  /** Content of the JWE that replaces the JWS. */
  readonly content?: string;
}

/** The claims of a further handover JWT of a flow. */
export function furtherClaims(env: BanksEnvironment, { handover }: AtBank): HandoverClaims {
  const iat = seconds(env);
  return { ...handover, iat, nbf: iat, exp: iat + 300, jti: crypto.randomUUID() };
}

/** A further handover JWT of a flow as the platform makes it, or with deviations. */
export async function sealHandover(
  env: BanksEnvironment,
  flow: AtBank,
  claims: JsonObject = {},
  layers: SealLayers = {},
): Promise<string> {
  const { key, kid } = flow.bank.encryption ?? flow.bank.transport;
  const content = layers.content ??
    await signJwt(
      layers.signer ?? await platformSigner(),
      withChanges(furtherClaims(env, flow), claims),
      layers.inner,
    );
  return await new CompactEncrypt(new TextEncoder().encode(content))
    .setProtectedHeader({ alg: "RSA-OAEP-256", enc: "A256GCM", cty: "JWT", kid, ...layers.outer })
    .encrypt(await (layers.recipient ?? key).publicKey("encrypt"));
}

/** An order as the platform pushes it to bank A. */
export async function signOrder(
  env: BanksEnvironment,
  order: JsonObject,
  signer?: Signer,
): Promise<string> {
  const claims = { iss: AUTH_URL, aud: "BANKA", exp: seconds(env) + 300, ...order };
  return await signJwt(signer ?? await platformSigner(), claims, { typ: undefined });
}

/** Claims of a bank's return, after verifying both layers. */
export async function openReturn(
  env: BanksEnvironment,
  url: string,
  bank: Participant,
): Promise<JWTPayload> {
  const { origin, pathname, searchParams } = new URL(url);
  if (`${origin}${pathname}` !== `${AUTH_URL}/${bank.orgId}/authorization.sca.oauth2`) throw new Error(url);
  const key = await (await testKey(13)).privateKey("decrypt");
  const { protectedHeader, plaintext } = await compactDecrypt(searchParams.get("oAuthUrl") ?? "", key);
  const { kid, cty, alg, enc } = protectedHeader;
  if (`${kid} ${cty} ${alg} ${enc}` !== "platform-enc JWT RSA-OAEP-256 A256GCM") {
    throw new Error("outer header");
  }
  const jws = new TextDecoder().decode(plaintext);
  if (decodeProtectedHeader(jws).kid !== bank.signing.kid) throw new Error("inner kid");
  const opened = await jwtVerify(jws, await bank.signing.key.publicKey("verify"), {
    algorithms: ["PS256"],
    typ: "JWT",
    currentDate: new Date(env.now),
  });
  return opened.payload;
}

/** The calls of the banks about consents, in their order: reads, and reports of accounts. */
export function consentCalls({ bankRequests }: BanksEnvironment): readonly Request[] {
  return bankRequests.filter(({ url }) => url.includes("/back-channel-auth/"));
}

/** `status_code status sub` of the return with which the bank has just redirected the browser. */
export async function outcome(
  env: BanksEnvironment,
  { shown: { status, leftFor } }: BankBrowser,
  bank: Participant = env.bankA,
): Promise<string> {
  if (status !== 303) throw new Error(`the browser is still at the bank: ${status}`);
  const claims = await openReturn(env, leftFor, bank);
  return `${claims["status_code"]} ${claims["status"]} ${claims.sub}`;
}
