/** The guide to the sandbox: what runs where, who banks there, how to make it go wrong. */
import type { Block, Guide, GuideAddresses } from "./guide.ts";
import { type SandboxAddresses, sandboxAddresses } from "./sandbox_addresses.ts";

/** The guide. Addresses are those of this sandbox, or of one on the default ports if the platform is not in a sandbox. */
export function sandboxGuide(platform: GuideAddresses): Guide {
  const at = sandboxAddresses(platform);
  return {
    title: "Sandbox",
    lead:
      "The whole ecosystem on one computer: platform, directory, two banks and a shop. No real money, no network.",
    sections: [
      { id: "start", title: "Start it", blocks: starting() },
      { id: "ports", title: "What is where", blocks: places(at) },
      { id: "customers", title: "Banks and customers", blocks: customers() },
      { id: "headless", title: "Authorize without a browser", blocks: headless(at) },
      { id: "faults", title: "Make it go wrong", blocks: faults(at) },
      { id: "clock", title: "Move its time", blocks: clock(at) },
      { id: "yours", title: "Bring your own", blocks: yours() },
    ],
  };
}

function starting(): Block[] {
  return [
    { about: "Start", code: "npx -y deno@2.9.6 task start" },
    {
      about: "One payment, step by step, in another terminal",
      code:
        "npx -y deno@2.9.6 task demo --consent implicit   # or platform, bank; --json; --refuse (exit status 3)",
    },
    "`SANDBOX_PORT` moves all ports, `SANDBOX_DIR` the files. What was paid is still there at the next start.",
  ];
}

function places(at: SandboxAddresses): Block[] {
  return [{
    terms: [
      [`\`${at.api}\``, "API. Requires a client certificate in the TLS handshake."],
      [`\`${at.auth}\``, "Customers’ browsers, metadata, keys, this documentation."],
      [
        `\`${at.directory}\``,
        "Participants directory. `/openapi.json` describes its endpoints (OpenAPI 3.1).",
      ],
      [`\`${at.banks}\``, "Both banks: their records and their customers."],
      [`\`${at.shop}\``, "Demo shop, a TPP."],
      [
        "`.data/sandbox/`",
        "`endpoints.json`, `ca.pem`, and keys and certificates of every participant.",
      ],
    ],
  }];
}

function customers(): Block[] {
  return [
    {
      terms: [
        ["`BANKA`", "Leaves the consent screen to the platform."],
        ["`BANKB`", "Shows its own consent screen."],
        ["`alice`", "EUR 100,000.00, EUR 5.00 and GBP 25,000.00 at each bank when it starts."],
        ["`bob`", "EUR 2,500.00 at each bank when it starts."],
        ["Password", "`sandbox`"],
        ["One-time code", "`123456`"],
      ],
    },
    "Accounts to pay from at once: `GB33BUKB20201555555555` at BANKA, `DE89370400440532013000` at BANKB.",
  ];
}

function headless(at: SandboxAddresses): Block[] {
  return [
    "Tests of a TPP need no browser: one call lets a customer open your link, go through the pages, and come back. `outcome` is `approve`, `refuse`, `late` (moves the sandbox’s clock 900 s ahead) or `fail`. Handle the answer’s `redirect_url` as your redirect URL would.",
    {
      about: "After your pushed authorization request",
      code: `curl -H 'content-type: application/json' \\
  -d '{"bank":"BANKA","client_id":"SC-…","request_uri":"urn:ietf:params:oauth:request_uri:…","outcome":"approve"}' \\
  ${at.banks}/authorizations`,
    },
    "Only the sandbox has this endpoint. `examples/first_payment.ts` takes the outcome as its third argument.",
  ];
}

function faults(at: SandboxAddresses): Block[] {
  return [
    "Each bank can fail on request: it rejects an order, answers late, twice or not at all, or returns a customer too late or with a JWT that the platform must reject. Select a fault by the amount of the payment (666.01 and higher), or arm it for the next payment. Each bank’s page lists its faults.",
    { about: "What there is", code: `curl ${at.banks}/BANKA/faults` },
    {
      about: "Arm one",
      code: `curl -H 'content-type: application/json' \\
  -d '{"fault":"lose_answer","times":1}' ${at.banks}/BANKA/faults`,
    },
    { about: "Disarm all", code: `curl -X DELETE ${at.banks}/BANKA/faults` },
  ];
}

function clock({ directory }: SandboxAddresses): Block[] {
  const authorized = `-H @.data/sandbox/admin.header ${directory}/sandbox/clock`;
  return [
    "You can move the time of all parts of the sandbox ahead, to see what expires. JWTs are checked against the sandbox’s time, so read it from there, as `examples/first_payment.ts` does.",
    {
      about: "Move it ahead by an hour",
      code: `curl -X POST -H 'content-type: application/json' -d '{"advance_seconds": 3600}' \\
  ${authorized}`,
    },
    { about: "What time it is", code: `curl ${directory}/sandbox/clock` },
    { about: "Set it back to this computer’s time", code: `curl -X DELETE ${authorized}` },
    "Records that were made while the clock was ahead keep their later dates. Consents live until these dates, tokens have expired, orders are tried again within minutes, and software statements are rejected until then.",
  ];
}

function yours(): Block[] {
  return [
    "Onboard a TPP or a bank of your own at the sandbox’s directory; the shop’s order pages show every message of a payment, decoded.",
    {
      about: "A TPP of your own, paying",
      code: `npx -y deno@2.9.6 task participant onboard --example PISP > .data/details.json
npx -y deno@2.9.6 task participant onboard --name mine --details .data/details.json
npx -y deno@2.9.6 run --allow-net --allow-read --allow-env examples/first_payment.ts .data/sandbox/participants/mine BANKA`,
    },
    "The same payment in other languages, each in one file. They also fetch the payment’s events. Start them with the participant’s folder and the bank’s code, as above.",
    {
      terms: [
        ["bash, with curl, openssl and jq", "`bash examples/first_payment.sh`"],
        ["Go", "`go run examples/first_payment.go`"],
        ["Java 17, with the JDK alone", "`java examples/FirstPayment.java`"],
        ["Python, with jwcrypto and requests", "`python3 examples/first_payment.py`"],
        ["Bruno, request by request", "open `examples/bruno`; `signing.js` signs each request"],
        [
          "Postman, request by request",
          "`npx -y deno@2.9.6 task collections --postman FILE` writes the collection, `node examples/postman/signer.js` signs each request",
        ],
      ],
    },
    { see: [["/docs/tpp", "Guide for TPPs"], ["/docs/bank", "Guide for banks"]] },
  ];
}
