/** `/operations/proposals` (contract FE1 to FE4): changes that need two operators. */
import { z } from "@hono/zod-openapi";
import { wireDateTime } from "../../base/kernel/clock.ts";
import type { PlatformEndpoint } from "../guards/http/endpoint.ts";
import { at, dataSchema, operationAnswer, operationRoute } from "../guards/http/operation_answers.ts";
import { admits, operation } from "../guards/security/operation.ts";
import { operationBody } from "../guards/security/operation_body.ts";
import { OPERATION_ROLES } from "../guards/security/operator_roles.ts";
import { reasonSchema } from "./control_representation.ts";
import {
  approve,
  type CarryOut,
  type Decision,
  listProposals,
  type Proposal,
  type ProposalDeps,
  resultOf,
  type ShownState,
  withdraw,
} from "./proposals.ts";

export interface ProposalRouteDeps extends ProposalDeps {
  readonly carryOut: CarryOut;
}

const proposalSchema = z.strictObject({
  ProposalId: z.uuid(),
  State: z.enum(["proposed", "approved", "done", "failed", "withdrawn", "expired", "unclear"]),
  Change: z.string().openapi({ example: "POST /operations/cases/{id}/erasure" }),
  Path: z.string(),
  Body: z.string().openapi({
    description:
      "The whole body that an approval sends. Text of another operator: escape it before you show it.",
    example: '{"Data":{"Reason":"Fraud is suspected; case 4711 of the fraud desk."}}',
  }),
  Reason: z.string(),
  ProposedBy: z.string(),
  ProposalDateTime: at,
  ExpiryDateTime: at,
  DecidedBy: z.string().optional(),
  DecisionDateTime: at.optional(),
  Fault: z.string().optional().openapi({ description: "Why the approved change was rejected." }),
}).openapi("Proposal");

/** Schema of the list. */
export const proposalsSchema = dataSchema({ Proposal: z.array(proposalSchema) });

const tags = ["Proposals"];
const listRoute = operationRoute({
  method: "get",
  path: "/operations/proposals",
  operationId: "listProposals",
  tags,
  summary: "Changes that were proposed in the last 30 days, newest first",
  description: "With what a second operator has decided. All that can be approved, and at most 500 others.",
  answers: { 200: operationAnswer("The proposals", proposalsSchema) },
});
const decision = {
  request: { params: z.object({ id: z.uuid() }) },
  body: reasonSchema,
  answers: { 200: operationAnswer("The proposal", z.strictObject({ Data: proposalSchema })) },
  errors: [404, 409],
} as const;
const approveRoute = operationRoute({
  method: "post",
  path: "/operations/proposals/{id}/approve",
  operationId: "approveProposal",
  tags,
  summary: "Approve a change and carry it out",
  description:
    "Never by the operator who proposed it. Needs a role of the change. `failed` if the change was rejected, and `unclear` if an earlier approval may have made it.",
  ...decision,
});
const withdrawRoute = operationRoute({
  method: "post",
  path: "/operations/proposals/{id}/withdraw",
  operationId: "withdrawProposal",
  tags,
  summary: "Withdraw or decline a proposal",
  description: "By the operator who proposed it, or another one with a role of the change.",
  ...decision,
});

export function proposalRoutes(deps: ProposalRouteDeps): readonly PlatformEndpoint[] {
  const decisionOf = (who: string, reason: string, person: Parameters<typeof admits>[1]): Decision => ({
    who,
    person: person.person,
    reason,
    mayChange: (endpoint) => admits(OPERATION_ROLES[endpoint] ?? [], person),
  });
  return [
    operation(listRoute, [], async (c) => {
      const all = await listProposals(deps);
      return c.json({ Data: { Proposal: all.map(({ proposal, state }) => represent(proposal, state)) } });
    }),
    operation(approveRoute, [operationBody(reasonSchema)], async (c) => {
      const by = decisionOf(c.get("operator"), c.get("command").Data.Reason, c.get("person"));
      const decided = await approve(deps, deps.carryOut, c.req.param("id"), by);
      return c.json({ Data: represent(decided, resultOf(decided)) });
    }),
    operation(withdrawRoute, [operationBody(reasonSchema)], async (c) => {
      const by = decisionOf(c.get("operator"), c.get("command").Data.Reason, c.get("person"));
      const withdrawn = await withdraw(deps, c.req.param("id"), by);
      return c.json({ Data: represent(withdrawn, withdrawn.state) });
    }),
  ];
}

function represent(proposal: Proposal, state: ShownState): z.infer<typeof proposalSchema> {
  const { decidedBy, decidedAt, fault } = proposal;
  return {
    ProposalId: proposal.id,
    State: state,
    Change: proposal.endpoint,
    Path: proposal.path,
    Body: proposal.body,
    Reason: proposal.reason,
    ProposedBy: proposal.who,
    ProposalDateTime: wireDateTime(proposal.proposedAt),
    ExpiryDateTime: wireDateTime(proposal.expiresAt),
    DecidedBy: decidedBy,
    ...(decidedAt === undefined ? {} : { DecisionDateTime: wireDateTime(decidedAt) }),
    Fault: fault,
  };
}
