/** `/{BANK}/disputes/v1` and `/operations/disputes` (contract DSP1 to DSP7). */
import type { Dispute } from "../../../../src/platform/core/disputes/dispute.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Bundle } from "../../../../scripts/operators/case/bundle_schema.ts";
import { openPushEnvironment, type PushEnvironment, report } from "support/orders.ts";
import { erase } from "support/personal_case.ts";
import { testWith } from "support/environment_test.ts";
import { ConsoleBrowser } from "testing/console_browser.ts";
import type { Alarms } from "testing/operation_answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { bankCall } from "testing/back_channel.ts";
import { bodyOf, present } from "testing/answers.ts";
import { call, type CallOptions, good, pay } from "testing/flows.ts";
import { historyOf } from "testing/histories.ts";
import { OPERATIONS_URL } from "testing/operators.ts";
import { personOf, testPeople } from "testing/participants_people.ts";
import type { Participant } from "testing/participants.ts";
import { assertFaults } from "testing/resource_answers.ts";
import { sharedToken } from "testing/shared_token.ts";
import { openTestStore } from "testing/test_store.ts";
import type { Entry, Key, Write } from "../../../../src/base/store/store.ts";
import type { PaymentId } from "../../../../src/base/kernel/identifiers.ts";
import { disputeKey } from "../../../../src/platform/config/store_keys.ts";
import { disputeRecord, listOpenDisputes } from "../../../../src/platform/core/disputes/dispute_store.ts";
import { faultsOf as secondFaults } from "../../../evidence_verifier/verifier.ts";
import { faultsOf, grownBundle } from "../../../scripts/operators/case/bundles.ts";
import { forge, type Forged } from "../../../scripts/operators/case/forging.ts";
import { verified, waiting } from "../../events/poll.ts";

const test = testWith(() => openPushEnvironment());

interface Answer {
  readonly Data: {
    readonly Status: string;
    readonly OpenedBy: string;
    readonly Outcome?: string;
    readonly CreationDateTime: string;
    readonly StatusUpdateDateTime: string;
    readonly DueDateTime?: string;
    readonly Statement: readonly {
      readonly By: string;
      readonly DateTime: string;
      readonly Statement: string;
      readonly IsAgreed?: boolean;
    }[];
  };
}

interface Own {
  readonly Data: {
    readonly Dispute: readonly (Pick<Answer["Data"], "Status" | "DueDateTime"> & {
      readonly DomesticPaymentId: string;
      readonly IsOverdue: boolean;
      readonly NextAction: readonly string[];
    })[];
  };
}

async function paidIn(env: PushEnvironment): Promise<string> {
  return (await good(pay(env, await authorised(env)), 201)).Data.DomesticPaymentId;
}

async function step(
  env: PushEnvironment,
  who: Participant,
  data: Readonly<Record<string, unknown>>,
  options: CallOptions = {},
): Promise<Response> {
  const body = JSON.stringify({ Data: { Statement: "It never came.", ...data } });
  return await call(env, who, await sharedToken(env, who, "BANKA"), "/BANKA/disputes/v1", {
    body,
    ...options,
  });
}

async function taken(
  env: PushEnvironment,
  who: Participant,
  data: Readonly<Record<string, unknown>>,
  options: CallOptions = {},
): Promise<Answer["Data"]> {
  const answer = await step(env, who, data, options);
  assertEquals(answer.status, 201, await answer.clone().text());
  return (await bodyOf<Answer>(answer)).Data;
}

async function read(env: PushEnvironment, who: Participant, id: string, bank = "BANKA"): Promise<Response> {
  return await call(env, who, await sharedToken(env, who, bank), `/${bank}/disputes/v1/${id}`);
}

/** The changes of disputes of which the party is told, and which it has not acknowledged. */
async function told(env: PushEnvironment, who: "TPP" | "Bank"): Promise<readonly string[]> {
  if (who === "TPP") {
    return (await waiting(env)).flatMap(({ what }) => what.startsWith("dispute-") ? [what] : []);
  }
  const body = JSON.stringify({ returnImmediately: true });
  const options = { body, signature: null, idempotencyKey: null };
  const answer = await bankCall(env, env.bankA, "/BANKA/back-channel-events/v1", options);
  const { sets } = await bodyOf<{ readonly sets: Readonly<Record<string, string>> }>(answer);
  const events = await Promise.all(Object.entries(sets).map(([jti, token]) => verified(env, jti, token)));
  return events.flatMap(({ what }) => what.startsWith("dispute-") ? [what] : []);
}

/** What each of the two verifiers finds. */
async function bothFaults(text: string): Promise<readonly (readonly string[])[]> {
  const second: string[] = [];
  for await (const [, fault] of secondFaults(new TextEncoder().encode(text))) second.push(fault);
  return [await faultsOf(text), second];
}

async function assertBundlesHold(env: PushEnvironment, id: string): Promise<Bundle> {
  const whole = await grownBundle(env, id);
  const texts = [whole];
  for (const who of [env.tpp, env.bankA]) {
    const answer = await call(env, who, await sharedToken(env, who, "BANKA"), `/BANKA/cases/v1/${id}`);
    texts.push(await answer.text());
  }
  for (const text of texts) {
    assertEquals(await bothFaults(text), [[], []]);
    assert(text.includes('"kind":"tpp_dispute"'));
  }
  return JSON.parse(whole) as Bundle;
}

const decide = (env: PushEnvironment, id: string, Outcome = "Upheld"): Promise<Response> =>
  env.asOperator(`/operations/disputes/${id}/decision`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ Data: { Outcome, Reason: "The bank has shown nothing." } }),
  });

test("a dispute is opened, answered and decided: events, statements and evidence of each step [DSP1] [DSP2] [DSP3] [DSP5] [DSP6] [DSP7]", async ({ env }) => {
  const [id, opening] = [await paidIn(env), { idempotencyKey: "dispute-1" }];
  const open = { DomesticPaymentId: id, Action: "Open" };
  const opened = await taken(env, env.tpp, open, opening);
  assertEquals([opened.Status, opened.OpenedBy, opened.Statement.length], ["Open", "TPP", 1]);
  assertEquals(await taken(env, env.tpp, open, opening), opened); // a retry
  assertEquals([await told(env, "Bank"), await told(env, "TPP")], [["dispute-changed Open"], []]);
  const openedAt = env.now;
  env.now += 60_000;
  const answered = await taken(env, env.bankA, {
    DomesticPaymentId: id,
    Action: "Answer",
    IsAgreed: false,
    Statement: "It was credited.",
  });
  assertEquals(answered.Status, "Answered");
  const times = [answered.CreationDateTime, answered.StatusUpdateDateTime, answered.DueDateTime ?? ""];
  assertEquals(times.map(Date.parse), [openedAt, env.now, env.now + 15 * 86_400_000]);
  assertEquals(answered.Statement.map((one) => ({ ...one, DateTime: Date.parse(one.DateTime) })), [
    { By: "TPP", Statement: "It never came.", DateTime: openedAt },
    { By: "Bank", Statement: "It was credited.", DateTime: env.now, IsAgreed: false },
  ]);
  assertEquals(await told(env, "TPP"), ["dispute-changed Answered"]);
  const decided = await bodyOf<Answer>(await decide(env, id));
  assertEquals([decided.Data.Status, decided.Data.Outcome], ["Decided", "Upheld"]);
  assertEquals((await told(env, "TPP")).at(-1), "dispute-changed Decided");
  assertEquals((await told(env, "Bank")).at(-1), "dispute-changed Decided");
  for (const who of [env.tpp, env.bankA]) {
    const { Data } = await bodyOf<Answer>(await read(env, who, id));
    assertEquals([Data.Outcome, Data.DueDateTime, Data.Statement.length], ["Upheld", undefined, 2]);
    assert(!JSON.stringify(Data).includes("shown nothing"));
  }
  assertEquals((await decide(env, id)).status, 409);
  const { entries } = await assertBundlesHold(env, id);
  await historyOf(env.store, id);
  const ofDispute = entries.flatMap(({ record }) => record.event.startsWith("dispute.") ? record : []);
  const [events, numbers] = [ofDispute.map(({ event }) => event), ofDispute.map(({ sequence }) => sequence)];
  assertEquals(events, ["dispute.opened", "dispute.answered", "dispute.decided"]);
  const [stored, ...others] = await env.store.list<Dispute>({ prefix: ["dispute"], limit: 9 });
  assertEquals([stored?.value.steps.map(({ sequence }) => sequence), others], [numbers.slice(0, 2), []]);
});

test("a platform cannot make another step of what a party has stated in a dispute [DSP2] [DSP3] [EV11]", async ({ env, t }) => {
  const [id, agreed, alone] = [await paidIn(env), await paidIn(env), await paidIn(env)];
  for (const each of [id, agreed, alone]) {
    await taken(env, env.tpp, { DomesticPaymentId: each, Action: "Open" });
  }
  await taken(env, env.bankA, { DomesticPaymentId: id, Action: "Answer", IsAgreed: false });
  await taken(env, env.bankA, { DomesticPaymentId: agreed, Action: "Answer", IsAgreed: true });
  await taken(env, env.tpp, { DomesticPaymentId: alone, Action: "Withdraw" });
  const renamed = (from: string, to: string) => ({ entries }: Forged): void => {
    for (const { record } of entries) if (record.event === from) record.event = to;
  };
  const decided = ({ entries }: Forged): void => {
    const { position, record: { sequence, ...last } } = present(entries.at(-1));
    const { at, subject, salt } = last;
    const step = { event: "dispute.decided", actor: "operator eve", sequence: sequence + 1 };
    entries.push({ record: { at, subject, salt, ...step }, position: position + 1, bodies: [] });
  };
  const faultsAfter = async (of: string, change: (bundle: Forged) => void) => {
    const text = await grownBundle(env, of);
    const { entries } = JSON.parse(text) as Bundle;
    const steps = entries.filter(({ record }) => record.subject === of).length;
    const payment_entries = change === decided ? steps + 1 : steps;
    return await bothFaults(await forge(text, change, { payment_entries }));
  };
  const forgeries: Readonly<Record<string, readonly [string, (bundle: Forged) => void]>> = {
    "the bank's answer as its withdrawal": [id, renamed("dispute.answered", "dispute.withdrawn")],
    "the TPP's withdrawal as an answer": [alone, renamed("dispute.withdrawn", "dispute.answered")],
    "a decision about what the bank has agreed to": [agreed, decided],
    "a decision after the withdrawal": [alone, decided],
  };
  for (const [name, [of, change]] of Object.entries(forgeries)) {
    await t.step(name, async () => {
      const [first = [], second = []] = await faultsAfter(of, change);
      assert(first.length > 0 && second.length > 0, JSON.stringify([first, second]));
    });
  }
  assertEquals(await faultsAfter(id, decided), [[], []], "a decision about an answer without agreement");
});

test("a dispute ends by agreement and by withdrawal, and each party takes its own steps alone [DSP2]", async ({ env }) => {
  const agreed = await paidIn(env);
  const NONE = "You can take no step in the dispute of this payment now.";
  const notNow = async (who: Participant, id: string, Action: string, words?: string): Promise<void> => {
    const more = Action === "Answer" ? { IsAgreed: true } : {};
    await assertFaults(await step(env, who, { DomesticPaymentId: id, Action, ...more }), 400, [
      ["Field.Invalid", "Data.Action", words],
    ]);
  };
  await notNow(env.tpp, agreed, "Answer", "Must be Open now.");
  await notNow(env.tpp, agreed, "Withdraw");
  await taken(env, env.tpp, { DomesticPaymentId: agreed, Action: "Open" });
  await notNow(env.tpp, agreed, "Open");
  await notNow(env.tpp, agreed, "Answer");
  await notNow(env.bankA, agreed, "Withdraw");
  await notNow(env.bankA, agreed, "Open");
  const end = await taken(env, env.bankA, { DomesticPaymentId: agreed, Action: "Answer", IsAgreed: true });
  assertEquals([end.Status, end.Outcome, end.DueDateTime], ["Decided", "Agreed", undefined]);
  for (const who of [env.tpp, env.bankA]) {
    for (const action of ["Open", "Answer", "Withdraw"]) await notNow(who, agreed, action, NONE);
  }
  await assertBundlesHold(env, agreed);
  const withdrawn = await paidIn(env);
  await taken(env, env.bankA, { DomesticPaymentId: withdrawn, Action: "Open" });
  await taken(env, env.tpp, { DomesticPaymentId: withdrawn, Action: "Answer", IsAgreed: false });
  await notNow(env.tpp, withdrawn, "Withdraw");
  assertEquals(
    (await taken(env, env.bankA, { DomesticPaymentId: withdrawn, Action: "Withdraw" })).Status,
    "Withdrawn",
  );
  assertEquals((await decide(env, withdrawn)).status, 409);
  await assertBundlesHold(env, withdrawn);
});

test("a dispute of another participant does not exist, and a faulty step changes nothing [DSP1] [DSP5] [C2]", async ({ env }) => {
  const id = await paidIn(env);
  const open = { DomesticPaymentId: id, Action: "Open" };
  await assertFaults(await step(env, env.otherTpp, open), 400, [["Resource.NotFound"]]);
  await assertFaults(await step(env, env.tpp, { ...open, Statement: "" }), 400, [[
    "Field.Invalid",
    "Data.Statement",
  ]]);
  await assertFaults(await step(env, env.tpp, { ...open, Statement: "x".repeat(2001) }), 400, [
    ["Field.Invalid", "Data.Statement"],
  ]);
  await assertFaults(await step(env, env.tpp, { ...open, IsAgreed: true }), 400, [
    ["Field.Unexpected", "Data.IsAgreed", "Must be absent except in an answer."],
  ]);
  await assertFaults(await read(env, env.tpp, id), 400, [["Resource.NotFound"]]);
  await taken(env, env.tpp, open);
  await assertFaults(await read(env, env.otherTpp, id), 400, [["Resource.NotFound"]]);
  await assertFaults(await read(env, env.bankB, id, "BANKB"), 400, [["Resource.NotFound"]]);
  assertEquals((await decide(env, crypto.randomUUID())).status, 404);
});

Deno.test("a repetition that comes while its step is committed is answered with it [DSP1] [IK9]", async () => {
  const inner = await openTestStore();
  let between: (() => Promise<unknown>) | undefined;
  const getMany = async <T>(keys: readonly Key[]): Promise<(Entry<T> | null)[]> => {
    const first = keys.some(([name]) => name === "dispute") ? between : undefined;
    if (first !== undefined) between = undefined;
    await first?.();
    return await inner.getMany(keys);
  };
  await using env = await openPushEnvironment(undefined, { store: { ...inner, getMany } });
  const open = { DomesticPaymentId: await paidIn(env), Action: "Open" };
  const opening = { idempotencyKey: "dispute-1" };
  between = () => taken(env, env.tpp, open, opening); // the repetition has looked for its key, and not for a dispute
  const repeated = await taken(env, env.tpp, open, opening);
  assertEquals([between, repeated.Status, repeated.Statement.length], [undefined, "Open", 1]);
});

test("of parallel steps one is taken, and operators see which dispute is overdue [DSP2] [DSP4] [DSP7]", async ({ env }) => {
  const [first, second] = [await paidIn(env), await paidIn(env)];
  const both = [env.tpp, env.bankA].map((who) =>
    step(env, who, { DomesticPaymentId: first, Action: "Open" })
  );
  assertEquals((await Promise.all(both)).map(({ status }) => status).toSorted(), [201, 400]);
  env.now += 60_000;
  await taken(env, env.tpp, { DomesticPaymentId: second, Action: "Open" });
  const listed = async (): Promise<readonly (readonly unknown[])[]> => {
    const answer = await env.asOperator("/operations/disputes");
    const { Data } = await bodyOf<{
      readonly Data: {
        readonly Dispute: readonly Record<"DomesticPaymentId" | "IsOverdue" | "Tpp", unknown>[];
      };
    }>(answer);
    return Data.Dispute.map(({ DomesticPaymentId: id, IsOverdue, Tpp }) => [id, IsOverdue, Tpp]);
  };
  const name = "Example Shop Ltd · Example Shop Ltd app";
  assertEquals(await listed(), [[first, false, name], [second, false, name]]);
  env.now += 15 * 86_400_000 - 1000;
  assertEquals(await listed(), [[first, true, name], [second, false, name]]);
});

Deno.test("people of both parties see their disputes, until when which step is expected, and what they can do next [OWN8] [OWN2]", async () => {
  await using env = await openPushEnvironment(undefined, { operators: await testPeople() });
  const [old, id] = [await paidIn(env), await paidIn(env)];
  const browser = new ConsoleBrowser((request) => env.platform.operations.fetch(request));
  const own = async (orgId: string): Promise<readonly string[]> => {
    const answer = await env.platform.operations.fetch(
      new Request(`${OPERATIONS_URL}/operations/own/disputes`, { headers: personOf(orgId) }),
    );
    const { Data: { Dispute: found } } = await good<Own>(answer, 200);
    return found.map((one) => {
      const due = one.DueDateTime === undefined ? "ended" : one.IsOverdue ? "overdue" : "due";
      return [one.DomesticPaymentId === id ? "new" : "old", one.Status, due, ...one.NextAction].join(" ");
    });
  };
  await taken(env, env.tpp, { DomesticPaymentId: old, Action: "Open" });
  await taken(env, env.bankA, { DomesticPaymentId: old, Action: "Answer", IsAgreed: true });
  env.now += 1000;
  await taken(env, env.tpp, { DomesticPaymentId: id, Action: "Open" });
  assertEquals(await own(env.tpp.orgId), ["new Open due Withdraw", "old Decided ended"]);
  assertEquals(await own("BANKA"), ["new Open due Answer", "old Decided ended"]);
  for (const stranger of [env.otherTpp.orgId, "BANKB"]) assertEquals(await own(stranger), []);
  const token = personOf("BANKA").authorization.replace("Bearer ", "");
  await browser.submit("/console/sign-in", { token, next: "/console/own" });
  const { html } = await browser.get("/console/own");
  assertMatch(
    html,
    /Waits for the answer[\s\S]*Answer with <code dir="ltr">POST \/BANKA\/disputes\/v1<\/code>/,
  );
  assertMatch(html, /Payment initiator <bdi class="detail">Example Shop Ltd · Example Shop Ltd app<\/bdi>/);
  assertMatch(html, /It never came\.[\s\S]*The other party agreed/);
  await taken(env, env.bankA, { DomesticPaymentId: id, Action: "Answer", IsAgreed: false });
  env.now += 16 * 86_400_000;
  assertEquals((await own("BANKA"))[0], "new Answered overdue");
  assertEquals((await own(env.tpp.orgId))[0], "new Answered overdue Withdraw");
});

Deno.test("people see what waits for them first, and then the newest, also among a thousand disputes [OWN8]", async () => {
  await using env = await openPushEnvironment(undefined, { operators: await testPeople() });
  const id = await paidIn(env);
  await taken(env, env.tpp, { DomesticPaymentId: id, Action: "Open" });
  const [open] = await listOpenDisputes(env.store, 1);
  const { dueAt: _, ...ended } = present(open);
  for (let from = 0; from < 1000; from += 100) {
    const writes: Write[] = [];
    for (let n = from; n < from + 100; n++) {
      const paymentId = `00000000-0000-7000-8000-${String(n).padStart(12, "0")}` as PaymentId;
      const updatedAt = ended.updatedAt + n;
      const key = disputeKey(ended.bank, ended.clientId, paymentId); // before that of the open one
      disputeRecord.set({ writes }, key, { ...ended, paymentId, updatedAt, status: "Withdrawn" });
    }
    await env.store.commit({ checks: [], writes });
  }
  for (const orgId of [env.tpp.orgId, "BANKA"]) {
    const path = `${OPERATIONS_URL}/operations/own/disputes`;
    const answer = env.platform.operations.fetch(new Request(path, { headers: personOf(orgId) }));
    const { Data: { Dispute: found } } = await good<Own>(answer, 200);
    assertEquals(found.map(({ Status }) => Status), ["Open", ...Array(49).fill("Withdrawn")]);
    assertMatch(found[1]?.DomesticPaymentId ?? "", /999$/);
  }
});

Deno.test("an overdue dispute is an alarm until it has ended, its page decides it, and its case stays meanwhile [DSP4] [DSP7] [OP31]", async () => {
  await using env = await openPushEnvironment(undefined, { environment: { PLATFORM_KEEP_CASES_DAYS: "1" } });
  const id = await paidIn(env);
  await taken(env, env.tpp, { DomesticPaymentId: id, Action: "Open" });
  await taken(env, env.bankA, { DomesticPaymentId: id, Action: "Answer", IsAgreed: false });
  const alarms = async (): Promise<readonly unknown[]> => {
    env.now += 60_000;
    await env.platform.workOnce();
    const { Data } = await good<Alarms>(env.asOperator("/operations/alarms", {}, "viewer"), 200);
    return Data.Alarm.flatMap(({ Name, Value }) => Name === "DisputesOverdue" ? [Value] : []);
  };
  assertEquals(await alarms(), []);
  env.now += 15 * 86_400_000;
  assertEquals(await alarms(), [1]);
  await good(report(env, id, "AcceptedSettlementCompleted"), 200);
  env.now += 86_400_000;
  assertEquals((await erase(env, id)).status, 409);
  const browser = new ConsoleBrowser((request) => env.platform.operations.fetch(request));
  await browser.signIn("operator");
  assertMatch((await browser.get("/console/disputes")).html, /Waits for a decision/);
  const form = `/console/disputes/${id}/decision`;
  assertMatch((await browser.get(form)).html, /It never came\.[\s\S]*The opener is right/);
  const done = await browser.submit(form, { outcome: "Upheld", reason: "The bank has shown nothing." });
  assertEquals(done.headers.get("location"), "/console/disputes?done=action.decideDispute");
  assertEquals(await alarms(), []);
  env.now += 2 * 86_400_000;
  assertEquals([await alarms(), (await erase(env, id)).status, (await decide(env, id)).status], [
    [],
    200,
    409,
  ]);
});
