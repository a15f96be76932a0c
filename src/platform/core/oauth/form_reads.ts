/**
 * Finds the entries that a form at the token or PAR endpoint names, so that they are read in one round trip together
 * with the bank.
 */
import { asBankCode, asClientId, asConsentId, sha256 } from "../../../base/kernel/identifiers.ts";
import {
  authorizationCodeKey,
  bankKey,
  clientKey,
  consentKey,
  orderHoldKey,
  spentJwtKey,
} from "../../config/store_keys.ts";
import type { Key } from "../../../base/store/store.ts";
import { isSha256Text } from "./pkce.ts";

/** The keys to prefetch. */
export interface FormReads {
  readonly keys: readonly Key[];
  /** SHA-256, base64url, of the form's code: the name under which it is stored. */
  readonly codeHash?: string;
}

/** Returns the keys of bank, client, code, consent and code challenge, as far as the request names them. */
export async function formReads(
  bankText: string | undefined,
  form: ReadonlyMap<string, string>,
): Promise<FormReads> {
  const bank = asBankCode(bankText);
  const client = asClientId(form.get("client_id"));
  const consent = asConsentId(form.get("consent_id"));
  const challenge = form.get("code_challenge");
  const code = form.get("code");
  const codeHash = code === undefined ? undefined : await sha256(code);
  const keys: Key[] = [];
  if (bank !== undefined) keys.push(bankKey(bank), orderHoldKey(bank));
  if (client !== undefined) keys.push(clientKey(client));
  if (consent !== undefined) keys.push(consentKey(consent));
  if (codeHash !== undefined) keys.push(authorizationCodeKey(codeHash));
  if (client !== undefined && challenge !== undefined && isSha256Text(challenge)) {
    keys.push(spentJwtKey("code_challenge", client, challenge));
  }
  return { keys, ...(codeHash === undefined ? {} : { codeHash }) };
}
