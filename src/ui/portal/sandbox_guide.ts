/** The guide to the sandbox: what runs where, who banks there, how to make it go wrong. */
import type { Block, Guide } from "./guide.ts";

/** The guide; addresses are those of a sandbox as it starts by itself. */
export function sandboxGuide(): Guide {
  return {
    title: "Sandbox",
    lead:
      "The whole ecosystem on one computer: platform, directory, two banks and a shop. No real money, no network.",
    sections: [
      { id: "start", title: "Start it", blocks: starting() },
      { id: "ports", title: "What is where", blocks: places() },
      { id: "customers", title: "Banks and customers", blocks: customers() },
      { id: "faults", title: "Make it go wrong", blocks: faults() },
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

function places(): Block[] {
  return [{
    terms: [
      ["`https://localhost:8440`", "API. Wants a client certificate in the TLS handshake."],
      ["`http://localhost:8441`", "Customers’ browsers, metadata, keys, this documentation."],
      ["`http://localhost:8442`", "Participants directory."],
      ["`http://localhost:8443`", "Both banks: what they know, and their customers."],
      ["`http://localhost:8444`", "Demo shop, a TPP."],
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

function faults(): Block[] {
  return [
    "Each bank goes wrong when it is told to: rejects an order, answers late, twice or not at all, returns a customer with a JWT that must not be believed. It meets a fault by the amount of the payment, 666.01 and on, or because it was armed for the next one. Each bank’s page lists its faults.",
    { about: "What there is", code: "curl http://localhost:8443/BANKA/faults" },
    {
      about: "Arm one",
      code: `curl -H 'content-type: application/json' \\
  -d '{"fault":"lose_answer","times":1}' http://localhost:8443/BANKA/faults`,
    },
    { about: "Disarm all", code: "curl -X DELETE http://localhost:8443/BANKA/faults" },
  ];
}

function yours(): Block[] {
  return [
    "Onboard a TPP or a bank of your own at the sandbox’s directory; the shop’s order pages show every message of a payment, decoded.",
    {
      about: "A TPP of your own, paying",
      code: `npx -y deno@2.9.6 task participant onboard --example PISP > details.json
npx -y deno@2.9.6 task participant onboard --name mine --details details.json
npx -y deno@2.9.6 run --allow-net --allow-read --allow-env scripts/first_payment.ts .data/sandbox/participants/mine BANKA`,
    },
    { see: [["/docs/tpp", "Guide for TPPs"], ["/docs/bank", "Guide for banks"]] },
  ];
}
