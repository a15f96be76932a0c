import { assertEquals, assertStringIncludes } from "@std/assert";
import { historyOf } from "testing/histories.ts";
import { openBookEnvironment, operate } from "support/bank_books.ts";
import { openBanksEnvironment, paidAt } from "support/banks_environment.ts";
import type { OrderHold } from "testing/operation_answers.ts";
import { down, later, outboxOrder, paid, statusOf } from "support/orders.ts";
import { signJwt } from "testing/jwts.ts";
import { copyOf, restore } from "support/restored_store.ts";
import { FUTURE_SKEW_SECONDS } from "../../../../src/base/limits.ts";
import { AUTH_URL } from "testing/environment.ts";

const HOLDS = "/operations/order-holds";

const RECONCILE = `${HOLDS}/BANKA/reconcile`;

const RELEASE = `${HOLDS}/BANKA/release`;

Deno.test("a statement of many pages goes on where it stopped, and releases after the last [G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = await copyOf(env);
  for (let made = 0; made < 5; made++) await paid(env);
  await restore(env, copy);
  env.books.pageSize = 2;
  const states: OrderHold[] = [];
  for (let page = 0; page < 3; page++) states.push((await env.operate(RECONCILE, ""))[1].Data);
  assertEquals(states.map(({ State, Recovered }) => [State, Recovered]), [
    ["comparing", 2],
    ["comparing", 4],
    ["released", 5],
  ]);
  assertEquals((await env.operate(RECONCILE, ""))[0], 404, "there is nothing left to reconcile");
});

Deno.test("a page that goes on at its own start is rejected, and the comparison goes on with the right one [G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = await copyOf(env);
  for (let made = 0; made < 3; made++) await paid(env);
  await restore(env, copy);
  env.books.pageSize = 1;
  assertEquals((await env.operate(RECONCILE, ""))[1].Data.State, "comparing");
  const { tamper } = env.books;
  env.books.tamper = ({ Data, ...claims }) => ({ ...claims, Data: { ...Data, Next: Data.After } });
  const [status, answer] = await env.operate(RECONCILE, "");
  assertEquals(status, 409);
  assertStringIncludes(answer.error_description, "Data.Next does not go on");
  env.books.tamper = tamper;
  assertEquals((await env.operate(RECONCILE, ""))[1].Data.Recovered, 2);
});

Deno.test("a comparison after one with a disagreement counts from the start, and releases without one [G9]", async () => {
  await using env = await openBookEnvironment();
  const { DomesticPaymentId: id } = await paid(env);
  await restore(env, await copyOf(env));
  const { tamper } = env.books;
  env.books.tamper = ({ Data, ...claims }) => {
    const PaymentOrder = Data.PaymentOrder.map((stated) => ({ ...stated, ConsentId: crypto.randomUUID() }));
    return { ...claims, Data: { ...Data, PaymentOrder } };
  };
  const [, { Data: first }] = await env.operate(RECONCILE, "");
  assertEquals([first.State, first.Disagreement.map((one) => one.DomesticPaymentId)], ["held", [id]]);
  env.books.tamper = tamper;
  const [, { Data: second }] = await env.operate(RECONCILE, "");
  assertEquals([second.State, second.Agreed, second.Disagreement], ["released", 1, []]);
});

Deno.test("a statement may be as much older than the restore as clocks differ, to the second [G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = await copyOf(env);
  await paid(env);
  env.now += 60_000;
  await restore(env, copy);
  const restoredAt = Math.floor(env.now / 1000);
  const signedAt = (iat: number): void => void (env.books.tamper = (claims) => ({ ...claims, iat }));
  signedAt(restoredAt - FUTURE_SKEW_SECONDS - 1);
  assertEquals((await env.operate(RECONCILE, ""))[0], 409);
  signedAt(restoredAt - FUTURE_SKEW_SECONDS);
  assertEquals((await env.operate(RECONCILE, ""))[1].Data.State, "released");
});

Deno.test("a statement that the bank handed over as a file counts like one that it was asked for [G9]", async () => {
  await using env = await openBookEnvironment();
  const copy = await copyOf(env);
  await paid(env);
  await restore(env, copy);
  env.answer = () => new Response(null, { status: 404 });
  const [asked, rejected] = await env.operate(RECONCILE, "");
  assertEquals([asked, rejected.error], [409, "conflict"]);
  assertStringIncludes(rejected.error_description, "status 404");
  const [, answer] = await env.operate(
    RECONCILE,
    await env.books.statement({ Since: "2040-01-01T00:00:00Z" }),
  );
  assertEquals([answer.Data.State, answer.Data.Recovered], ["released", 1]);
});

Deno.test("an operator can release orders with a reason, which stands in the history [G9]", async () => {
  await using env = await openBookEnvironment();
  const takes = env.answer;
  env.answer = down;
  await paid(env);
  await restore(env, await copyOf(env));
  env.answer = takes;
  assertEquals((await env.operate(RELEASE, "short"))[0], 400);
  const [status, answer] = await env.operate(RELEASE, "The bank confirmed by phone that it has none.");
  assertEquals([status, answer.Data.State], [200, "released"]);
  await later(env, 10_000);
  assertEquals(env.books.orders.size, 1);
  const history = await historyOf(env.store, "order hold BANKA");
  assertEquals(history.map(({ event, actor }) => [event, actor]), [
    ["order_hold.begun", "platform"],
    ["order_hold.released", "operator maria"],
  ]);
});

Deno.test("a bank that waits for its reconciliation shows in the metrics until it has one [G9, O2]", async () => {
  await using env = await openBookEnvironment();
  await paid(env);
  await restore(env, await copyOf(env));
  const waiting = async (): Promise<readonly string[]> => {
    env.now += 60_000;
    await env.platform.workOnce();
    const text = await (await env.asOperator("/operations/metrics")).text();
    return text.match(/^platform_bank_unreconciled_seconds\{.*\} \d+/gm) ?? [];
  };
  assertEquals((await waiting()).includes('platform_bank_unreconciled_seconds{bank="BANKA"} 60'), true);
  await env.operate("/operations/order-holds/BANKA/reconcile", "");
  assertEquals((await waiting()).some((line) => line.includes("BANKA")), false);
});

Deno.test("releasing a bank's orders does not send those that were held for more than a day [G9]", async () => {
  await using env = await openBookEnvironment();
  const takes = env.answer;
  env.answer = down;
  const { DomesticPaymentId: id } = await paid(env);
  await restore(env, await copyOf(env));
  await later(env, 10_000);
  env.now += 86_400_001;
  env.answer = takes;
  assertEquals((await env.operate(RELEASE, "The bank confirmed by phone that it has none."))[0], 200);
  await later(env, 10_000);
  assertEquals([(await outboxOrder(env, id))?.state, env.books.orders.size], ["dead", 0]);
});

Deno.test("order holds are for the operator alone, and empty where nothing was restored", async () => {
  await using env = await openBookEnvironment();
  assertEquals(await env.operate(HOLDS), [200, { Data: { OrderHold: [] } }]);
  assertEquals((await env.operate(RECONCILE, ""))[0], 404);
  const anonymous = await env.platform.operations.fetch(new Request(`http://localhost${HOLDS}`));
  assertEquals(anonymous.status, 401);
});

Deno.test("the sandbox's bank states its orders page by page, with each as the platform signed it [G9]", async () => {
  await using env = await openBanksEnvironment();
  const copy = await copyOf(env);
  const made = [];
  for (let count = 0; count < 12; count++) made.push(await paidAt(env));
  await restore(env, copy);
  const states = [await operate(env, RECONCILE, ""), await operate(env, RECONCILE, "")];
  assertEquals(states.map(([status, { Data }]) => [status, Data.State, Data.Recovered]), [
    [200, "comparing", 10],
    [200, "released", 12],
  ]);
  for (const { DomesticPaymentId, Status } of made) {
    assertEquals(await statusOf(env, DomesticPaymentId), Status);
  }
});

Deno.test("the sandbox's bank states nothing to an inquiry that the platform did not sign [G9]", async () => {
  await using env = await openBanksEnvironment();
  const exp = Math.floor(env.now / 1000) + 300;
  const claims = { iss: AUTH_URL, aud: "BANKA", exp, Data: { Since: "2040-01-01T00:00:00Z" } };
  for (const signer of [env.bankA.signing, env.tpp.signing]) {
    const body = await signJwt(signer, claims, { typ: "order-inquiry+jwt" });
    const answer = await env.banks.fetch(
      new Request("https://banks.example/BANKA/payment-orders", {
        method: "POST",
        headers: { "content-type": "application/jose" },
        body,
      }),
    );
    assertEquals(answer.status, 400);
  }
});
