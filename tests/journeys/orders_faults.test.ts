/** The sandbox's banks going wrong in every way they can, and what the platform makes of it. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FAULTS } from "../../src/sandbox/bank/faults.ts";
import {
  agreed,
  arm,
  type BanksEnvironment,
  bookOf,
  openBanksEnvironment,
  over,
  paidAt,
  runTimers,
  visit,
  type Visited,
} from "support/banks_environment.ts";
import { call, clientToken, DEBTOR_ACCOUNT, good, type Json, pay } from "testing/flows.ts";
import { codeOf } from "testing/authorization_flow.ts";
import { history, later, outboxKeys, outboxOrder, statusOf } from "support/orders.ts";

const ACCEPTED = "AcceptedSettlementInProcess";
const IMPLICIT = { DebtorAccount: DEBTOR_ACCOUNT };

Deno.test("a bank that rejects: Rejected, nothing debited, the consent Consumed [666.01]", async () => {
  await using env = await openBanksEnvironment();
  const made = await paidAt(env, { body: over("666.01") });
  assertEquals(made.Status, "Rejected");
  const { orders, balances } = await bookOf(env);
  assertEquals(orders.map(({ Status, StatusReason }: Json) => [Status, StatusReason]), [
    ["Rejected", "AC04: The account is closed"],
  ]);
  assertEquals(balances[DEBTOR_ACCOUNT.Identification], "100000.00");
  assertEquals(await consentStatus(env, made.ConsentId), "Consumed");
});

Deno.test("a bank that answers late: Pending for the TPP, then accepted without a second push [666.02]", async () => {
  await using env = await openBanksEnvironment();
  const made = await paidAt(env, { body: over("666.02") });
  assertEquals(made.Status, "Pending");
  assertEquals(env.timers.map(({ delayMs }) => delayMs).toSorted(), [3000, 4000]);
  await Promise.all(env.timers.filter(({ delayMs }) => delayMs === 4000).map(({ task }) => task()));
  await env.platform.stop();
  assertEquals(await statusOf(env, made.DomesticPaymentId), ACCEPTED);
  await executedOnce(env, made, "99333.98");
});

Deno.test("a bank that answers twice: accepted once [666.03]", async () => {
  await using env = await openBanksEnvironment();
  const made = await paidAt(env, { body: over("666.03") });
  assertEquals(made.Status, ACCEPTED);
  assertEquals((await history(env, made.DomesticPaymentId)).slice(1), [
    `payment.${ACCEPTED} by ${env.bankA.clientId}`,
  ]);
  await executedOnce(env, made, "99333.97");
});

Deno.test("a bank whose answer is lost: Pending, pushed again, executed once [666.04]", async () => {
  await using env = await openBanksEnvironment();
  const made = await paidAt(env, { body: over("666.04") });
  assertEquals(made.Status, "Pending");
  assertEquals((await outboxOrder(env, made.DomesticPaymentId))?.failures, 1);
  assertEquals(await later(env, 1250), 1);
  assertEquals(await statusOf(env, made.DomesticPaymentId), ACCEPTED);
  await executedOnce(env, made, "99333.96");
});

Deno.test("a bank that returns with another bank's bank_id: an error page, the consent as it was [666.05]", async () => {
  await using env = await openBanksEnvironment();
  for (const body of [over("666.05"), over("666.05", IMPLICIT)]) {
    await notAuthentic(env, await visit(env, { body }));
  }
});

Deno.test("a bank that returns with an expired JWT: server_error for the TPP, the consent as it was [666.06] [G1]", async () => {
  await using env = await openBanksEnvironment();
  for (const body of [over("666.06"), over("666.06", IMPLICIT)]) {
    await unusable(env, await visit(env, { body }));
  }
});

Deno.test("a bank that returns with a used jti: server_error for the TPP, the consent as it was [666.07] [G1]", async () => {
  await using env = await openBanksEnvironment();
  await agreed(env);
  await unusable(env, await visit(env, { body: over("666.07") }));
  assertEquals((await paidAt(env)).Status, ACCEPTED); // the next customer is not affected
});

Deno.test("a bank whose customer is late: access_denied for the TPP, the consent as it was [666.12] [G1]", async () => {
  for (
    const [bank, body] of [["bankA", over("666.12")], ["bankA", over("666.12", IMPLICIT)], [
      "bankB",
      over("666.12"),
    ]] as const
  ) {
    await using env = await openBanksEnvironment();
    const { returned, consentId } = await visit(env, { bank: env[bank], body });
    const back = new URL(returned.headers.get("location") ?? "");
    assertEquals([back.searchParams.get("error"), back.searchParams.get("error_description")], [
      "access_denied",
      "The authorization session expired.",
    ]);
    assertEquals(await consentStatus(env, consentId, env[bank].orgId), "AwaitingAuthorisation");
  }
});

Deno.test("a bank that puts too many accounts: rejected, server_error for the TPP, the consent Rejected [666.08]", async (t) => {
  for (
    const [name, bank, initiation] of [
      ["platform's screen", "bankA", {}],
      ["bank's screen", "bankB", {}],
      ["implicit", "bankA", IMPLICIT],
    ] as const
  ) {
    await t.step(name, async () => {
      await using env = await openBanksEnvironment();
      const visited = await visit(env, { bank: env[bank], body: over("666.08", initiation) });
      const back = new URL(visited.returned.headers.get("location") ?? "");
      assertEquals([back.searchParams.get("error"), back.searchParams.has("code")], ["server_error", false]);
      assertEquals(await consentStatus(env, visited.consentId, env[bank].orgId), "Rejected");
      assert(env.bankEvents.some(({ fields }) => String(fields["error"]).endsWith("was answered 400")));
    });
  }
});

Deno.test("a bank without balances: the payment goes through, funds are not told [666.09]", async () => {
  await using env = await openBanksEnvironment();
  const flow = await agreed(env, { body: over("666.09") });
  const path = `/BANKA/domestic-payment-consents/v1/${flow.consentId}/funds-confirmation`;
  const funds = await good(call(env, env.tpp, flow.payment, path), 200);
  assertEquals(funds.Data.FundsAvailableResult, undefined);
  assertEquals((await good(pay(env, flow), 201)).Data.Status, ACCEPTED);
});

for (const [amount, what] of [["666.10", "answers 503"], ["666.11", "breaks off"]] as const) {
  Deno.test(`a bank that ${what} for good: Pending, retried, given up, never executed [${amount}]`, async () => {
    await using env = await openBanksEnvironment({ pullEveryMs: 4000 });
    const made = await paidAt(env, { body: over(amount) });
    assertEquals(made.Status, "Pending");
    for (let hour = 0; hour < 12; hour++) {
      await runTimers(env); // it pulls, and still does not take this order
      await later(env, 3_600_000);
    }
    assertEquals(await outboxKeys(env), [
      `outbox ${made.DomesticPaymentId}`,
      `outbox_dead ${made.DomesticPaymentId}`,
    ]);
    assertEquals((await bookOf(env)).orders, []);
    assertEquals(await statusOf(env, made.DomesticPaymentId), "Pending");
  });
}

Deno.test("POST faults arms a fault for so many orders, or for one consent; DELETE disarms", async () => {
  await using env = await openBanksEnvironment();
  const armed = await good(arm(env, { fault: "refuse", times: 2 }), 201);
  assertEquals(armed.armed, [{ fault: "refuse", times: 2 }]);
  const statuses: string[] = [];
  for (let made = 0; made < 3; made++) statuses.push((await paidAt(env)).Status);
  assertEquals(statuses, ["Rejected", "Rejected", ACCEPTED]);

  const flow = await agreed(env);
  await good(arm(env, { fault: "server_error", consent_id: flow.consentId }), 201);
  assertEquals((await paidAt(env)).Status, ACCEPTED);
  assertEquals((await good(pay(env, flow), 201)).Data.Status, "Pending");

  await good(arm(env, { fault: "refuse", times: 1000 }), 201);
  const request = new Request("https://banks.example/BANKA/faults", { method: "DELETE" });
  assertEquals((await good(env.banks.fetch(request), 200)).armed, []);
  assertEquals((await paidAt(env)).Status, ACCEPTED);
  assertEquals(await later(env, 1250), 1);
});

Deno.test("POST faults of one bank leaves the other alone", async () => {
  await using env = await openBanksEnvironment();
  await good(arm(env, { fault: "refuse", times: 9 }, "BANKA"), 201);
  assertEquals((await paidAt(env, { bank: env.bankB })).Status, ACCEPTED);
  assertEquals((await paidAt(env)).Status, "Rejected");
});

Deno.test("POST faults rejects what it does not know, and forms of other sites", async () => {
  await using env = await openBanksEnvironment();
  const wrong = [
    {},
    { fault: "explode" },
    { fault: "refuse", times: 0 },
    { fault: "refuse", more: 1 },
    { fault: "refuse", consent_id: "x" },
    "refuse",
  ];
  for (const body of wrong) assertEquals((await arm(env, body)).status, 400, JSON.stringify(body));
  const request = new Request("https://banks.example/BANKA/faults", {
    method: "POST",
    headers: { "content-type": "text/plain" },
    body: '{"fault":"refuse"}',
  });
  assertEquals((await env.banks.fetch(request)).status, 400);
  assertEquals((await paidAt(env)).Status, ACCEPTED);
});

Deno.test("GET faults and the bank's page tell every fault with its amount", async () => {
  await using env = await openBanksEnvironment();
  const read = (path: string): Promise<Response> =>
    env.banks.fetch(new Request(`https://banks.example/BANKA${path}`));
  const { by_amount } = await (await read("/faults")).json();
  const page = await (await read("")).text();
  assertEquals(by_amount.length, 12);
  for (const { name, amount } of FAULTS) {
    assert(by_amount.some((row: Json) => row.fault === name && row.amount === amount), name);
    assertStringIncludes(page, amount);
    assertStringIncludes(page, name);
  }
});

/**
 * The platform showed an error page, sent no redirect to the TPP and left the consent unchanged (Decision B4; contract
 * CT17).
 */
async function notAuthentic(env: BanksEnvironment, visited: Visited): Promise<void> {
  assertEquals([visited.returned.status, visited.returned.headers.get("location")], [400, null]);
  assertEquals(await consentStatus(env, visited.consentId), "AwaitingAuthorisation");
  let code: string | undefined;
  try {
    code = codeOf(visited.returned);
  } catch {
    code = undefined;
  }
  assertEquals(code, undefined);
}

/** The customer is back at the TPP with an error, and the consent is as it was (Decision G1). */
async function unusable(env: BanksEnvironment, visited: Visited): Promise<void> {
  const back = new URL(visited.returned.headers.get("location") ?? "");
  assertEquals([back.searchParams.get("error"), back.searchParams.has("code")], ["server_error", false]);
  assertEquals(await consentStatus(env, visited.consentId), "AwaitingAuthorisation");
}

async function executedOnce(env: BanksEnvironment, made: Json, balance: string): Promise<void> {
  const { orders, balances } = await bookOf(env);
  assertEquals(orders.map((order: Json) => order.DomesticPaymentId), [made.DomesticPaymentId]);
  assertEquals(balances[DEBTOR_ACCOUNT.Identification], balance);
  assertEquals(await outboxKeys(env), []);
}

async function consentStatus(env: BanksEnvironment, consentId: string, bank = "BANKA"): Promise<string> {
  const bound = await clientToken(env, env.tpp, bank);
  const path = `/${bank}/domestic-payment-consents/v1/${consentId}`;
  return (await good(call(env, env.tpp, bound, path), 200)).Data.Status;
}
