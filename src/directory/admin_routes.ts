/** Endpoints for administrators only (Decisions E1, E3): onboard participants, change them, read their full records. */
import type { Context, MiddlewareHandler } from "hono";
import { ApiError } from "../base/kernel/api_error.ts";
import { adminOperations } from "./admin_operations.ts";
import { addCertificates } from "./add_certificates.ts";
import {
  decodeOrganisationStatus,
  decodeRevocation,
  decodeSigningRequests,
  decodeSoftwareChanges,
  decodeSoftwareStatus,
} from "./change_schema.ts";
import type { Target } from "./change_participant.ts";
import type { Directory, DirectoryLog } from "./directory.ts";
import type { Endpoint } from "./endpoint.ts";
import { asOrgId, isKid } from "./identifiers.ts";
import { readJson, readOptionalJson } from "./json_body.ts";
import { keySet } from "./key_set_representation.ts";
import { type OnboardingCommand, onboardParticipant } from "./onboard_participant.ts";
import { onboardingDecoder, type OnboardingRules } from "./onboarding_schema.ts";
import type { Participant } from "./participant.ts";
import {
  certificatesPem,
  dateTime,
  fullParticipant,
  historyLine,
  participantStatuses,
  restoredCopy,
} from "./participant_representation.ts";
import { findParticipant, listHistory, listKeys } from "./participant_store.ts";
import { renewStatement } from "./renew_statement.ts";
import type { DirectoryEnv } from "./request_context.ts";
import { revokeKey } from "./revoke_key.ts";
import { setOrganisationStatus, setSoftwareStatus } from "./set_status.ts";

type AdminContext = Context<DirectoryEnv>;

/** The endpoints, each behind the administrators' guard. */
export function adminEndpoints(
  directory: Directory,
  rules: OnboardingRules,
  guard: MiddlewareHandler<DirectoryEnv>,
  log: DirectoryLog,
): readonly Endpoint[] {
  const decodeOnboarding = onboardingDecoder(rules);
  const is = adminOperations(rules);
  const endpoints: readonly Endpoint[] = [
    { route: is.onboard, handle: async (c) => onboard(directory, c, decodeOnboarding(await readJson(c))) },
    { route: is.show, handle: (c) => showParticipant(directory, c) },
    { route: is.history, handle: (c) => showHistory(directory, c) },
    { route: is.issueStatement, handle: (c) => issueStatement(directory, rules, c) },
    { route: is.issueCertificates, handle: (c) => issueCertificates(directory, c) },
    { route: is.revokeKey, handle: (c) => revoke(directory, c) },
    { route: is.setSoftwareStatus, handle: (c) => changeSoftwareStatus(directory, c) },
    { route: is.setOrganisationStatus, handle: (c) => changeOrganisationStatus(directory, c) },
    { route: is.showRestored, handle: (c) => answer(c, restoredCopy(directory.restored.takenAt())) },
    { route: is.confirmRestored, handle: (c) => confirmRestored(directory, log, c) },
  ];
  return endpoints.map((endpoint) => ({ ...endpoint, guard }));
}

async function changeSoftwareStatus(directory: Directory, c: AdminContext): Promise<Response> {
  const command = decodeSoftwareStatus(await readJson(c));
  return answer(c, participantStatuses(await setSoftwareStatus(directory, target(c), command)));
}

async function changeOrganisationStatus(directory: Directory, c: AdminContext): Promise<Response> {
  const command = decodeOrganisationStatus(await readJson(c));
  return answer(c, participantStatuses(await setOrganisationStatus(directory, target(c), command)));
}

async function onboard(
  directory: Directory,
  c: AdminContext,
  command: OnboardingCommand,
): Promise<Response> {
  const { participant, statement, keys } = await onboardParticipant(
    directory,
    command,
    c.get("administrator"),
  );
  const body = {
    org_id: participant.orgId,
    software_client_id: participant.software.clientId,
    software_statement: statement,
    jwks: keySet(keys.map(({ key }) => key)),
    certificates: certificatesPem(keys),
    ca: directory.authority.pem,
  };
  return answer(c, body, 201);
}

async function showParticipant(directory: Directory, c: AdminContext): Promise<Response> {
  const participant = await participantAt(directory, c);
  const keys = await listKeys(directory.store, participant.orgId);
  return answer(c, fullParticipant(participant, keys, directory.clock()));
}

async function showHistory(directory: Directory, c: AdminContext): Promise<Response> {
  const { orgId } = await participantAt(directory, c);
  return answer(c, (await listHistory(directory.store, orgId)).map(historyLine));
}

async function issueStatement(
  directory: Directory,
  rules: OnboardingRules,
  c: AdminContext,
): Promise<Response> {
  const { role } = await participantAt(directory, c);
  const changes = decodeSoftwareChanges(await readOptionalJson(c), role, rules);
  return answer(c, { software_statement: await renewStatement(directory, target(c), changes) });
}

async function issueCertificates(directory: Directory, c: AdminContext): Promise<Response> {
  const csrs = decodeSigningRequests(await readJson(c));
  const { issued, active } = await addCertificates(directory, target(c), csrs);
  const body = { certificates: certificatesPem(issued), jwks: keySet(active), ca: directory.authority.pem };
  return answer(c, body, 201);
}

async function revoke(directory: Directory, c: AdminContext): Promise<Response> {
  const kid = c.req.param("kid") ?? "";
  if (!isKid(kid)) throw new ApiError("directory.not_found", "no kid");
  const { reason } = decodeRevocation(await readJson(c));
  const { revoked } = await revokeKey(directory, target(c), { kid, reason });
  return answer(c, { kid, revoked_at: dateTime(revoked.at), reason: revoked.reason });
}

async function confirmRestored(directory: Directory, log: DirectoryLog, c: AdminContext): Promise<Response> {
  await directory.restored.confirm();
  log.warn("directory.restore_confirmed", {
    requestId: c.get("requestId"),
    administrator: c.get("administrator"),
  });
  return answer(c, restoredCopy(directory.restored.takenAt()));
}

function target(c: AdminContext): Target {
  const orgId = asOrgId(c.req.param("org_id"));
  if (orgId === undefined) throw new ApiError("directory.not_found", "no org_id");
  return { orgId, who: c.get("administrator") };
}

async function participantAt(directory: Directory, c: AdminContext): Promise<Participant> {
  const entry = await findParticipant(directory.store, target(c).orgId);
  if (entry === null) throw new ApiError("directory.not_found", "no such participant");
  return entry.value;
}

function answer(c: AdminContext, body: unknown, status: 200 | 201 = 200): Response {
  return c.body(JSON.stringify(body), status, {
    "content-type": "application/json",
    "cache-control": "no-store",
  });
}
