/** Blocking, revoking, holding and announcing by operators, and when each takes effect. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { historyOf } from "testing/histories.ts";
import { MAX_CONTROLS } from "../../../src/platform/guards/security/controls_store.ts";
import { bodyOf, rejectionOf, type ServerMetadata } from "testing/answers.ts";
import type { Controls, HeldOrders, PlannedOutage } from "testing/operation_answers.ts";
import { AUTH_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { authorised, authorize, Browser, toBank } from "testing/authorization_flow.ts";
import {
  call,
  clientToken,
  consentBody,
  createConsent,
  good,
  pay,
  push,
  requestToken,
} from "testing/flows.ts";
import type { Participant } from "testing/participants.ts";
import { accepts, history, later, openPushEnvironment, paid, statusOf } from "support/orders.ts";
import { anotherProcess, at } from "support/processes.ts";
import { acceptActs, type Act, actsOfBank, actsOfTpp } from "support/standing.ts";
import { stepsOf } from "support/steps.ts";
import { unchanged } from "testing/store_contents.ts";
import { changeAs } from "testing/operators.ts";

const REASON = "Fraud is suspected, case 4711.";
const CONSENTS = "/BANKA/domestic-payment-consents/v1";

function change(env: Environment, path: string, data: object = { Reason: REASON }): Promise<Response> {
  return changeAs(env, `/${path}`, data);
}

/** Each act is rejected as that of a client that is not active, and changes nothing. */
async function rejectAll(env: Environment, acts: Readonly<Record<string, Act>>): Promise<void> {
  for (const [name, { attempt }] of Object.entries(acts)) {
    const answer = await unchanged(env, attempt);
    const location = answer.headers.get("location");
    if (location === null) assertEquals(answer.status, name === "authorize redirect" ? 400 : 401, name);
    else assertStringIncludes(location, "error=temporarily_unavailable", name);
    await answer.body?.cancel();
  }
}

for (const kind of ["organisations", "software"] as const) {
  Deno.test(`a blocked TPP (${kind}) can do nothing at this process at once, and at others a second later [OP4, G5]`, async (t) => {
    await using env = await openEnvironment();
    const id = kind === "software" ? env.tpp.clientId : env.tpp.orgId;
    const other = await anotherProcess(env);
    const there = at(env, other);
    const acts = { here: await actsOfTpp(env), there: await actsOfTpp(there) };
    await good(change(env, `${kind}/${id}/block`), 200);
    await t.step("here", () => rejectAll(env, acts.here));
    env.now += 1000;
    await t.step("there", () => rejectAll(there, acts.there));
    assertEquals((await requestToken(env, env.otherTpp)).status, 200, "others are not affected");
    const { Data } = await good<Controls>(change(env, `${kind}/${id}/unblock`), 200);
    assertEquals(Data.Block, []);
    await acceptActs(acts.here);
    await other.stop();
  });
}

Deno.test("a blocked bank can do nothing, TPPs can start nothing at it, and read what exists [OP4, G5]", async () => {
  await using env = await openEnvironment();
  const acts = await actsOfBank(env, env.bankA, await toBank(env));
  const bound = await clientToken(env, env.tpp);
  const { ConsentId } = (await createConsent(env, bound)).Data;
  await good(change(env, "organisations/BANKA/block"), 200);
  await rejectAll(env, acts);
  const read = await call(env, env.tpp, bound, `${CONSENTS}/${ConsentId}`);
  assertEquals(read.status, 200);
  await read.body?.cancel();
  const made = await call(env, env.tpp, bound, CONSENTS, { body: JSON.stringify(consentBody()) });
  assertEquals(made.status, 403);
  assertStringIncludes(await made.text(), "the operator of this platform has blocked it");
});

Deno.test("revoked tokens are invalid, and new ones are not [OP5]", async () => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  const others = await clientToken(env, env.otherTpp);
  env.now += 1000;
  await good(change(env, `software/${env.tpp.clientId}/revoke-tokens`), 200);
  const rejected = await pay(env, flow);
  assertEquals([rejected.status, rejected.headers.get("www-authenticate")?.includes("invalid_token")], [
    401,
    true,
  ]);
  const read = (bound: typeof others, as: Participant): Promise<Response> =>
    call(env, as, bound, `${CONSENTS}/${crypto.randomUUID()}`);
  assertEquals((await read(others, env.otherTpp)).status, 400);
  env.now += 2001;
  assertEquals((await read(await clientToken(env, env.tpp), env.tpp)).status, 400, "as unknown, not as 401");
  env.now += 3_602_001;
  const { Data } = await bodyOf<Controls>(env.asOperator("/operations/controls"));
  assertEquals(Data.TokenRevocation, [], "no token of that time is left");
});

Deno.test("a token of a process whose clock is ahead is revoked by a process whose clock is not [OP5]", async () => {
  await using env = await openEnvironment();
  env.clockStep = 1900; // MAX_PROCESS_SKEW_MS is 2000
  const token = await clientToken(env, env.tpp);
  env.clockStep = 0;
  await good(change(env, `software/${env.tpp.clientId}/revoke-tokens`), 200);
  env.now += 10_000;
  assertEquals((await call(env, env.tpp, token, `${CONSENTS}/${crypto.randomUUID()}`)).status, 401);
});

Deno.test("tokens stay revoked if they are revoked again by a process whose clock is behind [OP5]", async () => {
  await using env = await openEnvironment();
  const token = await clientToken(env, env.tpp);
  env.now += 10_000;
  const path = `software/${env.tpp.clientId}/revoke-tokens`;
  await good(change(env, path), 200);
  env.clockStep = -15_000;
  await good(change(env, path), 200);
  env.clockStep = 0;
  assertEquals((await call(env, env.tpp, token, `${CONSENTS}/${crypto.randomUUID()}`)).status, 401);
});

Deno.test("a held bank gets no orders until it is released, and payments are made meanwhile [OP6]", async () => {
  await using env = await openPushEnvironment(accepts);
  await good(change(env, "banks/BANKA/hold"), 200);
  const { DomesticPaymentId: id, Status } = await paid(env);
  await later(env, 60_000);
  assertEquals([Status, await statusOf(env, id), env.pushes.length], ["Pending", "Pending", 0]);
  const listed = env.asOperator("/operations/payment-orders?state=held");
  const [held] = (await bodyOf<{ readonly Data: HeldOrders }>(listed)).Data.PaymentOrder;
  assertEquals([held?.DomesticPaymentId, held?.HeldBecause], [id, "An operator holds the bank's orders."]);
  assertEquals((await change(env, "banks/BANKA/hold")).status, 409);
  await good(change(env, "banks/BANKA/release"), 200);
  await later(env, 1000);
  await later(env, 1000);
  assertEquals([await statusOf(env, id), env.pushes.length], ["AcceptedSettlementInProcess", 1]);
  assertEquals((await history(env, id)).some((line) => line.startsWith("payment_order.held")), true);
  assertEquals((await change(env, "banks/BANKA/release")).status, 409);
});

Deno.test("during a planned outage nothing starts at the bank, orders wait, and what exists can be read [OP7]", async () => {
  await using env = await openPushEnvironment(accepts);
  const flow = await authorised(env);
  const bound = await clientToken(env, env.tpp);
  const { ConsentId } = (await createConsent(env, bound)).Data;
  const { request_uri } = await good(push(env, ConsentId), 201);
  const from = env.now + 60_000;
  const times = {
    FromDateTime: new Date(from).toISOString(),
    UntilDateTime: new Date(from + 600_000).toISOString(),
  };
  const planned = await good<PlannedOutage>(
    change(env, "banks/BANKA/outages", { ...times, Text: "Maintenance.", Reason: REASON }),
    201,
  );
  const outcomes = async (): Promise<readonly (readonly [number, string | null])[]> => {
    const answers = [
      await call(env, env.tpp, bound, CONSENTS, { body: JSON.stringify(consentBody()) }),
      await push(env, ConsentId),
      await pay(env, flow),
    ];
    await Promise.all(answers.map((answer) => answer.body?.cancel()));
    return answers.map(({ status, headers }) => [status, headers.get("retry-after")]);
  };
  const announced = async (): Promise<ServerMetadata["planned_outages"]> => {
    const url = `${AUTH_URL}/.well-known/oauth-authorization-server/BANKA`;
    return (await bodyOf<ServerMetadata>(env.browser(new Request(url)))).planned_outages;
  };
  assertEquals((await announced() ?? []).map(({ text }) => text), ["Maintenance."]);
  env.now = from + 1000;
  assertEquals(await outcomes(), [[503, "599"], [503, "599"], [503, "599"]]);
  const left = await authorize(new Browser(env), env.tpp, request_uri);
  assertStringIncludes(left.headers.get("location") ?? "", "error=temporarily_unavailable");
  assertEquals((await call(env, env.tpp, bound, `${CONSENTS}/${ConsentId}`)).status, 200);
  assertEquals(env.pushes.length, 0);
  await good(change(env, `banks/BANKA/outages/${planned.Data.OutageId}/cancel`), 200);
  assertEquals(await announced(), undefined);
  assertEquals((await outcomes()).map(([status]) => status), [201, 201, 201]);
  assertEquals((await change(env, `banks/BANKA/outages/${planned.Data.OutageId}/cancel`)).status, 404);
});

Deno.test("each change is one entry in its party's history, with the operator and the reason [OP8]", async () => {
  await using env = await openEnvironment();
  await good(change(env, "organisations/BANKA/block"), 200);
  await good(change(env, "organisations/BANKA/unblock"), 200);
  await good(change(env, "banks/BANKA/hold"), 200);
  const entries = [
    ...await historyOf(env.store, "organisation BANKA"),
    ...await historyOf(env.store, "bank BANKA"),
  ];
  assertEquals(entries.map(({ event, actor, reason, sequence }) => [event, actor, reason, sequence]), [
    ["participant.blocked", "operator maria", REASON, 1],
    ["participant.unblocked", "operator maria", REASON, 2],
    ["bank.held", "operator maria", REASON, 1],
  ]);
});

Deno.test("a change that names nobody, or has no reason, changes nothing [OP8]", async (t) => {
  await using env = await openEnvironment();
  const before = await env.snapshot();
  const unknown = [
    "organisations/NOONE/block",
    "software/x/block",
    "software/x/revoke-tokens",
    "banks/NOONE/hold",
  ];
  await stepsOf(t, unknown, (path) => path, async (path) => {
    assertEquals((await change(env, path)).status, 404);
  });
  const bodies = [{}, { Reason: "" }, { Reason: "too short" }, { Reason: "x".repeat(501) }, {
    Reason: `${REASON}\n`,
  }, { Reason: REASON, More: 1 }];
  await stepsOf(t, bodies, (body) => JSON.stringify(body).slice(0, 40), async (body) => {
    const answer = await change(env, "organisations/BANKA/block", body);
    assertEquals([answer.status, (await rejectionOf(answer)).error], [400, "invalid_request"]);
  });
  const past = { FromDateTime: new Date(0).toISOString(), UntilDateTime: new Date(1).toISOString() };
  assertEquals(
    (await change(env, "banks/BANKA/outages", { ...past, Text: "Past.", Reason: REASON })).status,
    400,
  );
  assertEquals((await change(env, "banks/BANKA/unhold")).status, 404);
  assertEquals(await env.snapshot(), before);
});

Deno.test("of two outages at once Retry-After is the end of the later one [OP7]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  for (const seconds of [60, 600, 300]) {
    const UntilDateTime = new Date(env.now + seconds * 1000).toISOString();
    const data = {
      FromDateTime: new Date(env.now).toISOString(),
      UntilDateTime,
      Text: "Late.",
      Reason: REASON,
    };
    await good(change(env, "banks/BANKA/outages", data), 201);
  }
  const answer = await call(env, env.tpp, bound, CONSENTS, { body: JSON.stringify(consentBody()) });
  await answer.body?.cancel();
  assertEquals([answer.status, answer.headers.get("retry-after")], [503, "600"]);
});

Deno.test("the controls have room for a bounded number, and fit the store at their largest", async () => {
  await using env = await openEnvironment();
  const text = "x".repeat(200);
  const by = `operator ${"o".repeat(64)}`;
  const largest = {
    v: 1,
    blocks: Array.from(
      { length: MAX_CONTROLS.blocks },
      (_, n) => ({ kind: "organisation", id: String(n).padStart(64, "x"), at: env.now, by }),
    ),
    revocations: Array.from(
      { length: MAX_CONTROLS.revocations },
      () => ({ clientId: env.otherTpp.clientId, at: env.now }),
    ),
    holds: Array.from({ length: MAX_CONTROLS.holds }, () => ({ bank: "B".repeat(32), at: env.now, by })),
    outages: Array.from(
      { length: MAX_CONTROLS.outages },
      () => ({
        id: crypto.randomUUID(),
        bank: "B".repeat(32),
        from: env.now,
        until: env.now + 1e9,
        text,
        by,
      }),
    ),
  };
  assert(JSON.stringify(largest).length < 60_000, String(JSON.stringify(largest).length));
  await env.store.commit({
    checks: [],
    writes: [{ kind: "set", key: ["operator_controls"], value: largest }],
  });
  env.now += 1000;
  const outage = {
    FromDateTime: new Date(env.now).toISOString(),
    UntilDateTime: new Date(env.now + 1000).toISOString(),
    Text: "Maintenance.",
    Reason: REASON,
  };
  const cases: readonly (readonly [path: string, words: string, body?: object])[] = [
    ["organisations/BANKA/block", "There are 100 blocks. End one first."],
    [
      `software/${env.tpp.clientId}/revoke-tokens`,
      "There are 100 revocations. Block the software, or wait an hour.",
    ],
    ["banks/BANKA/hold", "There are 50 holds. End one first."],
    ["banks/BANKA/outages", "There are 50 outages. End one first.", outage],
  ];
  for (const [path, words, body] of cases) {
    const answer = await change(env, path, body ?? { Reason: REASON });
    assertEquals([answer.status, (await rejectionOf(answer)).error_description], [409, words]);
  }
});

Deno.test("a process that cannot read the controls rejects requests instead of guessing [OP4]", async () => {
  await using env = await openEnvironment();
  await env.store.commit({
    checks: [],
    writes: [{ kind: "set", key: ["operator_controls"], value: { v: 1 } }],
  });
  env.now += 1000;
  assertEquals((await requestToken(env, env.tpp)).status, 500);
});
