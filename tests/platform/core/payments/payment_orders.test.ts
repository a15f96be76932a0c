/**
 * The TPP's response for each way a bank can answer an order, and the pushed order [D4]. An order goes where the
 * statement says and nowhere else: over real HTTP, since only a real fetch follows redirects [D4].
 */
import { assert, assertEquals } from "@std/assert";
import { consentBody, good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import {
  accepts,
  answers,
  type BankAnswer,
  copiesOf,
  down,
  history,
  later,
  onlyPush,
  openPushEnvironment,
  orderIdOf,
  ORDERS_URI,
  outboxKeys,
  outboxOrder,
  paid,
  payment,
  type Push,
  type PushEnvironment,
  silent,
  statusOf,
} from "support/orders.ts";
import { AUTH_URL, openEnvironment } from "testing/environment.ts";
import { steps, stepsOf } from "support/steps.ts";
import { assertFaults } from "testing/resource_answers.ts";
import { createLocalJWKSet, jwtVerify } from "jose";
import { bodyOf, type PlatformKeys } from "testing/answers.ts";
import { testTemplate } from "testing/test_store.ts";

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

Deno.test("POST domestic-payments takes an answer of exactly 16 KiB [D4]", async () => {
  const answer = '{"Status":"AcceptedSettlementInProcess"}';
  await using env = await openPushEnvironment(() => new Response(answer.padEnd(16_384, " ")));
  assertEquals((await paid(env)).Status, "AcceptedSettlementInProcess");
});

Deno.test(
  "POST domestic-payments waits 3 s for the bank, not longer; a push that takes longer still counts [D4]",
  {
    ignore: testTemplate() !== undefined, // PostgreSQL has a timer of 3 s as well, which would end at once here
  },
  async () => {
    const gate = Promise.withResolvers<void>();
    await using env = await openPushEnvironment(async () => {
      await gate.promise;
      return Response.json({ Status: "AcceptedSettlementInProcess" });
    });
    const flow = await authorised(env);
    using timers = instantTimers();
    const made = (await good(pay(env, flow), 201)).Data;
    assertEquals([made.Status, timers.waits], ["Pending", [3000]]);
    gate.resolve();
    await env.platform.stop(); // waits for the push
    assertEquals(await statusOf(env, made.DomesticPaymentId), "AcceptedSettlementInProcess");
    assertEquals(env.pushes.length, 1);
  },
);

/** Timers of 3 s end at once and are counted, so the test does not depend on the machine. The request's body has a timer of 5 s. */
function instantTimers(): Disposable & { readonly waits: readonly number[] } {
  const original = globalThis.setTimeout;
  const waits: number[] = [];
  globalThis.setTimeout = new Proxy(original, {
    apply(timer, self, [task, delay = 0, ...given]) {
      if (delay === 3000) waits.push(delay);
      return Reflect.apply(timer, self, [task, delay === 3000 ? 0 : delay, ...given]);
    },
  });
  return { waits, [Symbol.dispose]: () => void (globalThis.setTimeout = original) };
}

Deno.test("A push is given up after 5 s and its order tried again [D4]", async () => {
  await using env = await openPushEnvironment(silent);
  const made = await paid(env);
  assertEquals(made.Status, "Pending");
  await env.platform.stop();
  assertEquals(env.pushes.map(({ signal }) => signal.aborted), [true]);
  env.answer = accepts;
  assertEquals(await later(env, 1250), 1);
  assertEquals(await statusOf(env, made.DomesticPaymentId), "AcceptedSettlementInProcess");
});

Deno.test("The pushed order is a PS256 JWT of the platform for this bank, with the full initiation and the account that pays [D4]", async () => {
  await using env = await openPushEnvironment();
  const initiation = {
    CreditorPostalAddress: { TownName: "Bogota", Country: "CO" },
    RemittanceInformation: { Reference: "FRESCO-101" },
  };
  const flow = await authorised(env, { body: consentBody({ initiation }) });
  const made = (await good(pay(env, flow), 201)).Data;
  const push = onlyPush(env);
  assertEquals([push.method, push.headers.get("content-type")], ["POST", "application/jose"]);
  const jwks = await bodyOf<PlatformKeys>(env.browser(new Request(`${AUTH_URL}/jwks`)));
  const { payload, protectedHeader } = await jwtVerify(push.body, createLocalJWKSet(jwks), {
    algorithms: ["PS256"],
    issuer: AUTH_URL,
    audience: "BANKA",
    currentDate: new Date(env.now),
  });
  assertEquals([protectedHeader.alg, protectedHeader.typ], ["PS256", "JWT"]);
  const { iat = 0, exp = 0, jti } = payload;
  assertEquals([iat, exp - iat, typeof jti], [env.now / 1000, 300, "string"]);
  assertEquals(payload.aud, "BANKA"); // a string, not a list
  assertEquals(payload["Data"], {
    DomesticPaymentId: made.DomesticPaymentId,
    ConsentId: flow.consentId,
    CreationDateTime: "2040-01-15T12:00:00+00:00",
    Status: "Pending",
    StatusUpdateDateTime: "2040-01-15T12:00:00+00:00",
    Initiation: flow.body.Data.Initiation,
    DebtorAccount: { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555" },
    Charges: [],
  });
});

Deno.test("Each push of an order has a jti of its own and the payment's one id [D4]", async () => {
  await using env = await openPushEnvironment(down);
  const made = await paid(env);
  await later(env, 1250);
  await later(env, 2500);
  assertEquals(env.pushes.length, 3);
  assertEquals(new Set(env.pushes.map(orderIdOf)), new Set([made.DomesticPaymentId]));
  assertEquals(new Set(env.pushes.map(({ body }) => body)).size, 3);
});

Deno.test("GET domestic-payments moves StatusUpdateDateTime with the bank's late answer [PT3]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId } = await paid(env);
  env.answer = accepts;
  await later(env, 60_000);
  const { Status, CreationDateTime, StatusUpdateDateTime } = await payment(env, DomesticPaymentId);
  assertEquals([Status, CreationDateTime, StatusUpdateDateTime], [
    "AcceptedSettlementInProcess",
    "2040-01-15T12:00:00+00:00",
    "2040-01-15T12:01:00+00:00",
  ]);
});

Deno.test("POST domestic-payments follows no redirect of the bank, whatever its status [D4, SSRF]", async (t) => {
  let reached = 0;
  await using elsewhere = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    reached++;
    return Response.json({ Status: "AcceptedSettlementInProcess" });
  });
  let status = 0;
  await using bank = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    await request.text();
    return new Response(null, { status, headers: { location: `http://127.0.0.1:${elsewhere.addr.port}/` } });
  });
  const toBank = ({ method, headers, body, signal, redirect }: Push): Promise<Response> =>
    fetch(`http://127.0.0.1:${bank.addr.port}/`, { method, headers, body, signal, redirect });
  await using env = await openPushEnvironment(toBank);
  for (status of [301, 302, 303, 307, 308]) {
    await t.step(String(status), async () => {
      const made = await paid(env);
      assertEquals([made.Status, reached], ["Pending", 0]);
      const order = await outboxOrder(env, made.DomesticPaymentId);
      assertEquals([order?.failures, order?.lastFailure], [1, `status ${status}`]);
    });
  }
});

Deno.test("An order whose payment_orders_uri may not be called is never sent anywhere [D4, SSRF]", async (t) => {
  const forbidden = [
    "http://bank-a.example/payment-orders",
    "https://127.0.0.1/payment-orders",
    "https://127.1.2.3/payment-orders",
    "https://2130706433/payment-orders",
    "https://localhost:8443/payment-orders",
    "http://localhost:8443/payment-orders",
    "https://[::1]/payment-orders",
    "https://[fd00::1]/payment-orders",
    "https://10.0.0.1/payment-orders",
    "https://169.254.169.254/latest/meta-data",
    "https://metadata.google.internal/payment-orders",
    "https://printer.local/payment-orders",
    "https://bank/payment-orders",
    "https://user:secret@bank-a.example/payment-orders",
    "ftp://bank-a.example/payment-orders",
    "file:///etc/passwd",
    "not a URL",
  ];
  await stepsOf(t, forbidden, (uri) => uri, async (uri) => {
    await using env = await openPushEnvironment();
    await registeredAt(env, uri);
    const made = await paid(env);
    assertEquals([made.Status, env.pushes.length], ["Pending", 0]);
    const order = await outboxOrder(env, made.DomesticPaymentId);
    assertEquals(order?.lastFailure, "payment_orders_uri may not be called");
  });
});

Deno.test("An order whose bank has given up its payment_orders_uri waits for the bank's own report [D2, D4]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId: id } = await paid(env);
  await registeredAt(env, undefined);
  assertEquals(await later(env, 1250), 1);
  assertEquals(env.pushes.length, 1);
  assertEquals((await outboxOrder(env, id))?.lastFailure, "the bank has no payment_orders_uri");
  assertEquals((await payment(env, id)).Status, "Pending");
});

Deno.test("A pass delivers every order that is due, however many wait [D4]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId } = await paid(env);
  const ids = [DomesticPaymentId, ...await copiesOf(env, DomesticPaymentId, 119)];
  env.answer = accepts;
  assertEquals(await later(env, 1250), 120); // more than one page, and more than a bank's pushes at a time
  assertEquals(env.pushes.slice(1).map(orderIdOf).toSorted(), ids.toSorted());
  assertEquals(await outboxKeys(env), []);
});

/** Puts another address into the bank's registration, past every check of the directory's and of registration's. */
async function registeredAt(env: PushEnvironment, uri: string | undefined): Promise<void> {
  const key = ["bank", "BANKA"];
  const bank = await env.store.get<Record<string, unknown>>(key);
  const { paymentOrdersUri: _, ...rest } = bank?.value ?? {};
  const value = uri === undefined ? rest : { ...rest, paymentOrdersUri: uri };
  await env.store.commit({ checks: [], writes: [{ kind: "set", key, value }] });
}
