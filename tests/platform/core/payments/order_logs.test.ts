/** What the log says of an order in each of its turns, whole [D4, O3, OP6]. */
import { assertEquals } from "@std/assert";
import { present } from "testing/answers.ts";
import { good } from "testing/flows.ts";
import { openTestStore } from "testing/test_store.ts";
import type { Store } from "../../../../src/base/store/store.ts";
import { accepts, down, later, openPushEnvironment, paid, type PushEnvironment } from "support/orders.ts";

/** The lines about orders since the last time, without their times and stacks. */
function told(env: PushEnvironment): readonly unknown[] {
  const lines = env.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
  env.logged.length = 0;
  return lines.filter(({ event }) => String(event).startsWith("order.")).map(({ level, event, ...rest }) => {
    const named = ["paymentId", "bank", "failures", "why", "answer", "by", "error"].flatMap((name) =>
      name in rest ? [[name, String(rest[name]).split("\n")[0]]] : []
    );
    return [level, event, Object.fromEntries(named)];
  });
}

async function operate(env: PushEnvironment, path: string, data: object, status: number): Promise<void> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ Data: data });
  await good(env.asOperator(`/operations/${path}`, { method: "POST", headers, body }), status);
}

Deno.test("an order that fails, is delivered, given up, closed or held is logged with its payment, bank and why", async () => {
  await using env = await openPushEnvironment(down, { environment: { PLATFORM_LOG_LEVEL: "info" } });
  const { DomesticPaymentId: paymentId } = await paid(env);
  const of = { paymentId, bank: "BANKA" };
  assertEquals(told(env), [["warn", "order.not_delivered", { ...of, failures: "1", why: "status 503" }]]);
  env.answer = accepts;
  await later(env, 1250);
  assertEquals(told(env), [
    ["info", "order.delivered", { paymentId, answer: "AcceptedSettlementInProcess" }],
  ]);
  env.answer = () => new Response("no", { status: 400 });
  const { DomesticPaymentId: rejected } = await paid(env);
  const other = { paymentId: rejected, bank: "BANKA" };
  assertEquals(told(env), [["error", "order.dead", { ...other, failures: "1", why: "status 400" }]]);
  await operate(env, `payment-orders/${rejected}/close`, {
    Reason: "It never arrived.",
    StatusReason: "The bank did not take it.",
  }, 200);
  const [closed] = told(env) as [[string, string, Record<string, unknown>]];
  assertEquals([closed[0], closed[1], { ...closed[2], by: "" }], ["warn", "order.closed", {
    ...other,
    by: "",
  }]);
  assertEquals(String(closed[2]["by"]).startsWith("operator "), true);
  env.answer = down;
  await operate(env, "banks/BANKA/hold", { Reason: "The bank asked us to wait." }, 200);
  const { DomesticPaymentId: held } = await paid(env);
  await later(env, 60_000);
  const [line] = told(env) as [[string, string, Record<string, unknown>]];
  assertEquals(line.slice(0, 2), ["warn", "order.held"]);
  const { why, ...rest } = line[2];
  assertEquals([rest, typeof why], [{ paymentId: held, bank: "BANKA" }, "string"]);
});

Deno.test("an answer that loses every race is logged after eight attempts, and the order is pushed again [D1]", async () => {
  const store = await openTestStore();
  const state = { attempts: 0, loses: true };
  const commit: Store["commit"] = async (staged) => {
    const ends = staged.writes.some(({ kind, key }) => kind === "delete" && key[0] === "outbox");
    if (ends) state.attempts++;
    return ends && state.loses ? false : await store.commit(staged);
  };
  await using env = await openPushEnvironment(accepts, { store: { ...store, commit } });
  const { DomesticPaymentId: paymentId, Status } = await paid(env);
  const answer = "AcceptedSettlementInProcess";
  assertEquals([Status, state.attempts], ["Pending", 8]);
  assertEquals(told(env), [["warn", "order.answer_not_recorded", { paymentId, bank: "BANKA", answer }]]);
  state.loses = false;
  assertEquals([await later(env, 15_000), state.attempts], [1, 9]);
});

Deno.test("a held order that cannot go on keeps no other back, and is logged [OP6]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId: broken } = await paid(env);
  const { DomesticPaymentId: sound } = await paid(env);
  await operate(env, "banks/BANKA/hold", { Reason: "The bank asked us to wait." }, 200);
  await later(env, 60_000);
  const payment = present(await env.store.get(["payment", broken]));
  await env.store.commit({ checks: [], writes: [{ kind: "delete", key: payment.key }] });
  await operate(env, "banks/BANKA/release", { Reason: "It is back." }, 200);
  told(env);
  env.answer = accepts;
  await later(env, 1000);
  const lines = told(env) as readonly [string, string, Record<string, string>][];
  const why = "Error: a history entry without its payment";
  assertEquals(lines.filter(([, event]) => event === "order.not_resumed"), [
    ["error", "order.not_resumed", { paymentId: broken, error: why }],
  ]);
  assertEquals((await env.store.get<{ state: string }>(["outbox", broken]))?.value.state, "held");
  assertEquals((await env.store.get<{ state: string }>(["outbox", sound]))?.value.state === "held", false);
});
