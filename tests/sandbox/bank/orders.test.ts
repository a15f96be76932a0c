/** Payment orders that the platform pushes: executed once, rejected when not authentic, and settled afterwards. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromPain001 } from "../../../src/client/iso20022.ts";
import {
  ALICE_EUR_AT_BANKA,
  ALICE_GBP_AT_BANKA,
  ALICE_SAVINGS_AT_BANKA,
  CAROL_AT_BANKA,
} from "../../../src/sandbox/bank/customers.ts";
import { BANKS_URL } from "support/bank_browser.ts";
import {
  type BanksEnvironment,
  bookOf,
  openBanksEnvironment,
  paidAt,
  runTimers,
} from "support/banks_environment.ts";
import { consentFrom, platformSigner, signOrder } from "support/bank_visits.ts";
import { steps } from "support/steps.ts";
import { bodyOf } from "testing/answers.ts";
import { testKey } from "testing/keys.ts";

const PAYMENT_ID = "0d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00";
const ACCEPTED = [200, { Status: "AcceptedSettlementInProcess" }];

function order(debtor?: string, id = PAYMENT_ID, amount = "1210.00"): { readonly Data: object } {
  const Initiation = {
    ...consentFrom(debtor).Data.Initiation,
    InstructedAmount: { Amount: amount, Currency: "EUR" },
  };
  return { Data: { DomesticPaymentId: id, ConsentId: crypto.randomUUID(), Initiation } };
}

async function push(
  env: BanksEnvironment,
  body: string,
  type = "application/jose",
): Promise<[number, unknown]> {
  const init = { method: "POST", body, headers: { "content-type": type } };
  const response = await env.banks.fetch(new Request(`${BANKS_URL}/BANKA/payment-orders`, init));
  return [response.status, await response.json()];
}

async function statuses(env: BanksEnvironment): Promise<readonly string[]> {
  const { orders } = await bookOf(env);
  return orders.map(({ Status, StatusReason }) => [Status, StatusReason].filter(Boolean).join(": "));
}

/** The bodies of the reports that the bank has sent, with their paths. */
function reports(env: BanksEnvironment): Promise<(readonly [path: string, body: unknown])[]> {
  const sent = env.bankRequests.filter(({ method }) => method === "PUT");
  return Promise.all(
    sent.map(async (request) => [new URL(request.url).pathname, await request.clone().json()] as const),
  );
}

Deno.test("POST payment-orders debits once, however often the order is delivered", async () => {
  await using env = await openBanksEnvironment();
  assertEquals(await push(env, await signOrder(env, order(ALICE_EUR_AT_BANKA))), ACCEPTED);
  const again = await signOrder(env, order(ALICE_EUR_AT_BANKA));
  assertEquals(await Promise.all([push(env, again), push(env, again)]), [ACCEPTED, ACCEPTED]);
  assertEquals((await bookOf(env)).balances[ALICE_EUR_AT_BANKA], "98790.00");
  assertEquals(await statuses(env), ["AcceptedSettlementInProcess"]);
  assertEquals(env.timers.length, 1);
});

Deno.test("GET ledger/…/pain.001 is the order in a message of ISO 20022 [PO7]", async () => {
  await using env = await openBanksEnvironment();
  const read = (): Promise<Response> =>
    env.banks.fetch(new Request(`${BANKS_URL}/BANKA/ledger/${PAYMENT_ID}/pain.001`));
  assertEquals((await read()).status, 404);
  await push(env, await signOrder(env, order(ALICE_EUR_AT_BANKA)));
  const response = await read();
  assertEquals(response.headers.get("content-type"), "application/xml");
  const { domesticPaymentId, initiation, debtor } = fromPain001(await response.text());
  assertEquals([domesticPaymentId, initiation.InstructedAmount.Amount], [PAYMENT_ID, "1210.00"]);
  assertEquals(debtor.Identification, ALICE_EUR_AT_BANKA);
});

Deno.test("POST payment-orders debits the currency of the account that the payer chose [BF7]", async () => {
  await using env = await openBanksEnvironment();
  const pockets = async (): Promise<readonly unknown[]> => {
    const response = await env.banks.fetch(new Request(`${BANKS_URL}/BANKA/ledger`));
    const { Accounts } = await bodyOf<{ Accounts: Record<string, string>[] }>(response);
    return Accounts.filter(({ Identification }) => Identification === CAROL_AT_BANKA)
      .map(({ Currency, Balance }) => [Currency, Balance]);
  };
  assertEquals(await push(env, await signOrder(env, order(CAROL_AT_BANKA))), ACCEPTED);
  assertEquals(await pockets(), [["GBP", "5.00"], ["EUR", "3790.00"]]);
  const { Data } = order(CAROL_AT_BANKA, crypto.randomUUID());
  const DebtorAccount = { SchemeName: "UK.OBIE.IBAN", Identification: CAROL_AT_BANKA, Currency: "GBP" };
  assertEquals(await push(env, await signOrder(env, { Data: { ...Data, DebtorAccount } })), [200, {
    Status: "Rejected",
    StatusReasonCode: "AM03",
    StatusReason: "The account has another currency",
  }]);
  assertEquals(await pockets(), [["GBP", "5.00"], ["EUR", "3790.00"]]);
});

const unpayable: Record<string, [{ readonly Data: object }, code: string, text: string]> = {
  "an unknown account": [order("NL91ABNA0417164300"), "AC01", "Unknown debtor account"],
  "too little money": [order(ALICE_SAVINGS_AT_BANKA), "AM04", "Insufficient funds"],
  "an account in another currency": [order(ALICE_GBP_AT_BANKA), "AM03", "The account has another currency"],
  "an amount of nothing": [
    order(ALICE_EUR_AT_BANKA, PAYMENT_ID, "0.00"),
    "AM12",
    "The amount cannot be paid",
  ],
  "a negative amount": [order(ALICE_EUR_AT_BANKA, PAYMENT_ID, "-5.00"), "AM12", "The amount cannot be paid"],
};

Deno.test("POST payment-orders rejects for good what cannot be paid, and debits nothing", async (t) => {
  await using env = await openBanksEnvironment();
  const { balances } = await bookOf(env);
  await steps(t, unpayable, async ([{ Data }, code, reason]) => {
    const unpaid = { Data: { ...Data, DomesticPaymentId: crypto.randomUUID() } };
    const rejected = [200, { Status: "Rejected", StatusReasonCode: code, StatusReason: reason }];
    assertEquals(await push(env, await signOrder(env, unpaid)), rejected);
    assertEquals(await push(env, await signOrder(env, unpaid)), rejected); // and from its book
    assertEquals((await bookOf(env)).balances, balances);
    assert((await statuses(env)).includes(`Rejected: ${reason}`));
  });
  assertEquals([(await statuses(env)).length, env.timers.length], [Object.keys(unpayable).length, 0]);
});

Deno.test("POST payment-orders takes the selected account beside the initiation", async () => {
  await using env = await openBanksEnvironment();
  const DebtorAccount = { SchemeName: "UK.OBIE.IBAN", Identification: ALICE_EUR_AT_BANKA };
  assertEquals(
    await push(env, await signOrder(env, { Data: { ...order().Data, DebtorAccount } })),
    ACCEPTED,
  );
});

Deno.test("POST payment-orders rejects what is not the platform's order for this bank", async () => {
  await using env = await openBanksEnvironment();
  const good = order(ALICE_EUR_AT_BANKA);
  const invalid = [400, { error: "invalid_order" }];
  const signed = await signOrder(env, good);
  const outsider = { ...await platformSigner(), key: await testKey(10) };
  const now = env.now / 1000;
  const unsound = await Promise.all([
    signOrder(env, good, outsider),
    signed.replace(/\.[^.]*$/, "."),
    JSON.stringify(good),
    signOrder(env, { Data: { DomesticPaymentId: PAYMENT_ID } }),
    signOrder(env, { Data: { ...good.Data, BankId: "BANKB" } }),
    ...[{ aud: "BANKB" }, { aud: ["BANKA"] }, { iss: "https://other.example" }, { exp: now - 30 }]
      .map((wrong) => signOrder(env, { ...good, ...wrong })),
  ]);
  for (const body of unsound) assertEquals(await push(env, body), invalid);
  assertEquals(await push(env, signed, "application/json"), [415, { error: "unsupported_media_type" }]);
  assertEquals(await statuses(env), []);
});

Deno.test("settlement reports the debit, then the credit, signed", async () => {
  await using env = await openBanksEnvironment();
  const { DomesticPaymentId } = await paidAt(env, { body: consentFrom(ALICE_EUR_AT_BANKA) });
  assertEquals(env.timers.map(({ delayMs }) => delayMs), [3000]);
  const path = `/BANKA/back-channel-payments/v1/${DomesticPaymentId}`;
  const reported = (Status: string) =>
    [path, { Data: { Status, StatusUpdateDateTime: "2040-01-15T12:00:00.000Z" } }] as const;
  await runTimers(env);
  assertEquals(await statuses(env), ["AcceptedSettlementCompleted"]);
  await runTimers(env);
  assertEquals(await statuses(env), ["AcceptedCreditSettlementCompleted"]);
  assertEquals(await reports(env), [
    reported("AcceptedSettlementCompleted"),
    reported("AcceptedCreditSettlementCompleted"),
  ]);
  assertEquals(env.timers.length, 0);
});

Deno.test("settlement gives up on 404 and tries again on 503 and 400, five times at most", async () => {
  await using env = await openBanksEnvironment();
  const answers = [404, 503, 400, 503, 400, 503];
  env.inPlaceOfPlatform = ({ method }) =>
    method === "PUT" ? new Response(null, { status: answers.shift() ?? 500 }) : undefined;
  await push(env, await signOrder(env, order(ALICE_EUR_AT_BANKA)));
  await runTimers(env);
  assertEquals(env.timers.length, 0);
  assertEquals(env.bankEvents.at(-1)?.fields["givesUp"], true);
  assertStringIncludes(String(env.bankEvents.at(-1)?.fields["error"]), "404");

  // 400 is also what the platform says to a settlement whose acceptance it has not heard of yet.
  await push(env, await signOrder(env, order(ALICE_EUR_AT_BANKA, crypto.randomUUID())));
  const waits: number[] = [];
  const tried = (await reports(env)).length;
  while (env.timers.length > 0) {
    waits.push(...env.timers.map(({ delayMs }) => delayMs));
    env.now += 60_000;
    await runTimers(env);
  }
  assertEquals(waits, [3000, 6000, 12_000, 24_000, 48_000]);
  const booked = { Status: "AcceptedSettlementCompleted", StatusUpdateDateTime: "2040-01-15T12:01:00.000Z" };
  const told = (await reports(env)).slice(tried).map(([, body]) => body);
  assertEquals(told, Array(5).fill({ Data: booked })); // when it was booked, however late it is told
});

Deno.test("stop cancels settlement and takes no more orders", async () => {
  await using env = await openBanksEnvironment();
  await push(env, await signOrder(env, order(ALICE_EUR_AT_BANKA)));
  env.banks.stop();
  env.banks.stop(); // twice is once
  assertEquals(env.timers.length, 0);
  const late = await push(env, await signOrder(env, order(ALICE_EUR_AT_BANKA, crypto.randomUUID())));
  assertEquals(late, [503, { error: "temporarily_unavailable" }]);
  assertEquals(env.timers.length, 0);
});
