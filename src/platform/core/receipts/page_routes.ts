/** The public page that verifies a receipt (contract RCP3). The receipt is in the form alone, never in an address. */
import { createRoute } from "@hono/zod-openapi";
import type { Context } from "hono";
import { formBody } from "../../../base/http/body.ts";
import type { Result } from "../../../base/kernel/result.ts";
import { chooseLanguage, LANGUAGES } from "../../../pages/language.ts";
import { type ReceiptFault, renderReceiptPage, type ShownReceipt } from "../../../pages/receipt_page.tsx";
import type { Site } from "../../../pages/site.ts";
import { endpoint, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { RECEIPT_PAGE_PATH } from "../../config/paths.ts";
import { MAX_RECEIPT_CHARACTERS, type Receipt } from "./receipt.ts";
import { verifyReceipt, type VerifyReceiptDeps } from "./verify_receipt.ts";

export interface ReceiptPageDeps extends VerifyReceiptDeps {
  readonly site: Site;
}

const formRoute = createRoute({
  method: "get",
  path: RECEIPT_PAGE_PATH,
  hide: true,
  responses: {},
});
const verifyRoute = createRoute({ ...formRoute, method: "post" });

export function receiptPageRoutes(deps: ReceiptPageDeps): readonly PlatformEndpoint[] {
  return [
    endpoint("browser", "public", formRoute, [], (c) => c.html(draw(c, deps.site))),
    endpoint("browser", "public", verifyRoute, [formBody], async (c) => {
      const pasted = c.get("form").get("receipt");
      const result = pasted === undefined ? undefined : await verifyReceipt(deps, c.get("reads"), pasted);
      return c.html(draw(c, deps.site, result, pasted));
    }),
  ];
}

function draw(c: Context, site: Site, result?: Result<Receipt, ReceiptFault>, pasted = ""): string {
  const language = chooseLanguage(c.req.header("accept-language"), c.req.query("lang"));
  const addressIn = (lang: string): string => `${RECEIPT_PAGE_PATH}?${new URLSearchParams({ lang })}`;
  return renderReceiptPage({
    site,
    languageSwitch: LANGUAGES.map((one) => ({ language: one, href: addressIn(one) })),
    formAddress: addressIn(language),
    maxCharacters: MAX_RECEIPT_CHARACTERS,
    ...(result === undefined
      ? {}
      : result.ok
      ? { receipt: showReceipt(result.value) }
      : { fault: result.fault, sent: pasted.slice(0, MAX_RECEIPT_CHARACTERS) }),
  }, language);
}

function showReceipt(receipt: Receipt): ShownReceipt {
  return {
    paymentId: receipt.sub,
    amount: receipt.amount,
    currency: receipt.currency,
    payee: receipt.payee,
    accountEnding: receipt.payee_account_ending,
    status: receipt.status,
    statusAt: Date.parse(receipt.status_at),
    createdAt: Date.parse(receipt.created_at),
    issuedAt: receipt.iat * 1000,
    bank: receipt.bank_name,
    tpp: receipt.tpp_name,
    reference: receipt.end_to_end_identification,
  };
}
