import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FAULTS } from "../../src/sandbox/bank/faults.ts";
import {
  agreed,
  arm,
  bookOf,
  openBanksEnvironment,
  over,
  paidAt,
  runTimers,
  visit,
} from "support/banks_environment.ts";
import { type ArmedFaults, bodyOf, type FundsConfirmation } from "testing/answers.ts";
import { call, good, pay } from "testing/flows.ts";
import { later, outboxKeys, statusOf } from "support/orders.ts";
import { testWith } from "support/environment_test.ts";
import { ACCEPTED, consentStatus, IMPLICIT } from "./fault_parts.ts";

const test = testWith(() => openBanksEnvironment());

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

test("a bank without balances: the payment goes through, funds are not told [666.09]", async ({ env }) => {
  const flow = await agreed(env, { body: over("666.09") });
  const path = `/BANKA/domestic-payment-consents/v1/${flow.consentId}/funds-confirmation`;
  const funds = await good<FundsConfirmation>(call(env, env.tpp, flow.payment, path), 200);
  assertEquals(funds.Data.FundsAvailableResult, undefined);
  assertEquals((await good(pay(env, flow), 201)).Data.Status, ACCEPTED);
});

for (
  const [amount, what] of [
    ["666.10", "answers 503"],
    ["666.11", "breaks off"],
    ["666.13", "answers with an unknown Status"],
    ["666.14", "answers without JSON"],
    ["666.15", "answers 404"],
  ] as const
) {
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

test("POST faults arms a fault for so many orders, or for one consent; DELETE disarms", async ({ env }) => {
  const armed = await good<ArmedFaults>(arm(env, { fault: "refuse", times: 2 }), 201);
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
  assertEquals((await good<ArmedFaults>(env.banks.fetch(request), 200)).armed, []);
  assertEquals((await paidAt(env)).Status, ACCEPTED);
  assertEquals(await later(env, 1250), 1);
});

test("POST faults of one bank leaves the other alone", async ({ env }) => {
  await good(arm(env, { fault: "refuse", times: 9 }, "BANKA"), 201);
  assertEquals((await paidAt(env, { bank: env.bankB })).Status, ACCEPTED);
  assertEquals((await paidAt(env)).Status, "Rejected");
});

test("POST faults rejects what it does not know, and forms of other sites", async ({ env }) => {
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

test("GET faults and the bank's page tell every fault with its amount", async ({ env }) => {
  const read = (path: string): Promise<Response> =>
    env.banks.fetch(new Request(`https://banks.example/BANKA${path}`));
  const { by_amount } = await bodyOf<ArmedFaults>(read("/faults"));
  const page = await (await read("")).text();
  assertEquals(by_amount.length, 17);
  for (const { name, amount } of FAULTS) {
    assert(by_amount.some((row) => row.fault === name && row.amount === amount), name);
    assertStringIncludes(page, amount);
    assertStringIncludes(page, name);
  }
});
