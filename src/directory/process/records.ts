/** Every record of the directory, for the documentation. */
import { openProposalsRecord, proposalRecord } from "../changes/proposal_store.ts";
import {
  certificationReportRecord,
  certifiedKeyRecord,
  knownKeyRecord,
  participantRecord,
  participantsChangedRecord,
} from "../participants/participant_records.ts";
import { historyRecord, peopleHeadRecord } from "../participants/history_records.ts";
import { reminderRecord } from "../reminders/reminder_store.ts";

export const directoryRecords = [
  participantRecord,
  participantsChangedRecord,
  certifiedKeyRecord,
  knownKeyRecord,
  historyRecord,
  peopleHeadRecord,
  certificationReportRecord,
  proposalRecord,
  openProposalsRecord,
  reminderRecord,
] as const;
