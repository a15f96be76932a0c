/** The sandbox's banks going wrong in every way they can, and what the platform makes of it. */
import { assertEquals } from "@std/assert";
import {
  agreed,
  type BanksEnvironment,
  bookOf,
  openBanksEnvironment,
  over,
  paidAt,
  visit,
  type Visited,
} from "support/banks_environment.ts";
import type { Payment } from "testing/answers.ts";
import { DEBTOR_ACCOUNT } from "testing/flows.ts";
import { codeOf } from "testing/authorization_flow.ts";
import { history, later, outboxKeys, outboxOrder, statusOf } from "support/orders.ts";
import { testWith } from "support/environment_test.ts";
import { ACCEPTED, consentStatus, IMPLICIT } from "./fault_parts.ts";

const test = testWith(() => openBanksEnvironment());

test("a bank that rejects: Rejected, nothing debited, the consent Consumed [666.01]", async ({ env }) => {
  const made = await paidAt(env, { body: over("666.01") });
  assertEquals(made.Status, "Rejected");
  const { orders, balances } = await bookOf(env);
  assertEquals(
    orders.map(({ Status, StatusReasonCode, StatusReason }) => [Status, StatusReasonCode, StatusReason]),
    [["Rejected", "AC04", "The account is closed"]],
  );
  assertEquals(balances[DEBTOR_ACCOUNT.Identification], "100000.00");
  assertEquals(await consentStatus(env, made.ConsentId), "Consumed");
});

test("a bank that answers late: Pending for the TPP, then accepted without a second push [666.02]", async ({ env }) => {
  const made = await paidAt(env, { body: over("666.02") });
  assertEquals(made.Status, "Pending");
  assertEquals(env.timers.map(({ delayMs }) => delayMs).toSorted(), [3000, 4000]);
  await Promise.all(env.timers.filter(({ delayMs }) => delayMs === 4000).map(({ task }) => task()));
  await env.platform.stop();
  assertEquals(await statusOf(env, made.DomesticPaymentId), ACCEPTED);
  await executedOnce(env, made, "99333.98");
});

test("a bank that answers twice: accepted once [666.03]", async ({ env }) => {
  const made = await paidAt(env, { body: over("666.03") });
  assertEquals(made.Status, ACCEPTED);
  assertEquals((await history(env, made.DomesticPaymentId)).slice(1), [
    `payment.${ACCEPTED} by ${env.bankA.clientId}`,
  ]);
  await executedOnce(env, made, "99333.97");
});

test("a bank whose answer is lost: Pending, pushed again, executed once [666.04]", async ({ env }) => {
  const made = await paidAt(env, { body: over("666.04") });
  assertEquals(made.Status, "Pending");
  assertEquals((await outboxOrder(env, made.DomesticPaymentId))?.failures, 1);
  assertEquals(await later(env, 1250), 1);
  assertEquals(await statusOf(env, made.DomesticPaymentId), ACCEPTED);
  await executedOnce(env, made, "99333.96");
});

test("a bank that returns with another bank's bank_id: an error page, the consent as it was [666.05]", async ({ env }) => {
  for (const body of [over("666.05"), over("666.05", IMPLICIT)]) {
    await notAuthentic(env, await visit(env, { body }));
  }
});

test("a bank that returns with an expired JWT: server_error for the TPP, the consent as it was [666.06] [G1]", async ({ env }) => {
  for (const body of [over("666.06"), over("666.06", IMPLICIT)]) {
    await unusable(env, await visit(env, { body }));
  }
});

test("a bank that returns with the digest of another payment: server_error for the TPP, the consent as it was [666.17] [BR20]", async ({ env }) => {
  for (const body of [over("666.17"), over("666.17", IMPLICIT)]) {
    await unusable(env, await visit(env, { body }));
  }
});

test("a bank that returns with a used jti: server_error for the TPP, the consent as it was [666.07] [G1]", async ({ env }) => {
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

async function executedOnce(env: BanksEnvironment, made: Payment["Data"], balance: string): Promise<void> {
  const { orders, balances } = await bookOf(env);
  assertEquals(orders.map((order) => order.DomesticPaymentId), [made.DomesticPaymentId]);
  assertEquals(balances[DEBTOR_ACCOUNT.Identification], balance);
  assertEquals(await outboxKeys(env), []);
}
