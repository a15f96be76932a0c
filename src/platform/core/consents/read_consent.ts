/** Reads a consent for an entitled caller. For any other caller it does not exist (Decision C2). */
import { forParticipant } from "../../guards/security/standing.ts";
import type { Clock } from "../../../base/kernel/clock.ts";
import { decide } from "../../evidence/personal_data.ts";
import type { BankCode, ClientId, ConsentId } from "../../../base/kernel/identifiers.ts";
import { asConsentId } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { Entry, Reader } from "../../../base/store/store.ts";
import { asOf, type Consent, type ConsentStatus, type ReadableConsent } from "./consent.ts";
import type { ConsentStore } from "./consent_store.ts";

export interface ReadConsentDeps {
  readonly clock: Clock;
  readonly consents: ConsentStore;
}

/** The bank and the TPP of the consent. Without `clientId`, any TPP's (a bank reads them all). */
export interface ConsentReader {
  readonly bank: BankCode;
  readonly clientId?: ClientId;
}

/**
 * Returns the current consent and its version.
 *
 * @throws {ApiError} `resource.not_found`, `platform.unavailable` if its data key is lost
 */
export async function readConsent(
  deps: ReadConsentDeps,
  from: Reader,
  idText: unknown,
  by: ConsentReader,
): Promise<Entry<ReadableConsent>> {
  const entry = await findConsent(deps, from, idText, by);
  if (entry === null) throw new ApiError("resource.not_found");
  return { ...entry, value: asOf(forParticipant(entry.value), deps.clock()) };
}

/** Returns the consent as stored, or null if the reader has none with this id. */
export async function findConsent(
  { consents }: { readonly consents: Pick<ConsentStore, "find"> },
  from: Reader,
  idText: unknown,
  { bank, clientId }: ConsentReader,
): Promise<Entry<Consent> | null> {
  const id = asConsentId(idText);
  const entry = id === undefined ? null : await consents.find(from, id);
  const { value } = entry ?? {};
  return value?.bank === bank && value.clientId === (clientId ?? value.clientId) ? entry : null;
}

/** Returns the current status of this owner's consent, or undefined if the owner has no such consent. */
export async function consentStatus(
  deps: ReadConsentDeps,
  from: Reader,
  id: ConsentId,
  owner: Required<ConsentReader>,
): Promise<ConsentStatus | undefined> {
  const entry = await findConsent(deps, from, id, owner);
  if (entry === null) return undefined;
  return decide(entry.value, {
    present: (readable) => asOf(readable, deps.clock()).status,
    erased: () => undefined,
    lost: () => undefined,
  });
}
