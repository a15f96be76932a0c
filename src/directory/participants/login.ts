/**
 * Logins of participants' people at the console (Decision E7). A token names the organisation and the login; its hash is
 * kept with the participant.
 */
import { timingSafeEqual } from "hono/utils/buffer";
import type { Identified } from "../../base/http/credentials.ts";
import { newSecret, sha256 } from "../../base/kernel/identifiers.ts";
import { asOrgId, type OrgId } from "./identifiers.ts";

/** A login as kept. Times in milliseconds. */
export interface Login {
  readonly id: string;
  /** The person's name, as shown in histories. */
  readonly name: string;
  /** SHA-256 of the whole token, base64url. */
  readonly tokenSha256: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly revokedAt?: number;
}

/** The role of people who act for a participant. */
export const PARTICIPANT = "participant";
/** Logins of one participant that are in force. */
export const MAX_LOGINS = 20;
/** Ended logins that are still listed. */
export const MAX_ENDED_LOGINS = 20;

const DAYS = 90;
const DAY_MS = 86_400_000;
const TOKEN = /^part-([A-Za-z0-9_-]{2,32})-([0-9a-f]{16})\.[A-Za-z0-9_-]{43}$/;

/** Creates a login and its token, which is shown only once. */
export async function newLogin(
  orgId: OrgId,
  name: string,
  now: number,
): Promise<{ readonly login: Login; readonly token: string }> {
  const id = crypto.getRandomValues(new Uint8Array(8)).toHex();
  const token = `part-${orgId}-${id}.${newSecret()}`;
  const tokenSha256 = await sha256(token);
  return { token, login: { id, name, tokenSha256, issuedAt: now, expiresAt: now + DAYS * DAY_MS } };
}

export function isInForce({ revokedAt, expiresAt }: Login, now: number): boolean {
  return revokedAt === undefined && now < expiresAt;
}

/** The name of a person in histories. No administrator's name has a slash. */
export function nameInHistory(orgId: OrgId, { name }: Login): string {
  return `${orgId}/${name}`;
}

/** Returns whether the text has the form of such a token. */
export function isLoginToken(token: string): boolean {
  return TOKEN.test(token);
}

/** Returns the person of a token, if its login is in force. */
export async function identifyLogin(
  token: string,
  find: (orgId: OrgId) => Promise<readonly Login[]>,
  now: number,
): Promise<Identified> {
  const [, org, id = ""] = TOKEN.exec(token) ?? [];
  const orgId = asOrgId(org);
  if (orgId === undefined) return {};
  const login = (await find(orgId)).find((one) => one.id === id && isInForce(one, now));
  if (login === undefined) return {};
  const credential = `part-${orgId}-${id}`;
  if (!await timingSafeEqual(login.tokenSha256, await sha256(token))) return { credential };
  return { credential, name: nameInHistory(orgId, login), roles: [PARTICIPANT], organisation: orgId };
}
