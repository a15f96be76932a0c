/** Moves an organisation or its software to another status; the software follows its organisation (Decision E3). */
import { ApiError } from "../../base/kernel/api_error.ts";
import { type Change, changeParticipant, type Target } from "./change_participant.ts";
import type { Directory } from "./directory.ts";
import type { HistoryNote } from "../participants/history.ts";
import {
  mayMoveOrganisation,
  mayMoveSoftware,
  type OrganisationStatus,
  type Participant,
  type SoftwareStatus,
  withOrganisationStatus,
  withSoftwareStatus,
} from "../participants/participant.ts";
import { conflict } from "../participants/rejections.ts";

/** The wanted status and the reason for the history. */
export interface SetStatusCommand<Status> {
  readonly status: Status;
  readonly reason: string;
}

/**
 * Sets the software's status. Setting the current status has no effect.
 *
 * @throws {ApiError} `directory.not_found`, `directory.conflict` for an illegal transition
 */
export function setSoftwareStatus(
  directory: Directory,
  target: Target,
  { status, reason }: SetStatusCommand<SoftwareStatus>,
): Promise<Participant> {
  return changeParticipant(directory, target, (participant, now): Promise<Change<Participant>> => {
    if (participant.software.status === status) return leaveUnchanged(participant);
    if (!mayMoveSoftware(participant, status)) throw illegalMove("software", participant, status);
    const next = withSoftwareStatus(participant, status, now);
    return Promise.resolve({
      participant: next,
      notes: [softwareNote(participant, next, reason)],
      answer: next,
    });
  });
}

/**
 * Sets the organisation's status and, if necessary, the software's. Setting the current status has no effect.
 *
 * @throws {ApiError} `directory.not_found`, `directory.conflict` for an illegal transition
 */
export function setOrganisationStatus(
  directory: Directory,
  target: Target,
  { status, reason }: SetStatusCommand<OrganisationStatus>,
): Promise<Participant> {
  return changeParticipant(directory, target, (participant, now): Promise<Change<Participant>> => {
    if (participant.status === status) return leaveUnchanged(participant);
    if (!mayMoveOrganisation(participant.status, status)) {
      throw illegalMove("organisation", participant, status);
    }
    const next = withOrganisationStatus(participant, status, now);
    const notes: HistoryNote[] = [
      { what: "organisation.status", reason, details: { from: participant.status, to: status } },
    ];
    if (next.software.status !== participant.software.status) {
      notes.push(softwareNote(participant, next, `organisation ${status}: ${reason}`));
    }
    return Promise.resolve({ participant: next, notes, answer: next });
  });
}

function softwareNote(before: Participant, after: Participant, reason: string): HistoryNote {
  return {
    what: "software.status",
    reason,
    details: { from: before.software.status, to: after.software.status },
  };
}

function leaveUnchanged(participant: Participant): Promise<Change<Participant>> {
  return Promise.resolve({ participant, notes: [], answer: participant });
}

function illegalMove(
  of: "software" | "organisation",
  { status, software }: Participant,
  to: string,
): ApiError {
  const is = `The organisation is ${status} and its software ${software.status}`;
  return conflict(`${is}; the ${of} cannot become ${to}.`);
}
