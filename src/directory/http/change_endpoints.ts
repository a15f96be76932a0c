/** Endpoints for administrators that onboard and change participants (Decisions E1, E3). */
import type { MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import type { z } from "zod";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { Clock } from "../../base/kernel/clock.ts";
import type { Endpoint } from "../../base/http/endpoint.ts";
import { openLimiter } from "../../base/kernel/recently_used.ts";
import { addCertificates } from "../changes/add_certificates.ts";
import { proveKeys } from "../changes/certify_keys.ts";
import { issueLogin, revokeLogin } from "../changes/change_logins.ts";
import type { Directory } from "../changes/directory.ts";
import { type OnboardingCommand, onboardParticipant } from "../changes/onboard_participant.ts";
import { recordCertification } from "../changes/record_certification.ts";
import { renewStatement } from "../changes/renew_statement.ts";
import { revokeKey } from "../changes/revoke_key.ts";
import { setOrganisationStatus, setSoftwareStatus } from "../changes/set_status.ts";
import { isKid } from "../participants/identifiers.ts";
import { answer, JSON_TYPE, knownParticipant, ONE, target } from "./admin_request.ts";
import * as answers from "./answer_schema.ts";
import * as bodies from "./change_schema.ts";
import { adminEndpoint } from "./endpoint.ts";
import { type FourEyesOptions, type OpenFourEyes, openFourEyes } from "./four_eyes_check.ts";
import { jsonBody, optionalJsonBody } from "./json_body.ts";
import {
  certificatesPem,
  certificationRecord,
  dateTime,
  keySet,
  loginRecord,
  participantStatuses,
} from "./participant_representation.ts";
import { onboardingBody, type OnboardingRules } from "./onboarding_schema.ts";
import type { DirectoryEnv } from "./request_context.ts";

export function changeEndpoints(
  directory: Directory,
  options: FourEyesOptions & { readonly rules: OnboardingRules },
): readonly Endpoint[] {
  const fourEyes = openFourEyes(directory, options);
  const limited = limitOwnChanges(directory.clock);
  return [
    onboarding(directory, options.rules, fourEyes),
    statement(directory, options.rules, limited, fourEyes),
    certificates(directory, limited, fourEyes),
    certification(directory),
    login(directory, fourEyes),
    loginRevocation(directory),
    keyRevocation(directory, fourEyes),
    ...statuses(directory, fourEyes),
  ];
}

const AN_HOUR = 20;
const POLICY = { perSecond: AN_HOUR / 3600, burst: AN_HOUR, maxKeys: 10_000 };

/** Check: counts the changes of each organisation's people together (contract DRC6). */
function limitOwnChanges(clock: Clock): MiddlewareHandler<DirectoryEnv> {
  const limiter = openLimiter(POLICY, clock);
  return createMiddleware(async function ownChangesLimited(c, next): Promise<void> {
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

function onboarding(directory: Directory, rules: OnboardingRules, fourEyes: OpenFourEyes): Endpoint {
  const body = onboardingBody(rules);
  const checks = [
    jsonBody(body),
    fourEyes("onboardParticipant", ({ csrs }: OnboardingCommand) => proveKeys(csrs)),
  ] as const;
  return adminEndpoint(
    {
      id: "onboardParticipant",
      method: "post",
      path: "/participants",
      summary: "Onboard a participant",
      description:
        "Certifies the keys of the signing requests and issues the first software statement. Nothing is written if any part is rejected.",
      body,
      status: 201,
      answer: "Onboarded",
      content: { [JSON_TYPE]: answers.onboarded },
    },
    checks,
    async (c) => {
      const by = { who: c.get("administrator"), approval: c.get("approval") };
      const { participant, statement, keys } = await onboardParticipant(directory, c.get("body"), by);
      return answer(c, {
        org_id: participant.orgId,
        software_client_id: participant.software.clientId,
        ...(statement === undefined ? {} : { software_statement: statement }),
        jwks: keySet(keys.map(({ key }) => key)),
        certificates: certificatesPem(keys),
        ca: directory.authority.pem,
      }, 201);
    },
  );
}

function statement(
  directory: Directory,
  rules: OnboardingRules,
  limited: MiddlewareHandler<DirectoryEnv>,
  fourEyes: OpenFourEyes,
): Endpoint {
  const { both, byRole } = bodies.softwareChangesBody(rules);
  const checks = [
    limited,
    knownParticipant(directory.store),
    optionalJsonBody(({ role }) => byRole[role]),
    fourEyes("issueStatement"),
  ] as const;
  return adminEndpoint(
    {
      id: "issueStatement",
      method: "post",
      path: `${ONE}/statement`,
      summary: "Issue a newer software statement",
      description:
        "With changed software members if the body has some; members that only banks have are rejected for TPPs.",
      body: both,
      bodyIsOptional: true,
      answer: "The statement",
      content: { [JSON_TYPE]: answers.statement },
    },
    checks,
    async (c) => {
      return answer(c, { software_statement: await renewStatement(directory, target(c), c.get("body")) });
    },
  );
}

function certificates(
  directory: Directory,
  limited: MiddlewareHandler<DirectoryEnv>,
  fourEyes: OpenFourEyes,
): Endpoint {
  const body = bodies.signingRequestsBody;
  const checks = [
    limited,
    jsonBody(body),
    fourEyes("issueCertificates", ({ csrs }: z.infer<typeof body>) => proveKeys(csrs)),
  ] as const;
  return adminEndpoint(
    {
      id: "issueCertificates",
      method: "post",
      path: `${ONE}/certificates`,
      summary: "Certify new keys beside the old ones",
      description: "The old keys stay trusted until they are revoked or their certificates expire.",
      body,
      status: 201,
      answer: "The certificates, and every key that may be trusted from now on",
      content: { [JSON_TYPE]: answers.certificatesAdded },
    },
    checks,
    async (c) => {
      const { issued, active } = await addCertificates(directory, target(c), c.get("body").csrs);
      const added = {
        certificates: certificatesPem(issued),
        jwks: keySet(active),
        ca: directory.authority.pem,
      };
      return answer(c, added, 201);
    },
  );
}

function certification(directory: Directory): Endpoint {
  return adminEndpoint(
    {
      id: "recordCertification",
      method: "post",
      path: `${ONE}/certifications`,
      summary: "Record a certification report",
      description:
        "A configured certifier must have signed it about this participant. The same report again changes nothing.",
      body: bodies.certificationBody,
      status: 201,
      answer: "The report in short",
      content: { [JSON_TYPE]: answers.certification },
    },
    [jsonBody(bodies.certificationBody)],
    async (c) => {
      const recorded = await recordCertification(directory, target(c), c.get("body").report);
      return answer(c, certificationRecord(recorded), 201);
    },
  );
}

function login(directory: Directory, fourEyes: OpenFourEyes): Endpoint {
  return adminEndpoint(
    {
      id: "issueLogin",
      method: "post",
      path: `${ONE}/logins`,
      summary: "Issue a login for a participant's person",
      description:
        "The person signs in to the console with the token, for 90 days, and acts for the participant alone.",
      body: bodies.loginBody,
      status: 201,
      answer: "The login and its token, which is shown once",
      content: { [JSON_TYPE]: answers.issuedLogin },
    },
    [jsonBody(bodies.loginBody), fourEyes("issueLogin")],
    async (c) => {
      const { login, token } = await issueLogin(directory, target(c), c.get("body").name);
      return answer(c, { ...loginRecord(login, directory.clock()), token }, 201);
    },
  );
}

function loginRevocation(directory: Directory): Endpoint {
  return adminEndpoint(
    {
      id: "revokeLogin",
      method: "post",
      path: `${ONE}/logins/{login_id}/revoke`,
      summary: "Revoke a login",
      description: "Its sessions end with their next request. Revoking a login again changes nothing.",
      body: bodies.reasonBody,
      answer: "The login, with the time of its first revocation",
      content: { [JSON_TYPE]: answers.login },
    },
    [jsonBody(bodies.reasonBody)],
    async (c) => {
      const { reason } = c.get("body");
      const revoked = await revokeLogin(directory, target(c), { id: c.req.param("login_id") ?? "", reason });
      return answer(c, loginRecord(revoked, directory.clock()));
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

function keyRevocation(directory: Directory, fourEyes: OpenFourEyes): Endpoint {
  return adminEndpoint(
    {
      id: "revokeKey",
      method: "post",
      path: `${ONE}/keys/{kid}/revoke`,
      summary: "Revoke a key permanently",
      description: "The reason is published. Revoking a key again changes nothing.",
      body: bodies.reasonBody,
      answer: "The key, with the time and the reason of its first revocation",
      content: { [JSON_TYPE]: answers.revokedKey },
    },
    [keyOfPath, jsonBody(bodies.reasonBody), fourEyes("revokeKey")],
    async (c) => {
      const kid = c.get("kid");
      const { revoked } = await revokeKey(directory, target(c), { kid, reason: c.get("body").reason });
      return answer(c, { kid, revoked_at: dateTime(revoked.at), reason: revoked.reason });
    },
  );
}

function statuses(directory: Directory, fourEyes: OpenFourEyes): readonly Endpoint[] {
  const { softwareStatusBody, organisationStatusBody } = bodies;
  const answered = { answer: "Both statuses", content: { [JSON_TYPE]: answers.statuses } };
  return [
    adminEndpoint(
      {
        id: "setSoftwareStatus",
        method: "put",
        path: `${ONE}/software/status`,
        summary: "Set the status of a participant's software",
        description: "Revoked is final.",
        body: softwareStatusBody,
        ...answered,
      },
      [jsonBody(softwareStatusBody), fourEyes("setSoftwareStatus")],
      async (c) => {
        return answer(c, participantStatuses(await setSoftwareStatus(directory, target(c), c.get("body"))));
      },
    ),
    adminEndpoint(
      {
        id: "setOrganisationStatus",
        method: "put",
        path: `${ONE}/status`,
        summary: "Set the status of an organisation",
        description:
          "The software follows: Suspended makes it Inactive, Withdrawn makes it Revoked. Withdrawn is final.",
        body: organisationStatusBody,
        ...answered,
      },
      [jsonBody(organisationStatusBody), fourEyes("setOrganisationStatus")],
      async (c) => {
        return answer(
          c,
          participantStatuses(await setOrganisationStatus(directory, target(c), c.get("body"))),
        );
      },
    ),
  ];
}
