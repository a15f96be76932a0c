/** Issues a new software statement, optionally with changed software details (Decision E3). */
import { missingCertification } from "../certification/certification.ts";
import { type Change, changeParticipant, requireTrusted, type Target } from "./change_participant.ts";
import type { Directory } from "./directory.ts";
import type { Participant } from "../participants/participant.ts";
import { signStatement, withNextStatement } from "../statements/software_statement.ts";
import { conflict } from "../participants/rejections.ts";

/** Members that change; undefined ones stay. null removes an address. */
export interface SoftwareChanges {
  readonly clientName?: string | undefined;
  readonly description?: string | undefined;
  readonly version?: string | undefined;
  readonly clientUri?: string | undefined;
  readonly logoUri?: string | undefined;
  readonly redirectUris?: readonly string[] | undefined;
  readonly consentManagedByBank?: boolean | undefined;
  readonly resultsOnBackChannel?: boolean | undefined;
  readonly paymentOrdersUri?: string | null | undefined;
  readonly eventNotificationUri?: string | null | undefined;
}

/**
 * Issues a statement that is newer than all before.
 *
 * @throws {ApiError} `directory.not_found`, `directory.conflict` for revoked software, for a participant without the
 * certification that this directory asks for, and for a person of a participant that is not active
 */
export function renewStatement(
  directory: Directory,
  target: Target,
  changes: SoftwareChanges,
): Promise<string> {
  return changeParticipant(directory, target, async (participant, now): Promise<Change<string>> => {
    requireTrusted(target, participant);
    if (participant.software.status === "Revoked") {
      throw conflict("The software is revoked; no statement is issued for it.");
    }
    const missing = missingCertification(directory.certification, participant.certifications ?? [], now);
    if (missing !== undefined) {
      throw conflict(`A statement needs a passed certification report: ${missing}.`);
    }
    const next = withNextStatement(withChanges(participant, changes), now);
    const statement = await signStatement(directory.statementKeys.signer, directory.terms, next);
    const details = { iat: next.software.statementIat, changed: changedMembers(participant, next) };
    return { participant: next, notes: [{ what: "statement.issued", details }], answer: statement };
  });
}

function withChanges(participant: Participant, changes: SoftwareChanges): Participant {
  const { paymentOrdersUri: ordersBefore, eventNotificationUri: eventsBefore, ...software } =
    participant.software;
  const ordersUri = addressAfter(ordersBefore, changes.paymentOrdersUri);
  const eventsUri = addressAfter(eventsBefore, changes.eventNotificationUri);
  return {
    ...participant,
    software: {
      ...software,
      clientName: changes.clientName ?? software.clientName,
      description: changes.description ?? software.description,
      version: changes.version ?? software.version,
      clientUri: changes.clientUri ?? software.clientUri,
      logoUri: changes.logoUri ?? software.logoUri,
      redirectUris: changes.redirectUris ?? software.redirectUris,
      consentManagedByBank: changes.consentManagedByBank ?? software.consentManagedByBank,
      resultsOnBackChannel: changes.resultsOnBackChannel ?? software.resultsOnBackChannel,
      ...(ordersUri === undefined ? {} : { paymentOrdersUri: ordersUri }),
      ...(eventsUri === undefined ? {} : { eventNotificationUri: eventsUri }),
    },
  };
}

/** Returns the address after a change, of which null removes it. */
function addressAfter(before: string | undefined, change: string | null | undefined): string | undefined {
  return change === undefined ? before : change ?? undefined;
}

function changedMembers(before: Participant, after: Participant): Record<string, unknown> {
  return Object.fromEntries(MEMBERS.flatMap(([name, wireName]) => {
    const [from = null, to = null] = [before.software[name], after.software[name]];
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [[wireName, { from, to }]];
  }));
}

/** The members that may change, with their wire names. */
const MEMBERS = [
  ["clientName", "client_name"],
  ["description", "description"],
  ["version", "version"],
  ["clientUri", "client_uri"],
  ["logoUri", "logo_uri"],
  ["redirectUris", "redirect_uris"],
  ["consentManagedByBank", "consent_managedby_bank"],
  ["resultsOnBackChannel", "results_on_back_channel"],
  ["paymentOrdersUri", "payment_orders_uri"],
  ["eventNotificationUri", "event_notification_uri"],
] as const;
