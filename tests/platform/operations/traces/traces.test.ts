/** The traces of requests, as the participant reads them whose requests they were. */
import { deliver } from "support/delivered_result.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { bodyOf, firstOf, present, type ResourceError, type Trace } from "testing/answers.ts";
import {
  authorise,
  authorised,
  authorize,
  Browser,
  putAccounts,
  redeem,
  toBank,
} from "testing/authorization_flow.ts";
import { openEnvironment } from "testing/environment.ts";
import { call, clientToken, consentBody, createConsent, good, pay } from "testing/flows.ts";
import { issueCode } from "testing/oauth_requests.ts";
import { assertFaults } from "testing/resource_answers.ts";
import { comeBack } from "../../core/frontchannel/come_back.ts";
import { idOf, readTraces, tracesAt } from "./read_traces.ts";

Deno.test("a trace has the request's checks, its ids and its answer [TRC1, TRC2]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const { ConsentId } = (await createConsent(env, bound)).Data;
  const answer = await call(env, env.tpp, bound, `/BANKA/domestic-payment-consents/v1/${ConsentId}`);
  const [trace, ...more] = await tracesAt(env, `/${idOf(answer)}`);
  assertEquals(more, []);
  const { DateTime, Milliseconds, ...rest } = present(trace);
  assertMatch(DateTime, /^2040-01-15T/);
  assertEquals(typeof Milliseconds, "number");
  assertEquals(rest, {
    InteractionId: idOf(answer),
    Method: "GET",
    Endpoint: "/{bank}/domestic-payment-consents/v1/{consentId}",
    Status: 200,
    ClientId: env.tpp.clientId,
    OrganisationId: env.tpp.orgId,
    Bank: "BANKA",
    ConsentId,
    Check: ["certificate", "rateLimit", "prefetch", "bank", "accessToken", "fapiHeaders"]
      .map((Name) => ({ Name, Result: "Passed" })),
    Call: [],
  });
});

Deno.test("the trace of a rejected request names the failed check and what was told [TRC1]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const proof = { proofChanges: { claims: { htm: "POST" } } };
  const answer = await call(env, env.tpp, bound, "/BANKA/domestic-payment-consents/v1/x", proof);
  assertEquals(answer.status, 401);
  const { Status, Check, Rejection } = firstOf(await tracesAt(env, `/${idOf(answer)}`));
  assertEquals(Status, 401);
  assertEquals(Check.slice(-2), [{ Name: "accessToken", Result: "Failed" }, {
    Name: "fapiHeaders",
    Result: "NotReached",
  }]);
  assertEquals(Rejection?.Reason, "dpop.invalid_proof");
  assertStringIncludes(Rejection?.Message, "htm must be");
  assertStringIncludes(answer.headers.get("www-authenticate") ?? "", Rejection?.Message);
  assertMatch(Rejection?.Url, /\/docs\/errors#dpop-invalid-proof$/);
});

Deno.test("a consent's and a payment's requests and browser steps are listed, newest first [TRC4]", async () => {
  await using env = await openEnvironment({ paymentOrdersUri: { bankA: "https://bank.example/orders" } });
  const { network } = env;
  env.network = (request) =>
    new URL(request.url).host === "bank.example"
      ? Promise.resolve(Response.json({ Status: "AcceptedSettlementInProcess" }))
      : network(request);
  const flow = await authorised(env);
  const { Data: { DomesticPaymentId } } = await good(pay(env, flow), 201);
  const traces = await tracesAt(env, `?consent_id=${flow.consentId}`);
  const path = (trace: Trace): string => `${trace.Method} ${trace.Endpoint.replace("/{bank}/", "")}`;
  assertEquals(traces.map(path).toReversed(), [
    "POST domestic-payment-consents/v1",
    "POST par.oauth2/v1",
    "GET authorization.oauth2",
    "GET authorization.sca.oauth2",
    "GET authorization.consent.oauth2",
    "POST authorization.consent.oauth2",
    "POST token.oauth2/v1",
    "POST domestic-payments/v1",
  ]);
  const session = firstOf(traces.flatMap(({ SessionId }) => SessionId ?? []));
  const ofSession = traces.toReversed().map(({ SessionId }) => SessionId === session);
  assertEquals(ofSession, [false, false, true, true, true, true, false, false]);
  const [payment, ...more] = await tracesAt(env, `?payment_id=${DomesticPaymentId}`);
  assertEquals([payment?.DomesticPaymentId, payment?.ConsentId, more], [
    DomesticPaymentId,
    flow.consentId,
    [],
  ]);
  assertEquals(payment?.Call.map(({ To, Status }) => [To, Status]), [["bank", 200]]);
  const ofBank = await tracesAt(env, `?consent_id=${flow.consentId}`, env.bankA);
  assertEquals(ofBank.map(path), ["GET authorization.sca.oauth2", "PUT back-channel-auth/v1/{consentId}"]);
});

Deno.test("traces of another participant are answered like unknown ones [TRC3]", async () => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  const { Data: { DomesticPaymentId } } = await good(pay(env, flow), 201);
  const { InteractionId } = firstOf(await tracesAt(env, `?payment_id=${DomesticPaymentId}`));
  for (const other of [env.otherTpp, env.bankB]) {
    const [foreign, unknown] = [
      await readTraces(env, `/${InteractionId}`, other),
      await readTraces(env, `/${crypto.randomUUID()}`, other),
    ];
    const { Id: _, ...told } = await bodyOf<ResourceError>(foreign.clone());
    const { Id: __, ...same } = await bodyOf<ResourceError>(unknown.clone());
    assertEquals(told, same);
    await assertFaults(foreign, 400, [["Resource.NotFound"]]);
    for (const query of [`consent_id=${flow.consentId}`, `payment_id=${DomesticPaymentId}`]) {
      assertEquals(await tracesAt(env, `?${query}`, other), []);
    }
  }
  // Another client's code leads to no consent of this client.
  const issued = await issueCode(env);
  assertEquals((await redeem(env, issued, { client: env.otherTpp })).status, 400);
  assertEquals(await tracesAt(env, `?consent_id=${issued.consentId}`, env.otherTpp), []);
  assertEquals((await redeem(env, issued)).status, 200);
  const ofOwner = await tracesAt(env, `?consent_id=${issued.consentId}`);
  assert(ofOwner.some(({ Endpoint }) => Endpoint === "/{bank}/token.oauth2/v1"));
  // The same interaction id, sent by another client, does not lead to the first one's trace.
  const bound = await clientToken(env, env.otherTpp);
  const headers = { "x-fapi-interaction-id": InteractionId };
  await call(env, env.otherTpp, bound, "/BANKA/domestic-payment-consents/v1/x", { headers });
  const own = await tracesAt(env, `/${InteractionId}`, env.otherTpp);
  assertEquals(own.map(({ ClientId }) => ClientId), [env.otherTpp.clientId]);
  assertEquals((await tracesAt(env, `/${InteractionId}`)).map(({ ClientId }) => ClientId), [
    env.tpp.clientId,
  ]);
});

Deno.test("a token of the customer and a wrong query are rejected [TRC3, TRC4]", async () => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  await assertFaults(await readTraces(env, `?rejected=true`, env.tpp, flow.payment), 403, [
    ["Header.Invalid", "Authorization"],
  ]);
  for (
    const [query, path] of [
      ["", "query"],
      ["?consent_id=x", "consent_id"],
      ["?rejected=no", "rejected"],
      ["?constructor=1", "query"],
      [`?consent_id=${flow.consentId}&rejected=true`, "query"],
      [`?consent_id=${flow.consentId}&consent_id=${flow.consentId}`, "query"],
    ] as const
  ) {
    const code = path === "query" ? "Field.Expected" : "Field.Invalid";
    await assertFaults(await readTraces(env, query), 400, [[code, path]]);
  }
});

Deno.test("a bank reads why its result was rejected, and the TPP only that it was [TRC5]", async (t) => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  await good(putAccounts(env, flow.bank, flow.consentId), 200);
  await t.step("a result that is not authentic", async () => {
    const answer = await comeBack(env, flow, { aud: "https://wrong.example" });
    assertEquals(answer.status, 400);
    const id = idOf(answer);
    assertStringIncludes(await answer.text(), id); // the number on the page
    const { Rejection, Status } = firstOf(await tracesAt(env, `/${id}`, env.bankA));
    assertEquals([Status, Rejection?.Reason], [400, "bank_return.not_authentic"]);
    assertStringIncludes(Rejection?.Message, "aud must be 'https://auth.platform.example'");
    assertStringIncludes(Rejection?.Message, "https://wrong.example");
    assertEquals((await readTraces(env, `/${id}`)).status, 400); // it proves no session of the TPP
    const [listed] = await tracesAt(env, "?rejected=true", env.bankA);
    assertEquals(listed?.InteractionId, id);
  });
  await t.step("a result that the bank signed and that has no effect", async () => {
    const answer = await comeBack(env, flow, { ref_id: crypto.randomUUID() });
    assertEquals(answer.status, 303);
    const [ofBank] = await tracesAt(env, `/${idOf(answer)}`, env.bankA);
    assertStringIncludes(ofBank?.Rejection?.Message, "ref_id must be the consent of this session");
    const [ofTpp] = await tracesAt(env, `/${idOf(answer)}`);
    assertEquals(ofTpp?.Rejection, { Reason: "bank_return.unusable", Url: ofBank?.Rejection?.Url });
    assertEquals(ofTpp?.ConsentId, flow.consentId);
  });
});

Deno.test("a TPP reads why its own link was rejected, and a link that names another party is in no trace of it [TRC4]", async () => {
  await using env = await openEnvironment();
  const { browser, requestUri, consentId } = await authorised(env);
  const rejected = await authorize(browser, env.tpp, requestUri);
  const { ConsentId, Rejection } = firstOf(await tracesAt(env, `/${idOf(rejected)}`));
  assertEquals([ConsentId, Rejection?.Reason], [consentId, "authorization.request_uri_unusable"]);
  assertEquals(typeof Rejection?.Message, "string");
  for (const [client, bank] of [[env.otherTpp, "BANKA"], [env.tpp, "BANKB"]] as const) {
    const strange = await authorize(new Browser(env), client, requestUri, bank);
    for (const reader of [env.tpp, env.otherTpp]) {
      assertEquals((await readTraces(env, `/${idOf(strange)}`, reader)).status, 400);
    }
  }
});

Deno.test("a result that a bank delivers is a step of its session, which the TPP reads too [TRC4, ARS1]", async () => {
  await using env = await openEnvironment({ resultsOnBackChannel: true });
  const flow = await toBank(env, { body: IMPLICIT });
  const answer = await deliver(env, flow);
  assertEquals(answer.status, 200);
  for (const reader of [env.bankA, env.tpp]) {
    const { ConsentId, SessionId } = firstOf(await tracesAt(env, `/${idOf(answer)}`, reader));
    assertEquals([ConsentId, SessionId], [flow.consentId, flow.handover.correlation_id]);
  }
});

Deno.test("a caller learns from its traces what it was told and no more [TRC3]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const stolen = await call(env, env.otherTpp, bound, "/BANKA/domestic-payment-consents/v1/x");
  assertEquals(stolen.status, 401);
  const { Rejection, ClientId, ConsentId } = firstOf(await tracesAt(env, `/${idOf(stolen)}`, env.otherTpp));
  assertEquals([ClientId, ConsentId], [env.otherTpp.clientId, undefined]);
  assertEquals(Rejection?.Reason, "token.invalid");
  assertStringIncludes(Rejection?.Message, "an unknown, expired or revoked one");
  assertEquals((await readTraces(env, `/${idOf(stolen)}`)).status, 400); // nor does the token's owner read it
});

Deno.test("traces expire after PLATFORM_TRACE_DAYS, and 0 writes none [TRC6]", async () => {
  const stored = async (days: string): Promise<number> => {
    await using env = await openEnvironment({ environment: { PLATFORM_TRACE_DAYS: days } });
    const bound = await clientToken(env, env.tpp);
    const answer = await call(env, env.tpp, bound, "/BANKA/domestic-payment-consents/v1/x");
    await env.platform.writeTraces();
    const count = (await env.store.list({ prefix: ["trace"], limit: 10 })).length;
    env.now += Number(days) * 86_400_000 - 1000;
    if (count > 0) assertEquals((await tracesAt(env, `/${idOf(answer)}`)).length, 1);
    env.now += 1000;
    assertEquals((await readTraces(env, `/${idOf(answer)}`)).status, 400);
    return count;
  };
  assert(await stored("2") > 0);
  assertEquals(await stored("0"), 0);
});

Deno.test("a trace has the calls to the directory that its request waited for [TRC1]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  env.now += 1_200_000; // copies of key sets are too old
  const answer = await call(env, env.tpp, bound, "/BANKA/domestic-payment-consents/v1/x");
  const { Call: calls } = firstOf(await tracesAt(env, `/${idOf(answer)}`));
  assert(calls.length > 0);
  for (const { To, Status, Milliseconds } of calls) {
    assertEquals([To, Status, typeof Milliseconds], ["directory", 200, "number"]);
  }
});

Deno.test("a consent that is authorised on the bank's own screen has its steps too [TRC4]", async () => {
  await using env = await openEnvironment();
  const body = consentBody({
    initiation: { DebtorAccount: { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555" } },
  });
  const flow = await toBank(env, { bank: env.bankB, body });
  await authorise(env, flow);
  const traces = await tracesAt(env, `?consent_id=${flow.consentId}`);
  assertEquals(traces[0]?.Endpoint, "/{bank}/authorization.sca.oauth2");
});

Deno.test("a client reads the trace of what it has just done before the background job has stored it [TRC6]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const answer = await call(env, env.tpp, bound, "/BANKA/domestic-payment-consents/v1/x");
  const read = await call(env, env.tpp, bound, `/traces/v1/${idOf(answer)}`);
  assertEquals(read.status, 200);
  assertEquals((await env.store.list({ prefix: ["trace"], limit: 10 })).length > 0, true);
});
