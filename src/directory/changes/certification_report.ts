/**
 * Verifies a certification report: a JWT that a configured certifier has signed about this participant (Decision E5).
 * Nothing but the header is read before the signature is verified.
 */
import { z } from "zod";
import { verifyJwt } from "../../base/jose/verify_jwt.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import { sha256 } from "../../base/kernel/identifiers.ts";
import { failed, ok } from "../../base/kernel/result.ts";
import { MAX_CERTIFICATION_REPORT_CHARACTERS } from "../../base/limits.ts";
import type { Certification } from "../certification/certification.ts";
import type { Certifier, Certifiers } from "../certification/certifiers.ts";
import { decode, invalidRequest } from "../participants/rejections.ts";
import type { Participant } from "../participants/participant.ts";
import { text } from "../participants/participant_fields.ts";

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
export async function readReport(
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
