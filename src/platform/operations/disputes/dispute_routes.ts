/** `/operations/disputes` (contract DSP7): the disputes that have not ended, one with its statements, and its decision. */
import { z } from "@hono/zod-openapi";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { asPaymentId } from "../../../base/kernel/identifiers.ts";
import { decideDispute, type DecideDisputeDeps } from "../../core/disputes/decide_dispute.ts";
import { type Dispute, isOverdue } from "../../core/disputes/dispute.ts";
import {
  disputeData,
  disputeFields,
  disputeMembers,
  representStatements,
} from "../../core/disputes/dispute_representation.ts";
import type { ClientStore } from "../../core/registration/client_store.ts";
import { findDispute, listOpenDisputes } from "../../core/disputes/dispute_store.ts";
import { disputedPayment, statementsOf } from "../../core/disputes/read_dispute.ts";
import type { PlatformEndpoint } from "../../guards/http/endpoint.ts";
import {
  dataSchema,
  operationAnswer,
  operationRoute,
  tppMember,
  tppName,
} from "../../guards/http/operation_answers.ts";
import { operation } from "../../guards/security/operation.ts";
import { operationBody, plainText } from "../../guards/security/operation_body.ts";

export interface DisputeOperationDeps extends DecideDisputeDeps {
  readonly clients: Pick<ClientStore, "namesOf">;
}

/** Disputes of an answer. */
const LISTED = 1000;

const parties = { BankId: z.string(), TppId: z.string(), Tpp: tppName };
/** Schema of the list. */
export const openDisputesSchema = dataSchema({
  Dispute: z.array(
    z.strictObject({ ...disputeFields, ...parties, IsOverdue: z.boolean() }).openapi("OpenDispute"),
  ),
});
/** Schema of a dispute for who decides it. */
export const disputeForDecisionSchema = z.strictObject({ Data: disputeData.extend(parties) });
const decisionSchema = dataSchema({ Outcome: z.enum(["Upheld", "Rejected"]), Reason: plainText(10, 500) });

const common = { tags: ["Disputes"] };
const params = z.object({ paymentId: z.uuid() });
const listRoute = operationRoute({
  ...common,
  method: "get",
  path: "/operations/disputes",
  operationId: "listDisputes",
  summary: "Disputes that have not ended",
  description: `At most ${LISTED}, the one that is due first before the others, without the statements.`,
  answers: { 200: operationAnswer("The disputes", openDisputesSchema) },
});
const readRoute = operationRoute({
  ...common,
  method: "get",
  path: "/operations/disputes/{paymentId}",
  operationId: "getDisputeForDecision",
  summary: "A dispute with the statements of both parties",
  description: "Also one that has ended.",
  request: { params },
  answers: { 200: operationAnswer("The dispute", disputeForDecisionSchema) },
  errors: [404],
});
const decisionRoute = operationRoute({
  ...common,
  method: "post",
  path: "/operations/disputes/{paymentId}/decision",
  operationId: "decideDispute",
  summary: "Decide a dispute",
  description:
    "The outcome is an event to both parties. The reason is in the history of the payment. The decision " +
    "moves no money: the status of the payment stays the bank's word.",
  request: { params },
  body: decisionSchema,
  answers: {
    200: operationAnswer("The dispute has ended", disputeForDecisionSchema),
  },
  isProposable: true,
  errors: [404, 409],
});

export function disputeOperationRoutes(deps: DisputeOperationDeps): readonly PlatformEndpoint[] {
  return [
    operation(listRoute, [], async (c) => {
      const now = deps.clock();
      const open = await listOpenDisputes(deps.store, LISTED);
      const names = await deps.clients.namesOf(deps.store, open.map(({ clientId }) => clientId));
      const listed = open.map((dispute) => ({
        ...disputeMembers(dispute),
        ...partiesOf(dispute, names),
        IsOverdue: isOverdue(dispute, now),
      }));
      return c.json({ Data: { Dispute: listed } });
    }),
    operation(readRoute, [], async (c) => {
      const id = asPaymentId(c.req.param("paymentId"));
      const payment = id === undefined ? null : await deps.payments.find(deps.store, id);
      const dispute = payment && await findDispute(deps.store, disputedPayment(payment.value));
      if (dispute === null) throw new ApiError("operations.case_unknown");
      return c.json({ Data: await represent(deps, dispute.value) });
    }),
    operation(decisionRoute, [operationBody(decisionSchema)], async (c) => {
      const { Outcome: outcome, Reason: reason } = c.get("command").Data;
      const [paymentIdText, operator] = [c.req.param("paymentId"), c.get("operator")];
      const dispute = await decideDispute(deps, { paymentIdText, outcome, operator, reason });
      return c.json({ Data: await represent(deps, dispute) });
    }),
  ];
}

export function partiesOf(
  { bank, clientId }: Dispute,
  names: ReadonlyMap<string, string>,
): { readonly BankId: string; readonly TppId: string; readonly Tpp?: string } {
  return { BankId: bank, TppId: clientId, ...tppMember(names, clientId) };
}

async function represent(
  { store, clients }: DisputeOperationDeps,
  dispute: Dispute,
): Promise<z.infer<typeof disputeForDecisionSchema>["Data"]> {
  const [statements, names] = await Promise.all([
    statementsOf(store, dispute),
    clients.namesOf(store, [dispute.clientId]),
  ]);
  return { ...representStatements(dispute, statements), ...partiesOf(dispute, names) };
}
