/** Receipts: what the TPP gets for its payer, and what the public page makes of what is pasted (contract RCP1 to RCP5). */
import type { Receipt } from "../../../../src/platform/core/receipts/receipt.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { openKeyRing } from "../../../../src/base/jose/key_ring.ts";
import { type OwnKey, signClaims } from "../../../../src/base/jose/own_key.ts";
import { CATALOGUES } from "../../../../src/pages/phrase.ts";
import { formatInstant } from "../../../../src/pages/formats.ts";
import { LANGUAGES } from "../../../../src/pages/language.ts";
import { findReceiptKey } from "../../../../src/platform/core/receipts/receipt_keys.ts";
import { verifyReceipt } from "../../../../src/platform/core/receipts/verify_receipt.ts";
import { call, clientToken, consentBody, good } from "testing/flows.ts";
import type { PaymentReceipt } from "testing/answers.ts";
import { assertNotFound, paidAt, putStatus } from "testing/back_channel.ts";
import { authorised } from "testing/authorization_flow.ts";
import { AUTH_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { assertBrowserHeaders, headingOf } from "testing/front_channel.ts";
import { signJwt } from "testing/jwts.ts";
import { assertChallenge } from "testing/resource_answers.ts";
import { platformKeySet } from "testing/platform_keys.ts";
import { material } from "support/jwt_kinds.ts";
import { erase } from "support/personal_case.ts";
import { PAYMENTS } from "support/resource_calls.ts";
import { steps } from "support/steps.ts";
import { open } from "support/open_page.ts";
import { test } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";
import { tracesAt } from "../../operations/traces/read_traces.ts";

const TYP = "payment-receipt+jwt";
const EN = CATALOGUES.en;
const receiptAt = (id: string): string => `${PAYMENTS}/${id}/receipt`;

/** A payment and its receipt. */
async function receiptOf(
  env: Environment,
): Promise<{ id: string; consentId: string; receipt: string; flow: Awaited<ReturnType<typeof authorised>> }> {
  const { data, flow } = await paidAt(env, env.bankA, { body: consentBody() });
  const { DomesticPaymentId: id, ConsentId: consentId } = data;
  const { Data } = await good<PaymentReceipt>(call(env, env.tpp, flow.payment, receiptAt(id)), 200);
  return { id, consentId, receipt: Data.Receipt, flow };
}

async function pasted(env: Environment, receipt: string, lang = "en"): Promise<string> {
  const init = { method: "POST", body: new URLSearchParams({ receipt }) };
  const answer = await open(env, `/receipt?lang=${lang}`, init);
  assertEquals(answer.status, 200);
  assertBrowserHeaders(answer);
  return await answer.text();
}

async function signer(env: Environment): Promise<OwnKey> {
  return (await openKeyRing(env.config.keys)).signer;
}

test("a receipt has amount, payee, status and references, and nothing of the payer [RCP1] [RCP2]", async ({ env }) => {
  const { id, receipt } = await receiptOf(env);
  const { kid, ...header } = decodeProtectedHeader(receipt);
  assertEquals(header, { alg: "PS256", typ: TYP });
  assertEquals(kid, (await signer(env)).kid);
  const { bank_name, tpp_name, status_at, created_at, iat, ...claims } = decodeJwt<Receipt>(receipt);
  assertEquals(claims, {
    iss: AUTH_URL,
    sub: id,
    amount: "165.88",
    currency: "EUR",
    payee: "ACME Inc",
    payee_account_scheme: "UK.OBIE.IBAN",
    payee_account_ending: "2606",
    status: "AcceptedSettlementInProcess",
    bank: "BANKA",
    end_to_end_identification: "FRESCO.21302.GFX.20",
  });
  assertEquals([bank_name, tpp_name], [env.bankA.name, env.tpp.name]);
  assertEquals([Date.parse(status_at), Date.parse(created_at), iat], [env.now, env.now, env.now / 1000]);
});

test("a TPP finds that it has asked for a receipt by the payment and by the consent, whatever its token [TRC1]", async ({ env }) => {
  const { id, consentId, flow } = await receiptOf(env);
  await good(call(env, env.tpp, flow.bound, receiptAt(id)), 200);
  for (const query of [`?payment_id=${id}`, `?consent_id=${consentId}`]) {
    const endpoints = (await tracesAt(env, query)).map(({ Endpoint }) => Endpoint);
    assertEquals(endpoints.filter((endpoint) => endpoint.endsWith("/receipt")).length, 2, query);
  }
});

test("a receipt has the payment's status at its time, and the page shows it in words [RCP1] [RCP3]", async ({ env, t }) => {
  const ways = {
    AcceptedSettlementInProcess: [],
    Rejected: ["Rejected"],
    AcceptedSettlementCompleted: ["AcceptedSettlementCompleted"],
    AcceptedWithoutPosting: ["AcceptedSettlementCompleted", "AcceptedWithoutPosting"],
    AcceptedCreditSettlementCompleted: ["AcceptedSettlementCompleted", "AcceptedCreditSettlementCompleted"],
  } as const;
  await steps(t, ways, async (reports) => {
    const createdAt = env.now;
    const { id, receipt: first, flow } = await receiptOf(env);
    for (const Status of reports) {
      env.now += 60_000;
      await good(putStatus(env, env.bankA, id, Status), 200);
    }
    const statusAt = env.now;
    env.now += 60_000;
    const status = reports.at(-1) ?? "AcceptedSettlementInProcess";
    const { Data } = await good<PaymentReceipt>(call(env, env.tpp, flow.bound, receiptAt(id)), 200);
    const { created_at, status_at, iat, ...claims } = decodeJwt<Receipt>(Data.Receipt);
    assertEquals(claims.status, status);
    const times = [createdAt, statusAt, env.now];
    assertEquals([Date.parse(created_at), Date.parse(status_at), iat * 1000], times);
    const shown = await pasted(env, Data.Receipt);
    const instants = [env.now, statusAt, createdAt].map((at) => formatInstant("en", at));
    const texts = [...shown.matchAll(/<bdi>([^<]+)<\/bdi>/g)].map(([, text = ""]) => text);
    assertEquals(texts.filter((text) => instants.includes(text)), instants);
    assertStringIncludes(shown, 'method="post" action="/receipt?lang=en"');
    assertStringIncludes(shown, EN[`receipt.status.${status}`]);
    assertEquals(headingOf(shown), EN[status === "Rejected" ? "receipt.genuineRejected" : "receipt.genuine"]);
    // The earlier receipt stays what it was.
    assertStringIncludes(await pasted(env, first), EN["receipt.status.AcceptedSettlementInProcess"]);
  });
});

Deno.test("the receipt of a payment that the bank has not answered says so [RCP1] [RCP3]", async () => {
  await using env = await openEnvironment({ paymentOrdersUri: { bankA: "https://bank.example/orders" } });
  const { network } = env;
  env.network = (request) =>
    new URL(request.url).host === "bank.example"
      ? Promise.resolve(new Response(null, { status: 500 }))
      : network(request);
  const { receipt } = await receiptOf(env);
  assertEquals(decodeJwt<Receipt>(receipt)["status"], "Pending");
  const shown = await pasted(env, receipt);
  assertStringIncludes(shown, EN["receipt.status.Pending"]);
  assertEquals(headingOf(shown), EN["receipt.genuinePending"]);
});

test("a receipt is for who may read the payment; for others it does not exist [RCP1]", async ({ env }) => {
  const { id, flow } = await receiptOf(env);
  const other = await clientToken(env, env.otherTpp);
  await assertNotFound(await call(env, env.otherTpp, other, receiptAt(id)));
  await assertNotFound(await call(env, env.tpp, flow.bound, receiptAt(crypto.randomUUID())));
  await assertNotFound(await call(env, env.tpp, flow.bound, receiptAt("x")));
  const bank = await clientToken(env, env.bankA);
  const refused = 'DPoP error="insufficient_scope", scope="payments", algs="PS256"';
  await assertChallenge(await call(env, env.bankA, bank, receiptAt(id)), 403, refused);
  const another = (await authorised(env)).payment;
  assertEquals((await call(env, env.tpp, another, receiptAt(id))).status, 403);
});

Deno.test("the payment of an erased case gives no receipt [RCP1]", async () => {
  await using env = await openEnvironment({ environment: { PLATFORM_KEEP_CASES_DAYS: "1" } });
  const { id, receipt } = await receiptOf(env);
  await good(putStatus(env, env.bankA, id, "AcceptedSettlementCompleted"), 200);
  env.now += 1000;
  await env.platform.growLog();
  await env.platform.followTime();
  env.now += 86_400_000;
  await env.platform.followTime();
  const bound = await clientToken(env, env.tpp);
  await good(call(env, env.tpp, bound, receiptAt(id)), 200);
  await good(erase(env, id), 200);
  await assertNotFound(await call(env, env.tpp, bound, receiptAt(id)));
  assertStringIncludes(await pasted(env, receipt), "ACME Inc"); // who has one can still have it verified
});

test("the page prints what a genuine receipt says, also with line breaks in it, in every language [RCP3]", async ({ env, t }) => {
  const { id, receipt } = await receiptOf(env);
  const broken = ` ${receipt.replaceAll(/.{64}/g, "$&\r\n")} `;
  for (const language of LANGUAGES) {
    await t.step(language, async () => {
      const before = await env.snapshot();
      const html = await pasted(env, broken, language);
      assertStringIncludes(html, `<html lang="${language}"`);
      assertEquals(headingOf(html), CATALOGUES[language]["receipt.genuine"]);
      for (const text of [id, "ACME Inc", "2606", "FRESCO.21302.GFX.20", env.bankA.name, env.tpp.name]) {
        assertStringIncludes(html, text);
      }
      assertEquals(html.includes(receipt), false, "the receipt is on the page");
      assertEquals(/<script|style=/.test(html), false);
      assertEquals(await env.snapshot(), before);
    });
  }
  const form = await open(env, "/receipt", { headers: { "accept-language": "fr" } });
  assertEquals(headingOf(await form.text()), CATALOGUES.fr["receipt.title"]);
});

test("a payee's name with HTML in it is text on the page [RCP3]", async ({ env }) => {
  const claims = decodeJwt<Receipt>((await receiptOf(env)).receipt);
  const payee = "<img src=x onerror=alert(1)> & Co";
  const html = await pasted(env, await signClaims({ ...claims, payee }, await signer(env), TYP));
  assertStringIncludes(html, "&lt;img src=x onerror=alert(1)&gt; &amp; Co");
  assertEquals(html.includes("<img src=x"), false);
});

test("the page says what does not hold, and shows nothing of it [RCP4]", async ({ env, t }) => {
  const { receipt } = await receiptOf(env);
  const [head = "", payload = "", signature = ""] = receipt.split(".");
  const claims = decodeJwt<Receipt>(receipt);
  const own = await signer(env);
  const { signed: handover } = (await material(env)).handover;
  const body = new TextEncoder().encode(JSON.stringify({ ...claims, amount: "1.00" }));
  const changed = body.toBase64({ alphabet: "base64url", omitPadding: true });
  const { amount: _, ...lacking } = claims;
  const cases: Record<string, [fault: "not_receipt" | "not_ours" | "altered", text: string]> = {
    "another text": ["not_receipt", "I have paid, honestly"],
    "a part of it": ["not_receipt", `${head}.${payload}`],
    "too long": ["not_receipt", `${receipt}${"A".repeat(9000)}`],
    "another amount": ["altered", `${head}.${changed}.${signature}`],
    "a changed signature": ["altered", `${head}.${payload}.${flipped(signature)}`],
    "another typ": ["not_receipt", await signClaims(claims, own)],
    "without typ": ["not_receipt", await signJwt(env.tpp.signing, claims, { typ: undefined })],
    "a handover JWT of the platform": ["not_receipt", handover],
    "claims of no receipt": ["not_receipt", await signClaims(lacking, own, TYP)],
    "another issuer": [
      "not_ours",
      await signClaims({ ...claims, iss: "https://elsewhere.example" }, own, TYP),
    ],
    "a TPP's key under its own name": ["not_ours", await signJwt(env.tpp.signing, claims, { typ: TYP })],
    "a TPP's key under the platform's": [
      "altered",
      await signJwt({ ...env.tpp.signing, kid: own.kid }, claims, { typ: TYP }),
    ],
    "a kid that is longer than a key of the store": [
      "not_ours",
      await signJwt(env.tpp.signing, claims, { typ: TYP, kid: "k".repeat(3000) }),
    ],
    "no kid": ["not_ours", await signJwt(env.tpp.signing, claims, { typ: TYP, kid: undefined })],
  };
  await steps(t, cases, async ([fault, text]) => {
    const html = await pasted(env, text);
    assertEquals(headingOf(html), EN[`receipt.${fault}.title`]);
    assertStringIncludes(html, EN[`receipt.${fault}.text`]);
    assertEquals(html.includes("ACME Inc"), false);
    const kept = /<textarea[^>]*>([^<]*)<\/textarea>/.exec(html)?.[1];
    assertEquals(kept, text.slice(0, 8192), "the form keeps what was sent");
  });
  const html = await pasted(env, "</textarea><script>alert(1)</script>");
  assertEquals(html.includes("<script>alert"), false, "what was sent is text");
});

function flipped(text: string): string {
  return `${text.startsWith("A") ? "B" : "A"}${text.slice(1)}`;
}

test("a receipt verifies when its key is no longer published, and no other stored key does [RCP5]", async ({ env }) => {
  const { receipt } = await receiptOf(env);
  const successor = await openKeyRing(await platformKeySet(14, 13));
  const { kid } = decodeProtectedHeader(receipt);
  assert(successor.publicJwks.keys.every((key) => key["kid"] !== kid));
  const later = { keys: successor, authUrl: AUTH_URL };
  const verified = await verifyReceipt(later, env.store, receipt);
  assert(verified.ok && verified.value.amount === "165.88");
  // Documents of participants' keys are stored too. Neither their kid nor their digest leads to them.
  const others = await env.store.list({ prefix: ["evidence_document"], limit: 100 });
  for (const { key: [, sha256 = ""] } of others) {
    assertEquals(await findReceiptKey(successor, env.store, sha256), undefined);
  }
  assert(others.length > 0);
  for (const unknown of [env.tpp.signing.kid, env.bankA.signing.kid, "", undefined, 7, "x".repeat(500)]) {
    assertEquals(await findReceiptKey(successor, env.store, unknown), undefined);
  }
  const encryption = successor.publicJwks.keys.find((key) => key["use"] === "enc");
  assertEquals(await findReceiptKey(successor, env.store, encryption?.["kid"]), undefined);
});

test("a cell that has answered no receipt stores the key too [RCP5]", async ({ env }) => {
  const { receipt } = await receiptOf(env);
  await using cell = await openEnvironment();
  const successor = await openKeyRing(await platformKeySet(14, 13));
  const later = { keys: successor, authUrl: AUTH_URL };
  assertEquals(await verifyReceipt(later, cell.store, receipt), { ok: false, fault: "not_ours" });
  assertEquals(await cell.platform.storeReceiptKey(), 0);
  assert((await verifyReceipt(later, cell.store, receipt)).ok);
  await unchanged(cell, () => cell.platform.storeReceiptKey());
});
