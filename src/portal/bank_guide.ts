/** The guide for banks: the customer's visit, the back channel and payment orders, with requests to copy. */
import { CONTENT_ENCRYPTION_ALG, KEY_MANAGEMENT_ALG } from "../base/limits.ts";
import {
  FLOW_SECONDS,
  HANDOVER_SECONDS,
  MAX_BANK_RETURN_SECONDS,
  ORDER_PUSH_SECONDS,
  ORDER_RETRY_SECONDS,
} from "../base/profile.ts";
import { bankCertification } from "./bank_certification_guide.ts";
import { afterRestore } from "./bank_restore_guide.ts";
import type { Block, Guide, GuideAddresses } from "./guide.ts";

const TLS = "--cacert ca.pem --cert transport.cert.pem --key transport.key.pem";

/** The guide, with the addresses of this platform in its requests. */
export function bankGuide(at: GuideAddresses): Guide {
  return {
    title: "Guide for banks",
    lead:
      "A customer’s visit from the platform and back, and the payment orders that follow. `BANK` is your code.",
    sections: [
      { id: "onboard", title: "1. Onboard and register", blocks: onboarding() },
      { id: "arrival", title: "2. Receive the customer", blocks: arrival(at) },
      { id: "consent", title: "3. Read the consent", blocks: consent(at) },
      { id: "accounts", title: "4. Tell the payer’s accounts", blocks: accounts(at) },
      { id: "return", title: "5. Return the customer", blocks: giveBack(at) },
      { id: "orders", title: "6. Take payment orders", blocks: orders(at) },
      { id: "report", title: "7. Report how an order ends", blocks: report(at) },
      { id: "restore", title: "8. After a restore of the platform", blocks: afterRestore(at) },
      { id: "certification", title: "9. Get certified", blocks: bankCertification(at) },
    ],
  };
}

function onboarding(): Block[] {
  return [
    "Onboard with role `ASPSP`. Your `org_id` becomes the `{BANK}` of every path; your one redirect URL is where customers arrive. Say whether you show the consent screen yourself (`consent_managedby_bank`) and, if orders are to be pushed, your `payment_orders_uri`.",
    "The platform follows the directory within 15 seconds. A newer software statement moves your redirect URL, your `payment_orders_uri` and the consent screen without a new registration. While you are suspended or withdrawn, no customer is sent to you, your requests are answered with 401, and your payment orders are held; the platform sends them when you are active again.",
    "Register like a TPP, with grant type `authorization_code` and scope `bank`. The back channel takes tokens of the client credentials grant with scope `bank`.",
    "The requests below work in your participant’s folder, with `ca.pem` beside your certificates, and these shell variables:",
    {
      terms: [
        [
          "`$TOKEN`, `$PROOF`, `$SIGNATURE`",
          "Access token, DPoP proof, and `x-jws-signature` of the file sent.",
        ],
        ["`$INTERACTION_ID`", "A fresh UUID, by which both sides find the request in their logs."],
        ["`$IP`", "The customer’s address, where the request is made for one."],
      ],
    },
    {
      see: [
        ["/docs/tpp#register", "Registration JWT and token request"],
        ["/docs/signatures", "How everything is signed"],
      ],
    },
  ];
}

function arrival({ authUrl }: GuideAddresses): Block[] {
  return [
    "The browser comes to your redirect URL with `oAuthUrl`: a JWE to your `enc` key (your `tls` key where you have none) around a JWS of the platform. Open it in this order and reject it at the first doubt, with a page, never with a redirect:",
    {
      list: [
        `The JWE header: \`alg\` ${KEY_MANAGEMENT_ALG}, \`enc\` ${CONTENT_ENCRYPTION_ALG}, \`cty\` JWT, your key’s \`kid\`, no \`zip\`.`,
        `The JWS inside: \`alg\` PS256, \`typ\` JWT, \`kid\` of a \`sig\` key at ${authUrl}/jwks. Read the key set again if a \`kid\` is unknown, at most once in 30 seconds.`,
        `\`iss\` is ${authUrl}, \`aud\` your code (a string), \`exp\` at most ${HANDOVER_SECONDS} seconds after \`iat\`.`,
        "`jti` was never seen before. Remember it last, so that a forgery uses nothing up.",
      ],
    },
    {
      about: "Claims",
      code: `{
  "iss": "${authUrl}", "aud": "BANK", "iat": 1763719200, "nbf": 1763719200,
  "exp": 1763719500, "jti": "…", "debtor_account_present": "false",
  "ref_id": "<ConsentId>", "correlation_id": "…",
  "act": { "sub": "<TPP’s legal name>", "registration_no": "<TPP’s client_id>" },
  "ui_locales": "fr-CA en"
}`,
    },
    "`ui_locales` is an addition to the interface: the customer’s languages, best first, if the TPP named any. Show your pages in the first language that you support, unless the customer has chosen another one at your bank.",
    `Show the customer who asks, the payee and the amount before the code that authorises them (dynamic linking). The whole visit has ${
      FLOW_SECONDS / 60
    } minutes.`,
  ];
}

function consent({ baseUrl }: GuideAddresses): Block[] {
  return [
    {
      about: "Read the consent",
      code: `curl ${TLS} \\
  -H "Authorization: DPoP $TOKEN" -H "DPoP: $PROOF" \\
  -H "x-fapi-interaction-id: $INTERACTION_ID" -H "x-fapi-customer-ip-address: $IP" \\
  ${baseUrl}/BANK/back-channel-auth/v1/$CONSENT_ID`,
    },
    "Check that `debtor_account_present` agrees with it: an implicit consent names the payer’s account, and it must be this customer’s.",
  ];
}

function accounts({ baseUrl }: GuideAddresses): Block[] {
  return [
    {
      terms: [
        ["Implicit consent", "Nothing to send."],
        ["Platform’s screen", "1 to 100 accounts, with balances where you have them."],
        ["Your own screen", "The selected account alone."],
      ],
    },
    {
      about: "Put the accounts",
      code:
        `printf %s '{"Data":{"BankId":"BANK","ConsentId":"'$CONSENT_ID'","Sub":"customer-4711","DebtorAccount":[{"SchemeName":"UK.OBIE.IBAN","Identification":"GB33BUKB20201555555555","Balance":"1250.00","Currency":"EUR"}]}}' > accounts.json
curl -X PUT ${TLS} \\
  -H "Authorization: DPoP $TOKEN" -H "DPoP: $PROOF" -H "x-jws-signature: $SIGNATURE" \\
  -H 'content-type: application/json' --data-binary @accounts.json \\
  ${baseUrl}/BANK/back-channel-auth/v1/$CONSENT_ID`,
    },
    "`Sub` is your opaque name for the customer, never an account number. The last PUT before you return the customer counts. A later PUT is answered with 400 `UK.OBIE.Resource.InvalidConsentStatus`. An account with a `Balance` below the amount can be chosen, with a warning, because you decide about overdrafts.",
  ];
}

function giveBack({ authUrl }: GuideAddresses): Block[] {
  return [
    `Sign the claims with PS256 (\`typ\` JWT, \`kid\` the x5t of your signing certificate), encrypt the result to the \`enc\` key at ${authUrl}/jwks, and redirect (303) to the address below. It lives at most ${MAX_BANK_RETURN_SECONDS} seconds and works once, in the customer’s own browser. If the customer returns more than ${
      FLOW_SECONDS / 60
    } minutes after the authorization session began, a success authorizes nothing. Return the customer even then: the platform redirects them to the TPP. A failure rejects the consent even if it is late.`,
    { about: "Return address", code: `${authUrl}/BANK/authorization.sca.oauth2?oAuthUrl=<JWE>` },
    {
      about: "Claims",
      code: `{
  "iss": "BANK", "aud": "${authUrl}", "iat": 1763719200, "nbf": 1763719200,
  "exp": 1763719500, "jti": "<new>", "sub": "customer-4711",
  "debtor_account_present": "<as received>", "ref_id": "<as received>",
  "correlation_id": "<as received>", "bank_id": "BANK",
  "status": "<a word for the history>", "status_code": "success"
}`,
    },
    {
      terms: [
        ["`status_code` `success`, `200`", "The customer is who they say, and agreed to what you showed."],
        ["`failure`", "Rejected, or authentication failed. The TPP gets `access_denied`."],
        [
          "`insufficient_funds`",
          "The customer’s accounts have insufficient funds, and you grant no overdraft. The TPP gets `access_denied` with the description “The bank reported insufficient funds.”",
        ],
        ["anything else", "A fault of yours. The TPP gets `server_error`."],
      ],
    },
    {
      list: [
        "If the platform rejects the result, the customer sees a page with a number. `GET /traces/v1/{number}` with your token says what was wrong with it, and `GET /traces/v1?rejected=true` lists your newest rejected requests and returns.",
      ],
    },
    { see: [["/docs/signatures#bank-return", "The signed part, worked through"]] },
  ];
}

function orders({ baseUrl, authUrl }: GuideAddresses): Block[] {
  return [
    "Once the TPP pays, you have an order: the initiation and the account that pays. You get it at least once; take it once, by `DomesticPaymentId`.",
    "Your availability and response times of the last 30 days are public at `/service-levels` of the authorization host. A minute counts against you if an outage of yours is announced, the platform holds your orders, or five orders in succession got no answer.",
    `Pushed: \`POST\` to your \`payment_orders_uri\`, content type \`application/jose\`, a JWS of the platform with \`iss\` ${authUrl}, \`aud\` your code and the order under \`Data\`. Answer 200 within ${ORDER_PUSH_SECONDS} seconds:`,
    { about: "Answer to a push", code: `{"Status":"AcceptedSettlementInProcess"}` },
    'or `{"Status":"Rejected","StatusReason":"AM04: Insufficient funds"}`. `StatusReason` is optional, here and in status reports: an ISO 20022 status reason code, a colon, a space and a text, at most 256 characters, without personal data. The TPP gets your text unchanged and may show it to the customer.',
    `If you do not answer, or answer 5xx, 408, 425, 429, a redirect or a 200 without a known \`Status\`, the platform pushes the order again, up to ${ORDER_RETRY_SECONDS.length} times over at least ${
      Math.round(ORDER_RETRY_SECONDS.reduce((sum, wait) => sum + wait, 0) / 60)
    } minutes, and not before your \`Retry-After\` (at most ${
      ORDER_RETRY_SECONDS.at(-1)
    } seconds). After any other 4xx it is not pushed again, and the payment stays \`Pending\` until the operator has settled it with you. To reject a payment, answer 200 with \`Rejected\`, not a 4xx.`,
    "Pulled: always possible, oldest first. For the next page, send `?after=` with the `After` of the last page; the end has no `After`. `?status=Pending` lists only orders without an answer:",
    {
      about: "Pull",
      code: `curl ${TLS} \\
  -H "Authorization: DPoP $TOKEN" -H "DPoP: $PROOF" \\
  ${baseUrl}/BANK/back-channel-payments/v1`,
    },
  ];
}

function report({ baseUrl }: GuideAddresses): Block[] {
  return [
    {
      about: "Report a status",
      code:
        `printf %s '{"Data":{"Status":"AcceptedSettlementCompleted","StatusUpdateDateTime":"2026-01-31T10:00:00Z"}}' > status.json
curl -X PUT ${TLS} \\
  -H "Authorization: DPoP $TOKEN" -H "DPoP: $PROOF" -H "x-jws-signature: $SIGNATURE" \\
  -H 'content-type: application/json' --data-binary @status.json \\
  ${baseUrl}/BANK/back-channel-payments/v1/$PAYMENT_ID`,
    },
    "A status moves forwards only: `Pending`, `AcceptedSettlementInProcess`, `AcceptedSettlementCompleted`, `AcceptedWithoutPosting`, `AcceptedCreditSettlementCompleted`, or to `Rejected` before the payer is debited and when a payment comes back unposted. The same status again changes nothing; a move that is not allowed is 400.",
    "The platform may end a consent or close an order without you. One poll returns the events of it. Its body is not signed. Without `returnImmediately` it waits up to 15 seconds for an event:",
    {
      about: "Poll for events",
      code: `curl ${TLS} \\
  -H "Authorization: DPoP $TOKEN" -H "DPoP: $PROOF" \\
  -H 'content-type: application/json' --data-binary '{"ack": [], "returnImmediately": true}' \\
  ${baseUrl}/BANK/back-channel-events/v1`,
    },
    "`sets` has each event by its `jti`, as a security event token: `typ` is `secevent+jwt`, `aud` is your client id, and the key is in `/jwks`. Store it, then name its `jti` in `ack` of the next poll. The last part of its name in `events` is the type:",
    {
      terms: [
        [
          "`consent-rejected`",
          "A consent was rejected whose customer was sent to you, also if you rejected it.",
        ],
        ["`consent-expired`", "Such a consent was not authorised, or not used, in time."],
        [
          "`payment-closed`",
          "An operator has closed your order, and its TPP reads `Rejected`. If you have executed it, report its status: your report counts.",
        ],
      ],
    },
    { see: [["/docs/reference/back-channel", "Back channel reference"], ["/docs/errors", "Every error"]] },
  ];
}
