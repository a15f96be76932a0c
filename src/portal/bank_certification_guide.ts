/** The part of the guide for banks about their certification: the command, and the hook that the bank serves for it. */
import type { Block, GuideAddresses } from "./guide.ts";

export function bankCertification(at: GuideAddresses): Block[] {
  return [...command(), ...hook(at)];
}

function command(): Block[] {
  return [
    "A certification plays TPP, customer and platform against your bank: good journeys, wrong handover JWTs and orders, messages that are lost, late or repeated, customers who refuse or are late, and a change of the platform’s keys. It runs on your computer, in an ecosystem of its own.",
    {
      about: "Certify your bank",
      code:
        "npx -y deno@2.9.6 task certify bank --details bank.json --start 'your command'\nnpx -y deno@2.9.6 task certify bank --help",
    },
    "`bank.json` is the file of your onboarding. Your command gets the folder with your keys in `PARTICIPANT`, the folder with `endpoints.json` and `ca.pem` in `SANDBOX_DIR`, and the address of your hook in `CERTIFICATION_HOOK`.",
  ];
}

function hook({ authUrl }: GuideAddresses): Block[] {
  return [
    "The hook decides in the customer’s place. Serve it only in an environment for certification, never in production. `GET` answers the accounts of one customer, at least two in EUR, the first with at least EUR 500, the second with at least EUR 5. `Balance` is the balance after all orders that you have accepted:",
    {
      about: "Accounts of the customer",
      code:
        '{"accounts":[{"SchemeName":"UK.OBIE.IBAN","Identification":"GB33BUKB20201555555555","Currency":"EUR","Balance":"1500.00"}]}',
    },
    "`POST` to `/decisions` below it decides on the newest open visit of a consent. Answer 200 with the address to which your page redirects the browser, or 404 if no visit is open:",
    {
      about: "A decision",
      code: '{"consent_id":"…","decision":"approve","account":"GB33BUKB20201555555555"}',
    },
    {
      about: "Answer to a decision",
      code: `{"location":"${authUrl}/BANK/authorization.sca.oauth2?oAuthUrl=<JWE>"}`,
    },
    {
      terms: [
        [
          "`approve`",
          "Sign in and confirm, on your own consent screen with `account`, or with the first one.",
        ],
        ["`refuse`", "Reject."],
        ["`timeout`", "Let the visit expire, then click. The customer goes back with `failure`."],
      ],
    },
    {
      list: [
        "A handover JWT that you reject is answered with a page and a status from 400 to 499, and opens no visit.",
        "A customer always gets back: after a refusal, a timeout, a consent that you cannot read, and accounts that you cannot report.",
        "Report on each order that you accept within 30 seconds, and again if the platform does not answer.",
      ],
    },
    "Each case of the report has its requirement and what was seen. The report is a page, JSON and a signed JWT, which the directory can keep.",
  ];
}
