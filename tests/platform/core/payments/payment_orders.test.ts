/** The TPP's response for each way a bank can answer an order, and the pushed order [D4]. */
import { assert, assertEquals } from "@std/assert";
import { good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import {
  accepts,
  answers,
  type BankAnswer,
  down,
  history,
  later,
  openPushEnvironment,
  orderIdOf,
  ORDERS_URI,
  outboxKeys,
  paid,
  statusOf,
} from "support/orders.ts";
import { openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { assertFaults } from "testing/resource_answers.ts";

Deno.test("POST domestic-payments pushes the order and answers AcceptedSettlementInProcess where the bank accepts [D4]", async () => {
  await using env = await openPushEnvironment();
  const made = await paid(env);
  assertEquals(made.Status, "AcceptedSettlementInProcess");
  assertEquals(env.pushes.map(orderIdOf), [made.DomesticPaymentId]);
  assertEquals(await outboxKeys(env), []);
  assertEquals(await history(env, made.DomesticPaymentId), [
    `payment.Pending by ${env.tpp.clientId}`,
    "payment.AcceptedSettlementInProcess by bank BANKA",
  ]);
});

Deno.test("POST domestic-payments answers Rejected where the bank rejects, and the consent stays Consumed [D4]", async () => {
  await using env = await openPushEnvironment(answers("Rejected"));
  const flow = await authorised(env);
  const made = await good(pay(env, flow), 201);
  assertEquals(made.Data.Status, "Rejected");
  assertEquals(await outboxKeys(env), []);
  const again = await pay(env, flow);
  await assertFaults(again, 400, [["Resource.InvalidConsentStatus", "Data.ConsentId"]]);
  assertEquals(env.pushes.length, 1);
});

Deno.test("POST domestic-payments of a bank without payment_orders_uri is AcceptedSettlementInProcess at once, nothing is pushed [D4]", async () => {
  await using env = await openEnvironment();
  const made = await paid(env);
  assertEquals(made.Status, "AcceptedSettlementInProcess");
  assertEquals(await outboxKeys(env), []);
  assertEquals(await env.platform.deliverDueOrders(), 0);
  assertEquals(env.fetched.filter((url) => !url.startsWith("https://directory.example/")), []);
});

const big = "x".repeat(20_000);

const unanswered: Record<string, BankAnswer> = {
  "503": down,
  "500 with a Status in it": () => Response.json({ Status: "AcceptedSettlementInProcess" }, { status: 500 }),
  "201 with a Status in it": () => Response.json({ Status: "AcceptedSettlementInProcess" }, { status: 201 }),
  "408": () => new Response(null, { status: 408 }),
  "425": () => new Response(null, { status: 425 }),
  "429": () => new Response("slower", { status: 429 }),
  "a connection that fails": () => Promise.reject(new TypeError("connection refused")),
  "a body that breaks off": () => new Response(brokenOff('{"Status":"Accepted')),
  "a complete answer whose body then breaks off": () =>
    new Response(brokenOff('{"Status":"AcceptedSettlementInProcess"}')),
  "nothing": () => new Response(null),
  "garbage": () => new Response("<html>OK</html>"),
  "another status word": answers("Accepted"),
  "a later status": answers("AcceptedSettlementCompleted"),
  "Pending": answers("Pending"),
  "a list": () => Response.json(["AcceptedSettlementInProcess"]),
  "null": () => new Response("null"),
  "Status twice": () => new Response('{"Status":"AcceptedSettlementInProcess","Status":"Rejected"}'),
  "bytes that are no UTF-8": () => new Response(new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])),
  "an answer above 16 KiB": () => Response.json({ Status: "AcceptedSettlementInProcess", more: big }),
  "a redirect to itself": () => new Response(null, { status: 307, headers: { location: ORDERS_URI } }),
  "a redirect to a private address": () =>
    new Response(null, { status: 302, headers: { location: "http://169.254.169.254/latest" } }),
};

Deno.test("POST domestic-payments answers Pending where nothing certain came of the push, and the next push succeeds [D4, PT2]", async (t) => {
  await steps(t, unanswered, async (answer) => {
    await using env = await openPushEnvironment(answer);
    const made = await paid(env);
    assertEquals(made.Status, "Pending");
    assertEquals(await statusOf(env, made.DomesticPaymentId), "Pending");
    assertEquals(env.pushes.map(({ url }) => url), [ORDERS_URI]); // no redirect was followed
    env.answer = accepts;
    assertEquals(await later(env, 1250), 1);
    assertEquals(env.pushes.map(orderIdOf), [made.DomesticPaymentId, made.DomesticPaymentId]);
    assertEquals(await statusOf(env, made.DomesticPaymentId), "AcceptedSettlementInProcess");
    assertEquals(await outboxKeys(env), []);
  });
});

Deno.test("POST domestic-payments reads no more than 16 KiB of the bank's answer [D4]", async () => {
  let sent = 0;
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 1024;
      controller.enqueue(new Uint8Array(1024).fill(0x20));
    },
    cancel: () => void (cancelled = true),
  });
  await using env = await openPushEnvironment(() => new Response(endless));
  assertEquals((await paid(env)).Status, "Pending");
  assert(sent <= 20 * 1024, `${sent} bytes were taken`);
  assert(cancelled);
});

function brokenOff(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
    },
    pull(controller) {
      controller.error(new TypeError("connection reset"));
    },
  });
}
