/**
 * A participant: the organisation and its one software client, with the allowed status changes. No I/O.
 *
 * Statuses cascade from the organisation to its software, as in the Australian CDR register (participant → software
 * product): suspending makes the software Inactive, withdrawing makes it Revoked. Reactivating an organisation does not
 * reactivate its software, which needs a request of its own.
 */
import type { WallTime } from "../../base/kernel/clock.ts";
import type { ClientId } from "../../base/kernel/identifiers.ts";
import type { Certification } from "../certification/certification.ts";
import type { OrgId } from "./identifiers.ts";
import type { Login } from "./login.ts";

/** The role of an organisation: third party (initiates payments) or bank (serves accounts). */
export type Role = "PISP" | "ASPSP";

/** Withdrawn is final. */
export type OrganisationStatus = "Active" | "Suspended" | "Withdrawn";
/** Every organisation status. */
export const ORGANISATION_STATUSES = ["Active", "Suspended", "Withdrawn"] as const;

/** Revoked is final (contract SS4). */
export type SoftwareStatus = "Active" | "Inactive" | "Revoked";
/** Every software status. */
export const SOFTWARE_STATUSES = ["Active", "Inactive", "Revoked"] as const;

/** A contact for the directory's operator. Shown only to administrators. */
export interface Contact {
  readonly type: "business" | "technical";
  readonly name: string;
  readonly email: string;
  readonly phone: string;
}

/** Details of the software that the participant states and may change by renewing the statement. */
export interface SoftwareDetails {
  readonly clientName: string;
  readonly description: string;
  readonly version: string;
  readonly clientUri: string;
  readonly logoUri: string;
  readonly redirectUris: readonly string[];
  /** Banks only; false for third parties. */
  readonly consentManagedByBank: boolean;
  /** Banks only: whether it also delivers its results on the back channel (contract ARS1). */
  readonly resultsOnBackChannel: boolean;
  /** Banks only: where payment orders are pushed (Decision D4). */
  readonly paymentOrdersUri?: string;
  /** TPPs only: where events are pushed (contract EVT9). */
  readonly eventNotificationUri?: string;
}

/** A software client as registered. Times in milliseconds. */
export interface Software extends SoftwareDetails {
  readonly clientId: ClientId;
  readonly status: SoftwareStatus;
  readonly statusAt: WallTime;
  /** `iat` of the newest statement, Unix seconds, or 0 if there is none. The next one is greater. */
  readonly statementIat: number;
}

/** An organisation with its software. Its version in the store guards all its records. Times in milliseconds. */
export interface Participant {
  readonly orgId: OrgId;
  readonly orgName: string;
  readonly registrationNumber: string;
  readonly role: Role;
  readonly contacts: readonly Contact[];
  readonly since: WallTime;
  readonly status: OrganisationStatus;
  readonly statusAt: WallTime;
  readonly software: Software;
  /** Number of history entries, and the number of the next one. */
  readonly historyLength: number;
  /** The hash of the newest entry. Absent without one. */
  readonly historySha256?: string | undefined;
  /** The newest certification reports, newest first. Absent if there is none. */
  readonly certifications?: readonly Certification[];
  /** Logins of its people, newest first. Absent if there never was one. */
  readonly logins?: readonly Login[];
}

const ORGANISATION_MOVES: Readonly<Record<OrganisationStatus, readonly OrganisationStatus[]>> = {
  Active: ["Suspended", "Withdrawn"],
  Suspended: ["Active", "Withdrawn"],
  Withdrawn: [],
};

const SOFTWARE_MOVES: Readonly<Record<SoftwareStatus, readonly SoftwareStatus[]>> = {
  Active: ["Inactive", "Revoked"],
  Inactive: ["Active", "Revoked"],
  Revoked: [],
};

export function mayMoveOrganisation(from: OrganisationStatus, to: OrganisationStatus): boolean {
  return ORGANISATION_MOVES[from].includes(to);
}

/** Returns whether the software may change to this status, given the status of its organisation. */
export function mayMoveSoftware(participant: Participant, to: SoftwareStatus): boolean {
  if (to === "Active" && participant.status !== "Active") return false;
  return SOFTWARE_MOVES[participant.software.status].includes(to);
}

export function withSoftwareStatus(
  participant: Participant,
  status: SoftwareStatus,
  now: WallTime,
): Participant {
  return { ...participant, software: { ...participant.software, status, statusAt: now } };
}

/** The participant with another organisation status, and with the software status that follows from it. */
export function withOrganisationStatus(
  participant: Participant,
  status: OrganisationStatus,
  now: WallTime,
): Participant {
  const moved: Participant = { ...participant, status, statusAt: now };
  const forced = forcedSoftwareStatus(status);
  return forced !== undefined && mayMoveSoftware(moved, forced)
    ? withSoftwareStatus(moved, forced, now)
    : moved;
}

/** Returns whether the participant's keys may be trusted now. */
export function isTrusted(participant: Participant): boolean {
  return participant.status === "Active" && participant.software.status === "Active";
}

function forcedSoftwareStatus(status: OrganisationStatus): SoftwareStatus | undefined {
  if (status === "Suspended") return "Inactive";
  return status === "Withdrawn" ? "Revoked" : undefined;
}
