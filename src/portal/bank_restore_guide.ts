/** Guide for banks, section about a restored platform: the inquiry, and the statement that answers it. */
import type { Block, GuideAddresses } from "./guide.ts";

export function afterRestore({ authUrl }: GuideAddresses): Block[] {
  return [
    "If the platform is restored from a backup, it may have lost payments that you have executed. It holds all orders for you and sends you an inquiry about the orders that you have. Answering inquiries is optional. If you do not answer them, your orders wait until the operator has compared them with you in another way.",
    `The inquiry is a \`POST\` to your \`payment_orders_uri\`, content type \`application/jose\`: a JWS of the platform with \`typ\` \`order-inquiry+jwt\`, \`iss\` ${authUrl}, \`aud\` your code, \`exp\` and \`Data.Since\`, and \`Data.After\` from the second page on. Verify it like an order. Answer 200 within 30 seconds, content type \`application/jose\`, with a JWS of your signing key, \`typ\` \`order-statement+jwt\`, of at most 64 KiB:`,
    {
      about: "Claims of a statement",
      code: JSON.stringify(
        {
          iss: "BANK",
          aud: authUrl,
          iat: 1893456000,
          exp: 1893456300,
          jti: "0f2d1c3b-6a55-4f7e-9d1b-7a6f3e2c1b00",
          Data: {
            Since: "2029-12-31T23:00:00+00:00",
            Next: "cursor of the next page; absent on the last page",
            PaymentOrder: [{
              DomesticPaymentId: "58923a3a-2f0c-8d6e-9b1e-3c1f7f0d8a11",
              ConsentId: "7290aa4e-5b1c-4f0e-8f4c-2f1d6c1f9b77",
              Status: "AcceptedSettlementInProcess",
              StatusUpdateDateTime: "2030-01-01T00:00:00+00:00",
              Order: "the order as you received it: the platform's JWS",
            }],
          },
        },
        null,
        2,
      ),
    },
    {
      list: [
        "List every order that you received, or whose status changed, at or after `Since`, including rejected ones, which may have a `StatusReason`. Copy `Since` and `After` from the inquiry.",
        "Store the orders that you receive as JWS, and return them as `Order`. The platform recovers a lost payment only from an order with its own signature.",
        "`iat` must be after the restore, and `exp` at most a day after `iat`.",
      ],
    },
  ];
}
