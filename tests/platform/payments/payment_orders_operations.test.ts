/** The operator's view of orders that were given up, and the way to have one tried again. */
import { assertEquals } from "@std/assert";
import { readConfig } from "../../../src/platform/config.ts";
import {
  accepts,
  down,
  history,
  later,
  openPushEnvironment,
  outboxOrder,
  paid,
  type PushEnvironment,
  statusOf,
} from "support/orders.ts";
import type { Json } from "testing/flows.ts";
import { AUTH_URL, BASE_URL, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";

const TOKEN = "an-operators-token-0123456789-abcdefghij";
const LIST = "/operations/payment-orders?state=dead";
const bearer = { authorization: `Bearer ${TOKEN}` };

Deno.test("GET operations/payment-orders lists the orders that were given up, and only those", async () => {
  await using env = await openOperated();
  const { DomesticPaymentId: dead } = await paid(env);
  await giveUp(env);
  await paid(env);
  const answer = await operate(env, LIST);
  assertEquals([answer.status, answer.headers.get("cache-control")], [200, "no-store"]);
  assertEquals(await answer.json(), {
    Data: {
      PaymentOrder: [{
        DomesticPaymentId: dead,
        BankId: "BANKA",
        State: "dead",
        PushFailures: 11,
        LastFailure: "status 503",
        GivenUpDateTime: new Date((await outboxOrder(env, dead))?.dueAt ?? NaN).toISOString()
          .replace(/\.\d{3}Z$/, "+00:00"),
        CreationDateTime: "2040-01-15T12:00:00+00:00",
        InstructedAmount: { Amount: "165.88", Currency: "EUR" },
      }],
    },
  });
});

Deno.test("GET operations/payment-orders pages by After", async () => {
  await using env = await openOperated();
  const { DomesticPaymentId: dead } = await paid(env);
  await giveUp(env);
  const [order, payment] = await env.store.getMany<Json>([["outbox", dead], ["payment", dead]]);
  for (let copy = 0; copy < 100; copy++) {
    const id = crypto.randomUUID();
    await env.store.commit({
      checks: [],
      writes: [
        { kind: "set", key: ["outbox", id], value: { ...order?.value, paymentId: id } },
        { kind: "set", key: ["outbox_dead", id], value: id },
        { kind: "set", key: ["payment", id], value: { ...payment?.value, id } },
      ],
    });
  }
  const first = (await (await operate(env, LIST)).json()).Data;
  const second = (await (await operate(env, `${LIST}&after=${first.After}`)).json()).Data;
  const ids = [...first.PaymentOrder, ...second.PaymentOrder].map((listed: Json) => listed.DomesticPaymentId);
  assertEquals([first.PaymentOrder.length, second.PaymentOrder.length, second.After], [100, 1, undefined]);
  assertEquals([new Set(ids).size, ids.includes(dead)], [101, true]);
});

Deno.test("POST redrive has the order tried again, with every retry before it, and tells who wanted it", async () => {
  await using env = await openOperated();
  const { DomesticPaymentId: id } = await paid(env);
  await giveUp(env);
  const redriven = await operate(env, redriveOf(id), { ...bearer, "x-operator": "maria" });
  assertEquals([redriven.status, await redriven.json()], [202, {
    Data: { DomesticPaymentId: id, State: "due" },
  }]);
  assertEquals((await (await operate(env, LIST)).json()).Data.PaymentOrder, []);
  assertEquals((await outboxOrder(env, id))?.failures, 0);
  assertEquals(await later(env, 0), 1); // fails again
  assertEquals((await outboxOrder(env, id))?.dead, false);
  env.answer = accepts;
  await later(env, 30_000);
  assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
  assertEquals((await history(env, id)).slice(1), [
    "payment_order.dead by platform",
    "payment_order.redriven by operator maria",
    "payment.AcceptedSettlementInProcess by bank BANKA",
  ]);
});

Deno.test("POST redrive of an order that is not given up is 409, of one that is not there 404, and changes nothing", async () => {
  await using env = await openOperated();
  const { DomesticPaymentId: id } = await paid(env);
  const before = await env.snapshot();
  const conflict = await operate(env, redriveOf(id));
  assertEquals([conflict.status, (await conflict.json()).error], [409, "conflict"]);
  for (const unknown of [crypto.randomUUID(), "x", "..%2f", `${id}0`]) {
    const answer = await operate(env, redriveOf(unknown));
    assertEquals([answer.status, (await answer.json()).error], [404, "not_found"]);
  }
  assertEquals(await env.snapshot(), before);
});

Deno.test("Of ten parallel redrives one succeeds", async () => {
  await using env = await openOperated();
  const { DomesticPaymentId: id } = await paid(env);
  await giveUp(env);
  const all = await Promise.all(Array.from({ length: 10 }, () => operate(env, redriveOf(id))));
  await Promise.all(all.map((answer) => answer.body?.cancel()));
  assertEquals(all.map(({ status }) => status).toSorted(), [202, ...Array(9).fill(409)]);
  assertEquals((await history(env, id)).filter((line) => line.includes("redriven")).length, 1);
});

const rejectedTokens: Record<string, Record<string, string>> = {
  "no token": {},
  "another token": { authorization: `Bearer ${TOKEN.replace("an", "on")}` },
  "a shorter token": { authorization: `Bearer ${TOKEN.slice(0, -1)}` },
  "a longer token": { authorization: `Bearer ${TOKEN}0` },
  "an empty token": { authorization: "Bearer " },
  "the token without its scheme": { authorization: TOKEN },
  "another scheme": { authorization: `DPoP ${TOKEN}` },
  "basic authentication": { authorization: `Basic ${btoa(`operator:${TOKEN}`)}` },
  "the token twice": { authorization: `Bearer ${TOKEN}, Bearer ${TOKEN}` },
};

Deno.test("The operator's routes reject everyone without the token, in one way", async (t) => {
  await using env = await openOperated();
  const { DomesticPaymentId: id } = await paid(env);
  await giveUp(env);
  const before = await env.snapshot();
  await steps(t, rejectedTokens, async (headers) => {
    for (const path of [LIST, redriveOf(id)]) {
      const answer = await operate(env, path, headers);
      assertEquals([answer.status, answer.headers.get("www-authenticate")], [401, "Bearer"]);
      assertEquals(await answer.json(), {
        error: "unauthorized",
        error_description: "The operator token is missing or wrong.",
      });
    }
    assertEquals(await env.snapshot(), before);
  });
});

Deno.test("The operator's routes reject what they do not understand with 400", async () => {
  await using env = await openOperated();
  for (const query of ["", "?state=alive", "?state=", "?state=dead&after=x"]) {
    const answer = await operate(env, `/operations/payment-orders${query}`);
    assertEquals([answer.status, (await answer.json()).error], [400, "invalid_request"], query);
  }
  const named = await operate(env, LIST, { ...bearer, "x-operator": "a b" });
  assertEquals([named.status, (await named.json()).error], [400, "invalid_request"]);
  const deleted = await env.api(new Request(`${BASE_URL}${LIST}`, { method: "DELETE", headers: bearer }));
  assertEquals([deleted.status, deleted.headers.get("allow")], [405, "GET"]);
});

Deno.test("Without OPERATOR_TOKEN there is nothing at the operator's addresses, on either host", async () => {
  await using env = await openEnvironment();
  for (const [method, path] of [["GET", LIST], ["POST", redriveOf(crypto.randomUUID())], ["DELETE", LIST]]) {
    for (const headers of [{}, bearer, { authorization: "Bearer undefined" }, { authorization: "Bearer " }]) {
      const answer = await env.api(new Request(`${BASE_URL}${path}`, { method: method ?? "", headers }));
      assertEquals(answer.status, 404);
      await answer.body?.cancel();
    }
    const atBrowserHost = await env.browser(new Request(`${AUTH_URL}${path}`, { method: method ?? "" }));
    assertEquals(atBrowserHost.status, 404);
    await atBrowserHost.body?.cancel();
  }
});

Deno.test("The operator's routes are no part of the published API document", async () => {
  await using env = await openOperated();
  const document = await (await env.browser(new Request(`${AUTH_URL}/openapi.json`))).json();
  assertEquals(Object.keys(document.paths).filter((path) => path.includes("operations")), []);
});

Deno.test("OPERATOR_TOKEN must be long and random, or absent", async () => {
  await using env = await openEnvironment();
  assertEquals(env.config.operatorToken, undefined);
  for (const token of ["short", "a".repeat(40), "has a space in it 0123456789abcdefghijkl"]) {
    let fault = "";
    try {
      readConfig({ OPERATOR_TOKEN: token });
    } catch (error) {
      fault = error instanceof Error ? error.message : "";
    }
    assertEquals([fault.includes("OPERATOR_TOKEN: must"), fault.includes(token)], [true, false]);
  }
});

async function openOperated(): Promise<PushEnvironment> {
  return await openPushEnvironment(down, { environment: { OPERATOR_TOKEN: TOKEN } });
}

/** Lets so much time pass that everything that fails is given up. */
async function giveUp(env: PushEnvironment): Promise<void> {
  for (let hour = 0; hour < 12; hour++) await later(env, 3_600_000);
}

function redriveOf(id: string): string {
  return `/operations/payment-orders/${id}/redrive`;
}

/** No client certificate: operators are no participants. */
function operate(
  env: PushEnvironment,
  path: string,
  headers: Record<string, string> = bearer,
): Promise<Response> {
  const method = path.includes("redrive") ? "POST" : "GET";
  return env.platform.api.fetch(new Request(`${BASE_URL}${path}`, { method, headers }));
}
