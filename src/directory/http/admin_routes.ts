/** Endpoints for administrators only (Decisions E1, E3): onboard participants, change them, read their full records. */
import type { Context, MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { ApiError } from "../../base/kernel/api_error.ts";
import { adminOperations } from "./admin_operations.ts";
import { addCertificates } from "../changes/add_certificates.ts";
import {
  decodeCertification,
  decodeLogin,
  decodeOrganisationStatus,
  decodeRevocation,
  decodeSigningRequests,
  decodeSoftwareChanges,
  decodeSoftwareStatus,
} from "./change_schema.ts";
import { issueLogin, revokeLogin } from "../changes/change_logins.ts";
import type { Target } from "../changes/change_participant.ts";
import type { Directory } from "../changes/directory.ts";
import type { DirectoryLog } from "../observed/log_events.ts";
import type { Endpoint } from "../../base/http/endpoint.ts";
import { endpoint } from "./endpoint.ts";
import { type FourEyesChecks, type FourEyesOptions, openFourEyes } from "./four_eyes_check.ts";
import { asOrgId, isKid } from "../participants/identifiers.ts";
import { jsonValue, optionalJsonValue } from "./json_body.ts";
import { keySet } from "./key_set_representation.ts";
import { type OnboardingCommand, onboardParticipant } from "../changes/onboard_participant.ts";
import { onboardingDecoder, type OnboardingRules } from "./onboarding_schema.ts";
import type { Participant } from "../participants/participant.ts";
import {
  certificatesPem,
  certificationRecord,
  dateTime,
  fullParticipant,
  loginRecord,
  participantStatuses,
  restoredCopy,
} from "./participant_representation.ts";
import type { HistoryHead } from "../participants/history_records.ts";
import { peopleHead, readHistory } from "../participants/history_store.ts";
import { type HistorySubject, PEOPLE } from "../participants/keys.ts";
import { findParticipant, findReport, listKeys } from "../participants/participant_store.ts";
import { recordCertification } from "../changes/record_certification.ts";
import { renewStatement } from "../changes/renew_statement.ts";
import type { DirectoryEnv } from "./request_context.ts";
import { revokeKey } from "../changes/revoke_key.ts";
import { setOrganisationStatus, setSoftwareStatus } from "../changes/set_status.ts";
import { openLimiter } from "../../base/http/limiter.ts";
import type { Clock } from "../../base/kernel/clock.ts";

const AN_HOUR = 20;
const POLICY = { perSecond: AN_HOUR / 3600, burst: AN_HOUR, maxKeys: 10_000 };

/** A guard that counts the changes of each organisation's people together (contract DRC6). */
function limitOwnChanges(clock: Clock): MiddlewareHandler<DirectoryEnv> {
  const limiter = openLimiter(POLICY, clock);
  return createMiddleware<DirectoryEnv>(async function ownChangesLimited(c, next): Promise<void> {
    const organisation = c.get("organisation");
    const retryAfterSeconds = organisation === undefined ? 0 : limiter.take(organisation);
    if (retryAfterSeconds > 0) {
      const minutes = Math.ceil(retryAfterSeconds / 60);
      throw new ApiError("request.rate_limited", {
        retryAfterSeconds,
        description:
          `A participant's people may make ${AN_HOUR} changes an hour. Try again after ${minutes} min.`,
      });
    }
    await next();
  });
}

/** Entries of a history in an answer. */
export const HISTORY_PAGE = 200;

/** Of an endpoint, whatever its checks add. */
type AdminContext = Pick<Context<DirectoryEnv>, "req" | "get" | "body">;

/** The endpoints, each for an administrator. */
export function adminEndpoints(
  directory: Directory,
  options: FourEyesOptions,
  administrator: MiddlewareHandler<DirectoryEnv>,
): readonly Endpoint[] {
  const twoFor = openFourEyes(directory, options);
  return [
    ...issuingEndpoints(directory, options, administrator, twoFor),
    ...revokingEndpoints(directory, options, administrator, twoFor),
    ...readingEndpoints(directory, options, administrator),
  ];
}

function issuingEndpoints(
  directory: Directory,
  { rules }: FourEyesOptions,
  administrator: MiddlewareHandler<DirectoryEnv>,
  twoFor: FourEyesChecks,
): readonly Endpoint[] {
  const decodeOnboarding = onboardingDecoder(rules);
  const is = adminOperations(rules);
  const participant = knownParticipant(directory);
  const limited = limitOwnChanges(directory.clock);
  return [
    endpoint(is.onboard, [administrator, jsonValue, twoFor.onboarding], (c) => {
      return onboard(directory, c, decodeOnboarding(c.get("json")));
    }),
    endpoint(
      is.issueStatement,
      [administrator, limited, participant, optionalJsonValue, twoFor.statement],
      (c) => issueStatement(directory, rules, c),
    ),
    endpoint(
      is.issueCertificates,
      [administrator, limited, jsonValue, twoFor.certificates],
      (c) => issueCertificates(directory, c),
    ),
    endpoint(is.certify, [administrator, jsonValue], (c) => certify(directory, c)),
    endpoint(is.issueLogin, [administrator, jsonValue, twoFor.login], (c) => loginIssued(directory, c)),
  ];
}

function revokingEndpoints(
  directory: Directory,
  { rules, log }: FourEyesOptions,
  administrator: MiddlewareHandler<DirectoryEnv>,
  twoFor: FourEyesChecks,
): readonly Endpoint[] {
  const is = adminOperations(rules);
  return [
    endpoint(is.revokeLogin, [administrator, jsonValue], (c) => loginRevoked(directory, c)),
    endpoint(
      is.revokeKey,
      [administrator, keyOfPath, jsonValue, twoFor.revocation],
      (c) => revoke(directory, c),
    ),
    endpoint(
      is.setSoftwareStatus,
      [administrator, jsonValue, twoFor.softwareStatus],
      (c) => changeSoftwareStatus(directory, c),
    ),
    endpoint(
      is.setOrganisationStatus,
      [administrator, jsonValue, twoFor.organisationStatus],
      (c) => changeOrganisationStatus(directory, c),
    ),
    endpoint(is.confirmRestored, [administrator], (c) => confirmRestored(directory, log, c)),
  ];
}

function readingEndpoints(
  directory: Directory,
  { rules, log }: FourEyesOptions,
  administrator: MiddlewareHandler<DirectoryEnv>,
): readonly Endpoint[] {
  const is = adminOperations(rules);
  const participant = knownParticipant(directory);
  return [
    endpoint(is.show, [administrator, participant], (c) => showParticipant(directory, c)),
    endpoint(is.history, [administrator, participant], (c) => {
      const { orgId, historyLength: length, historySha256: sha256 } = c.get("participant");
      return showHistory(directory, log, c, orgId, { length, sha256 });
    }),
    endpoint(
      is.peopleHistory,
      [administrator],
      async (c) => showHistory(directory, log, c, PEOPLE, await peopleHead(directory.store)),
    ),
    endpoint(is.showReport, [administrator, participant], (c) => showReport(directory, c)),
    endpoint(
      is.showRestored,
      [administrator],
      async (c) => answer(c, restoredCopy(await directory.restored.takenAt())),
    ),
  ];
}

type ParticipantContext = Context<DirectoryEnv & { Variables: { participant: Participant } }>;

/** Check: the participant of the path exists. */
function knownParticipant(
  directory: Directory,
): MiddlewareHandler<DirectoryEnv & { Variables: { participant: Participant } }> {
  return createMiddleware<DirectoryEnv & { Variables: { participant: Participant } }>(
    async function findKnown(c, next) {
      const entry = await findParticipant(directory.store, target(c).orgId);
      if (entry === null) throw new ApiError("directory.not_found", "no such participant");
      c.set("participant", entry.value);
      await next();
    },
  );
}

/** Check: the path has a kid. */
const keyOfPath = createMiddleware<{ Variables: { kid: string } }>(async function readKid(c, next) {
  const kid = c.req.param("kid") ?? "";
  if (!isKid(kid)) throw new ApiError("directory.not_found", "no kid");
  c.set("kid", kid);
  await next();
});

async function changeSoftwareStatus(directory: Directory, c: AdminContext): Promise<Response> {
  const command = decodeSoftwareStatus(c.get("json"));
  return answer(c, participantStatuses(await setSoftwareStatus(directory, target(c), command)));
}

async function changeOrganisationStatus(directory: Directory, c: AdminContext): Promise<Response> {
  const command = decodeOrganisationStatus(c.get("json"));
  return answer(c, participantStatuses(await setOrganisationStatus(directory, target(c), command)));
}

async function onboard(directory: Directory, c: AdminContext, command: OnboardingCommand): Promise<Response> {
  const { participant, statement, keys } = await onboardParticipant(
    directory,
    command,
    { who: c.get("administrator"), approval: c.get("approval") },
  );
  const body = {
    org_id: participant.orgId,
    software_client_id: participant.software.clientId,
    ...(statement === undefined ? {} : { software_statement: statement }),
    jwks: keySet(keys.map(({ key }) => key)),
    certificates: certificatesPem(keys),
    ca: directory.authority.pem,
  };
  return answer(c, body, 201);
}

async function showParticipant(directory: Directory, c: ParticipantContext): Promise<Response> {
  const participant = c.get("participant");
  const keys = await listKeys(directory.store, participant.orgId);
  return answer(c, fullParticipant(participant, keys, directory.clock()));
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

async function issueStatement(
  directory: Directory,
  rules: OnboardingRules,
  c: ParticipantContext,
): Promise<Response> {
  const { role } = c.get("participant");
  const changes = decodeSoftwareChanges(c.get("json"), role, rules);
  return answer(c, { software_statement: await renewStatement(directory, target(c), changes) });
}

async function issueCertificates(directory: Directory, c: AdminContext): Promise<Response> {
  const csrs = decodeSigningRequests(c.get("json"));
  const { issued, active } = await addCertificates(directory, target(c), csrs);
  const body = { certificates: certificatesPem(issued), jwks: keySet(active), ca: directory.authority.pem };
  return answer(c, body, 201);
}

async function certify(directory: Directory, c: AdminContext): Promise<Response> {
  const report = decodeCertification(c.get("json"));
  return answer(c, certificationRecord(await recordCertification(directory, target(c), report)), 201);
}

async function showReport(directory: Directory, c: ParticipantContext): Promise<Response> {
  const { orgId, certifications = [] } = c.get("participant");
  const id = c.req.param("certification_id") ?? "";
  const certification = certifications.find((one) => one.id === id);
  const report = certification && await findReport(directory.store, orgId, id);
  if (!certification || !report) throw new ApiError("directory.not_found", "no such report");
  return answer(c, { ...certificationRecord(certification), report });
}

async function loginIssued(directory: Directory, c: AdminContext): Promise<Response> {
  const { login, token } = await issueLogin(directory, target(c), decodeLogin(c.get("json")));
  return answer(c, { ...loginRecord(login, directory.clock()), token }, 201);
}

async function loginRevoked(directory: Directory, c: AdminContext): Promise<Response> {
  const { reason } = decodeRevocation(c.get("json"));
  const id = c.req.param("login_id") ?? "";
  return answer(c, loginRecord(await revokeLogin(directory, target(c), { id, reason }), directory.clock()));
}

async function revoke(
  directory: Directory,
  c: Context<DirectoryEnv & { Variables: { kid: string } }>,
): Promise<Response> {
  const kid = c.get("kid");
  const { reason } = decodeRevocation(c.get("json"));
  const { revoked } = await revokeKey(directory, target(c), { kid, reason });
  return answer(c, { kid, revoked_at: dateTime(revoked.at), reason: revoked.reason });
}

async function confirmRestored(directory: Directory, log: DirectoryLog, c: AdminContext): Promise<Response> {
  await directory.restored.confirm();
  log.warn("directory.restore_confirmed", {
    requestId: c.get("requestId"),
    administrator: c.get("administrator"),
  });
  return answer(c, restoredCopy(await directory.restored.takenAt()));
}

function target(c: AdminContext): Target {
  const orgId = asOrgId(c.req.param("org_id"));
  if (orgId === undefined) throw new ApiError("directory.not_found", "no org_id");
  return {
    orgId,
    who: c.get("administrator"),
    isOwn: c.get("organisation") !== undefined,
    approval: c.get("approval"),
  };
}

function answer(c: AdminContext, body: unknown, status: 200 | 201 = 200): Response {
  return c.body(JSON.stringify(body), status, {
    "content-type": "application/json",
    "cache-control": "no-store",
  });
}
