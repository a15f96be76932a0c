/** Changes that need two operators: proposed by one, approved by another, for a bounded time. */
import { assert, assertEquals } from "@std/assert";
import { bodyOf } from "testing/answers.ts";
import { sha256 } from "../../../src/base/kernel/identifiers.ts";
import { historyOf } from "testing/histories.ts";
import { openConsole } from "testing/console_browser.ts";
import { changeAs, type TestOperator } from "testing/operators.ts";
import { later, openPushEnvironment, paid } from "support/orders.ts";
import {
  AGREED,
  approvedAndCut,
  blocks,
  HOUR,
  listed,
  openTwo,
  post,
  proposed,
  type ProposedBody,
  REASON,
} from "support/four_eyes.ts";
import { steps } from "support/steps.ts";
import { unchanged } from "testing/store_contents.ts";

const OWN = "You have proposed it yourself: another person must approve it.";
const POST = { method: "POST" };

Deno.test("a proposed change is made when a second operator approves it, once, in the name of both [FE1, FE3]", async () => {
  await using env = await openTwo();
  const id = await proposed(env, "/organisations/BANKA/block");
  assertEquals(await blocks(env), []);
  const own = await post(env, `/proposals/${id}/approve`, "security", AGREED);
  assertEquals([own.status, own.body.error], [409, "conflict"], "never the same person");
  assertEquals(await blocks(env), []);
  const { status, body } = await post(env, `/proposals/${id}/approve`, "maria", AGREED);
  assertEquals([status, body.Data?.State, body.Data?.DecidedBy], [200, "done", "operator maria"]);
  assertEquals(await blocks(env), ["BANKA by operator security with operator maria"]);
  assertEquals((await post(env, `/proposals/${id}/approve`, "maria", AGREED)).status, 409);
  const [entry] = await historyOf(env.store, "organisation BANKA");
  assertEquals([entry?.actor, entry?.reason], ["operator security with operator maria", REASON]);
  const digest = await sha256(JSON.stringify({ Data: { Reason: REASON } }));
  const made = `body SHA-256 ${digest}, /operations/organisations/BANKA/block: ${REASON}`;
  assertEquals(
    (await historyOf(env.store, `proposal ${id}`)).map(({ event, actor, reason }) => [event, actor, reason]),
    [
      ["proposal.made", "operator security", made],
      ["proposal.refused", "operator security", OWN],
      ["proposal.approved", "operator maria", AGREED],
      ["proposal.done", "platform", "status 200"],
      ["proposal.refused", "operator maria", "It is done."],
    ],
  );
  assertEquals(env.logged.filter((line) => /proposal\.(made|approved)/.test(line)).length, 2);
});

Deno.test("of parallel approvals one makes the change [FE3]", async () => {
  await using env = await openTwo();
  const id = await proposed(env, "/organisations/BANKA/block");
  const answers = await Promise.all(
    ["maria", "maria", "maria"].map((as) =>
      post(env, `/proposals/${id}/approve`, as as TestOperator, AGREED)
    ),
  );
  assert(answers.every(({ status }) => status === 200 || status === 409));
  assertEquals((await blocks(env)).length, 1);
  const events = (await historyOf(env.store, "organisation BANKA")).map(({ event }) => event);
  assertEquals(events, ["participant.blocked"]);
  assertEquals((await listed(env))[0]?.State, "done");
});

Deno.test("a proposal expires after 24 hours, and can be withdrawn before [FE2]", async () => {
  await using env = await openTwo();
  const late = await proposed(env, "/organisations/BANKA/block");
  env.now += 24 * HOUR - 1;
  const withdrawn = await proposed(env, "/organisations/BANKB/block");
  env.now += 1;
  assertEquals((await post(env, `/proposals/${late}/approve`, "maria")).status, 409);
  assertEquals(
    (await post(env, `/proposals/${withdrawn}/withdraw`, "security")).body.Data?.State,
    "withdrawn",
  );
  assertEquals((await post(env, `/proposals/${withdrawn}/approve`, "maria")).status, 409);
  assertEquals((await listed(env)).map(({ State }) => State), ["withdrawn", "expired"]);
  assertEquals(await blocks(env), []);
});

Deno.test("a change without a second pair of eyes is made at once, and others are proposed [FE1]", async (t) => {
  await using env = await openTwo("block-organisation,unblock-organisation");
  assertEquals((await post(env, `/software/${env.tpp.clientId}/block`, "security")).status, 200);
  await proposed(env, "/organisations/BANKA/block");
  await using all = await openTwo();
  const id = crypto.randomUUID();
  await steps(t, {
    software: [`/software/${all.tpp.clientId}/block`, "security"],
    tokens: [`/software/${all.tpp.clientId}/revoke-tokens`, "security"],
    erasure: [`/cases/${id}/erasure`, "security"],
    "unblocked organisation": ["/organisations/BANKA/unblock", "security"],
    "unblocked software": [`/software/${all.tpp.clientId}/unblock`, "security"],
    "released bank": ["/banks/BANKA/release", "operator"],
    "order sent again": [`/payment-orders/${id}/redrive`, "operator"],
  } as Record<string, [string, TestOperator]>, async ([path, as]) => {
    await proposed(all, path, as);
  });
  const restored = await all.asOperator(
    "/operations/order-holds/BANKA/release",
    { method: "POST", body: REASON },
    "operator",
  );
  assertEquals([restored.status, (await bodyOf<ProposedBody>(restored)).Data?.State], [202, "proposed"]);
  const compared = await all.asOperator("/operations/order-holds/BANKA/reconcile", POST, "operator");
  assertEquals([compared.status, (await bodyOf<ProposedBody>(compared)).Data?.State], [202, "proposed"]);
});

Deno.test("one operator does not undo what two have decided [FE1, FE7]", async () => {
  await using env = await openTwo("block-software,unblock-software");
  const party = `/software/${env.tpp.clientId}`;
  const blocked = await proposed(env, `${party}/block`);
  assertEquals((await post(env, `/proposals/${blocked}/approve`, "maria", AGREED)).body.Data?.State, "done");
  const unblocked = await proposed(env, `${party}/unblock`);
  assertEquals((await blocks(env)).length, 1);
  assertEquals((await post(env, `/proposals/${unblocked}/approve`, "security", AGREED)).status, 409);
  assertEquals((await blocks(env)).length, 1);
  assertEquals(
    (await post(env, `/proposals/${unblocked}/approve`, "maria", AGREED)).body.Data?.State,
    "done",
  );
  assertEquals(await blocks(env), []);
});

Deno.test("an order is sent again when a second operator approves it; its request has no reason [FE1]", async () => {
  const refuses = (): Response => new Response(null, { status: 400 });
  await using env = await openPushEnvironment(refuses, { environment: { PLATFORM_FOUR_EYES: "redrive" } });
  const { DomesticPaymentId: order } = await paid(env);
  await later(env, HOUR);
  const answer = await env.asOperator(`/operations/payment-orders/${order}/redrive`, POST, "operator");
  const { Data } = await bodyOf<ProposedBody>(answer);
  assertEquals([answer.status, Data?.State], [202, "proposed"]);
  const pushes = env.pushes.length;
  await later(env, HOUR);
  assertEquals(env.pushes.length, pushes, "it waits for the second operator");
  const [one] = await listed(env);
  assertEquals([one?.Reason, one?.Body], ["Push the order again.", ""]);
  const approved = await post(env, `/proposals/${Data?.ProposalId}/approve`, "maria", AGREED);
  assertEquals([approved.status, approved.body.Data?.State], [200, "done"]);
  await later(env, HOUR);
  assertEquals(env.pushes.length, pushes + 1);
});

Deno.test("the proposer cannot approve again what another operator has approved and what was not carried out [FE3]", async () => {
  await using env = await openTwo();
  const id = await approvedAndCut(env);
  const own = await post(env, `/proposals/${id}/approve`, "security", AGREED);
  assertEquals([own.status, own.body.error], [409, "conflict"]);
  assertEquals([(await listed(env))[0]?.DecidedBy, await blocks(env)], ["operator maria", []]);
  assertEquals((await post(env, `/proposals/${id}/approve`, "maria", AGREED)).body.Data?.State, "done");
  assertEquals(await blocks(env), ["BANKA by operator security with operator maria"]);
});

Deno.test("who may not make the change can neither propose nor approve it [FE4, OP2]", async () => {
  await using env = await openTwo();
  assertEquals((await post(env, "/organisations/BANKA/block", "operator")).status, 403);
  const id = await proposed(env, "/organisations/BANKA/block");
  for (const as of ["viewer", "support", "auditor", "operator"] as const) {
    assertEquals((await post(env, `/proposals/${id}/approve`, as)).status, 403, as);
    assertEquals((await post(env, `/proposals/${id}/withdraw`, as)).status, 403, as);
  }
  assertEquals((await post(env, `/proposals/${crypto.randomUUID()}/approve`, "maria")).status, 404);
  assertEquals((await post(env, "/proposals/x/approve", "maria")).status, 404);
  assertEquals((await listed(env))[0]?.State, "proposed");
});

Deno.test("an invalid change is not stored, and one that is rejected when it is carried out failed [FE1, FE3]", async () => {
  await using env = await openTwo();
  const invalid = await unchanged(env, () => post(env, "/organisations/BANKA/block", "security", "short"));
  assertEquals(invalid.status, 400);
  const id = await proposed(env, "/organisations/NOBODY/block");
  const { status, body } = await post(env, `/proposals/${id}/approve`, "maria");
  assertEquals([status, body.Data?.State, typeof body.Data?.Fault], [200, "failed", "string"]);
});

Deno.test("an approved change whose process ended is approved again, and is made once [FE3]", async () => {
  await using env = await openTwo();
  const id = await proposed(env, "/organisations/BANKA/block");
  const { commit } = env.store;
  let commits = 0;
  env.store.commit = (staged) =>
    ++commits > 1 ? Promise.reject(new Error("the process ended")) : commit(staged);
  const cut = await changeAs(env, `/proposals/${id}/approve`, { Reason: AGREED });
  await cut.body?.cancel();
  env.store.commit = commit;
  assertEquals([cut.status >= 500, (await listed(env))[0]?.State, await blocks(env)], [true, "approved", []]);
  assertEquals((await post(env, `/proposals/${id}/approve`, "maria")).body.Data?.State, "done");
  assertEquals((await blocks(env)).length, 1);
});

Deno.test("the console proposes, and another operator approves there [FE1, OP15]", async () => {
  await using env = await openTwo();
  const [one, other] = [await openConsole(env, "security"), await openConsole(env)];
  const sent = await one.submit("/console/organisations/BANKA/block", { reason: REASON });
  assertEquals([sent.status, sent.headers.get("location")], [303, "/console/proposals?proposed=true"]);
  const own = await one.get("/console/proposals?proposed=true");
  assert(own.html.includes("a second operator must approve") && !own.html.includes('/approve"'));
  const approve = /href="(\/console\/proposals\/[^"]+\/approve)"/.exec(
    (await other.get("/console/proposals")).html,
  )?.[1];
  const done = await other.submit(approve ?? "", { reason: AGREED });
  assertEquals([done.status, done.headers.get("location")], [303, "/console/proposals?done=action.approve"]);
  assert((await other.get("/console/proposals")).html.includes("Carried out"));
  assertEquals((await blocks(env)).length, 1);
});
