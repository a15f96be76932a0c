/** `/{BANK}/domestic-payments/v1/{DomesticPaymentId}/receipt` (contract RCP1). */
import { z } from "@hono/zod-openapi";
import { signClaims } from "../../../base/jose/own_key.ts";
import type { Clock } from "../../../base/kernel/clock.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { ClientId } from "../../../base/kernel/identifiers.ts";
import type { Reader } from "../../../base/store/store.ts";
import { endpoint, fapiHeaders, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { resourceAnswer } from "../../guards/http/openapi_answers.ts";
import { resourceRoute } from "../../guards/http/openapi_parameters.ts";
import { filledPath, RECEIPT_PATH } from "../../config/paths.ts";
import type { PaymentStore } from "../payments/payment_store.ts";
import { paymentAhead } from "../payments/payment_store.ts";
import { readPayment } from "../payments/read_payment.ts";
import { paymentParameter, TPP_OR_CUSTOMER } from "../payments/routes.ts";
import { firstReads } from "../../guards/security/access_token.ts";
import type { ResourceGuards } from "../../guards/security/resource_guards.ts";
import { MAX_RECEIPT_CHARACTERS, RECEIPT_TYP, receiptOf } from "./receipt.ts";
import type { ReceiptSigner } from "./receipt_keys.ts";

export interface ReceiptRouteDeps {
  readonly guards: ResourceGuards;
  readonly payments: PaymentStore;
  /** Finds a registered client. */
  readonly findClient: (from: Reader, id: ClientId) => Promise<{ readonly orgName: string } | null>;
  readonly receiptSigner: ReceiptSigner;
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly authUrl: string;
}

const receiptSchema = z.strictObject({
  Data: z.strictObject({
    Receipt: z.string().max(MAX_RECEIPT_CHARACTERS).openapi({
      description:
        `A compact JWS with \`typ\` \`${RECEIPT_TYP}\`: amount, payee, status with its time, bank, TPP and ` +
        "references, and no data of the payer. The page `/receipt` of the browser host verifies it.",
    }),
  }),
  Links: z.strictObject({ Self: z.string().openapi({ format: "uri" }) }),
  Meta: z.strictObject({}),
}).openapi("PaymentReceipt");

const receiptRoute = resourceRoute({
  method: "get",
  path: RECEIPT_PATH,
  tags: ["Payments"],
  operationId: "getDomesticPaymentReceipt",
  summary: "Get a signed receipt of a payment, for its payer",
  description: "The payment with its current status, signed by the platform, for anyone to verify. For the " +
    "tokens that may read the payment.",
  scopes: ["payments"],
  params: paymentParameter,
  answers: { 200: resourceAnswer("The receipt", receiptSchema) },
});

export function receiptRoutes(deps: ReceiptRouteDeps): readonly PlatformEndpoint[] {
  const { certificate, limit, bank, token } = deps.guards;
  const reads = firstReads((c) => paymentAhead(c.req.param("paymentId")));
  const checks = [certificate, limit("reads"), reads, bank, token(TPP_OR_CUSTOMER), fapiHeaders] as const;
  return [
    endpoint("resource", "participant", receiptRoute, checks, async (c) => {
      const bank = c.get("bank");
      const by = { bank: bank.code, token: c.get("access").token };
      const { value: payment } = await readPayment(deps, c.get("reads"), c.req.param("paymentId"), by);
      c.get("facts").consentId = payment.consentId;
      const tpp = await deps.findClient(c.get("reads"), payment.clientId);
      if (tpp === null) throw new ApiError("resource.not_found");
      const names = { bank: bank.orgName, tpp: tpp.orgName };
      const receipt = receiptOf(payment, names, deps.authUrl, deps.clock());
      return c.json({
        Data: { Receipt: await signClaims(receipt, await deps.receiptSigner(), RECEIPT_TYP) },
        Links: {
          Self: `${deps.baseUrl}${filledPath(RECEIPT_PATH, { bank: bank.code, paymentId: payment.id })}`,
        },
        Meta: {},
      });
    }),
  ];
}
