/** Creates a consent (contract EP6). Consent, claim, evidence and history are one commit. */
import type { Clock } from "../../base/kernel/clock.ts";
import type { BankCode, ClientId } from "../../base/kernel/identifiers.ts";
import { newConsentId } from "../../base/kernel/identifiers.ts";
import type { Claim, ClaimStore } from "../idempotency/claim_store.ts";
import { stageEvidence } from "../security/evidence_store.ts";
import type { SignedBody } from "../security/payload_signature.ts";
import type { Store } from "../../base/store/store.ts";
import { begin, commit, type ReplayRecords, untilCommitted } from "../../base/store/transaction.ts";
import { type Consent, type ConsentRequest, openConsent } from "./consent.ts";
import type { ConsentStore } from "./consent_store.ts";
import { readConsent } from "./read_consent.ts";

export interface CreateConsentDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly consents: ConsentStore;
  readonly claims: ClaimStore;
}

/** A decoded request whose token and signature are verified. */
export interface CreateConsent {
  readonly clientId: ClientId;
  readonly bank: BankCode;
  readonly request: ConsentRequest;
  readonly signedBody: SignedBody;
  readonly claim: Claim;
  readonly replayRecords: ReplayRecords;
}

/**
 * Creates the consent, or returns the one that a parallel request with the same key and body created.
 *
 * @throws {ApiError} `idempotency.key_reused`, `platform.unavailable`
 */
export async function createConsent(deps: CreateConsentDeps, command: CreateConsent): Promise<Consent> {
  const { clientId, bank, request, claim } = command;
  const consent: Consent = openConsent({ id: newConsentId(), clientId, bank, request }, deps.clock());
  return await untilCommitted("consent", async () => {
    const tx = begin(command.replayRecords);
    deps.consents.stageCreation(tx, consent, { actor: clientId, reason: "created" });
    deps.claims.stage(tx, claim, consent.id);
    stageEvidence(tx, consent.id, command.signedBody);
    if (await commit(deps.store, deps.clock, tx)) return consent;
    const won = await deps.claims.claimFor(claim.key, claim.fingerprint);
    if (!("resourceId" in won)) return undefined;
    return (await readConsent(deps, won.resourceId, { bank, clientId })).value;
  });
}
