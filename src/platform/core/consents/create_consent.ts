/** Creates a consent (contract EP6). Consent, claim, evidence and history are one commit. */
import type { NamedDocument } from "../../evidence/evidence.ts";
import { ApiError, isStoreFailure } from "../../../base/kernel/api_error.ts";
import type { BankCode, ClientId, ConsentId } from "../../../base/kernel/identifiers.ts";
import type { Claim, ClaimStore } from "../../guards/idempotency/idempotent.ts";
import { type SignedBody, signedEvidence } from "../../guards/security/payload_signature.ts";
import { type RequestState, type TransactDeps, transactFor } from "../../../base/store/transaction.ts";
import { stageFunnelCase } from "../../observed/funnel/funnel_store.ts";
import { type ConsentRequest, isImplicit, openConsent, type ReadableConsent } from "./consent.ts";
import type { ConsentStore } from "./consent_store.ts";
import type { OpenConsents } from "./open_consents.ts";
import { readConsent } from "./read_consent.ts";

export interface CreateConsentDeps extends TransactDeps {
  readonly consents: ConsentStore;
  readonly claims: ClaimStore;
  readonly openConsents: OpenConsents;
  /** Hands out the id of a new consent, whose data key exists, and takes one back with which none was created. */
  readonly consentIds: {
    readonly newConsentId: () => Promise<ConsentId>;
    readonly takeBack: (id: ConsentId) => void;
  };
}

/** A decoded request whose token and signature are verified. */
export interface CreateConsent extends RequestState {
  readonly clientId: ClientId;
  readonly bank: BankCode;
  readonly request: ConsentRequest;
  readonly signedBody: SignedBody;
  readonly claim: Claim;
  /** The software statements in force. */
  readonly documents: readonly NamedDocument[];
}

/**
 * Creates the consent, or returns the one that a parallel request with the same key and body created.
 *
 * @throws {ApiError} `consents.too_many_open`, `idempotency.key_reused`, `platform.unavailable`
 */
export async function createConsent(
  deps: CreateConsentDeps,
  command: CreateConsent,
): Promise<ReadableConsent> {
  const { openConsents, consentIds } = deps;
  await openConsents.take(command.clientId); // contract RL5; first, because an id has a data key in the store
  let id: ConsentId | undefined;
  let [isNew, mayExist] = [false, false];
  try {
    id = await consentIds.newConsentId();
    const consent = await create(deps, command, id);
    isNew = consent.id === id;
    return consent;
  } catch (error) {
    mayExist = !(error instanceof ApiError) || isStoreFailure(error);
    throw error;
  } finally {
    if (!isNew) {
      openConsents.giveBack(command.clientId);
      if (id !== undefined && !mayExist) consentIds.takeBack(id);
    }
  }
}

async function create(
  deps: CreateConsentDeps,
  command: CreateConsent,
  id: ConsentId,
): Promise<ReadableConsent> {
  const { clientId, bank, request, claim } = command;
  return await transactFor(deps, command, { what: "consent" }, async (tx) => {
    const found = await deps.claims.claimFor(tx, claim);
    if ("resourceId" in found) {
      return (await readConsent(deps, tx, found.resourceId, { bank, clientId })).value;
    }
    const consent = openConsent({ id, clientId, bank, request }, deps.clock()); // its place in the list (contract LS3)
    const proof = signedEvidence("consent_request", command.signedBody);
    const { documents } = command;
    deps.consents.stageCreation(tx, consent, { actor: clientId, reason: "created", documents, ...proof });
    deps.claims.stage(tx, found.free, consent.id);
    const type = isImplicit(consent) ? "implicit" : "explicit";
    stageFunnelCase(tx, { consentId: consent.id, bank, clientId, type, createdAt: consent.createdAt }); // contract FUN2
    return consent;
  });
}
