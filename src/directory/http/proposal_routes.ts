/** `/proposals` (contract DRC8 to DRC11): changes that need two administrators. */
import { z } from "zod";
import type { Endpoint } from "../../base/http/endpoint.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { type AdminContext, answer, JSON_TYPE } from "./admin_request.ts";
import { approved, proposal as proposalSchema, proposals as proposalsSchema } from "./answer_schema.ts";
import { reasonBody } from "./change_schema.ts";
import type { Directory } from "../changes/directory.ts";
import { adminEndpoint } from "./endpoint.ts";
import { jsonBody } from "./json_body.ts";
import type { DirectoryLog } from "../observed/log_events.ts";
import { dateTime } from "./participant_representation.ts";
import { isProposalId, type Proposal, proposals } from "../changes/proposal.ts";
import {
  type Approval,
  approvalOf,
  findExisting,
  rejectProposal,
  requireApprovable,
  type ShownState,
  shownStates,
} from "../changes/proposals.ts";
import type { RecordAttempt } from "../changes/record_attempt.ts";

/** Sends a change to its endpoint in the name of both administrators. */
export type CarryOut = (request: Request, approved: ApprovedBy) => Promise<Response>;

/** Who makes an approved change. */
export interface ApprovedBy {
  readonly who: string;
  readonly requestId: string;
  readonly approval: Approval;
}

export interface ProposalRouteDeps {
  readonly directory: Directory;
  /** The administrators' endpoints. */
  readonly changes: readonly Endpoint[];
  readonly carryOut: CarryOut;
  readonly log: DirectoryLog;
  readonly recordAttempt: RecordAttempt;
}

const ONE = "/proposals/{proposal_id}";
const PAGE = 20;
/** Never resolved: the endpoint is called within the process. */
const ORIGIN = "http://api.invalid";

export function proposalEndpoints(deps: ProposalRouteDeps): readonly Endpoint[] {
  const { directory } = deps;
  return [
    adminEndpoint(
      {
        id: "listProposals",
        path: "/proposals",
        summary: "Changes that were proposed in the last 30 days, newest first",
        description: "Changes that need two administrators (`DIRECTORY_FOUR_EYES`).",
        query: { after: z.string().meta({ description: "The `after` of an earlier page." }) },
        answer: "At most 20 proposals",
        content: { [JSON_TYPE]: proposalsSchema },
      },
      [],
      (c) => list(directory, c),
    ),
    adminEndpoint(
      {
        id: "getProposal",
        path: ONE,
        summary: "A proposal",
        description: "What was proposed, by whom, and what another administrator has decided.",
        answer: "The proposal with the whole body of its change",
        content: { [JSON_TYPE]: proposalSchema },
      },
      [],
      async (c) => {
        const { value } = await findExisting(directory.store, c.req.param("proposal_id") ?? "");
        return answer(c, (await representAll(directory, [value]))[0]);
      },
    ),
    ...decisionEndpoints(deps),
  ];
}

function decisionEndpoints(deps: ProposalRouteDeps): readonly Endpoint[] {
  const { directory } = deps;
  return [
    adminEndpoint(
      {
        id: "approveProposal",
        method: "post",
        path: `${ONE}/approve`,
        summary: "Approve a change and make it",
        description:
          "Never by the administrator who proposed it. If the change is rejected, the answer is the change's own, and the proposal stays open.",
        body: reasonBody,
        answer: "The proposal, and the answer to its change",
        content: { [JSON_TYPE]: approved },
      },
      [jsonBody(reasonBody)],
      (c) => approve(deps, c, c.get("body").reason),
    ),
    adminEndpoint(
      {
        id: "rejectProposal",
        method: "post",
        path: `${ONE}/reject`,
        summary: "Reject a proposal, or withdraw an own one",
        description: "Nothing is changed, and the proposal can no longer be approved.",
        body: reasonBody,
        answer: "The proposal",
        content: { [JSON_TYPE]: proposalSchema },
      },
      [jsonBody(reasonBody)],
      async (c) => {
        const by = { who: c.get("administrator"), reason: c.get("body").reason };
        const rejected = await rejectProposal(directory, c.req.param("proposal_id") ?? "", by);
        deps.log.warn("directory.proposal_rejected", { proposal: rejected.id, administrator: by.who });
        return answer(c, (await representAll(directory, [rejected]))[0]);
      },
    ),
  ];
}

async function list(directory: Directory, c: AdminContext): Promise<Response> {
  const after = c.req.query("after");
  if (after !== undefined && !isProposalId(after)) {
    throw new ApiError("directory.invalid_request", {
      description: "after: must be the after of an earlier page",
    });
  }
  const found = await proposals.list(directory.store, PAGE, after);
  const last = found.length === PAGE ? found.at(-1) : undefined;
  return answer(c, {
    proposals: await representAll(directory, found),
    ...(last === undefined ? {} : { after: last.id }),
  });
}

/** Makes the change at its endpoint. The endpoint's commit has the approval. */
async function approve(deps: ProposalRouteDeps, c: AdminContext, reason: string): Promise<Response> {
  const { directory, carryOut, log } = deps;
  const id = c.req.param("proposal_id") ?? "";
  const by = { who: c.get("administrator"), person: c.get("person"), reason };
  const { value: proposal } = await requireApprovable(directory, directory.store, id, by)
    .catch((error: unknown) => refuse(deps, id, by.who, error));
  const made = await carryOut(requestFor(deps.changes, proposal), {
    who: `${proposal.who} with ${by.who}`,
    requestId: c.get("requestId"),
    approval: approvalOf(directory, id, by),
  });
  if (made.status === 409) await noteRefusal(deps, id, by.who, await rejectionOf(made.clone()));
  if (!made.ok) return made;
  log.warn("directory.proposal_approved", { proposal: id, administrator: by.who });
  const { value: approved } = await findExisting(directory.store, id);
  const [shown] = await representAll(directory, [approved]);
  return answer(c, { ...shown, result: await made.json() });
}

/** Records that the approval of an existing proposal was refused (contract DRC14), and throws the error. */
async function refuse(deps: ProposalRouteDeps, id: string, who: string, error: unknown): Promise<never> {
  if (error instanceof ApiError && error.reason === "directory.conflict") {
    await noteRefusal(deps, id, who, error.parts.description ?? error.reason);
  }
  throw error;
}

async function noteRefusal(
  { log, recordAttempt }: ProposalRouteDeps,
  proposalId: string,
  who: string,
  reason: string,
): Promise<void> {
  log.warn("directory.proposal_refused", { proposal: proposalId, administrator: who });
  await recordAttempt({ who, what: "proposal.refused", proposalId, reason });
}

async function rejectionOf(answer: Response): Promise<string> {
  return String(Object(await answer.json())["error_description"]);
}

/** The request of the change, as the first administrator has sent it. */
function requestFor(changes: readonly Endpoint[], { change, orgId, kid, body }: Proposal): Request {
  const route = changes.map((each) => each.route).find(({ operationId }) => operationId === change);
  if (route === undefined) throw new Error(`no endpoint for ${change}`);
  const path = route.path.replace("{org_id}", orgId ?? "").replace("{kid}", kid ?? "");
  return new Request(`${ORIGIN}${path}`, {
    method: route.method.toUpperCase(),
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function representAll(
  directory: Directory,
  shown: readonly Proposal[],
): Promise<readonly z.infer<typeof proposalSchema>[]> {
  const states = await shownStates(directory, shown);
  return shown.map((one, index) => represent(one, states[index] ?? "expired"));
}

function represent(proposal: Proposal, state: ShownState): z.infer<typeof proposalSchema> {
  const { orgId, kid, decidedBy, decidedAt, reason } = proposal;
  return {
    proposal_id: proposal.id,
    state,
    change: proposal.change,
    ...(orgId === undefined ? {} : { org_id: orgId }),
    ...(kid === undefined ? {} : { kid }),
    body: proposal.body,
    proposed_by: proposal.who,
    proposed_at: dateTime(proposal.proposedAt),
    expires_at: dateTime(proposal.expiresAt),
    ...(decidedBy === undefined ? {} : { decided_by: decidedBy }),
    ...(decidedAt === undefined ? {} : { decided_at: dateTime(decidedAt) }),
    ...(reason === undefined ? {} : { reason }),
  };
}
