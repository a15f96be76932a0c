/** Descriptions of the endpoints of proposals for the OpenAPI document. */
import { z } from "zod";
import { approved, proposal, proposals } from "./answer_schema.ts";
import { revocationBody } from "./change_schema.ts";
import { operation } from "./endpoint.ts";

const JSON_TYPE = "application/json";
const ONE = "/proposals/{proposal_id}";

export const PROPOSAL_OPERATIONS = {
  list: operation(true, {
    id: "listProposals",
    method: "get",
    path: "/proposals",
    summary: "Changes that were proposed in the last 30 days, newest first",
    description: "Changes that need two administrators (`DIRECTORY_FOUR_EYES`).",
    query: { after: z.string().meta({ description: "The `after` of an earlier page." }) },
    answer: "At most 20 proposals",
    content: { [JSON_TYPE]: proposals },
    errors: [400],
  }),
  show: operation(true, {
    id: "getProposal",
    method: "get",
    path: ONE,
    summary: "A proposal",
    description: "What was proposed, by whom, and what another administrator has decided.",
    answer: "The proposal with the whole body of its change",
    content: { [JSON_TYPE]: proposal },
    errors: [404],
  }),
  approve: operation(true, {
    id: "approveProposal",
    method: "post",
    path: `${ONE}/approve`,
    summary: "Approve a change and make it",
    description:
      "Never by the administrator who proposed it. If the change is rejected, the answer is the change's own, and the proposal stays open.",
    body: revocationBody,
    answer: "The proposal, and the answer to its change",
    content: { [JSON_TYPE]: approved },
    errors: [400, 404, 409, 413, 415],
  }),
  reject: operation(true, {
    id: "rejectProposal",
    method: "post",
    path: `${ONE}/reject`,
    summary: "Reject a proposal, or withdraw an own one",
    description: "Nothing is changed, and the proposal can no longer be approved.",
    body: revocationBody,
    answer: "The proposal",
    content: { [JSON_TYPE]: proposal },
    errors: [400, 404, 409, 413, 415],
  }),
};
