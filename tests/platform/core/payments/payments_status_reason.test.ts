/** Why a bank rejected a payment, as its TPP reads it [G6]. */
import { assertEquals } from "@std/assert";
import type { Payment } from "testing/answers.ts";
import type { JsonObject } from "testing/jwts.ts";
import { putStatus } from "testing/back_channel.ts";
import { call, clientToken, good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { down, history, later, openPushEnvironment, outboxOrder, paid, payment } from "support/orders.ts";
import { everything } from "testing/store_contents.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";

const REASON = "AM04: Insufficient funds";

test("A payment that the bank has reported as Rejected carries the bank's reason, in GET and in a repeated POST [G6]", async ({ env }) => {
  const flow = await authorised(env);
  const idempotencyKey = crypto.randomUUID();
  const made = (await good(pay(env, flow, { idempotencyKey }), 201)).Data;
  assertEquals(made.StatusReason, undefined);
  const reportOf = (Status: string) => ({
    Status,
    StatusUpdateDateTime: new Date(env.now).toISOString(),
    StatusReason: REASON,
  });
  const path = made.DomesticPaymentId;
  await good(putStatus(env, env.bankA, path, reportOf("Rejected")), 200);
  const read = await payment(env, path);
  assertEquals([read.Status, read.StatusReason], ["Rejected", REASON]);
  const repeated = (await good(pay(env, flow, { idempotencyKey }), 201)).Data;
  assertEquals(repeated, read);
  const bound = await clientToken(env, env.tpp);
  const found = `/BANKA/domestic-payments/v1?idempotency-key=${idempotencyKey}`;
  assertEquals((await good<Payment>(call(env, env.tpp, bound, found), 200)).Data, read);
});

test("A reason of any other status is kept in the evidence and not shown to the TPP [G6]", async ({ env }) => {
  const { DomesticPaymentId: id } = await paid(env);
  const Data = {
    Status: "AcceptedSettlementCompleted",
    StatusUpdateDateTime: new Date(env.now).toISOString(),
    StatusReason: "Booked",
  };
  await good(putStatus(env, env.bankA, id, Data), 200);
  assertEquals((await payment(env, id)).StatusReason, undefined);
});

Deno.test("what a bank writes of a payment is readable nowhere in the database [EN12, P3]", async () => {
  const name = "Ada of Bath";
  await using env = await openPushEnvironment(() => new Response(`no account of ${name}`, { status: 400 }));
  const { DomesticPaymentId: refused } = await paid(env);
  env.answer = () => Response.json({ Status: "Rejected", StatusReason: `${name} has died` });
  const { DomesticPaymentId: rejected } = await paid(env);
  env.answer = () => Response.json({ Status: "AcceptedSettlementInProcess" });
  const { DomesticPaymentId: reported } = await paid(env);
  const StatusUpdateDateTime = new Date(env.now).toISOString();
  const Data = { Status: "Rejected", StatusUpdateDateTime, StatusReason: `${name} has no money` };
  await good(putStatus(env, env.bankA, reported, Data), 200);
  const named = (await everything(env.raw)).filter(({ value }) => JSON.stringify(value).includes(name));
  assertEquals(named.map(({ key }) => key.join(" ")), []);
  assertEquals((await outboxOrder(env, refused))?.bankText, `no account of ${name}`);
  const told = await Promise.all([rejected, reported].map((id) => payment(env, id)));
  assertEquals(told.map(({ StatusReason }) => StatusReason), [`${name} has died`, `${name} has no money`]);
});

const answered: Record<string, readonly [unknown, string | undefined]> = {
  "a code and a text": [REASON, REASON],
  "a text of 256 characters, beyond Latin-1": ["ж".repeat(256), "ж".repeat(256)],
  "a longer text, which is cut": ["ж".repeat(300), `${"ж".repeat(255)}…`],
  "characters that hide or deceive, which are escaped": [
    "AC04: \u202eclosed\u0000\u200b",
    "AC04: \\u{202e}closed\\u{0}\\u{200b}",
  ],
  "an empty text": ["", undefined],
  "a number": [4, undefined],
  "an object": [{ Code: "AM04" }, undefined],
  "nothing": [undefined, undefined],
};

Deno.test("A push that the bank answers with Rejected brings the bank's reason to the TPP at once [G6] [D4]", async (t) => {
  await steps(t, answered, async ([StatusReason, shown]) => {
    await using env = await openPushEnvironment(() => Response.json({ Status: "Rejected", StatusReason }));
    const made = await paid(env);
    assertEquals([made.Status, made.StatusReason], ["Rejected", shown]);
    assertEquals(await payment(env, made.DomesticPaymentId), made);
  });
});

Deno.test("A push that is answered with a reason after retries brings it as well, and an acceptance brings none [G6]", async () => {
  await using env = await openPushEnvironment(down);
  const [first, second] = [await paid(env), await paid(env)];
  let answer: JsonObject = { Status: "Rejected", StatusReason: REASON };
  env.answer = () => {
    const response = Response.json(answer);
    answer = { Status: "AcceptedSettlementInProcess", StatusReason: REASON };
    return response;
  };
  await later(env, 1250);
  const seen = await Promise.all(
    [first, second].map(({ DomesticPaymentId }) => payment(env, DomesticPaymentId)),
  );
  assertEquals(seen.map(({ Status, StatusReason }) => [Status, StatusReason]).toSorted(), [
    ["AcceptedSettlementInProcess", undefined],
    ["Rejected", REASON],
  ]);
  const rejected = seen.find(({ Status }) => Status === "Rejected");
  assertEquals(
    (await history(env, rejected?.DomesticPaymentId ?? "")).at(-1),
    "payment.Rejected by bank BANKA",
  );
});

test("A payment that the version before has stored as Rejected is read without a reason", async ({ env }) => {
  const { DomesticPaymentId: id } = await paid(env);
  const key = ["payment", id];
  const stored = await env.store.get<object>(key);
  const value = { ...stored?.value, status: "Rejected" };
  await env.store.commit({ checks: [], writes: [{ kind: "set", key, value }] });
  const read = await payment(env, id);
  assertEquals([read.Status, Object.hasOwn(read, "StatusReason")], ["Rejected", false]);
});
