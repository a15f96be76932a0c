/** `GET /operations/unsettled-payments` and `POST /operations/banks/{id}/inquire` (contract OP34, OP35). */
import { z } from "@hono/zod-openapi";
import { wireDateTime } from "../../../base/kernel/clock.ts";
import type { Payment } from "../../core/payments/payment.ts";
import type { PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { at, dataSchema, operationAnswer, operationRoute } from "../../guards/http/operation_answers.ts";
import { toWire } from "../../guards/http/wire_fields.ts";
import { operation } from "../../guards/security/operation.ts";
import { readUnsettled } from "./find_unsettled.ts";
import { inquireBank, type InquireBankDeps } from "./inquire_bank.ts";

/** Schema of the payments that no bank has decided on for long. */
export const unsettledSchema = dataSchema({
  Bank: z.array(
    z.strictObject({
      BankId: z.string(),
      Payment: z.array(z.strictObject({
        DomesticPaymentId: z.uuid(),
        InstructedAmount: z.strictObject({ Amount: z.string(), Currency: z.string() }),
        Status: z.string(),
        CreationDateTime: at,
        StatusUpdateDateTime: at,
      })).openapi({ description: "Oldest first, at most 1000." }),
    }).openapi("UnsettledPayments"),
  ),
});
const inquiredSchema = dataSchema({
  Asked: z.int(),
  Updated: z.int(),
  Unchanged: z.int(),
  NotMentioned: z.int(),
  Disagreement: z.array(z.strictObject({ DomesticPaymentId: z.string(), Why: z.string() })),
});

const common = { tags: ["Payment orders"] };
const listRoute = operationRoute({
  ...common,
  method: "get",
  path: "/operations/unsettled-payments",
  operationId: "listUnsettledPayments",
  summary: "Payments that are not final for long, by bank",
  description:
    "`Pending` or `AcceptedSettlementInProcess`, and created `PLATFORM_UNSETTLED_HOURS` ago or earlier. They are " +
    "searched for once a minute. Banks without one are left out.",
  answers: { 200: operationAnswer("The payments", unsettledSchema) },
});
const inquireRoute = operationRoute({
  ...common,
  method: "post",
  path: "/operations/banks/{id}/inquire",
  operationId: "inquireBank",
  summary: "Ask a bank what became of its unsettled payments",
  description:
    "The platform sends the signed inquiry that it sends after a restore, and applies what the bank's signed statement " +
    "says of these payments alone.",
  request: { params: z.object({ id: z.string() }) },
  answers: {
    200: operationAnswer("What came of it", inquiredSchema),
  },
  isProposable: true,
  errors: [404, 409],
});

export function unsettledRoutes(deps: InquireBankDeps): readonly PlatformEndpoint[] {
  return [
    operation(listRoute, [], async (c) => {
      const banks = (await deps.listBanks()).map(({ code }) => code);
      const found = await Promise.all(banks.map((bank) => readUnsettled(deps, bank)));
      const listed = found.flatMap((payments) => {
        const [first] = payments;
        return first === undefined ? [] : { BankId: first.bank, Payment: payments.map(represent) };
      });
      return c.json({ Data: { Bank: listed } });
    }),
    operation(inquireRoute, [], async (c) => {
      const by = { bankText: c.req.param("id"), operator: c.get("operator") };
      const { asked, unmentioned, comparison } = await inquireBank(deps, by);
      const { updated, agreed, disagreements } = comparison;
      const Disagreement = disagreements.map(({ paymentId, why }) => ({
        DomesticPaymentId: paymentId,
        Why: why,
      }));
      return c.json({
        Data: { Asked: asked, Updated: updated, Unchanged: agreed, NotMentioned: unmentioned, Disagreement },
      });
    }),
  ];
}

function represent(
  { id, initiation, status, createdAt, statusUpdatedAt }: Payment,
): z.infer<typeof unsettledSchema>["Data"]["Bank"][number]["Payment"][number] {
  return {
    DomesticPaymentId: id,
    InstructedAmount: toWire(initiation.instructedAmount),
    Status: status,
    CreationDateTime: wireDateTime(createdAt),
    StatusUpdateDateTime: wireDateTime(statusUpdatedAt),
  };
}
