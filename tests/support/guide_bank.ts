/**
 * The bank of the guides: receives the customer, reports the accounts, returns the customer, receives orders, reports
 * status.
 */
import { assertEquals } from "@std/assert";
import * as jose from "jose";
import { fillForm, findForms } from "../../src/sandbox/customer/forms.ts";
import type { Departure } from "./guide_customer.ts";
import { armWithProof, armWithSignature, type Party, privateKeyOf } from "./guide_party.ts";
import { evaluate, request, run } from "./guide_snippets.ts";
import { type Guides, ownToken } from "./guide_environment.ts";
import {
  bodyOf,
  type ConsentDetails,
  type EventPage,
  type PayerAccounts,
  type PaymentOrders,
  type PlatformKeys,
  present,
} from "testing/answers.ts";

/** From the customer's arrival at the bank to the TPP's code, which is left in the TPP's shell. */
export async function attendCustomer(
  guides: Guides,
  { bank, tpp, departure }: { readonly bank: Party; readonly tpp: Party; readonly departure: Departure },
): Promise<void> {
  const handover = await openHandover(guides, bank, departure.oAuthUrl);
  assertEquals(handover["ref_id"], tpp.shell.env["CONSENT_ID"]);
  await readConsent(guides, bank, String(handover["ref_id"]));
  await putAccounts(guides, bank);
  const back = await returnAddress(guides, bank, handover);
  const screen = (await departure.browser.visit(new URL(back))).location;
  if (screen === undefined) throw new Error("the return leads nowhere");
  const visit = await departure.browser.visit(screen);
  const form = findForms(visit.page).find(({ id }) => id === "consent");
  if (form === undefined) throw new Error(visit.page);
  const body = fillForm(form, { account: "0" }, { name: "decision", value: "accept" });
  const { location } = await departure.browser.submit(new URL(form.action, visit.url), body, visit.url);
  const answer = location?.searchParams ?? new URLSearchParams();
  assertEquals([answer.get("iss"), answer.get("state")], [tpp.at.issuer, tpp.shell.env["STATE"]]);
  tpp.shell.env["CODE"] = answer.get("code") ?? "";
}

/** The claims of a JWT that a guide shows. */
interface ShownClaims {
  readonly iss: string;
  readonly aud: string;
}

/** Decrypted in the guide's order; it must have exactly the claims that the guide shows. */
async function openHandover({ pages }: Guides, bank: Party, sealed: string): Promise<jose.JWTPayload> {
  const key = await privateKeyOf(bank.shell.cwd, "encryption", "RSA-OAEP-256");
  const { plaintext, protectedHeader } = await jose.compactDecrypt(sealed, key);
  assertEquals([protectedHeader.cty, protectedHeader.zip], ["JWT", undefined]);
  const shown = JSON.parse(pages.bank.take("receive-the-customer", "Claims")) as ShownClaims & {
    iat: number;
    exp: number;
  };
  const platform = jose.createRemoteJWKSet(new URL(`${shown.iss}/jwks`));
  const { payload } = await jose.jwtVerify(plaintext, platform, {
    issuer: shown.iss,
    audience: shown.aud,
    algorithms: ["PS256"],
    typ: "JWT",
  });
  assertEquals(Object.keys(payload).toSorted(), Object.keys(shown).toSorted());
  assertEquals(Number(payload.exp) - Number(payload.iat), shown.exp - shown.iat);
  return payload;
}

async function readConsent(guides: Guides, bank: Party, consentId: string): Promise<void> {
  const { shell } = bank;
  Object.assign(shell.env, { CONSENT_ID: consentId, INTERACTION_ID: crypto.randomUUID(), IP: "192.0.2.1" });
  shell.env["TOKEN"] = await ownToken(guides, bank, "bank");
  await armWithProof(bank, "GET", `/BANKC/back-channel-auth/v1/${consentId}`, shell.env["TOKEN"]);
  const { Data } = await request<ConsentDetails>(
    shell,
    guides.pages.bank.take("read-the-consent", "Read the consent"),
    200,
  );
  assertEquals(Data.Initiation.InstructedAmount, { Amount: "12.50", Currency: "EUR" });
}

async function putAccounts({ pages }: Guides, bank: Party): Promise<void> {
  const { shell } = bank;
  const block = pages.bank.take("report-the-payers-accounts", "Put the accounts");
  await run(shell, block.split("\n")[0] ?? "");
  await armWithSignature(bank, "accounts.json", "b");
  const path = `/BANKC/back-channel-auth/v1/${shell.env["CONSENT_ID"]}`;
  await armWithProof(bank, "PUT", path, shell.env["TOKEN"] ?? "");
  const { Data } = await request<PayerAccounts>(shell, block, 200);
  assertEquals(Data.DebtorAccount.length, 1);
}

/** The guide's claims, signed and encrypted by the signatures guide's code, at the guide's address. */
async function returnAddress({ pages }: Guides, bank: Party, handover: jose.JWTPayload): Promise<string> {
  const shown = JSON.parse(pages.bank.take("return-the-customer", "Claims")) as ShownClaims;
  const fill = ([name, value]: [string, unknown]): [string, unknown] => {
    if (value === "<as received>") return [name, handover[name]];
    if (value === "<new>") return [name, crypto.randomUUID()];
    return [name, value];
  };
  const claims = Object.fromEntries(Object.entries(shown).map(fill));
  const { keys } = await bodyOf<PlatformKeys>(fetch(`${shown.aud}/jwks`));
  const jwk = present(keys.find(({ use }) => use === "enc"));
  const names = {
    jose,
    claims,
    x5t: bank.me.signing_kid,
    signingKey: bank.signingKey,
    platformEncKid: jwk.kid,
    platformEncKey: await jose.importJWK(jwk, "RSA-OAEP-256"),
  };
  const sealed = await evaluate(bank.signs.take("handover-jwt", "With the jose library"), names, "sealed");
  await deliverResult({ pages }, bank, sealed, String(handover["correlation_id"]));
  return pages.bank.take("return-the-customer", "Return address").replace("<JWE>", sealed);
}

/** The customer is led by the return, which has the same result. Here no browser began, so the page rejects. */
async function deliverResult(
  { pages }: Pick<Guides, "pages">,
  bank: Party,
  sealed: string,
  correlationId: string,
): Promise<void> {
  const { shell } = bank;
  const section = "a-customer-who-confirms-elsewhere";
  await Deno.writeTextFile(`${shell.cwd}/result.jwe`, sealed);
  await armWithProof(bank, "POST", "/BANKC/authorization-results/v1", shell.env["TOKEN"] ?? "");
  const { Data } = await request<{ Data: { CorrelationId: string } }>(
    shell,
    pages.bank.take(section, "Deliver the result"),
    200,
  );
  assertEquals(Data.CorrelationId, correlationId);
  const address = pages.bank.take(section, "Waiting page").replace("<correlation_id>", correlationId);
  const elsewhere = await fetch(address);
  assertEquals([elsewhere.status, (await elsewhere.text()).includes("other_browser")], [400, true]);
}

/** A bank's address for pushed orders that responds as the guide says. */
export interface OrderTaker extends AsyncDisposable {
  /** Payment ids, in the order of their pushes. */
  readonly taken: readonly string[];
}

/** Listens at the bank's `payment_orders_uri`. */
export function takesOrders({ pages }: Guides, bank: Party): OrderTaker {
  const taken: string[] = [];
  const answer = pages.bank.take("pushed", "Answer to a push");
  const port = Number(new URL(bank.me.redirect_uris[0] ?? "").port);
  const server = Deno.serve({ port, hostname: "127.0.0.1", onListen: () => {} }, async (pushed) => {
    const { Data } = jose.decodeJwt<{ Data: { DomesticPaymentId: string } }>(await pushed.text());
    taken.push(Data.DomesticPaymentId);
    return new Response(answer, { headers: { "content-type": "application/json" } });
  });
  return { taken, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** The order must be in the list; then its final status is reported, and no event waits. */
export async function pullAndReport({ pages }: Guides, bank: Party, paymentId: string): Promise<void> {
  const { shell } = bank;
  const path = "/BANKC/back-channel-payments/v1";
  await armWithProof(bank, "GET", path, shell.env["TOKEN"] ?? "");
  const { Data } = await request<PaymentOrders>(shell, pages.bank.take("pulled", "Pull"), 200);
  assertEquals(JSON.stringify(Data).includes(paymentId), true);
  shell.env["PAYMENT_ID"] = paymentId;
  const block = pages.bank.take("report-how-an-order-ends", "Report a status");
  await run(shell, block.split("\n")[0] ?? "");
  await armWithSignature(bank, "status.json", "a");
  await armWithProof(bank, "PUT", `${path}/${paymentId}`, shell.env["TOKEN"] ?? "");
  await request(shell, block, 200);
  await armWithProof(bank, "POST", "/BANKC/back-channel-events/v1", shell.env["TOKEN"] ?? "");
  const { sets } = await request<EventPage>(shell, pages.bank.take("events", "Poll for events"), 200);
  assertEquals(sets, {});
}
