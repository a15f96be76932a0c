/** Checks of changes that can need two administrators: store a proposal in place of making the change (contract DRC8). */
import type { Context, MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { ApiError } from "../../base/kernel/api_error.ts";
import { proveKeys } from "../changes/certify_keys.ts";
import * as changes from "./change_schema.ts";
import type { Directory } from "../changes/directory.ts";
import { type FourEyesName, needsTwo, type Proposable } from "../changes/four_eyes.ts";
import { asOrgId } from "../participants/identifiers.ts";
import type { DirectoryLog } from "../observed/log_events.ts";
import { onboardingDecoder, type OnboardingRules } from "./onboarding_schema.ts";
import type { Participant } from "../participants/participant.ts";
import { dateTime } from "./participant_representation.ts";
import { propose } from "../changes/proposals.ts";
import type { DirectoryEnv } from "./request_context.ts";

export interface FourEyesOptions {
  readonly rules: OnboardingRules;
  readonly log: DirectoryLog;
  /** The changes that need two administrators. */
  readonly fourEyes: readonly FourEyesName[];
}

type Variables = DirectoryEnv["Variables"] & { readonly participant?: Participant };
/** Throws {ApiError} what the change would be rejected for. */
type Validate = (variables: Pick<Variables, "json" | "participant">) => unknown;
type FourEyesCheck = MiddlewareHandler<DirectoryEnv>;

export interface FourEyesChecks {
  readonly onboarding: FourEyesCheck;
  readonly certificates: FourEyesCheck;
  readonly statement: FourEyesCheck;
  readonly login: FourEyesCheck;
  readonly revocation: FourEyesCheck;
  readonly softwareStatus: FourEyesCheck;
  readonly organisationStatus: FourEyesCheck;
}

/** The checks by change. Each runs behind the one that parses the body. */
export function openFourEyes(directory: Directory, options: FourEyesOptions): FourEyesChecks {
  const { rules } = options;
  const decodeOnboarding = onboardingDecoder(rules);
  const check = (change: Proposable, validate: Validate): FourEyesCheck =>
    fourEyesCheck(directory, options, change, validate);
  return {
    onboarding: check("onboardParticipant", ({ json }) => proveKeys(decodeOnboarding(json).csrs)),
    certificates: check("issueCertificates", ({ json }) => proveKeys(changes.decodeSigningRequests(json))),
    statement: check(
      "issueStatement",
      ({ json, participant }) => participant && changes.decodeSoftwareChanges(json, participant.role, rules),
    ),
    login: check("issueLogin", ({ json }) => changes.decodeLogin(json)),
    revocation: check("revokeKey", ({ json }) => changes.decodeRevocation(json)),
    softwareStatus: check("setSoftwareStatus", ({ json }) => changes.decodeSoftwareStatus(json)),
    organisationStatus: check("setOrganisationStatus", ({ json }) => changes.decodeOrganisationStatus(json)),
  };
}

/** A participant's people make their changes alone, and an approved change is made. */
function fourEyesCheck(
  directory: Directory,
  { fourEyes: names, log }: FourEyesOptions,
  change: Proposable,
  validate: Validate,
): FourEyesCheck {
  return createMiddleware<DirectoryEnv>(async function fourEyes(c, next): Promise<Response | void> {
    const body = c.get("json");
    const isOwn = c.get("organisation") !== undefined;
    if (isOwn || c.get("approval") !== undefined || !needsTwo(names, change, body)) return await next();
    await validate(c.var);
    const who = c.get("administrator");
    const person = c.get("person");
    const proposal = { change, ...readPlace(c), body, who, ...(person === undefined ? {} : { person }) };
    const { id, expiresAt } = await propose(directory, proposal);
    log.warn("directory.proposed", { proposal: id, administrator: who });
    const answer = { proposal_id: id, state: "proposed", expires_at: dateTime(expiresAt) };
    return c.json(answer, 202, { "cache-control": "no-store" });
  });
}

function readPlace(c: Context): object {
  const [sent, kid] = [c.req.param("org_id"), c.req.param("kid")];
  const orgId = asOrgId(sent);
  if (sent !== undefined && orgId === undefined) throw new ApiError("directory.not_found", "no org_id");
  return { ...(orgId === undefined ? {} : { orgId }), ...(kid === undefined ? {} : { kid }) };
}
