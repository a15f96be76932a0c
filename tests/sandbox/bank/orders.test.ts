/** Payment orders that the platform pushes: executed once, rejected when not authentic, and settled afterwards. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromPain001 } from "../../../src/client/iso20022.ts";
import {
  ALICE_EUR_AT_BANKA,
  ALICE_GBP_AT_BANKA,
  ALICE_SAVINGS_AT_BANKA,
  CAROL_AT_BANKA,
} from "../../../src/sandbox/bank/customers.ts";
import {
  type BankEnvironment,
  bankEnvironment,
  BANKS_URL,
  orderedInitiation,
  signOrder,
} from "support/bank_environment.ts";

const PAYMENT_ID = "0d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00";

function order(debtor: string, id = PAYMENT_ID, amount = "1210.00"): Record<string, unknown> {
  const initiation = { ...orderedInitiation(debtor), InstructedAmount: { Amount: amount, Currency: "EUR" } };
  return { Data: { DomesticPaymentId: id, ConsentId: crypto.randomUUID(), Initiation: initiation } };
}

async function push(
  env: BankEnvironment,
  body: string,
  type = "application/jose",
): Promise<[number, unknown]> {
  const response = await env.banks.fetch(
    new Request(`${BANKS_URL}/BANKA/payment-orders`, {
      method: "POST",
      body,
      headers: { "content-type": type },
    }),
  );
  return [response.status, await response.json()];
}

async function ledger(
  env: BankEnvironment,
): Promise<{ readonly balances: unknown; readonly statuses: unknown }> {
  const response = await env.banks.fetch(new Request(`${BANKS_URL}/BANKA/ledger`));
  const { Accounts, Orders } = await response.json() as Record<string, Record<string, string>[]>;
  return {
    balances: Object.fromEntries((Accounts ?? []).map((a) => [a["Identification"], a["Balance"]])),
    statuses: (Orders ?? []).map((o) =>
      [o["Status"], o["StatusReason"]].filter((text) => text !== undefined).join(": ")
    ),
  };
}

async function settle(env: BankEnvironment): Promise<void> {
  await Promise.all(env.timers.splice(0).map(({ task }) => task()));
}

Deno.test("POST payment-orders debits once, however often the order is delivered", async () => {
  using env = await bankEnvironment();
  const accepted = [200, { Status: "AcceptedSettlementInProcess" }];
  assertEquals(await push(env, await signOrder(env, order(ALICE_EUR_AT_BANKA))), accepted);
  const again = await signOrder(env, order(ALICE_EUR_AT_BANKA));
  assertEquals(await Promise.all([push(env, again), push(env, again)]), [accepted, accepted]);
  const { balances, statuses } = await ledger(env);
  assertEquals((balances as Record<string, string>)[ALICE_EUR_AT_BANKA], "98790.00");
  assertEquals(statuses, ["AcceptedSettlementInProcess"]);
  assertEquals(env.timers.length, 1);
});

Deno.test("GET ledger/…/pain.001 is the order in a message of ISO 20022 [PO7]", async () => {
  using env = await bankEnvironment();
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
  using env = await bankEnvironment();
  const pockets = async (): Promise<readonly unknown[]> => {
    const response = await env.banks.fetch(new Request(`${BANKS_URL}/BANKA/ledger`));
    const { Accounts } = await response.json() as { Accounts: Record<string, string>[] };
    return Accounts.filter(({ Identification }) => Identification === CAROL_AT_BANKA)
      .map(({ Currency, Balance }) => [Currency, Balance]);
  };
  assertEquals(await push(env, await signOrder(env, order(CAROL_AT_BANKA))), [200, {
    Status: "AcceptedSettlementInProcess",
  }]);
  assertEquals(await pockets(), [["GBP", "5.00"], ["EUR", "3790.00"]]);
  const { Data } = order(CAROL_AT_BANKA, crypto.randomUUID()) as { Data: object };
  const DebtorAccount = { SchemeName: "UK.OBIE.IBAN", Identification: CAROL_AT_BANKA, Currency: "GBP" };
  assertEquals(await push(env, await signOrder(env, { Data: { ...Data, DebtorAccount } })), [200, {
    Status: "Rejected",
    StatusReasonCode: "AM03",
    StatusReason: "The account has another currency",
  }]);
  assertEquals(await pockets(), [["GBP", "5.00"], ["EUR", "3790.00"]]);
});

const unpayable: Record<string, [Record<string, unknown>, code: string, text: string]> = {
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

for (const [name, [unpaid, code, reason]] of Object.entries(unpayable)) {
  Deno.test(`POST payment-orders rejects ${name} for good and debits nothing`, async () => {
    using env = await bankEnvironment();
    const before = (await ledger(env)).balances;
    const rejected = [200, { Status: "Rejected", StatusReasonCode: code, StatusReason: reason }];
    assertEquals(await push(env, await signOrder(env, unpaid)), rejected);
    assertEquals(await push(env, await signOrder(env, unpaid)), rejected); // and from its book
    assertEquals(await ledger(env), { balances: before, statuses: [`Rejected: ${reason}`] });
    assertEquals(env.timers.length, 0);
  });
}

Deno.test("POST payment-orders takes the selected account beside the initiation", async () => {
  using env = await bankEnvironment();
  const DebtorAccount = { SchemeName: "UK.OBIE.IBAN", Identification: ALICE_EUR_AT_BANKA };
  const Data = { DomesticPaymentId: PAYMENT_ID, Initiation: orderedInitiation(), DebtorAccount };
  assertEquals(await push(env, await signOrder(env, { Data })), [200, {
    Status: "AcceptedSettlementInProcess",
  }]);
});

Deno.test("POST payment-orders rejects what is not the platform's order for this bank", async () => {
  using env = await bankEnvironment();
  const good = order(ALICE_EUR_AT_BANKA);
  const invalid = [400, { error: "invalid_order" }];
  const signed = await signOrder(env, good);
  assertEquals(await push(env, await signOrder(env, good, env.outsider)), invalid);
  assertEquals(await push(env, signed.replace(/\.[^.]*$/, ".")), invalid);
  assertEquals(await push(env, JSON.stringify(good)), invalid);
  assertEquals(await push(env, await signOrder(env, { Data: { DomesticPaymentId: PAYMENT_ID } })), invalid);
  const elsewhere = { Data: { ...good["Data"] as Record<string, unknown>, BankId: "BANKB" } };
  assertEquals(await push(env, await signOrder(env, elsewhere)), invalid);
  const now = env.platform.nowMs / 1000;
  for (
    const wrong of [{ aud: "BANKB" }, { aud: ["BANKA"] }, { iss: "https://other.example" }, { exp: now - 30 }]
  ) {
    assertEquals(await push(env, await signOrder(env, { ...good, ...wrong })), invalid);
  }
  assertEquals(await push(env, signed, "application/json"), [415, { error: "unsupported_media_type" }]);
  assertEquals((await ledger(env)).statuses, []);
});

Deno.test("settlement reports the debit, then the credit, signed", async () => {
  using env = await bankEnvironment();
  await push(env, await signOrder(env, order(ALICE_EUR_AT_BANKA)));
  assertEquals(env.timers.map(({ delayMs }) => delayMs), [3000]);
  await settle(env);
  assertEquals((await ledger(env)).statuses, ["AcceptedSettlementCompleted"]);
  await settle(env);
  assertEquals((await ledger(env)).statuses, ["AcceptedCreditSettlementCompleted"]);
  assertEquals(env.platform.calls.map(({ method, path }) => `${method} ${path}`), [
    `PUT /back-channel-payments/v1/${PAYMENT_ID}`,
    `PUT /back-channel-payments/v1/${PAYMENT_ID}`,
  ]);
  assertEquals(env.platform.calls.map(({ body }) => body), [
    { Data: { Status: "AcceptedSettlementCompleted", StatusUpdateDateTime: "2030-01-31T12:00:00.000Z" } },
    {
      Data: { Status: "AcceptedCreditSettlementCompleted", StatusUpdateDateTime: "2030-01-31T12:00:00.000Z" },
    },
  ]);
  assertEquals(env.timers.length, 0);
});

Deno.test("settlement gives up on 404 and tries again on 503 and 400, five times at most", async () => {
  using env = await bankEnvironment();
  env.platform.statusFor = () => 404;
  await push(env, await signOrder(env, order(ALICE_EUR_AT_BANKA)));
  await settle(env);
  assertEquals(env.timers.length, 0);
  assertEquals(env.events.at(-1)?.fields["givesUp"], true);
  assertStringIncludes(String(env.events.at(-1)?.fields["error"]), "404");

  // 400 is also what the platform says to a settlement whose acceptance it has not heard of yet.
  const statuses = [503, 400, 503, 400, 503];
  env.platform.statusFor = () => statuses.shift();
  await push(env, await signOrder(env, order(ALICE_EUR_AT_BANKA, crypto.randomUUID())));
  const waits: number[] = [];
  const tried = env.platform.calls.length;
  while (env.timers.length > 0) {
    waits.push(...env.timers.map(({ delayMs }) => delayMs));
    env.platform.nowMs += 60_000;
    await settle(env);
  }
  assertEquals(waits, [3000, 6000, 12_000, 24_000, 48_000]);
  const booked = { Status: "AcceptedSettlementCompleted", StatusUpdateDateTime: "2030-01-31T12:01:00.000Z" };
  const told = env.platform.calls.slice(tried).map(({ body }) => body);
  assertEquals(told, Array(5).fill({ Data: booked })); // when it was booked, however late it is told
});

Deno.test("stop cancels settlement and takes no more orders", async () => {
  using env = await bankEnvironment();
  await push(env, await signOrder(env, order(ALICE_EUR_AT_BANKA)));
  env.banks.stop();
  env.banks.stop(); // twice is once
  assertEquals(env.timers.length, 0);
  const late = await push(env, await signOrder(env, order(ALICE_EUR_AT_BANKA, crypto.randomUUID())));
  assertEquals(late, [503, { error: "temporarily_unavailable" }]);
  assertEquals(env.timers.length, 0);
});
