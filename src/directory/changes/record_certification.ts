/** Records a participant's certification report (Decision E5). */
import { type Certification, MAX_CERTIFICATIONS, withCertification } from "../certification/certification.ts";
import { readReport } from "./certification_report.ts";
import { type Change, changeParticipant, type Target } from "./change_participant.ts";
import type { Directory } from "./directory.ts";
import { findReport } from "../participants/participant_store.ts";
import { conflict } from "../participants/rejections.ts";

/**
 * Verifies a report and keeps it with its summary. The same report again has no effect.
 *
 * @throws {ApiError} `directory.not_found`, `directory.invalid_request` for a report that is not acceptable, or
 * `directory.conflict` for another report with a known `jti` and for one that is older than all that are kept
 */
export function recordCertification(
  directory: Directory,
  target: Target,
  report: string,
): Promise<Certification> {
  const { certification: { certifiers }, clock } = directory;
  return changeParticipant(directory, target, async (participant): Promise<Change<Certification>> => {
    const added = await readReport(report, participant, { certifiers, clock });
    const before = participant.certifications ?? [];
    const same = before.find(({ id }) => id === added.id);
    if (same !== undefined) {
      if (await findReport(directory.store, target.orgId, added.id) !== report) {
        throw conflict("The participant has another report with this jti.");
      }
      return { participant, notes: [], answer: same };
    }
    const { kept, removed } = withCertification(before, added);
    if (!kept.includes(added)) {
      throw conflict(`The participant has ${MAX_CERTIFICATIONS} newer reports; older ones are not kept.`);
    }
    const { id, suite, passed, certifier } = added;
    return {
      participant: { ...participant, certifications: kept },
      notes: [{ what: "certification.reported", details: { id, suite, passed, certifier } }],
      changedReports: { added: { id, report }, removed: removed.map((one) => one.id) },
      answer: added,
    };
  });
}
