/** The guide for TPPs: from onboarding to the paid order, with requests to copy. */
import {
  ACCESS_TOKEN_SECONDS,
  CODE_SECONDS,
  DPOP_MAX_AGE_SECONDS,
  IDEMPOTENCY_SECONDS,
  MAX_SESSIONS_PER_REQUEST,
  REQUEST_URI_SECONDS,
  USE_WITHIN_SECONDS,
} from "../base/profile.ts";
import type { Block, Guide, GuideAddresses } from "./guide.ts";

const TLS = "--cacert ca.pem --cert transport.cert.pem --key transport.key.pem";
const ASSERTION =
  `  --data-urlencode client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer \\
  --data-urlencode "client_assertion=$ASSERTION"`;

/** The guide, with the addresses of this platform in its requests. */
export function tppGuide(at: GuideAddresses): Guide {
  return {
    title: "Guide for TPPs",
    lead:
      "Every step of a payment, in order. `BANK` is a bank’s code, in every path; the shell variables are yours.",
    sections: [
      { id: "onboard", title: "1. Become a participant", blocks: onboarding() },
      { id: "register", title: "2. Register your software", blocks: registration(at) },
      { id: "token", title: "3. Get a token of your own", blocks: ownToken(at) },
      { id: "consent", title: "4. Create a consent", blocks: consent(at) },
      { id: "push", title: "5. Push the authorization request", blocks: push(at) },
      { id: "customer", title: "6. Send the customer", blocks: customer(at) },
      { id: "code", title: "7. Exchange the code", blocks: code(at) },
      { id: "pay", title: "8. Pay, and read the status", blocks: pay(at) },
      { id: "events", title: "9. Learn what happened", blocks: events(at) },
      { id: "again", title: "When something fails", blocks: again() },
    ],
  };
}

function onboarding(): Block[] {
  return [
    "The participants directory certifies your keys and issues a software statement. Private keys never leave your machine: you send certificate signing requests. With the command of this project:",
    {
      about: "Onboard at a directory",
      code: `npx -y deno@2.9.6 task participant onboard --example PISP > .data/details.json
npx -y deno@2.9.6 task participant onboard --name mine --details .data/details.json`,
    },
    "You then have a folder, `.data/sandbox/participants/mine` in a sandbox, with a signing key (its `kid` goes into every JWT), a transport key and certificate for mTLS, and the software statement (`.jks`). The requests below work in that folder, with the `ca.pem` of the platform’s certificate authority (`../../ca.pem` in a sandbox) beside them and these shell variables:",
    {
      terms: [
        ["`$ASSERTION`", "A client assertion. It may be used once, like everything that is signed here."],
        ["`$PROOF`", "A DPoP proof for this very request."],
        ["`$SIGNATURE`", "The `x-jws-signature` of the file that is sent."],
        ["`$KEY`", "A fresh UUID for each thing that must happen once."],
        ["`$TOKEN`, `$PAYMENT_TOKEN`", "The access tokens of steps 3 and 7."],
      ],
    },
    {
      see: [
        ["/docs/signatures", "How the signed ones are made, with worked examples"],
        ["/docs/sandbox#yours", "All steps as one program, in bash, Go, Java, Python and TypeScript"],
      ],
    },
  ];
}

function registration({ baseUrl }: GuideAddresses): Block[] {
  return [
    "Sign the claims below with PS256 and your `sig` key; `typ` is `JWT`. The software statement goes in unchanged. To update, register again with a newer statement. If a newer statement removes something, such as a redirect URL, the removal takes effect within 15 seconds without a registration. Additions need a registration.",
    {
      about: "Claims of the registration JWT",
      code: `{
  "iss": "<your org_name>", "aud": "<registration_audience>", "jti": "<UUID>",
  "iat": 1763719200, "exp": 1763719500,
  "redirect_uris": ["https://tpp.example.com/callback"],
  "token_endpoint_auth_method": "private_key_jwt",
  "grant_types": ["client_credentials", "authorization_code"],
  "scope": "payments", "application_type": "web",
  "software_statement": "<contents of the .jks file>"
}`,
    },
    {
      about: "Register",
      code: `curl ${TLS} \\
  -H 'content-type: application/jose' --data-binary "$REGISTRATION_JWT" \\
  ${baseUrl}/register/v1`,
    },
    "201 gives your `client_id`.",
    `With a token of step 3, \`GET ${baseUrl}/register/v1/{client_id}\` reads your registration and \`DELETE\` ends it. Your access tokens are invalid from then on, customers who have opened your link return to you with \`access_denied\`, and your consents and payments remain. Register again to continue.`,
  ];
}

function ownToken({ baseUrl, authUrl }: GuideAddresses): Block[] {
  return [
    "Make one RSA key for the DPoP proofs of this payment and keep it until the payment is read. Metadata says where everything is:",
    { about: "Discover", code: `curl ${authUrl}/.well-known/oauth-authorization-server/BANK` },
    {
      about: "Client credentials",
      code: `curl ${TLS} \\
  -H "DPoP: $PROOF" \\
  --data-urlencode grant_type=client_credentials --data-urlencode scope=payments \\
  --data-urlencode "client_id=$CLIENT_ID" \\
${ASSERTION} \\
  ${baseUrl}/BANK/token.oauth2/v1`,
    },
    `The token is opaque, bound to the proof’s key and to your certificate’s owner, and lives ${ACCESS_TOKEN_SECONDS} seconds.`,
  ];
}

function consent({ baseUrl }: GuideAddresses): Block[] {
  return [
    "With `DebtorAccount` in the initiation the consent is implicit: the customer’s account is settled and no account is chosen. Without it the customer chooses, on the platform’s screen or the bank’s.",
    {
      about: "Create a consent",
      code:
        `printf %s '{"Data":{"Initiation":{"InstructedAmount":{"Amount":"12.50","Currency":"EUR"},"CreditorAccount":{"SchemeName":"UK.OBIE.IBAN","Identification":"FR1420041010050500013M02606","Name":"Example Shop"},"RemittanceInformation":{"Reference":"ORDER-1001"}}},"Risk":{}}' > consent.json
curl ${TLS} \\
  -H "Authorization: DPoP $TOKEN" -H "DPoP: $PROOF" \\
  -H "x-idempotency-key: $KEY" -H "x-jws-signature: $SIGNATURE" \\
  -H 'content-type: application/json' --data-binary @consent.json \\
  ${baseUrl}/BANK/domestic-payment-consents/v1`,
    },
    "The signature is over these bytes exactly. 201 gives `Data.ConsentId` in status `AwaitingAuthorisation`.",
  ];
}

function push({ baseUrl }: GuideAddresses): Block[] {
  return [
    "`code_challenge` is the base64url SHA-256 of a random `code_verifier` that you keep. `dpop_jkt`, or a `DPoP` header, binds the code to your proof key.",
    {
      about: "Pushed authorization request",
      code: `curl ${TLS} \\
  --data-urlencode "client_id=$CLIENT_ID" --data-urlencode response_type=code \\
  --data-urlencode redirect_uri=https://tpp.example.com/callback \\
  --data-urlencode scope=payments --data-urlencode "consent_id=$CONSENT_ID" \\
  --data-urlencode "state=$STATE" --data-urlencode "dpop_jkt=$JKT" \\
  --data-urlencode code_challenge_method=S256 --data-urlencode "code_challenge=$CHALLENGE" \\
  --data-urlencode "ui_locales=fr-CA en" \\
${ASSERTION} \\
  ${baseUrl}/BANK/par.oauth2/v1`,
    },
    "`ui_locales` is optional. The consent screen and the bank use the first of these languages that they support and ignore the others. `ui_locales_supported` in the metadata lists those of the consent screen.",
    `The \`request_uri\` lives ${REQUEST_URI_SECONDS} seconds.`,
  ];
}

function customer({ authUrl }: GuideAddresses): Block[] {
  return [
    "Open this address in the customer’s browser, in the window they are in:",
    {
      about: "Authorization address",
      code: `${authUrl}/BANK/authorization.oauth2?client_id=$CLIENT_ID&request_uri=$REQUEST_URI`,
    },
    "The customer returns to your `redirect_uri`, always with `iss`, and with `state` where you sent it. Check both before anything else: `iss` must be the bank’s issuer byte for byte.",
    "Redirect the customer in the same window. The pages send `Cross-Origin-Opener-Policy: same-origin`, so a pop-up loses its connection to the page that opened it.",
    {
      terms: [
        ["`code`", `The customer agreed. Exchange it within ${CODE_SECONDS} seconds, once.`],
        [
          "`error=access_denied`",
          "The customer or the bank rejected, and the consent is rejected. Two cases leave the consent as it is. If `error_description` is exactly “The authorization session expired.”, the customer took more than 15 minutes, and you can push a new request for the same consent. If it begins with “The bank is not active” or “The TPP is not active”, the bank or you are withdrawn. If the bank reported a lack of money, `error_description` is exactly “The bank reported insufficient funds.”",
        ],
        [
          "`error=server_error`",
          "Something failed at the bank or here. Read the consent: if it still awaits authorisation, push a new request. Otherwise start again with a new consent.",
        ],
        [
          "`error=temporarily_unavailable`",
          "The bank cannot take customers at the moment, or the bank or you are suspended (see `error_description`). The consent does not change: open the same link again later, or push a new request.",
        ],
        [
          "`error=invalid_request`",
          `The consent does not await authorisation any more: read it to see why. Or the \`request_uri\` was opened more than ${MAX_SESSIONS_PER_REQUEST} times: push a new request.`,
        ],
      ],
    },
  ];
}

function code({ baseUrl }: GuideAddresses): Block[] {
  return [
    {
      about: "Authorization code",
      code: `curl ${TLS} \\
  -H "DPoP: $PROOF" \\
  --data-urlencode grant_type=authorization_code --data-urlencode "code=$CODE" \\
  --data-urlencode redirect_uri=https://tpp.example.com/callback \\
  --data-urlencode "code_verifier=$VERIFIER" --data-urlencode "client_id=$CLIENT_ID" \\
${ASSERTION} \\
  ${baseUrl}/BANK/token.oauth2/v1`,
    },
    "This token pays this one consent.",
  ];
}

function pay({ baseUrl }: GuideAddresses): Block[] {
  return [
    `Send the consent’s \`Initiation\` and \`Risk\` again, unchanged, with its id, within ${USE_WITHIN_SECONDS} seconds of the authorization. A consent yields one payment at most.`,
    {
      about: "Create the payment",
      code: `sed 's/{"Data":{/{"Data":{"ConsentId":"'$CONSENT_ID'",/' consent.json > payment.json
curl ${TLS} \\
  -H "Authorization: DPoP $PAYMENT_TOKEN" -H "DPoP: $PROOF" \\
  -H "x-idempotency-key: $KEY" -H "x-jws-signature: $SIGNATURE" \\
  -H 'content-type: application/json' --data-binary @payment.json \\
  ${baseUrl}/BANK/domestic-payments/v1`,
    },
    {
      about: "Read its status, with either token",
      code: `curl ${TLS} \\
  -H "Authorization: DPoP $TOKEN" -H "DPoP: $PROOF" \\
  ${baseUrl}/BANK/domestic-payments/v1/$PAYMENT_ID`,
    },
    {
      terms: [
        ["`Pending`", "The bank has not answered. Read again later; do not pay again."],
        ["`AcceptedSettlementInProcess`", "The bank took the order."],
        ["`AcceptedSettlementCompleted`", "The payer’s account is debited."],
        ["`AcceptedWithoutPosting`", "The payee’s bank has it and has not booked it."],
        ["`AcceptedCreditSettlementCompleted`", "The payee has the money."],
        [
          "`Rejected`",
          "The bank rejected, or the payment came back. The payer keeps the money. `Data.StatusReason` says why, if the bank gave a reason.",
        ],
      ],
    },
    "`StatusReason` is the bank’s own text of at most 256 characters. If it begins with four capital letters or digits and a colon, these four are an ISO 20022 status reason code, as in `AM04: Insufficient funds` or `AC04: Account closed`. Choose your message to the customer by the code. Escape the text before you show it.",
    "Verify `x-jws-signature` of every answer of a resource with the platform’s keys (`/jwks`). OAuth endpoints, registration and empty answers have none.",
  ];
}

function events({ baseUrl, authUrl }: GuideAddresses): Block[] {
  return [
    "You need not read each payment again and again. One poll returns what happened to all your consents and payments at the bank, and waits up to 15 seconds if nothing has. Its body is not signed.",
    {
      about: "Poll for events",
      code: `curl ${TLS} \\
  -H "Authorization: DPoP $TOKEN" -H "DPoP: $PROOF" \\
  -H 'content-type: application/json' --data-binary '{"ack": [], "maxEvents": 20}' \\
  ${baseUrl}/BANK/events/v1`,
    },
    `\`sets\` has each event by its \`jti\`, as a security event token. Verify it: \`typ\` is \`secevent+jwt\`, \`iss\` is \`${authUrl}/BANK\`, \`aud\` is your client id, and the key is in \`/jwks\`. Store it, then name its \`jti\` in \`ack\` of the next poll. Until then it is returned again, for 7 days by default, so ignore a \`jti\` that you have stored. Report one that you cannot use in \`setErrs\`, at most 90 in a poll.`,
    `In \`events\`, \`urn:uk:org:openbanking:events:resource-update\` names the resource. Beside it \`${authUrl}/events/\` and one of these names has the new \`status\`, and for a rejected payment the bank’s \`reason\`. Ignore names and members that you do not know:`,
    {
      terms: [
        ["`consent-authorised`", "The customer agreed."],
        [
          "`consent-rejected`",
          "The customer or the bank rejected it, or a restore of the platform voided it.",
        ],
        ["`consent-expired`", "It was not authorised, or not used, in time."],
        ["`consent-consumed`", "Its payment was made."],
        ["`payment-status-changed`", "The payment has a new status: its first one, or one of the bank."],
        [
          "`software-statement-expiring`",
          "Your software statement ends at `expires_at`, within `within_days` days: 30, 7 or 1. Renew it at the directory.",
        ],
        [
          "`key-expiring`, `certificate-expiring`",
          "So does your key or TLS certificate with this `kid`. Add a new one at the directory before that. The polls at every bank return it, until you acknowledge it at one.",
        ],
        [
          "`outage-announced`, `outage-changed`, `outage-withdrawn`",
          "The bank has a planned outage `from` … `until`. These have changed. It does not take place, or has ended.",
        ],
      ],
    },
    "The events of one consent or payment come in their order.",
  ];
}

function again(): Block[] {
  return [
    {
      list: [
        `No answer, or a 5xx: repeat the POST with the same \`x-idempotency-key\`, the same bytes and a fresh proof. It counts once for ${
          IDEMPOTENCY_SECONDS / 3600
        } hours and answers the resource’s current state.`,
        `401 with \`invalid_dpop_proof\`: every request needs a proof of its own, no older than ${DPOP_MAX_AGE_SECONDS} seconds by your clock and ours.`,
        "400: the body names each fault with its `Path`. Repeating the same bytes gives the same answer.",
        "“The bank is not active” (400 `invalid_request` at OAuth endpoints, 403 at resources): the directory has suspended or withdrawn the bank. You cannot start anything at this bank. With a token that you already have, you can still read consents and payments and confirm funds, and a repeated POST returns the resource that it created.",
        "401 `invalid_client` for everything: ask the directory whether you are Active and your keys are current. Its decisions take effect here within 15 seconds.",
        "429: wait as long as `Retry-After` says.",
        "Your customer needs a proof: `GET /BANK/domestic-payments/v1/$PAYMENT_ID/receipt` returns a signed receipt. Anyone can paste it at `/receipt` of the authorization host, which verifies and prints it.",
        "`GET /BANK/domestic-payments/v1?from=…&status=…` lists your payments and `GET /BANK/domestic-payment-consents/v1` your consents, oldest first, in pages that `after` continues.",
        "A bank is slow or fails: its availability and response times of the last 30 days are at `/service-levels` of the authorization host, and as JSON at `/service-levels.json`.",
        "Read what the platform did with a request: `GET /traces/v1/{x-fapi-interaction-id}`. Quote that id if you ask for help.",
      ],
    },
    "`deno task certify tpp` examines your TPP before it goes live: it plays a platform that alters signatures, loses answers, asks to wait, rotates its keys and sends customers back with a wrong `state` or `iss`. Your program says by its exit status how the payment ended: 0 paid, 3 rejected, 4 unknown, another one failed. A web shop says it on its last page, in `data-payment-outcome`.",
    { see: [["/docs/errors", "Every error"], ["/docs/reference", "API reference"]] },
  ];
}
