/** Branded types of identifiers, their formats, and generators of identifiers and secrets. */
import { systemClock } from "./clock.ts";

declare const brand: unique symbol;
type Branded<T, B extends string> = T & { readonly [brand]: B };

/** A bank's code: its `org_id` in the directory (Decision A4). */
export type BankCode = Branded<string, "BankCode">;
/** `SC-<UUID>`, assigned by the directory. */
export type ClientId = Branded<string, "ClientId">;
/** UUID in lower case, version 7. */
export type ConsentId = Branded<string, "ConsentId">;
/** UUID in lower case, version 8, derived from the consent's id (Decision G9). */
export type PaymentId = Branded<string, "PaymentId">;

/** Decision A4. */
export const BANK_CODE = /^[A-Za-z0-9_-]{2,32}$/;
/** `x-idempotency-key`: 1 to 40 visible characters (contract IK2). */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]([\x20-\x7e]{0,38}[\x21-\x7e])?$/;
/** `SC-` and a UUID. */
export const CLIENT_ID = /^SC-[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the value as a bank code, or undefined if its form is wrong or the name is reserved. */
export function asBankCode(value: unknown): BankCode | undefined {
  if (typeof value !== "string" || !BANK_CODE.test(value) || isReservedName(value)) return undefined;
  return value as BankCode;
}

/** Returns the value as a client id, or undefined if its form is wrong. */
export function asClientId(value: unknown): ClientId | undefined {
  return typeof value === "string" && CLIENT_ID.test(value) ? value as ClientId : undefined;
}

/** Returns the value as a consent id in lower case, or undefined if it is not a UUID. */
export function asConsentId(value: unknown): ConsentId | undefined {
  return isUuid(value) ? value.toLowerCase() as ConsentId : undefined;
}

/** Returns the value as a payment id in lower case, or undefined if it is not a UUID. */
export function asPaymentId(value: unknown): PaymentId | undefined {
  return isUuid(value) ? value.toLowerCase() as PaymentId : undefined;
}

/** Whether the value is a UUID in text form (RFC 9562 §4), in any case. */
export function isUuid(value: unknown): value is string {
  return typeof value === "string" && UUID.test(value);
}

/**
 * Returns a new consent id: a version 7 UUID (RFC 9562 §5.7) of 48 bits of the time and 74 random ones. What is stored
 * under it is beside what was stored shortly before, so that a database writes fewer pages. Its time is up to half a day before
 * that of its consent, and as wrong as the clock, so it only decides the order of searches.
 */
export function newConsentId(): ConsentId {
  const octets = crypto.getRandomValues(new Uint8Array(16));
  const view = new DataView(octets.buffer);
  view.setBigUint64(0, BigInt(systemClock()) << 16n | BigInt(view.getUint16(6)));
  return uuid(octets, 7) as ConsentId;
}

const PAYMENT_LABEL = "domestic payment of consent ";
/** Characters of an id that are 48 bits. */
const TIME_DIGITS = 13;

/**
 * Derives the id of a consent's one payment: a version 8 UUID (RFC 9562 §5.8) of the first 48 bits of the consent's
 * id, which are its time, and of SHA-256 over a fixed label and the consent id in lower case. A restored store and a
 * repeated request of the TPP arrive at the same id. It is the bank's idempotency key, so the bank executes the payment
 * once (Decision G9).
 */
export async function paymentIdOf(consent: ConsentId): Promise<PaymentId> {
  return paymentIdIn(consent, await sha256Bytes(new TextEncoder().encode(PAYMENT_LABEL + consent)));
}

/** Like {@link paymentIdOf}, with a SHA-256 that needs no promise. */
export function paymentIdFrom(consent: ConsentId, digest: (text: string) => Uint8Array): PaymentId {
  return paymentIdIn(consent, digest(PAYMENT_LABEL + consent));
}

function paymentIdIn(consent: ConsentId, hash: Uint8Array): PaymentId {
  return consent.slice(0, TIME_DIGITS) + uuid(hash.slice(0, 16), 8).slice(TIME_DIGITS) as PaymentId;
}

/** Sets the version and the variant (RFC 9562 §4) of 16 octets, and returns them as text. */
function uuid(octets: Uint8Array, version: number): string {
  octets[6] = ((octets[6] ?? 0) & 0x0f) | version << 4;
  octets[8] = ((octets[8] ?? 0) & 0x3f) | 0x80;
  return octets.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/**
 * Returns 256 random bits as 43 base64url characters: tokens, codes, request_uris, browser bindings (FAPI 2.0 §5.4.1
 * item 4).
 */
export function newSecret(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

/** Base64url without padding (RFC 4648 §5). */
export function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** SHA-256 of a text's UTF-8 bytes, base64url. Secrets and ids of unbounded length become store keys in this form. */
export async function sha256(text: string): Promise<string> {
  return base64url(await sha256Bytes(new TextEncoder().encode(text)));
}

export async function sha256Bytes(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

// The first segments of the platform's fixed paths, and who may open them. A bank's code is the first segment of its
// paths, so a bank code must not be one of these. `platform/guards/http/endpoint.ts` rejects a path whose first segment is not
// listed, and `scripts/operators/proxy` makes the rules of the proxies from the list.

/** Who opens the paths of a segment. The proxies close `operator`, and limit the others apart from each other. */
export type Zone = "participants" | "operator" | "discovery" | "documentation" | "customers";

interface Segment {
  readonly zone: Zone;
  /** On the browser host programs open it, so errors are not pages. */
  readonly forPrograms?: true;
}

/** By segment, in lower case. */
export const FIRST_SEGMENTS: ReadonlyMap<string, Segment> = new Map<string, Segment>([
  ["health", { zone: "operator", forPrograms: true }],
  ["operations", { zone: "operator", forPrograms: true }],
  ["console", { zone: "operator" }],
  ["", { zone: "documentation" }],
  ["docs", { zone: "documentation" }],
  ["llms.txt", { zone: "documentation", forPrograms: true }],
  ["openapi.json", { zone: "documentation", forPrograms: true }],
  ["jwks", { zone: "discovery", forPrograms: true }],
  [".well-known", { zone: "discovery", forPrograms: true }],
  ["assets", { zone: "discovery", forPrograms: true }],
  ["receipt", { zone: "documentation" }],
  ["banks.json", { zone: "documentation", forPrograms: true }],
  ["service-levels", { zone: "documentation" }],
  ["service-levels.json", { zone: "documentation", forPrograms: true }],
  ["problem", { zone: "customers" }],
  ["register", { zone: "participants" }],
  ["traces", { zone: "participants" }],
]);

/** Whether the name is reserved, in any case, because a proxy may compare paths without case. */
export function isReservedName(name: string): boolean {
  return FIRST_SEGMENTS.has(name.toLowerCase()) || name in Object.prototype;
}
