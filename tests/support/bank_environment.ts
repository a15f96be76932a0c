/** Both sandbox banks with a platform double, a controlled clock and timers, and the platform's side of handovers. */
import { compactDecrypt, CompactEncrypt, exportPKCS8, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { type Banks, type BanksDeps, composeBanks } from "../../src/sandbox/bank/bank_app.ts";
import type { BankProfile } from "../../src/sandbox/bank/bank_profile.ts";
import { answerBank, AUTH_URL, BASE_URL, PLATFORM_KID, type PlatformDouble } from "./bank_platform_double.ts";
import { type TestKey, testKey } from "testing/keys.ts";

export const BANKS_URL = "http://localhost:8443";
export const CONSENT_ID = "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";
/** The environment's time when it starts. */
export const START_MS: number = Date.UTC(2030, 0, 31, 12, 0, 0);

/** A timer that runs only when the test lets it. */
export interface HeldTimer {
  readonly delayMs: number;
  readonly task: () => Promise<void>;
}

/** An in-process environment; it listens on no port. */
export interface BankEnvironment extends Disposable {
  readonly banks: Banks;
  readonly platform: PlatformDouble;
  readonly profiles: { readonly a: BankProfile; readonly b: BankProfile };
  /** Log events of the banks. */
  readonly events: { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }[];
  readonly timers: HeldTimer[];
  /** Keys that handover JWTs are encrypted to, by bank code. */
  readonly bankDecryption: Readonly<Record<string, TestKey>>;
  /** A key of an external party. */
  readonly outsider: TestKey;
}

/** Deviations of a handover JWT from the platform's. */
export interface SealLayers {
  readonly signer?: TestKey;
  readonly recipient?: TestKey;
  readonly inner?: Record<string, unknown>;
  readonly outer?: Record<string, unknown>;
  /** Content of the JWE that replaces the JWS. */
  readonly content?: string;
}

/** A fresh environment. */
export async function bankEnvironment(
  options: Partial<Pick<BanksDeps, "banksUrl" | "bookPath" | "pullEveryMs">> = {},
): Promise<BankEnvironment> {
  const [signing, encryption, signingA, encA, signingB, tlsB, outsider] = await Promise.all(
    [0, 1, 2, 3, 4, 5, 6].map(testKey),
  ) as [TestKey, TestKey, TestKey, TestKey, TestKey, TestKey, TestKey];
  const [a, b] = await Promise.all([
    profileOf("BANKA", "platform", signingA, encA),
    profileOf("BANKB", "bank", signingB, tlsB),
  ]);
  const platform = freshDouble(signing, encryption, { BANKA: signingA, BANKB: signingB });
  const events: { event: string; fields: Readonly<Record<string, unknown>> }[] = [];
  const timers: HeldTimer[] = [];
  const banks = await composeBanks({
    banksUrl: BANKS_URL,
    ...options,
    banks: [a, b],
    baseUrl: BASE_URL,
    authUrl: AUTH_URL,
    caPem: "",
    clock: () => platform.nowMs,
    log: (event, fields = {}) => void events.push({ event, fields }),
    fetch: (url, init) => answerBank(platform, url, init),
    schedule: (task, delayMs) => {
      const timer = { task, delayMs };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
  });
  const bankDecryption = { BANKA: encA, BANKB: tlsB };
  return {
    banks,
    platform,
    profiles: { a, b },
    events,
    timers,
    bankDecryption,
    outsider,
    [Symbol.dispose]: () => banks.stop(),
  };
}

/** `Data.Initiation` of a consent over 1210.00 EUR; implicit if an account is given. */
export function initiationOf(debtorAccount?: string): Record<string, unknown> {
  return { InstructionIdentification: null, ...orderedInitiation(debtorAccount) };
}

/** Of an order: what the TPP did not send is absent. */
export function orderedInitiation(debtorAccount?: string): Record<string, unknown> {
  const scheme = { SchemeName: "UK.OBIE.IBAN" };
  return {
    EndToEndIdentification: "ORDER-4711",
    InstructedAmount: { Amount: "1210.00", Currency: "EUR" },
    CreditorAccount: { ...scheme, Identification: "FR1420041010050500013M02606", Name: "Demo <Shop>" },
    ...(debtorAccount === undefined ? {} : { DebtorAccount: { ...scheme, Identification: debtorAccount } }),
  };
}

/** Claims of the platform's handover JWT to BANKA. */
export function handoverClaims(nowMs: number): Record<string, unknown> {
  const now = Math.floor(nowMs / 1000);
  return {
    iss: AUTH_URL,
    aud: "BANKA",
    iat: now,
    nbf: now,
    exp: now + 300,
    jti: crypto.randomUUID(),
    debtor_account_present: "false",
    ref_id: CONSENT_ID,
    act: { sub: "Demo <Shop> Ltd", registration_no: "SC-6d1f0f6c-52a7-4d0c-8d3c-2f2f6d6f6a01" },
    correlation_id: "correlation-1",
  };
}

/** The platform's handover JWT, or one with deviations. */
export async function sealHandover(
  { platform, bankDecryption }: BankEnvironment,
  claims: Record<string, unknown> = {},
  layers: SealLayers = {},
): Promise<string> {
  const all = { ...handoverClaims(platform.nowMs), ...claims };
  const bank = all["aud"] === "BANKB" ? "BANKB" : "BANKA";
  const recipient = layers.recipient ?? bankDecryption[bank];
  if (recipient === undefined) throw new Error(`no key of ${bank}`);
  const content = layers.content ??
    await new SignJWT(all)
      .setProtectedHeader({ alg: "PS256", typ: "JWT", kid: PLATFORM_KID, ...layers.inner })
      .sign(await (layers.signer ?? platform.signing).privateKey("sign"));
  return await new CompactEncrypt(new TextEncoder().encode(content))
    .setProtectedHeader({
      alg: "RSA-OAEP-256",
      enc: "A256GCM",
      cty: "JWT",
      kid: kidOf(bank, "dec"),
      ...layers.outer,
    })
    .encrypt(await recipient.publicKey("encrypt"));
}

/** Claims of a bank's return, after verifying both layers. */
export async function openReturn(
  { platform }: BankEnvironment,
  url: string,
  code: string,
): Promise<JWTPayload> {
  const { origin, pathname, searchParams } = new URL(url);
  if (`${origin}${pathname}` !== `${AUTH_URL}/${code}/authorization.sca.oauth2`) throw new Error(url);
  const key = await platform.encryption.privateKey("decrypt");
  const { protectedHeader, plaintext } = await compactDecrypt(searchParams.get("oAuthUrl") ?? "", key);
  const { kid, cty, alg, enc } = protectedHeader;
  if (`${kid} ${cty} ${alg} ${enc}` !== "platform-enc JWT RSA-OAEP-256 A256GCM") {
    throw new Error("outer header");
  }
  const signer = platform.bankSigning[code];
  if (signer === undefined) throw new Error(`no key of ${code}`);
  const opened = await jwtVerify(new TextDecoder().decode(plaintext), await signer.publicKey("verify"), {
    algorithms: ["PS256"],
    typ: "JWT",
    currentDate: new Date(platform.nowMs),
  });
  if (opened.protectedHeader.kid !== kidOf(code, "sig")) throw new Error("inner kid");
  return opened.payload;
}

/** kid of a bank's key, as long as an x5t. */
export function kidOf(code: string, use: "sig" | "dec"): string {
  return `${code}-${use}-`.padEnd(27, "0");
}

/** An order as the platform pushes it. */
export async function signOrder(env: BankEnvironment, order: JWTPayload, signer?: TestKey): Promise<string> {
  const claims = { iss: AUTH_URL, aud: "BANKA", exp: Math.floor(env.platform.nowMs / 1000) + 300, ...order };
  return await new SignJWT(claims).setProtectedHeader({ alg: "PS256", kid: PLATFORM_KID })
    .sign(await (signer ?? env.platform.signing).privateKey("sign"));
}

function freshDouble(
  signing: TestKey,
  encryption: TestKey,
  bankSigning: Readonly<Record<string, TestKey>>,
): PlatformDouble {
  return {
    signing,
    encryption,
    bankSigning,
    nowMs: START_MS,
    initiation: initiationOf(),
    statusFor: () => undefined,
    kid: PLATFORM_KID,
    keySetStatus: 200,
    keySetRequests: 0,
    tokenRequests: [],
    calls: [],
  };
}

async function profileOf(
  code: string,
  consentScreen: BankProfile["consentScreen"],
  signing: TestKey,
  decryption: TestKey,
): Promise<BankProfile> {
  return {
    code,
    displayName: code === "BANKA" ? "Bank A" : "Bank B",
    consentScreen,
    hasApp: false,
    signatureProfile: consentScreen === "platform" ? "a" : "b",
    orgId: code,
    clientId: `SC-${code}`,
    signing: { keyPem: await exportPKCS8(await signing.privateKey("sign")), kid: kidOf(code, "sig") },
    decryption: {
      keyPem: await exportPKCS8(await decryption.privateKey("decrypt")),
      kid: kidOf(code, "dec"),
    },
    transport: { certPem: "", keyPem: "" },
    trustAnchor: "localhost:8442",
  };
}
