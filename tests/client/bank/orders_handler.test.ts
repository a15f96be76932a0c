/** The handler of pushed orders gives the bank's ledger only what the platform has signed for it [D4]. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { decodeJwt, exportPKCS8, type JWTPayload, SignJWT } from "jose";
import { decryptionKey } from "../../../src/client/bank/bank.ts";
import { type OrderBook, ordersHandler } from "../../../src/client/bank/orders_handler.ts";
import { SettingsError } from "../../../src/client/party/errors.ts";
import { testKey } from "testing/keys.ts";
import { authUrl, openTestBank, order, platformKeySet } from "./bank_client.ts";

const [own, platform] = await Promise.all([testKey(0), testKey(1)]);
const keySet = (status: number) => () => Promise.resolve(Response.json(platformKeySet, { status }));

async function pushed(claims: JWTPayload = {}, typ?: string): Promise<string> {
  const all = {
    iss: authUrl,
    aud: "BANKA",
    exp: Math.floor(Date.now() / 1000) + 300,
    Data: order,
    ...claims,
  };
  return await new SignJWT(all)
    .setProtectedHeader({ alg: "PS256", kid: "platform", ...(typ === undefined ? {} : { typ }) })
    .sign(await platform.privateKey("sign"));
}

function post(body: BodyInit, type = "application/jose"): Request {
  return new Request("https://bank.example/orders", {
    method: "POST",
    body,
    headers: { "content-type": type },
  });
}

/** What the handler answers, and how often the ledger was asked. */
async function answered(
  request: Request,
  { book = {}, keySetStatus = 200 }: { readonly book?: Partial<OrderBook>; readonly keySetStatus?: number } =
    {},
): Promise<readonly [status: number, body: string, executed: number]> {
  let executed = 0;
  const execute: OrderBook["execute"] = async (seen) => {
    executed += 1;
    return await (book.execute?.(seen) ?? { status: "AcceptedSettlementInProcess" });
  };
  const handle = ordersHandler(await openTestBank(keySet(keySetStatus)), { ...book, execute });
  const response = await handle(request);
  return [response.status, await response.text(), executed];
}

Deno.test("an order of the platform is executed, and its answer is the ledger's", async () => {
  const accepted = '{"Status":"AcceptedSettlementInProcess"}';
  assertEquals(await answered(post(await pushed(), "Application/JOSE; charset=utf-8")), [200, accepted, 1]);
  const rejection = {
    execute: () => Promise.resolve({ status: "Rejected", reasonCode: "AM04", reason: "no money" } as const),
  };
  const rejected = '{"Status":"Rejected","StatusReasonCode":"AM04","StatusReason":"no money"}';
  assertEquals(await answered(post(await pushed()), { book: rejection }), [200, rejected, 1]);
  const own = { execute: () => Promise.resolve(new Response("later", { status: 503 })) };
  assertEquals(await answered(post(await pushed()), { book: own }), [503, "later", 1]);
});

Deno.test("the statement after a restore has what the bank said of each order, and nothing else [RSN5]", async () => {
  const at = Date.UTC(2020, 0, 31);
  const held = { domesticPaymentId: order.DomesticPaymentId, consentId: "C-1", at, signed: "a.b.c" };
  const heldSince: OrderBook["heldSince"] = () =>
    Promise.resolve([
      { ...held, status: "Rejected", reasonCode: "AM04", reason: "no money" },
      { domesticPaymentId: "P-2", status: "AcceptedSettlementCompleted", at },
    ]);
  const inquiry = await pushed({ Data: { Since: "2020-01-01T00:00:00Z" } }, "order-inquiry+jwt");
  const [status, statement] = await answered(post(inquiry), { book: { heldSince } });
  assertEquals(status, 200);
  const { Data } = decodeJwt<{ readonly Data: object }>(statement);
  const changed = "2020-01-31T00:00:00.000Z";
  assertEquals(Data, {
    Since: "2020-01-01T00:00:00Z",
    PaymentOrder: [
      {
        DomesticPaymentId: order.DomesticPaymentId,
        ConsentId: "C-1",
        Status: "Rejected",
        StatusUpdateDateTime: changed,
        StatusReasonCode: "AM04",
        StatusReason: "no money",
        Order: "a.b.c",
      },
      { DomesticPaymentId: "P-2", Status: "AcceptedSettlementCompleted", StatusUpdateDateTime: changed },
    ],
  });
});

Deno.test("a page of the statement has at most 64 KiB, and all pages have every order once [EN16]", async () => {
  const orders = Array.from({ length: 23 }, (_, at) => ({
    domesticPaymentId: `P-${at}`,
    status: "Rejected",
    at,
    reason: "€".repeat(256),
    signed: "x".repeat(at === 7 ? 24_576 : 5_120), // the longest that the platform takes, and those of long orders
  }));
  const book = { heldSince: () => Promise.resolve(orders) };
  const stated: unknown[] = [];
  for (let After: string | undefined, isFirst = true; isFirst || After !== undefined; isFirst = false) {
    const inquiry = await pushed({ Data: { Since: "2020-01-01T00:00:00Z", After } }, "order-inquiry+jwt");
    const [, statement] = await answered(post(inquiry), { book });
    assert(statement.length <= 65_536, `${statement.length} characters`);
    const { Data } = decodeJwt<{ Data: { Next?: string; PaymentOrder: { DomesticPaymentId: string }[] } }>(
      statement,
    );
    stated.push(...Data.PaymentOrder.map((one) => one.DomesticPaymentId));
    After = Data.Next;
  }
  assertEquals(stated, orders.map((one) => one.domesticPaymentId));
});

Deno.test("what is not the platform's order for this bank does not reach the ledger", async (t) => {
  const forged = await new SignJWT({ iss: authUrl, aud: "BANKA", exp: 9_999_999_999, Data: order })
    .setProtectedHeader({ alg: "PS256", kid: "platform" }).sign(await own.privateKey("sign"));
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(16_384)) });
  const cases: Readonly<Record<string, readonly [request: Request, status: number]>> = {
    "a GET": [new Request("https://bank.example/orders"), 405],
    "another media type": [post(await pushed(), "application/json"), 415],
    "a body without an end": [post(endless), 413],
    "no JWS": [post("{}"), 400],
    "a signature of another key": [post(forged), 400],
    "another bank's": [post(await pushed({ aud: "BANKB" })), 400],
    "another platform's": [post(await pushed({ iss: "https://other.example" })), 400],
    "an expired one": [post(await pushed({ exp: 1 })), 400],
    "an inquiry, by a bank that keeps no statement": [post(await pushed({}, "order-inquiry+jwt")), 503],
  };
  for (const [name, [request, expected]] of Object.entries(cases)) {
    await t.step(name, async () => {
      const [status, , executed] = await answered(request);
      assertEquals([status, executed], [expected, 0]);
    });
  }
});

Deno.test("a failure that may pass is answered with 503 and logged without the order", async () => {
  const reasons: string[] = [];
  const onRejected = (reason: string): void => void reasons.push(reason);
  const broken = { onRejected, execute: () => Promise.reject(new Error("the ledger is away")) };
  const [status] = await answered(post(await pushed()), { book: broken });
  const [withoutKeys, , executed] = await answered(post(await pushed()), {
    book: { onRejected },
    keySetStatus: 502,
  });
  assertEquals([status, withoutKeys, executed], [503, 503, 0]);
  assertEquals(reasons, ["the ledger is away", `${authUrl}/jwks answered 502`]);
});

Deno.test("a key that cannot open handovers is named when the bank is opened", async () => {
  const pem = await exportPKCS8(await own.privateKey("decrypt"));
  assertEquals((await decryptionKey("enc", pem)).algorithm.name, "RSA-OAEP");
  for (const key of ["secret", { kty: "oct", k: "c2VjcmV0" }, await own.privateKey("sign")]) {
    const error = await assertRejects(
      () => decryptionKey("enc", key),
      SettingsError,
      "cannot decrypt RSA-OAEP-256",
    );
    assertEquals(error.message.includes("secret"), false);
  }
});
