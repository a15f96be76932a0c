/**
 * Onboards a participant (Decision E1): verifies and certifies its keys and issues its software statement, all in one
 * commit.
 */
import { ApiError } from "../../base/kernel/api_error.ts";
import { transact } from "../../base/store/transaction.ts";
import { certifyKeys, type IssuedKey, proveKeys, type SigningRequests } from "./certify_keys.ts";
import type { Target } from "./change_participant.ts";
import type { Directory } from "./directory.ts";
import type { HistoryNote } from "../participants/history.ts";
import { newOrgId, newSoftwareClientId, type OrgId } from "../participants/identifiers.ts";
import type { Contact, Participant, Role, SoftwareDetails } from "../participants/participant.ts";
import { isOrgIdTaken, stageNewKey, stageParticipant } from "../participants/participant_store.ts";
import { signStatement, withNextStatement } from "../statements/software_statement.ts";
import { conflict } from "../participants/rejections.ts";

/** Verified company data and signing requests. */
export interface OnboardingCommand {
  /** A bank's code; undefined if the directory is to assign an id to a third party. */
  readonly orgId?: OrgId;
  readonly orgName: string;
  readonly registrationNumber: string;
  readonly role: Role;
  readonly contacts: readonly Contact[];
  readonly software: SoftwareDetails;
  readonly csrs: SigningRequests;
}

/** The result of an onboarding. */
export interface Onboarded {
  readonly participant: Participant;
  /** Absent if statements need a certification: the first one is issued once the participant has it. */
  readonly statement?: string;
  readonly keys: readonly IssuedKey[];
}

/**
 * Onboards a participant.
 *
 * @throws {ApiError} `directory.invalid_request` for requests without proof of possession, `directory.conflict` for an
 * org_id or a key that the directory already knows; no data is written in both cases
 */
export async function onboardParticipant(
  directory: Directory,
  command: OnboardingCommand,
  { who, approval }: Pick<Target, "who" | "approval">,
): Promise<Onboarded> {
  const requested = await proveKeys(command.csrs);
  const now = directory.clock();
  const isCertified = directory.certification.requiredDays === undefined;
  const uncertified = newParticipant(command, now);
  const participant = isCertified ? withNextStatement(uncertified, now) : uncertified;
  if (await isOrgIdTaken(directory.store, participant.orgId)) throw orgIdTaken();
  const subject = { ...participant, softwareClientId: participant.software.clientId };
  const keys = await certifyKeys(directory, { subject, requested }, now);
  const issued = isCertified
    ? { statement: await signStatement(directory.statementKeys.signer, directory.terms, participant) }
    : {};
  const options = { what: "onboarding", lost: () => undefined };
  const head = await transact(directory, options, async (tx) => {
    await approval?.stage(tx, undefined);
    const happened = { notes: [note(participant, keys)], at: now, who, approval: approval?.note };
    const staged = await stageParticipant(tx, participant, null, happened);
    for (const { key } of keys) stageNewKey(tx, participant.orgId, key);
    return staged;
  });
  if (head !== undefined) {
    directory.witness(participant.orgId, head);
    return { participant, ...issued, keys };
  }
  // A concurrent onboarding has taken the org_id or one of the keys, or the proposal.
  if (await isOrgIdTaken(directory.store, participant.orgId)) throw orgIdTaken();
  throw conflict(
    approval === undefined
      ? "csrs: a key was certified meanwhile; make new ones"
      : "The proposal was decided, or a key was certified, meanwhile.",
  );
}

function newParticipant(command: OnboardingCommand, now: number): Participant {
  const { orgName, registrationNumber, role, contacts } = command;
  return {
    orgId: command.orgId ?? newOrgId(),
    orgName,
    registrationNumber,
    role,
    contacts,
    since: now,
    status: "Active",
    statusAt: now,
    software: {
      ...command.software,
      clientId: newSoftwareClientId(),
      status: "Active",
      statusAt: now,
      statementIat: 0,
    },
    historyLength: 0,
  };
}

function note({ role, software }: Participant, keys: readonly IssuedKey[]): HistoryNote {
  const details = {
    role,
    software_client_id: software.clientId,
    redirect_uris: software.redirectUris,
    kids: Object.fromEntries(keys.map(({ name, key }) => [name, key.kid])),
  };
  return { what: "participant.onboarded", details };
}

function orgIdTaken(): ApiError {
  return conflict("org_id: is taken (case does not matter)");
}
