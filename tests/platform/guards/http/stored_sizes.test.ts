/** Every accepted input can be stored and served: the largest inputs, in every script, on a real Deno KV. */
import { serialize } from "node:v8";
import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "testing/jwts.ts";
import { firstOf, type PayerAccounts, type PaymentOrder, present, type Statement } from "testing/answers.ts";
import { bankCall, orderPath, putStatus } from "testing/back_channel.ts";
import { sealedReturn, signedReturn } from "testing/bank_return.ts";
import { consentBody, dpopKey, good, pay, type SentConsent } from "testing/flows.ts";
import { type AtBank, codeOf, decide, putAccounts, redeem, toBank } from "testing/authorization_flow.ts";
import { readForm, tppAnswer } from "testing/front_channel.ts";
import { adminCall, onboardOnly, register } from "testing/participants.ts";
import { type Environment, SHOP_REDIRECTS } from "testing/environment.ts";
import { test } from "support/environment_test.ts";

const MAX_BODY_BYTES = 65_536;

type Fill = (length: number) => string;

/** One character of each width that UTF-8 and a database's strings can have, and a mixture. */
const SCRIPTS: Readonly<Record<string, Fill>> = {
  "ASCII": (length) => "a".repeat(length),
  "Latin-1": (length) => "é".repeat(length),
  "one character beyond Latin-1": (length) => "a".repeat(length - 1) + "ł",
  "Chinese": (length) => "漢".repeat(length),
  "beyond the basic plane": (length) => "𠮷".repeat(length),
};
const ACCOUNT = { SchemeName: "UK.OBIE.Wallet", Identification: "w".repeat(256) };
const STATE = "~".repeat(2048);

for (const [script, fill] of Object.entries(SCRIPTS)) {
  test(`the largest payment comes through with 100 payer accounts and the longest fields (${script}) [C11]`, async ({ env }) => {
    const body = largestConsent(fill);
    const flow = await toBank(env, { body, form: { state: STATE } });
    const accounts = largestAccounts(100, fill);
    assert(sizeOf(accounts) > 0.98 * MAX_BODY_BYTES || firstOf(accounts).Identification.length >= 256);
    const answer = await good(putAccounts(env, flow.bank, flow.consentId, accounts), 200);
    assertEquals(answer.Data.DebtorAccount, accounts);
    await assertStoredIn(env, present(accounts[1]).Identification, ["evidence"]);
    const screen = (await flow.browser.open(await largestReturn(env, flow))).headers.get("location") ?? "";
    const html = await (await flow.browser.open(screen)).text();
    assertEquals(readForm(html).accounts, accounts.map((_, index) => String(index)));
    const order = await payFrom(env, flow, await decide(flow.browser, screen, "accept", "99"), body);
    assertEquals(order.DebtorAccount, identified(accounts[99]));
    assertEquals(order.Initiation.CreditorAccount.Name, fill(350));
    await good(putStatus(env, flow.bank, order.DomesticPaymentId, largestReport(env, fill)), 200);
    await assertStoredIn(env, present(accounts[1]).Identification, []);
  });

  test(`the largest implicit payment comes through (${script}) [CT5]`, async ({ env }) => {
    const DebtorAccount = { ...ACCOUNT, SecondaryIdentification: fill(34), Name: fill(350) };
    const body = largestConsent(fill, { DebtorAccount });
    const flow = await toBank(env, { body, form: { state: STATE } });
    const redirect = await flow.browser.open(await largestReturn(env, flow));
    assertEquals((await payFrom(env, flow, redirect, body)).DebtorAccount, DebtorAccount);
  });

  test(`the largest participant is onboarded and registered (${script}) [B6]`, async ({ env }) => {
    const name = fill(124).slice(0, 124); // code units; the software's name is four longer
    const redirects = (length: number): string[] =>
      ["1", "2", "3", "4"].map((n) => `https://shop.example/${n.padStart(length, "x")}`);
    const shop = await onboardOnly(env, { name, role: "PISP", keys: [10, 11], redirectUris: redirects(1) });
    const room = (8192 - shop.statement.length) * 3 / 4; // bytes of claims
    const redirect_uris = redirects(Math.min(2000, Math.floor(room / 4) - 4));
    const renewed = adminCall(env, "POST", `/participants/${shop.orgId}/statement`, { redirect_uris });
    const { software_statement } = await good<Statement>(renewed, 200);
    assert(software_statement.length > 8100, "a statement near its limit");
    const participant = { ...shop, redirectUris: redirect_uris, statement: software_statement };
    assertEquals((await good(register(env, participant), 201)).redirect_uris, redirect_uris);
  });
}

/**
 * An account that was not chosen is in the evidence of the bank's report alone, until the decision. No value is near the
 * store's limit.
 */
async function assertStoredIn(
  env: Environment,
  identification: string,
  records: readonly string[],
): Promise<void> {
  const holders: string[] = [];
  for (const { key, value } of await env.snapshot()) {
    const bytes = serialize(value);
    assert(bytes.length < 64_000, `${key.join(" ")} has ${bytes.length} bytes`);
    if (bytes.includes(identification) || bodyOf(value).includes(identification)) holders.push(key[0] ?? "");
  }
  assertEquals(holders, records);
}

/** The signed body in a piece of evidence, as text. */
function bodyOf(value: unknown): string {
  const { bytes = "", text } = value as { readonly bytes?: string; readonly text?: string };
  return text ?? new TextDecoder().decode(Uint8Array.fromBase64(bytes, { alphabet: "base64url" }));
}

/** The bank's view of the order for the payment that a redirect with a code leads to. */
async function payFrom(
  env: Environment,
  flow: AtBank,
  redirect: Response,
  body: SentConsent,
): Promise<PaymentOrder["Data"]> {
  const code = codeOf(redirect);
  const { parameters } = await tppAnswer(redirect, SHOP_REDIRECTS[0]);
  assert(["af0ifjsldkj", STATE].includes(parameters["state"] ?? ""));
  const bank = flow.bank.orgId;
  const { access_token } = await good(redeem(env, { consentId: flow.consentId, code }, { bank }), 200);
  const payment = { token: access_token, key: await dpopKey() };
  const idempotencyKey = "k".repeat(40);
  const { Data } = await good(pay(env, { ...flow, payment, body }, { idempotencyKey }), 201);
  return (await good<PaymentOrder>(bankCall(env, flow.bank, orderPath(Data.DomesticPaymentId, bank)), 200))
    .Data;
}

/** A consent request with every member at its longest. */
function largestConsent(fill: Fill, initiation: JsonObject = {}): SentConsent {
  const place = {
    StreetName: fill(70),
    BuildingNumber: fill(16),
    PostCode: fill(16),
    CountrySubDivision: fill(35),
    TownName: fill(35),
    Country: "GB",
  };
  return consentBody({
    initiation: {
      InstructionIdentification: fill(35),
      EndToEndIdentification: fill(35),
      CreditorAccount: {
        ...ACCOUNT,
        Identification: "c".repeat(256),
        SecondaryIdentification: fill(34),
        Name: fill(350),
      },
      CreditorPostalAddress: {
        AddressType: "Correspondence",
        Department: fill(70),
        SubDepartment: fill(70),
        AddressLine: Array.from({ length: 7 }, () => fill(70)),
        ...place,
      },
      RemittanceInformation: { Unstructured: fill(140), Reference: fill(35) },
      SupplementaryData: { DebtorMobileNumber: "+447700900123" },
      ...initiation,
    },
    data: {
      ReadRefundAccount: "Yes",
      Authorisation: { AuthorisationType: "Single" },
      SCASupportData: { ReferencePaymentOrderId: fill(40), AppliedAuthenticationApproach: "SCA" },
    },
    risk: {
      PaymentContextCode: "BillingGoodsAndServicesInAdvance",
      MerchantCategoryCode: "5732",
      MerchantCustomerIdentification: fill(70),
      DeliveryAddress: { AddressLine: [fill(70), fill(70)], ...place },
    },
  });
}

type SentAccount = PayerAccounts["Data"]["DebtorAccount"][number];

/** Accounts that differ, as long as the body's limit lets them be. */
function largestAccounts(count: number, fill: Fill): SentAccount[] {
  const account = (index: number, length: number): SentAccount => ({
    SchemeName: "UK.OBIE.Wallet",
    Identification: String(index).padStart(length, "w"),
    SecondaryIdentification: fill(34),
    Balance: "9999999999999.99999",
    Currency: "EUR",
  });
  const list = (length: number): SentAccount[] =>
    Array.from({ length: count }, (_, index) => account(index, length));
  const envelope = 300;
  const room = Math.floor((MAX_BODY_BYTES - envelope - sizeOf(list(4))) / count);
  return list(Math.min(256, room + 4));
}

/** The bank's answer with the longest claims. */
async function largestReturn(env: Environment, flow: AtBank): Promise<string> {
  const claims = { jti: "j".repeat(256), status: "漢".repeat(500) };
  return await sealedReturn(env, flow.bank.orgId, await signedReturn(env, flow, { claims }));
}

function largestReport(env: Environment, fill: Fill): JsonObject {
  const charge = {
    ChargeBearer: "FollowingServiceLevel",
    Type: fill(40),
    Amount: { Amount: "9999999999999.99999", Currency: "EUR" },
  };
  return {
    Status: "AcceptedSettlementCompleted",
    StatusUpdateDateTime: new Date(env.now).toISOString(),
    StatusReason: fill(256),
    Charges: Array.from({ length: 20 }, () => charge),
  };
}

function identified(account: SentAccount | undefined): JsonObject {
  const { SchemeName, Identification, SecondaryIdentification } = present(account);
  return { SchemeName, Identification, SecondaryIdentification };
}

function sizeOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}
