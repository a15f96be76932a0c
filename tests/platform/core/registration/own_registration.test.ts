/** `GET` and `DELETE /register/v1/{client_id}`: a client reads and deletes its own registration (contract DC18 to DC23, Decision B7). */
import { assert, assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import { historyOf } from "testing/histories.ts";
import { type Consent, type LogLine, type RegisteredClient, rejectionOf } from "testing/answers.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import {
  authorise,
  authorised,
  authorize,
  Browser,
  codeOf,
  putAccounts,
  redeem,
  returnPath,
  toBank,
} from "testing/authorization_flow.ts";
import { assertErrorAnswer } from "testing/front_channel.ts";
import {
  type BoundToken,
  call,
  type CallOptions,
  clientToken,
  createConsent,
  good,
  pay,
  push,
  requestToken,
} from "testing/flows.ts";
import { onboard, onboardOnly, type Participant } from "testing/participants.ts";
import {
  MANY_REGISTRATIONS,
  NEWCOMER,
  postRegistration,
  registrationJwt,
  renewedStatement,
} from "testing/registration.ts";
import { assertBare, assertChallenge, errorBody, verifyAnswer } from "testing/resource_answers.ts";
import {
  accepts,
  down,
  history,
  later,
  openPushEnvironment,
  outboxKeys,
  paid,
  report,
} from "support/orders.ts";
import { openGatedStore } from "support/gated_store.ts";
import { anotherProcess, at } from "support/processes.ts";
import { acceptActs, actsOfTpp, BOUND_MS, rejectActs } from "support/standing.ts";
import { steps, stepsOf } from "support/steps.ts";
import { testWith } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";

const test = testWith(() => openEnvironment(MANY_REGISTRATIONS));

const METHODS = ["GET", "DELETE"] as const;

function own(
  env: Environment,
  who: Participant,
  bound: BoundToken,
  method: typeof METHODS[number],
  { id = who.clientId, ...options }: CallOptions & { readonly id?: string } = {},
): Promise<Response> {
  return call(env, who, bound, `/register/v1/${id}`, { method, ...options });
}

async function deleted(env: Environment, who: Participant): Promise<void> {
  await assertBare(await own(env, who, await clientToken(env, who), "DELETE"), 204);
}

/** The reasons of the rejected requests, with what the log alone says. */
function rejectionsIn({ logged }: Environment): readonly string[] {
  const lines = logged.map((line) => JSON.parse(line) as LogLine);
  return lines.filter(({ event }) => event === "request.rejected").map(({ reason, detail }) =>
    `${reason}: ${detail}`
  );
}

const INVALID_TOKEN = 'DPoP error="invalid_token", algs="PS256"';

test("a TPP and a bank read their own registration as it was answered to them, signed [DC18, EP14]", async ({ env }) => {
  const newcomer = await onboardOnly(env, NEWCOMER);
  const registered = await good(postRegistration(env, newcomer), 201);
  const answer = await own(env, newcomer, await clientToken(env, newcomer, "BANKB"), "GET");
  await verifyAnswer(env, answer);
  assertEquals(await good(answer, 200), registered);
  const ofBank = await good<RegisteredClient>(
    own(env, env.bankA, await clientToken(env, env.bankA), "GET"),
    200,
  );
  assertEquals([ofBank.client_id, ofBank.scope], [env.bankA.clientId, "bank"]);
});

test("GET shows the statement that the directory has issued since [DC18]", async ({ env }) => {
  await renewedStatement(env, env.tpp, { description: "Another text" });
  env.now += BOUND_MS;
  const read = await good<RegisteredClient>(own(env, env.tpp, await clientToken(env, env.tpp), "GET"), 200);
  assertEquals(decodeJwt(read.software_statement)["software_client_description"], "Another text");
});

test("another client's registration is answered like one that does not exist, and is not changed [DC19]", async ({ env, t }) => {
  const bound = await clientToken(env, env.tpp);
  const ids = {
    "another TPP": env.otherTpp.clientId,
    "a bank": env.bankA.clientId,
    "no client": `SC-${crypto.randomUUID()}`,
    "no client id": "mine",
  };
  const seen = new Set<string>();
  for (const method of METHODS) {
    await steps(t, ids, async (id) => {
      const answer = await unchanged(env, () => own(env, env.tpp, bound, method, { id }));
      const { Id: _, ...body } = await errorBody(answer.clone(), 403);
      seen.add(JSON.stringify([body, answer.headers.get("www-authenticate")]));
      await assertChallenge(answer, 403, 'DPoP error="insufficient_scope", scope="payments", algs="PS256"');
    });
  }
  assertEquals(seen.size, 1, "every answer is the same");
});

test("only a token of the client's own reads or deletes its registration [DC18, DC20, B7]", async ({ env, t }) => {
  const bound = await clientToken(env, env.tpp);
  const { payment } = await authorised(env);
  const insufficient = 'DPoP error="insufficient_scope", scope="payments", algs="PS256"';
  const cases: Readonly<Record<string, readonly [CallOptions, 401 | 403, string, BoundToken?]>> = {
    "no certificate": [{ as: null }, 401, INVALID_TOKEN],
    "another participant's certificate": [{ as: env.otherTpp }, 401, INVALID_TOKEN],
    "no token": [{ headers: { authorization: undefined } }, 401, 'DPoP algs="PS256"'],
    "a bearer token": [{ headers: { authorization: `Bearer ${bound.token}` } }, 401, 'DPoP algs="PS256"'],
    "no proof": [{ proof: null }, 401, 'DPoP error="invalid_dpop_proof", algs="PS256"'],
    "a proof for a POST": [
      { proofChanges: { claims: { htm: "POST" } } },
      401,
      'DPoP error="invalid_dpop_proof", algs="PS256"',
    ],
    "the token of a customer's consent": [{}, 403, insufficient, payment],
  };
  for (const method of METHODS) {
    await steps(t, cases, async ([options, status, challenge, token = bound]) => {
      const answer = await unchanged(env, () => own(env, env.tpp, token, method, options));
      await assertChallenge(answer, status, challenge);
    });
  }
  await t.step("a bank's token deletes nothing", async () => {
    const ofBank = await clientToken(env, env.bankA);
    const answer = await unchanged(env, () => own(env, env.bankA, ofBank, "DELETE"));
    await assertChallenge(answer, 403, insufficient);
  });
  assertEquals((await own(env, env.tpp, bound, "GET")).status, 200);
});

test("other methods are answered 405 with Allow: a registration is updated with POST register alone [DC24]", async ({ env, t }) => {
  const bound = await clientToken(env, env.tpp);
  await stepsOf(t, ["POST", "PUT", "PATCH"], (method) => method, async (method) => {
    const path = `/register/v1/${env.tpp.clientId}`;
    const answer = await unchanged(env, () => call(env, env.tpp, bound, path, { method }));
    assertEquals([answer.status, answer.headers.get("allow")], [405, "GET, DELETE"]);
  });
});

test("a deleted client can do nothing at any process at once, and others are not affected [DC21]", async ({ env, t }) => {
  const other = await anotherProcess(env);
  const there = at(env, other);
  const acts = { here: await actsOfTpp(env), there: await actsOfTpp(there) };
  await acceptActs(acts.there); // the other process has the client in use
  await deleted(env, env.tpp);
  await t.step("here", (t) => rejectActs(t, env, acts.here));
  await t.step("there", (t) => rejectActs(t, there, acts.there));
  assertEquals((await requestToken(env, env.otherTpp)).status, 200);
  await other.stop();
});

test("the deletion is one entry of the client's history, which names who did it and how; a second one is 401 [DC22]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  env.now += 5;
  assertEquals((await own(env, env.tpp, bound, "DELETE")).status, 204);
  const [registered, entry, ...more] = await historyOf(env.store, env.tpp.clientId);
  assertEquals([registered?.event, entry?.event, more], ["client.registered", "client.deleted", []]);
  const { at: time, actor, sequence, authentication } = entry ?? {};
  assertEquals([time, actor, sequence], [env.now, env.tpp.clientId, 2]);
  assertEquals([authentication?.method, authentication?.clientId], ["DELETE", env.tpp.clientId]);
  assert(authentication?.target.endsWith(`/register/v1/${env.tpp.clientId}`));
  assert(authentication?.token !== undefined && authentication.proof !== undefined);
  for (const record of ["client", "software_statement"]) {
    assertEquals(await env.store.get([record, env.tpp.clientId]), null, record);
  }
  const again = await unchanged(env, () => own(env, env.tpp, bound, "DELETE"));
  await assertChallenge(again, 401, INVALID_TOKEN);
  assertEquals(rejectionsIn(env), ["token.invalid: client is gone"]);
});

Deno.test("of two deletions at the same time one is answered 204, and one 401 [DC22]", async () => {
  const store = await openGatedStore();
  await using env = await openEnvironment({ ...MANY_REGISTRATIONS, store });
  const bound = await clientToken(env, env.tpp);
  const both = await store.together([1, 2].map(() => () => own(env, env.tpp, bound, "DELETE")));
  assertEquals(both.map(({ status }) => status).sort(), [204, 401]);
  assertEquals(rejectionsIn(env), ["token.invalid: deleted"]);
  assertEquals((await historyOf(env.store, env.tpp.clientId)).length, 2);
});

test("a customer of a deleted TPP returns to it with access_denied, and the consent waits for its deadline [DC23, G1]", async ({ env }) => {
  const flow = await toBank(env);
  await good(putAccounts(env, flow.bank, flow.consentId), 200);
  await deleted(env, env.tpp);
  const answer = await flow.browser.open(await returnPath(env, flow.bank, flow.handover));
  const why = "The TPP is not active: it has deleted its registration.";
  await assertErrorAnswer(answer, "access_denied", "BANKA", why);
  env.now += 1;
  await good(postRegistration(env, env.tpp), 201);
  const path = `/BANKA/domestic-payment-consents/v1/${flow.consentId}`;
  const read = await good<Consent>(call(env, env.tpp, await clientToken(env, env.tpp), path), 200);
  assertEquals(read.Data.Status, "AwaitingAuthorisation");
});

Deno.test("the bank gets and reports the payments of a deleted TPP, and operators read them [DC23]", async () => {
  await using env = await openPushEnvironment(down);
  const { DomesticPaymentId: id } = await paid(env);
  await deleted(env, env.tpp);
  env.answer = accepts;
  await later(env, 60_000);
  assertEquals(await outboxKeys(env), []);
  assertEquals((await report(env, id, "AcceptedSettlementCompleted")).status, 200);
  const last = (await history(env, id)).at(-1);
  assertEquals(last, `payment.AcceptedSettlementCompleted by ${env.bankA.clientId}`);
  await env.platform.growLog();
  const paths = [
    `cases/${id}`,
    `histories/${env.tpp.clientId}`,
    "participants",
    "reports/tpps",
    "event-deliveries",
  ];
  for (const path of paths) assertEquals((await env.asOperator(`/operations/${path}`)).status, 200, path);
});

test("after a new registration earlier tokens stay invalid, also after updates, and payments can be read [DC23]", async ({ env, t }) => {
  const flow = await authorised(env);
  const { Data } = await good(pay(env, await authorised(env)), 201);
  await deleted(env, env.tpp);
  env.now += 1000;
  const registered = await good(postRegistration(env, env.tpp), 201);
  assertEquals(registered.client_id_issued_at, Math.floor(env.now / 1000));
  const earlier = async (): Promise<void> => {
    for (const answer of [await pay(env, flow), await own(env, env.tpp, flow.bound, "GET")]) {
      await assertChallenge(answer, 401, INVALID_TOKEN);
    }
    assertEquals(rejectionsIn(env).slice(-2), Array(2).fill("token.invalid: of a deleted registration"));
    assertEquals((await own(env, env.tpp, await clientToken(env, env.tpp), "GET")).status, 200);
  };
  await t.step("with the same statement", earlier);
  await t.step("after a newer statement was applied", async () => {
    await renewedStatement(env, env.tpp, { description: "Another text" });
    env.now += BOUND_MS;
    await earlier();
  });
  await t.step("after a registration with a newer statement", async () => {
    env.now += 1000;
    const statement = await renewedStatement(env, env.tpp, { description: "A third text" });
    await good(postRegistration(env, env.tpp, { statement }), 201);
    await earlier();
  });
  const path = `/BANKA/domestic-payments/v1/${Data.DomesticPaymentId}`;
  assertEquals((await call(env, env.tpp, await clientToken(env, env.tpp), path)).status, 200);
  const entries = await historyOf(env.store, env.tpp.clientId);
  assertEquals(entries.map(({ event, sequence }) => [event, sequence]), [
    ["client.registered", 1],
    ["client.deleted", 2],
    ["client.registered", 3],
    ["client.updated", 4],
    ["client.updated", 5],
  ]);
  assertEquals(await env.store.get(["deleted_client", env.tpp.clientId]), null);
});

test("after a new registration a link, a session and a code from before lead to no payment [DC23]", async ({ env, t }) => {
  const consentId = (await createConsent(env, await clientToken(env, env.tpp))).Data.ConsentId;
  const pushed = await good(push(env, consentId), 201);
  const atBank = await toBank(env);
  await good(putAccounts(env, atBank.bank, atBank.consentId), 200);
  const deciding = await toBank(env);
  await good(putAccounts(env, deciding.bank, deciding.consentId), 200);
  const screen = await deciding.browser.open(await returnPath(env, deciding.bank, deciding.handover));
  const redeemable = await toBank(env);
  const code = codeOf(await authorise(env, redeemable));
  await deleted(env, env.tpp);
  env.now += 5;
  await good(postRegistration(env, env.tpp), 201);
  const why = "The TPP is not active: it has deleted its registration.";
  await t.step("the link", async () => {
    const page = await authorize(new Browser(env), env.tpp, pushed.request_uri);
    assertEquals([page.status, page.headers.get("location")], [400, null]);
  });
  await t.step("the customer at the bank", async () => {
    const answer = await atBank.browser.open(await returnPath(env, atBank.bank, atBank.handover));
    await assertErrorAnswer(answer, "access_denied", "BANKA", why);
  });
  await t.step("the customer at the screen", async () => {
    const answer = await deciding.browser.open(screen.headers.get("location") ?? "");
    await assertErrorAnswer(answer, "access_denied", "BANKA", why);
  });
  await t.step("the code", async () => {
    const { consentId } = redeemable;
    const answer = await unchanged(env, () => redeem(env, { consentId, code }));
    assertEquals([answer.status, (await rejectionOf(answer)).error], [400, "invalid_grant"]);
  });
  await t.step("new ones do", async () => {
    const bound = await clientToken(env, env.tpp);
    const { ConsentId } = (await createConsent(env, bound)).Data;
    const { request_uri } = await good(push(env, ConsentId), 201);
    const departure = await authorize(new Browser(env), env.tpp, request_uri);
    assertEquals(departure.status, 303);
  });
});

test("a token of a deleted registration stays invalid, also if its process had a clock that was ahead [DC23]", async ({ env }) => {
  const ahead = await anotherProcess(env, () => 1900);
  const early = await clientToken(at(env, ahead), env.tpp);
  await deleted(env, env.tpp);
  env.now += 5;
  await good(postRegistration(env, env.tpp), 201);
  env.now += 2000; // the proof of a clock that is ahead
  await assertChallenge(await own(env, env.tpp, early, "GET"), 401, INVALID_TOKEN);
  assertEquals((await own(env, env.tpp, await clientToken(env, env.tpp), "GET")).status, 200);
  await ahead.stop();
});

test("a new registration needs a new JWT, and a statement that is not older than the directory's [DC23, DC-N10, DC-N23]", async ({ env }) => {
  const newcomer = await onboard(env, NEWCOMER);
  env.now += 1000; // the status list that names the newer statement is not read again meanwhile
  const statement = await renewedStatement(env, newcomer, { description: "Another text" });
  await good(postRegistration(env, newcomer, { statement }), 201);
  await deleted(env, newcomer);
  const older = await unchanged(env, () => postRegistration(env, newcomer));
  assertEquals((await rejectionOf(older)).error, "invalid_software_statement");
  env.now += 1;
  const used = await registrationJwt(env, newcomer, { statement });
  await good(postRegistration(env, newcomer, { body: used }), 201);
  await deleted(env, newcomer);
  const again = await unchanged(env, () => postRegistration(env, newcomer, { body: used }));
  assertEquals((await rejectionOf(again)).error, "invalid_client_metadata");
});
