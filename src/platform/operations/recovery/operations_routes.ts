/**
 * `/operations/order-holds`: after a restore, lists the banks whose orders are held, and reconciles and releases
 * them.
 */
import { z } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { readBytes } from "../../../base/http/body.ts";
import type { PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { dataSchema, operationAnswer, operationRoute } from "../../guards/http/operation_answers.ts";
import { wireDateTime } from "../../../base/kernel/clock.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { MAX_BODY_BYTES } from "../../../base/limits.ts";
import { operation } from "../../guards/security/operation.ts";
import type { Hold } from "./hold.ts";
import { listHolds } from "./hold_store.ts";
import {
  reconcileBank,
  type ReconcileBankDeps,
  type Reconciliation,
  releaseOrders,
} from "./reconcile_bank.ts";

export type HoldRouteDeps = ReconcileBankDeps;

const holdSchema = z.strictObject({
  BankId: z.string(),
  State: z.enum(["held", "comparing", "released"]),
  RestoredDateTime: z.string(),
  SinceDateTime: z.string(),
  Recovered: z.int(),
  Updated: z.int(),
  Agreed: z.int(),
  Disagreement: z.array(z.strictObject({ DomesticPaymentId: z.string(), Why: z.string() })),
}).openapi("OrderHold");
const oneHold = operationAnswer("The state of the hold", z.strictObject({ Data: holdSchema }));
/** Schema of every hold after a restore. */
export const orderHoldsSchema = dataSchema({ OrderHold: z.array(holdSchema) });
const params = z.object({ bank: z.string() });
const tags = ["Restore"];
const textContent = (description: string): { content: { "text/plain": { schema: z.ZodType } } } => ({
  content: { "text/plain": { schema: z.string().openapi({ description }) } },
});

const listRoute = operationRoute({
  method: "get",
  path: "/operations/order-holds",
  operationId: "listOrderHolds",
  tags,
  summary: "Banks whose orders are held after a restore",
  description: "Each with the comparison under way, or the last one.",
  answers: { 200: operationAnswer("Every hold", orderHoldsSchema) },
});
const reconcileRoute = operationRoute({
  method: "post",
  path: "/operations/order-holds/{bank}/reconcile",
  operationId: "reconcileBank",
  tags,
  summary: "Compare the next page of the bank's statement",
  description: "After the last page the hold ends, or its disagreements are listed.",
  request: { params, body: textContent("The bank's signed page. If empty, the bank is asked for it.") },
  answers: { 200: oneHold },
  isProposable: true,
  errors: [400, 404, 409, 413],
});
const releaseRoute = operationRoute({
  method: "post",
  path: "/operations/order-holds/{bank}/release",
  operationId: "releaseBank",
  tags,
  summary: "Release the bank's orders without a comparison",
  description: "The reason is in the history of the bank's holds.",
  request: { params, body: textContent("The reason, 10 to 500 characters.") },
  answers: { 200: oneHold },
  isProposable: true,
  errors: [400, 404, 409, 413],
});

const REASON = /^[^\p{Cc}]{10,500}$/u;

/** Check: reads the body as plain text. */
const textBody = createMiddleware<{ Variables: { text: string } }>(async function textBody(c, next) {
  c.set("text", new TextDecoder().decode(await readBytes(c.req.raw, MAX_BODY_BYTES)).trim());
  await next();
});

export function orderHoldRoutes(deps: HoldRouteDeps): readonly PlatformEndpoint[] {
  return [
    operation(listRoute, [], async (c) => {
      const holds = await listHolds(deps.store);
      return c.json({ Data: { OrderHold: holds.map((hold) => representHold(hold, stateOf(hold))) } });
    }),
    operation(reconcileRoute, [textBody], async (c) => {
      const statement = c.get("text");
      const by = { bankText: c.req.param("bank"), operator: c.get("operator") };
      return c.json(represent(await reconcileBank(deps, statement === "" ? by : { ...by, statement })));
    }),
    operation(releaseRoute, [textBody], async (c) => {
      const reason = c.get("text");
      if (!REASON.test(reason)) {
        throw new ApiError("operations.invalid_request", {
          description: "The body must be the reason, as plain text of 10 to 500 characters",
        });
      }
      const by = { bankText: c.req.param("bank"), operator: c.get("operator"), reason };
      return c.json(represent(await releaseOrders(deps, by)));
    }),
  ];
}

type HoldOnWire = z.infer<typeof holdSchema>;

function represent({ hold, state }: Reconciliation): { Data: HoldOnWire } {
  return { Data: representHold(hold, state) };
}

function stateOf({ after }: Hold): Reconciliation["state"] {
  return after === undefined ? "held" : "comparing";
}

function representHold(hold: Hold, state: Reconciliation["state"]): HoldOnWire {
  const { bank, restoredAt, since, comparison } = hold;
  return {
    BankId: bank,
    State: state,
    RestoredDateTime: wireDateTime(restoredAt),
    SinceDateTime: wireDateTime(since),
    Recovered: comparison.recovered,
    Updated: comparison.updated,
    Agreed: comparison.agreed,
    Disagreement: comparison.disagreements.map(({ paymentId, why }) => ({
      DomesticPaymentId: paymentId,
      Why: why,
    })),
  };
}
