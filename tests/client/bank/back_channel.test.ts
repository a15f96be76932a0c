/** A bank takes answers of the back channel that the platform has signed, and tokens that are bound to its key. */
import { assertEquals, assertRejects } from "@std/assert";
import * as calls from "../../../src/client/bank/back_channel.ts";
import type { Bank } from "../../../src/client/bank/bank.ts";
import { pullOrders } from "../../../src/client/bank/pull_orders.ts";
import { UntrustedMessage } from "../../../src/client/party/errors.ts";
import { signPayload } from "../../../src/client/party/payload_signature.ts";
import { openSigner } from "../../../src/client/party/signer.ts";
import { steps } from "support/steps.ts";
import { testKey } from "testing/keys.ts";
import { authUrl, openTestBank, order, platformKeySet } from "./bank_client.ts";

const consentId = "0b8f8ba5-6f46-4c43-8c77-6a4a3a4f1f10";
const paymentId = order.DomesticPaymentId;
const dispute = { OpenedBy: "BANKA", Status: "Open", Statement: [] };
const about = (id: string): object => ({ Data: { ...dispute, DomesticPaymentId: id } });
const step = { paymentId, action: "Open", statement: "not ours" } as const;
const update = { consentId, sub: "alice", accounts: [], customerIp: "192.0.2.1" };
const customerIp = "192.0.2.1";

type Call = readonly [(bank: Bank) => Promise<unknown>, answer: object, status?: number];

/** Each call, and a good answer. */
const CALLS = {
  "readConsent": [
    (bank) => calls.readConsent(bank, { consentId, customerIp }),
    { Data: { Initiation: order.Initiation } },
  ],
  "putPayerAccounts": [(bank) => calls.putPayerAccounts(bank, update), {}],
  "listOrders": [(bank) => calls.listOrders(bank, undefined), { Data: { PaymentOrder: [] } }],
  "reportStatus": [
    (bank) => calls.reportStatus(bank, { domesticPaymentId: paymentId, status: "Rejected" }),
    {},
  ],
  "takeDisputeStep": [(bank) => calls.takeDisputeStep(bank, step), about(paymentId), 201],
  "readDispute": [(bank) => calls.readDispute(bank, paymentId), about(paymentId)],
  "readCase": [(bank) => calls.readCase(bank, paymentId), {}],
  "pollBankEvents": [(bank) => calls.pollBankEvents(bank), { moreAvailable: false, sets: {} }],
  "deliverResult": [(bank) => calls.deliverResult(bank, "a.b.c.d.e"), {}],
} satisfies Readonly<Record<string, Call>>;

const platform = await testKey(1);
const signer = await openSigner("platform", await platform.privateKey("sign"));
const signedBy = { ...signer, iss: authUrl, tan: "d.example", profile: "a" } as const;
const sign = (text: string): Promise<string> =>
  signPayload(signedBy, new TextEncoder().encode(text), Date.now());

/** A bank, and what its platform answers to the next calls. */
async function openBankAndPlatform() {
  const answer = {
    body: {},
    status: 200,
    signature: sign as (text: string) => Promise<string> | undefined,
    isFirstTokenLost: false,
  };
  const token = { access_token: "0", token_type: "DPoP", expires_in: 300, scope: "bank" };
  const tokens: object[] = [];
  const bank = await openTestBank(async (url, { headers: sent }) => {
    if (url.endsWith("/jwks")) return Response.json(platformKeySet);
    if (url.endsWith("/token.oauth2/v1")) {
      tokens.push({ ...token, access_token: String(tokens.length) });
      return Response.json(tokens.at(-1));
    }
    if (answer.isFirstTokenLost && new Headers(sent).get("authorization") === "DPoP 0") {
      return new Response(null, { status: 401, headers: { "www-authenticate": "DPoP" } });
    }
    const text = JSON.stringify(answer.body);
    const signature = await answer.signature(text);
    const headers = { "content-type": "application/json" };
    return new Response(text, {
      status: answer.status,
      headers: signature === undefined ? headers : { ...headers, "x-jws-signature": signature },
    });
  });
  return { bank, answer, token, tokens };
}

Deno.test("a bank rejects an answer that the platform has not signed [SG6]", async (t) => {
  const { bank, answer } = await openBankAndPlatform();
  await steps(t, CALLS, async ([call, body, status = 200]) => {
    Object.assign(answer, { body, status, signature: sign });
    await call(bank);
    answer.signature = () => undefined;
    await assertRejects(() => call(bank), UntrustedMessage, "no x-jws-signature");
    answer.signature = (text) => sign(`${text} `);
    await assertRejects(() => call(bank), Error, "signature verification failed");
  });
});

Deno.test("a bank rejects an answer about the dispute of another payment [DSP5]", async () => {
  const { bank, answer } = await openBankAndPlatform();
  for (const name of ["takeDisputeStep", "readDispute"] as const) {
    const [call, , status = 200] = CALLS[name];
    Object.assign(answer, { body: about(consentId), status });
    await assertRejects(() => call(bank), UntrustedMessage, "about another");
  }
});

Deno.test("an order that is listed without the platform's signature is not executed [D2, SG6]", async () => {
  const { bank, answer } = await openBankAndPlatform();
  answer.body = { Data: { PaymentOrder: [{ ...order, Status: "Pending" }] } };
  const executed: string[] = [];
  const pulled = {
    pulledUpTo: () => Promise.resolve(undefined),
    notePulledUpTo: () => Promise.resolve(),
    execute: ({ domesticPaymentId }: { readonly domesticPaymentId: string }) => {
      executed.push(domesticPaymentId);
      return Promise.resolve({ status: "Pending" });
    },
  };
  answer.signature = () => undefined;
  await assertRejects(() => pullOrders(bank, pulled), UntrustedMessage);
  assertEquals(executed, []);
  answer.signature = sign;
  await pullOrders(bank, pulled);
  assertEquals(executed, [paymentId]);
});

Deno.test("an order whose report is rejected for good does not hold the ones behind it; one without an answer does [D2]", async () => {
  for (const [status, noted] of [[400, ["1"]], [404, ["1"]], [503, []], [429, []]] as const) {
    const { bank, answer } = await openBankAndPlatform();
    answer.body = { Data: { PaymentOrder: [{ ...order, Status: "Pending" }], After: "1" } };
    const cursors: string[] = [];
    const failures: string[] = [];
    await pullOrders(bank, {
      pulledUpTo: () => Promise.resolve(cursors.at(-1)),
      notePulledUpTo: (cursor) => Promise.resolve(void cursors.push(cursor)),
      execute: () => {
        answer.status = status;
        answer.body = { Data: { PaymentOrder: [] } };
        return Promise.resolve({ status: "Rejected" });
      },
      onFailed: (reason) => {
        failures.push(reason);
        answer.status = 200;
      },
    });
    assertEquals([cursors, failures.length], [noted, 1], String(status));
  }
});

Deno.test("a bank rejects a token that is not bound to its DPoP key, or has another scope", async () => {
  for (
    const [is, words] of [[{ token_type: "Bearer" }, "not bound"], [
      { scope: "payments" },
      "another scope",
    ]] as const
  ) {
    const { bank, answer, token } = await openBankAndPlatform();
    const [call, body] = CALLS.readConsent;
    answer.body = body;
    Object.assign(token, is);
    await assertRejects(() => call(bank), UntrustedMessage, words);
  }
});

Deno.test("calls whose token was rejected at the same time ask for one new token", async () => {
  const { bank, answer, tokens } = await openBankAndPlatform();
  const [call, body] = CALLS.readConsent;
  Object.assign(answer, { body, isFirstTokenLost: true });
  await Promise.all(Array.from({ length: 5 }, () => call(bank)));
  assertEquals(tokens.length, 2);
});
