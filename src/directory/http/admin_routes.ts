/** Endpoints for administrators only: everything about a participant, histories, and the end of a restore. */
import { z } from "zod";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { Endpoint } from "../../base/http/endpoint.ts";
import type { Directory } from "../changes/directory.ts";
import type { DirectoryLog } from "../observed/log_events.ts";
import {
  type HistoryHead,
  type HistorySubject,
  PEOPLE,
  peopleHead,
  readHistory,
} from "../participants/history_store.ts";
import { findReport, listKeys } from "../participants/participant_store.ts";
import { type AdminContext, answer, JSON_TYPE, knownParticipant, ONE } from "./admin_request.ts";
import { certificationReport, history, participantRecord, restoredCopy } from "./answer_schema.ts";
import { changeEndpoints } from "./change_endpoints.ts";
import { adminEndpoint } from "./endpoint.ts";
import type { FourEyesOptions } from "./four_eyes_check.ts";
import type { OnboardingRules } from "./onboarding_schema.ts";
import {
  certificationRecord,
  fullParticipant,
  restoredCopy as representRestored,
} from "./participant_representation.ts";

/** Entries of a history in an answer. */
export const HISTORY_PAGE = 200;

export interface AdminOptions extends FourEyesOptions {
  readonly rules: OnboardingRules;
}

export function adminEndpoints(directory: Directory, options: AdminOptions): readonly Endpoint[] {
  return [
    ...changeEndpoints(directory, options),
    ...participantEndpoints(directory),
    ...historyEndpoints(directory, options.log),
    ...restoredEndpoints(directory, options.log),
  ];
}

function participantEndpoints(directory: Directory): readonly Endpoint[] {
  const { store, clock } = directory;
  const participant = knownParticipant(store);
  return [
    adminEndpoint(
      {
        id: "getParticipant",
        path: ONE,
        summary: "Everything about a participant",
        description: "Registered data, contacts, both statuses and all certificates.",
        answer: "The record, with contacts and every key ever certified",
        content: { [JSON_TYPE]: participantRecord },
      },
      [participant],
      async (c) => {
        const found = c.get("participant");
        return answer(c, fullParticipant(found, await listKeys(store, found.orgId), clock()));
      },
    ),
    adminEndpoint(
      {
        id: "getCertificationReport",
        path: `${ONE}/certifications/{certification_id}`,
        summary: "A certification report",
        description: "As its certifier signed it. Reports that have left the ten newest are gone.",
        answer: "The report as its certifier signed it, and in short",
        content: { [JSON_TYPE]: certificationReport },
      },
      [participant],
      async (c) => {
        const { orgId, certifications = [] } = c.get("participant");
        const id = c.req.param("certification_id") ?? "";
        const certification = certifications.find((one) => one.id === id);
        const report = certification && await findReport(store, orgId, id);
        if (!certification || !report) throw new ApiError("directory.not_found", "no such report");
        return answer(c, { ...certificationRecord(certification), report });
      },
    ),
  ];
}

function historyEndpoints(directory: Directory, log: DirectoryLog): readonly Endpoint[] {
  const page = {
    query: { after: z.string().meta({ description: "The `after` of an earlier page." }) },
    answer: "At most 200 entries",
    content: { [JSON_TYPE]: history },
  };
  return [
    adminEndpoint(
      {
        id: "getHistory",
        path: `${ONE}/history`,
        summary: "Who changed a participant, when and why",
        description:
          "Oldest first. Each entry names the administrator of the credential that made the change. Go on with `after` from the `after` of a page.",
        ...page,
      },
      [knownParticipant(directory.store)],
      (c) => {
        const { orgId, historyLength: length, historySha256: sha256 } = c.get("participant");
        return showHistory(directory, log, c, orgId, { length, sha256 });
      },
    ),
    adminEndpoint(
      {
        id: "getPeopleHistory",
        path: "/people/history",
        summary: "Who signed in, opened a forbidden page, or had an approval refused",
        description: "Administrators and participants' people, oldest first.",
        ...page,
      },
      [],
      async (c) => showHistory(directory, log, c, PEOPLE, await peopleHead(directory.store)),
    ),
  ];
}

async function showHistory(
  { store }: Directory,
  log: DirectoryLog,
  c: AdminContext,
  subject: HistorySubject,
  head: HistoryHead,
): Promise<Response> {
  const after = c.req.query("after");
  if (after !== undefined && !/^\d{1,9}$/.test(after)) {
    throw new ApiError("directory.invalid_request", {
      description: "after: must be the after of an earlier page",
    });
  }
  const from = after === undefined ? undefined : Number(after);
  const { lines, isIntact } = await readHistory(store, subject, head, { after: from, limit: HISTORY_PAGE });
  if (!isIntact) log.error("directory.history_altered", { requestId: c.get("requestId"), subject });
  const last = lines.length === HISTORY_PAGE ? lines.at(-1) : undefined;
  return answer(c, {
    history: lines,
    is_intact: isIntact,
    ...(last === undefined ? {} : { after: String(last.sequence) }),
  });
}

function restoredEndpoints({ restored }: Directory, log: DirectoryLog): readonly Endpoint[] {
  return [
    adminEndpoint(
      {
        id: "getRestored",
        path: "/restored",
        summary: "Whether this is a restored copy that is not confirmed",
        description: "Until it is confirmed, the directory publishes nothing.",
        answer: "Whether it is, and when the copy was taken",
        content: { [JSON_TYPE]: restoredCopy },
      },
      [],
      async (c) => answer(c, representRestored(await restored.takenAt())),
    ),
    adminEndpoint(
      {
        id: "confirmRestored",
        method: "post",
        path: "/restored/confirm",
        summary: "Publish again after a restore",
        description:
          "After every revocation, suspension and withdrawal since the copy was taken has been repeated.",
        answer: "Confirmed",
        content: { [JSON_TYPE]: restoredCopy },
      },
      [],
      async (c) => {
        await restored.confirm();
        log.warn("directory.restore_confirmed", {
          requestId: c.get("requestId"),
          administrator: c.get("administrator"),
        });
        return answer(c, representRestored(await restored.takenAt()));
      },
    ),
  ];
}
