/** Records a participant's certification report (Decision E5). */
import { z } from "zod";
import { type Certification, MAX_CERTIFICATIONS, withCertification } from "../certification/certification.ts";
import type { Certifier, Certifiers } from "../certification/certifiers.ts";
import { type Change, changeParticipant, type Target } from "./change_participant.ts";
import type { Directory } from "./directory.ts";
import { findReport } from "../participants/participant_store.ts";
import { conflict, decode, invalidRequest } from "../participants/rejections.ts";
import type { Participant } from "../participants/participant.ts";
import { text } from "../participants/participant_fields.ts";
import { verifyJwt } from "../../base/jose/verify_jwt.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import { sha256 } from "../../base/kernel/identifiers.ts";
import { failed, ok } from "../../base/kernel/result.ts";
import { MAX_CERTIFICATION_REPORT_CHARACTERS } from "../../base/limits.ts";

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

/**
 * Verifies a certification report: a JWT that a configured certifier has signed about this participant (Decision E5).
 * Nothing but the header is read before the signature is verified.
 */
const REPORT_TYPE = "certification-report+jwt";
const MAX_CASES = 500;

const MAX_JTI_CHARACTERS = 128;
const caseResult = z.looseObject({ id: text(64), passed: z.boolean("must be true or false") });

function reportClaims({ orgId, role, software }: Participant, { issuer }: Certifier) {
  return z.looseObject({
    iss: z.literal(issuer, "must be the address of the certifier whose key signed"),
    sub: z.literal(orgId, "must be the org_id of the participant"),
    role: z.literal(role, `must be ${role}, the role of the participant`),
    software_id: role === "PISP"
      ? z.literal(software.clientId, "must be the participant's software_client_id")
      : z.undefined("must be absent for a bank").optional(),
    jti: z.string("must be text").min(1).max(MAX_JTI_CHARACTERS),
    iat: z.int("must be a number of Unix seconds"),
    suite: text(64),
    passed: z.boolean("must be true or false"),
    cases: z.array(caseResult, "must be a list").min(1, "must have a case").max(
      MAX_CASES,
      `must have at most ${MAX_CASES} cases`,
    ),
  }).refine(({ passed, cases }) => passed === cases.every((one) => one.passed), {
    path: ["passed"],
    message: "must be true if, and only if, every case has passed",
  });
}

/**
 * Verifies a report.
 *
 * @throws {ApiError} `directory.invalid_request` naming what is wrong
 */
async function readReport(
  report: string,
  participant: Participant,
  { certifiers, clock }: { readonly certifiers: Certifiers; readonly clock: Clock },
): Promise<Certification> {
  const verified = await verifyJwt(report, {
    maxCharacters: MAX_CERTIFICATION_REPORT_CHARACTERS,
    typ: [REPORT_TYPE],
    findKey: ({ header }) => {
      const certifier = certifiers.find(header["kid"]);
      return Promise.resolve(
        certifier === undefined
          ? failed({ part: "key", at: "header kid", expected: "a key of a configured certifier" } as const)
          : ok(certifier),
      );
    },
    claims: (claims) => ok(claims),
    times: { exp: "optional", iat: "required", clock },
  });
  if (!verified.ok) throw invalidRequest([`report ${verified.fault.at}: must be ${verified.fault.expected}`]);
  const { signer } = verified.value;
  const claims = decode(reportClaims(participant, signer), verified.value.claims, "report ");
  return await certificationOf(claims, signer, clock());
}

type Claims = z.infer<ReturnType<typeof reportClaims>>;

async function certificationOf(
  { iss, jti, suite, passed, cases, iat }: Claims,
  { kid, issuer }: Certifier,
  now: number,
): Promise<Certification> {
  return {
    id: await sha256(`${iss} ${jti}`),
    certifier: issuer,
    kid,
    suite,
    passed,
    cases: cases.length,
    failed: cases.filter((one) => !one.passed).length,
    issuedAt: iat * 1000,
    receivedAt: now,
  };
}
