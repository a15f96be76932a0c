/** Bank returns made layer by layer, and the one response that every inauthentic one must get (contract BR17). */
import { assertEquals } from "@std/assert";
import { rawJwe } from "./raw_jws.ts";
import { consentBody, DEBTOR_ACCOUNT } from "./flows.ts";
import { type AtBank, type Browser, returnClaims } from "./authorization_flow.ts";
import { assertPage } from "./front_channel.ts";
import { type Changes, platformEncryptionKey, sealToPlatform, signJwt } from "./jwts.ts";
import type { Environment } from "./environment.ts";
import { unchanged } from "./store_contents.ts";

/** A consent with the payer's account: the bank's success ends the flow immediately. */
export const IMPLICIT = consentBody({ initiation: { DebtorAccount: DEBTOR_ACCOUNT } });

/** The path of a return with this `oAuthUrl`. */
export function returnTo(bank: string, oAuthUrl: string): string {
  return `/${bank}/authorization.sca.oauth2?${new URLSearchParams({ oAuthUrl })}`;
}

/** The inner layer of the bank's valid result JWT, or a changed one. */
export function signedReturn(env: Environment, flow: AtBank, changes: Changes = {}): Promise<string> {
  const claims = returnClaims(env, flow.bank, flow.handover, changes.claims);
  return signJwt(flow.bank.signing, claims, changes.header);
}

/** The path of a return with this inner layer, correctly encrypted. */
export async function sealedReturn(env: Environment, bank: string, plaintext: string): Promise<string> {
  return returnTo(bank, await sealToPlatform(env, plaintext));
}

/**
 * A JWE of RSA-OAEP-256 and A256GCM that decrypts whatever its header says: only a check of the header can reject it.
 */
export async function sealedUnderHeader(
  env: Environment,
  plaintext: string,
  header: Readonly<Record<string, unknown>>,
): Promise<string> {
  const { kid, key } = await platformEncryptionKey(env);
  const good = { alg: "RSA-OAEP-256", enc: "A256GCM", cty: "JWT", kid };
  return await rawJwe({ header: { ...good, ...header }, plaintext, to: key });
}

const INTERACTION = { "x-fapi-interaction-id": "7f3d1c9e-4b52-4d0a-9c55-0f6b6f2a1e11" };

/**
 * Opens the return. Asserts that the response is, to the byte, the one page for all unauthentic returns, and that no
 * stored data changed.
 */
export async function assertNotAuthentic(env: Environment, browser: Browser, path: string): Promise<void> {
  const answer = await unchanged(env, () => browser.open(path, { headers: INTERACTION }));
  const headers = Object.fromEntries(answer.headers);
  const html = await assertPage(answer, 400, "not_authentic");
  const plain = await browser.open(path.split("?")[0] ?? "", { headers: INTERACTION });
  assertEquals(headers, Object.fromEntries(plain.headers));
  assertEquals(html, await plain.text());
}
