/** What developers ask is found. */
import { assert, assertEquals } from "@std/assert";
import { openSearch } from "../../src/portal/search.ts";
import { AUTH_URL, openEnvironment } from "testing/environment.ts";

/** What developers ask in the public trackers of open banking hubs, and where the answer is. */
const QUESTIONS: Readonly<Record<string, string>> = {
  "why was my assertion rejected": "/docs/signatures#client-assertion|client-",
  "invalid_client": "client-|/docs/tpp#errors",
  "status list": "directory|certificate|/docs/clocks|/docs/tpp#limits",
  "how to rotate keys": "/docs/tpp#when-something-of-yours-changes",
  "renew certificate": "/docs/tpp#when-something-of-yours-changes",
  "webhook": "/docs/tpp#pushed-events-webhooks",
  "webhooks retry": "/docs/tpp#pushed-events-webhooks",
  "subscribe to notifications": "/docs/tpp#pushed-events-webhooks",
  "refund account": "/docs/tpp#create-a-consent|/docs/decisions/c-consents-and-payments#c9",
  "DPoP nonce": "/docs/signatures#dpop-proof",
  "htu mismatch": "/docs/signatures#dpop-proof|dpop-",
  "idempotency key": "/docs/tpp#lost-responses|idempotency",
  "idempotency key reused with different body": "idempotency|/docs/tpp#lost-responses",
  "invalid_dpop_proof": "dpop-|/docs/tpp#errors",
  "certificate bound token": "certificate|token|/docs/tpp#get-a-token-of-your-own",
  "mtls handshake failed":
    "/docs/tpp#if-the-tls-handshake-fails|/docs/tpp#get-a-token-of-your-own|certificate-missing",
  "request_uri expired": "/docs/tpp#push-the-authorization-request|/docs/tpp#send-the-customer|request-uri",
  "pkce code_verifier": "pkce|code|/docs/tpp#exchange-the-code|oauth-",
  "x-jws-signature invalid": "signature",
  "b64 false crit": "/docs/signatures#x-jws-signature-profile-a",
  "detached jws signature": "/docs/signatures#x-jws-signature-profile-a",
  "tan claim": "/docs/signatures#x-jws-signature-profile-a|signature",
  "software statement expired": "/docs/tpp#when-something-of-yours-changes|statement|/docs/tpp#events",
  "change redirect uri": "/docs/tpp#when-something-of-yours-changes|redirect",
  "dynamic client registration": "/docs/tpp#register-your-software|registration",
  "consent expired": "consent|/docs/tpp#limits|/docs/tpp#events",
  "consent status AwaitingAuthorisation": "consent",
  "payment status pending how long": "/docs/tpp#payment-statuses",
  "what does AcceptedSettlementInProcess mean": "/docs/tpp#payment-statuses",
  "rate limit 429": "/docs/tpp#limits|/docs/tpp#errors|/docs/tpp#lists|limit",
  "Retry-After": "/docs/tpp#errors|/docs/tpp#lists|retry|busy|unavailable|limit",
  "timeout on payment POST": "/docs/tpp#lost-responses",
  "access token lifetime": "/docs/tpp#limits|/docs/tpp#get-a-token-of-your-own|token",
  "insufficient funds": "/docs/tpp#send-the-customer|/docs/bank#return-the-customer|funds",
  "funds confirmation": "funds",
  "test user credentials sandbox": "/docs/sandbox#banks-and-customers|/docs/sandbox",
  "simulate failed payment": "/docs/sandbox#make-it-go-wrong",
  "postman collection": "/docs/tpp#requests-in-postman|/docs/sandbox#bring-your-own",
  "client library sdk": "/docs/client|/docs/tpp#client-library",
  "certificaton of a bank": "/docs/bank#certification", // mistyped
  "idempotancy": "idempotency|/docs/tpp#lost-responses", // mistyped
  "push payment orders to the bank": "/docs/bank#take-payment-orders|/docs/bank#pushed",
  "order inquiry after restore": "/docs/bank#after-a-restore-of-the-platform",
  "oAuthUrl decrypt": "/docs/bank#receive-the-customer|handover",
  "receipt for customer": "receipt|/docs/tpp#payment-statuses",
  "x-fapi-interaction-id trace": "trace|/docs/tpp#errors",
  // What a new developer asks first, with the portal's address alone.
  "getting started": "/docs/client",
  "quickstart": "/docs/client",
  "npm install": "/docs/client#a-payment",
  "self signed certificate in certificate chain": "/docs/tpp#if-the-tls-handshake-fails",
  "ECONNRESET socket hang up": "/docs/tpp#if-the-tls-handshake-fails",
  "which scopes are there": "/docs/tpp#get-a-token-of-your-own",
  "refresh token": "/docs/tpp#get-a-token-of-your-own",
  "recurring payments": "/docs/tpp#what-is-supported",
  "cancel a payment": "/docs/tpp#what-is-supported",
  "refund a payment": "/docs/tpp#what-is-supported|/docs/tpp#create-a-consent",
  "which currencies are supported": "/docs/tpp#what-is-supported|/docs/contract/consents#rules",
  "jwks url": "/docs#addresses",
  "swagger": "/docs#addresses",
  "list of banks": "/docs#addresses",
  "go live production": "/docs/tpp#go-live",
  "iat in the future": "/docs/signatures#client-assertion",
  "ip whitelist": "/docs/bank#pushed",
  "order already executed": "/docs/bank#take-payment-orders",
  "mobile app": "/docs/bank#a-customer-who-confirms-elsewhere",
  "generate csr": "/docs/tpp#become-a-participant",
  "UK.OBIE.Field.Invalid": "/docs/errors#resource-invalid-fields",
  "iframe popup": "/docs/tpp#send-the-customer",
  "python example": "/docs/sandbox#bring-your-own|/docs/tpp#client-library",
  "versioning": "/docs/contract/errors#versions",
  "sign up for an account": "/docs/tpp#become-a-participant",
  "api key": "/docs/tpp#become-a-participant",
  "amount decimals": "/docs/contract/consents#rules|/docs/tpp#what-is-supported",
  "maximum amount": "/docs/tpp#what-is-supported",
  "webview": "/docs/tpp#send-the-customer",
  "customer closed the browser": "/docs/tpp#send-the-customer",
  "reuse dpop key": "/docs/tpp#get-a-token-of-your-own|dpop-key-mismatch",
  "firewall": "/docs/bank#pushed|/docs/tpp#pushed-events-webhooks",
  "test a rejected payment": "/docs/sandbox#make-it-go-wrong",
  "payer iban": "/docs/tpp#create-a-consent",
  "reference length allowed characters": "/docs/tpp#what-is-supported|/docs/contract/consents#rules",
  "retry payment after failure": "/docs/tpp#payment-statuses|/docs/tpp#pay-and-read-the-status",
  "is the bank down": "/docs/tpp#which-banks-to-offer",
  "how many requests per second": "/docs/tpp#limits",
  "customer says the money never arrived": "/docs/tpp#dispute-a-payment",
  "how to change my redirect uri": "/docs/tpp#when-something-of-yours-changes",
  "what happens if my server crashes after POST payment": "/docs/tpp#lost-responses",
  "which banks are available right now": "/docs/tpp#errors|bank|/docs/contract/reports#rules-1",
  "how to simulate insufficient funds": "/docs/sandbox#make-it-go-wrong",
  "what is the token endpoint url": "/docs/tpp#get-a-token-of-your-own|/docs#addresses",
  "where is the openapi file": "/docs#addresses|/docs/tpp#client-library",
  "prove a payment to a court": "/docs/tpp#the-evidence-of-a-payment",
  "what does CONSENT_NOT_USED mean": "/docs/reasons#the-platforms-own-codes",
  "test credentials": "/docs/sandbox#banks-and-customers",
  "compute ath": "/docs/signatures#dpop-proof",
  "chargeback": "/docs/tpp#dispute-a-payment",
  "open a dispute": "/docs/tpp#dispute-a-payment",
  "evidence for a court":
    "/docs/tpp#the-evidence-of-a-payment|/docs/operations/disputes|/docs/operations/incidents",
};

Deno.test("what developers ask is found in the first three results [W4]", async () => {
  await using env = await openEnvironment();
  const places = async (question: string): Promise<string[]> => {
    const html = await (await env.browser(new Request(`${AUTH_URL}/docs?q=${encodeURIComponent(question)}`)))
      .text();
    return [...html.matchAll(/<h2><a href="([^"]+)">/g)].map(([, href = ""]) => href);
  };
  const missed = [];
  for (const [question, expected] of Object.entries(QUESTIONS)) {
    const first = (await places(question)).slice(0, 3);
    const isFound = first.some((href) =>
      expected.split("|").some((part) => part.startsWith("/") ? href === part : href.includes(part))
    );
    if (!isFound) missed.push(`${question}: ${first.join(", ")}`);
  }
  assert(Object.keys(QUESTIONS).length >= 40);
  assertEquals(missed, []);
  assertEquals(await places("xyzzy plugh"), []);
  assertEquals(await places("   "), []);
  assertEquals(await places("what is the"), []);
  assert((await places("constructor consent")).length > 0, "a name of every object fails");
  assert((await places("a payment")).length <= 20);
});

Deno.test("search shows where the first word is, in whole words", async () => {
  const excerpt = async (text: string): Promise<string | undefined> => {
    const search = await openSearch([() => [{ href: "/x", title: "X", where: "Y", text, weight: 1 }]]);
    const [found, ...more] = search("needle");
    assertEquals(more, []);
    return found?.excerpt;
  };
  assertEquals(
    await excerpt(`${"before ".repeat(30)}needle ${"behind ".repeat(60)}`),
    `… ${"before ".repeat(8)}needle ${"behind ".repeat(19)}…`,
  );
  assertEquals(await excerpt("a needle here"), "a needle here");
  const search = await openSearch([() => [{
    href: "/x",
    title: "X",
    where: "Y",
    text: `A browser opens. ${"between ".repeat(40)}Never in a WebView.`,
    weight: 1,
  }]]);
  assert(search("webview")[0]?.excerpt.endsWith("Never in a WebView."), "the word of the reader comes first");
});
