/** Every record of the directory, for the documentation. */
import { proposals } from "../changes/proposal.ts";
import {
  certificationReportRecord,
  certifiedKeyRecord,
  knownKeyRecord,
  participantRecord,
  participantsChangedRecord,
} from "../participants/participant_store.ts";
import { historyRecord, peopleHeadRecord } from "../participants/history_store.ts";
import { reminderRecord } from "../reminders/reminder_store.ts";

export const directoryRecords = [
  participantRecord,
  participantsChangedRecord,
  certifiedKeyRecord,
  knownKeyRecord,
  historyRecord,
  peopleHeadRecord,
  certificationReportRecord,
  proposals.record,
  proposals.openRecord,
  reminderRecord,
] as const;
