/**
 * `/operations/order-holds`: after a restore, lists the banks whose orders are held, and reconciles and releases
 * them. Mounted only if the configuration has an operator token.
 */
import { createRoute, z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { readBytes } from "../../base/http/body.ts";
import type { RequestVariables } from "../../base/http/context.ts";
import { endpoint, type PlatformEndpoint } from "../http/endpoint.ts";
import { oauthErrors } from "../http/openapi_answers.ts";
import { wireDateTime } from "../../base/kernel/clock.ts";
import { ApiError } from "../../base/kernel/api_error.ts";
import { MAX_BODY_BYTES } from "../../base/limits.ts";
import type { OperatorVariables } from "../security/operator_token.ts";
import type { Hold } from "./hold.ts";
import {
  reconcileBank,
  type ReconcileBankDeps,
  type Reconciliation,
  releaseOrders,
} from "./reconcile_bank.ts";

export interface HoldRouteDeps extends ReconcileBankDeps {
  readonly operator: MiddlewareHandler<{ Variables: RequestVariables & OperatorVariables }>;
}

const params = z.object({ bank: z.string() });
const tags = ["Operation"];
const ok = { 200: { description: "Where the hold stands" } };

const listRoute = createRoute({
  method: "get",
  path: "/operations/order-holds",
  hide: true,
  tags,
  summary: "Operator: banks whose orders are held after a restore",
  responses: { ...ok, ...oauthErrors(401) },
});
const reconcileRoute = createRoute({
  method: "post",
  path: "/operations/order-holds/{bank}/reconcile",
  hide: true,
  tags,
  summary: "Operator: compare the next page of the bank's statement",
  request: { params },
  responses: { ...ok, ...oauthErrors(401, 404, 409) },
});
const releaseRoute = createRoute({
  method: "post",
  path: "/operations/order-holds/{bank}/release",
  hide: true,
  tags,
  summary: "Operator: release the bank's orders without a comparison",
  request: { params },
  responses: { ...ok, ...oauthErrors(400, 401, 404) },
});

const REASON = /^[^\p{Cc}]{10,500}$/u;

/** Check: reads the body as plain text. */
const textBody = createMiddleware<{ Variables: { text: string } }>(async function textBody(c, next) {
  c.set("text", new TextDecoder().decode(await readBytes(c.req.raw, MAX_BODY_BYTES)).trim());
  await next();
});

export function orderHoldRoutes(deps: HoldRouteDeps): readonly PlatformEndpoint[] {
  return [
    endpoint("oauth", "operator", listRoute, [deps.operator], async (c) => {
      const holds = await deps.holds.all();
      return c.json({ Data: { OrderHold: holds.map((hold) => representHold(hold, stateOf(hold))) } });
    }),
    endpoint("oauth", "operator", reconcileRoute, [deps.operator, textBody], async (c) => {
      const statement = c.get("text");
      const by = { bankText: c.req.param("bank"), operator: c.get("operator") };
      return c.json(represent(await reconcileBank(deps, statement === "" ? by : { ...by, statement })));
    }),
    endpoint("oauth", "operator", releaseRoute, [deps.operator, textBody], async (c) => {
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

function represent({ hold, state }: Reconciliation): object {
  return { Data: representHold(hold, state) };
}

function stateOf({ after }: Hold): Reconciliation["state"] {
  return after === undefined ? "held" : "comparing";
}

function representHold(hold: Hold, state: Reconciliation["state"]): object {
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
