/** `deno task case compare` with events of a dispute, and with a bundle from which entries of operators are withheld. */
import { assertEquals, assertMatch } from "@std/assert";
import { decodeJwt } from "jose";
import type { PaymentReceipt } from "testing/answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { call, good, pay } from "testing/flows.ts";
import { sharedToken } from "testing/shared_token.ts";
import { openPushEnvironment, type PushEnvironment } from "support/orders.ts";
import { PAYMENTS } from "support/resource_calls.ts";
import { giveUp } from "../../../platform/core/payments/operated.ts";
import { poll } from "../../../platform/events/poll.ts";
import { caseCommand } from "../../../../scripts/operators/case/main.ts";
import { grownBundle, toolsFor } from "./bundles.ts";
import { forge, type Forged } from "./forging.ts";

const OK = [true, "ok: the bundle has what the other file says"] as const;

function openComparison(
  env: PushEnvironment,
): (bundle: string, token: string) => Promise<readonly [boolean, string]> {
  const tools = toolsFor(env.platform);
  return async (bundle, token) => {
    tools.files.set("bundle", bundle);
    tools.files.set("token", `${token}\n`);
    const agree = await caseCommand(["compare", "token", "bundle"], tools);
    return [agree, tools.printed.splice(0).join("\n")];
  };
}

async function newestEvent(env: PushEnvironment): Promise<string> {
  const tokens = Object.values<string>((await good(poll(env), 200)).sets);
  return tokens.at(-1) ?? "";
}

/** A payment whose order an operator has closed, with the token of its TPP and its receipt. */
async function closed(env: PushEnvironment): Promise<{ readonly id: string; readonly receipt: string }> {
  env.answer = () => new Response("no", { status: 422 });
  const flow = await authorised(env);
  const id = (await good(pay(env, flow), 201)).Data.DomesticPaymentId;
  await giveUp(env);
  const headers = { "content-type": "application/json" };
  const Data = { Reason: "The bank never had it.", StatusReason: "Not taken.", MayBeAtBank: true };
  const init = { method: "POST", headers, body: JSON.stringify({ Data }) };
  await good(env.asOperator(`/operations/payment-orders/${id}/close`, init), 200);
  const bound = await sharedToken(env, env.tpp, "BANKA");
  const { Data: { Receipt: receipt } } = await good<PaymentReceipt>(
    call(env, env.tpp, bound, `${PAYMENTS}/${id}/receipt`),
    200,
  );
  return { id, receipt };
}

async function dispute(env: PushEnvironment, by: PushEnvironment["tpp"], data: object): Promise<void> {
  const body = JSON.stringify({ Data: { Statement: "It never came.", ...data } });
  await good(call(env, by, await sharedToken(env, by, "BANKA"), "/BANKA/disputes/v1", { body }), 201);
}

Deno.test("an event of a dispute contradicts a later bundle that leaves its step out [EV15, DSP6]", async () => {
  await using env = await openPushEnvironment();
  const id = (await good(pay(env, await authorised(env)), 201)).Data.DomesticPaymentId;
  await dispute(env, env.tpp, { DomesticPaymentId: id, Action: "Open" });
  await dispute(env, env.bankA, { DomesticPaymentId: id, Action: "Answer", IsAgreed: true });
  const event = await newestEvent(env);
  env.now += 3_600_000;
  const [text, compare] = [await grownBundle(env, id), openComparison(env)];
  assertEquals(await compare(text, event), OK);
  const { payment_entries } = decodeJwt<{ readonly payment_entries: number }>(
    (JSON.parse(text) as { readonly statement: string }).statement,
  );
  const cut = ({ entries }: Forged): void => void entries.pop();
  const [agree, said] = await compare(
    await forge(text, cut, { payment_entries: payment_entries - 1 }),
    event,
  );
  assertEquals(agree, false);
  assertMatch(said, /^CONTRADICTION: the event of \S+ says dispute-changed \(Decided\), and the bundle has/);
});

Deno.test("what an operator has done is no contradiction in a participant's own bundle, which withholds it [EV15, EV18]", async () => {
  await using env = await openPushEnvironment();
  const { id, receipt } = await closed(env);
  const event = await newestEvent(env);
  env.now += 3_600_000;
  const compare = openComparison(env);
  const whole = await grownBundle(env, id);
  const own = await call(env, env.tpp, await sharedToken(env, env.tpp, "BANKA"), `/BANKA/cases/v1/${id}`);
  const text = await own.text();
  for (const bundle of [whole, text]) {
    for (const token of [event, receipt]) assertEquals(await compare(bundle, token), OK);
  }
});
