/** The check of changes that can need two administrators: stores a proposal in place of the change (contract DRC8). */
import type { Context, MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { ApiError } from "../../base/kernel/api_error.ts";
import type { Directory } from "../changes/directory.ts";
import { type FourEyesName, needsTwo, type Proposable } from "../changes/four_eyes.ts";
import { asOrgId } from "../participants/identifiers.ts";
import type { DirectoryLog } from "../observed/log_events.ts";
import { dateTime } from "./participant_representation.ts";
import { propose } from "../changes/proposals.ts";
import type { DirectoryEnv } from "./request_context.ts";

export interface FourEyesOptions {
  readonly log: DirectoryLog;
  /** The changes that need two administrators. */
  readonly fourEyes: readonly FourEyesName[];
}

/**
 * Makes the check of a change, which runs behind the one that decodes the body.
 *
 * @param verify throws {ApiError} what the change would be rejected for besides
 */
export type OpenFourEyes = <Body>(
  change: Proposable,
  verify?: (body: Body) => Promise<unknown>,
) => MiddlewareHandler<DirectoryEnv & { Variables: { body: Body } }>;

/** A participant's people make their changes alone, and an approved change is made. */
export function openFourEyes(directory: Directory, { fourEyes: names, log }: FourEyesOptions): OpenFourEyes {
  return (change, verify) =>
    createMiddleware(async function fourEyes(c, next): Promise<Response | void> {
      const body = c.get("json");
      const isOwn = c.get("organisation") !== undefined;
      if (isOwn || c.get("approval") !== undefined || !needsTwo(names, change, body)) return await next();
      await verify?.(c.get("body"));
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
