/** Changes that need two operators: proposed by one, approved by another, for a bounded time. */
import { assert, assertEquals } from "@std/assert";
import { sha256 } from "../../../src/base/kernel/identifiers.ts";
import { ops } from "../../../scripts/ops/main.ts";
import { historyOf } from "../../../src/platform/audit_trail.ts";
import { ConsoleBrowser } from "testing/console_browser.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import type { Json } from "testing/flows.ts";
import { OPERATOR_TOKENS, type TestOperator } from "testing/operators.ts";
import { steps } from "support/steps.ts";

const REASON = "Fraud is suspected; case 4711 of the fraud desk.";
const AGREED = "I have read case 4711 and agree.";
const HOUR = 3_600_000;
const ALL = "erase-case,close-order,release-restored,revoke-tokens,block-organisation,block-software";

interface Answer {
  readonly status: number;
  readonly body: Json;
}

async function openTwo(changes = ALL): Promise<Environment> {
  return await openEnvironment({ environment: { FOUR_EYES: changes } });
}

async function post(env: Environment, path: string, as: TestOperator, reason = REASON): Promise<Answer> {
  const body = JSON.stringify({ Data: { Reason: reason } });
  const headers = { "content-type": "application/json" };
  const answer = await env.asOperator(`/operations${path}`, { method: "POST", headers, body }, as);
  return { status: answer.status, body: await answer.json() };
}

async function proposed(env: Environment, path: string, as: TestOperator = "security"): Promise<string> {
  const { status, body } = await post(env, path, as);
  assertEquals([status, body.Data?.State], [202, "proposed"], JSON.stringify(body));
  return body.Data.ProposalId;
}

async function blocks(env: Environment): Promise<readonly string[]> {
  const { Data } = await (await env.asOperator("/operations/controls")).json();
  return Data.Block.map(({ Id, By }: Json) => `${Id} by ${By}`);
}

async function listed(env: Environment): Promise<readonly Json[]> {
  return (await (await env.asOperator("/operations/proposals", {}, "auditor")).json()).Data.Proposal;
}

Deno.test("a proposed change is made when a second operator approves it, once, in the name of both [FE1, FE3]", async () => {
  await using env = await openTwo();
  const id = await proposed(env, "/organisations/BANKA/block");
  assertEquals(await blocks(env), []);
  const own = await post(env, `/proposals/${id}/approve`, "security", AGREED);
  assertEquals([own.status, own.body.error], [409, "conflict"], "never the same person");
  assertEquals(await blocks(env), []);
  const { status, body } = await post(env, `/proposals/${id}/approve`, "maria", AGREED);
  assertEquals([status, body.Data.State, body.Data.DecidedBy], [200, "done", "operator maria"]);
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
      ["proposal.approved", "operator maria", AGREED],
      ["proposal.done", "platform", "status 200"],
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
    (await post(env, `/proposals/${withdrawn}/withdraw`, "security")).body.Data.State,
    "withdrawn",
  );
  assertEquals((await post(env, `/proposals/${withdrawn}/approve`, "maria")).status, 409);
  assertEquals((await listed(env)).map(({ State }) => State), ["withdrawn", "expired"]);
  assertEquals(await blocks(env), []);
});

Deno.test("a change without a second pair of eyes is made at once, and others are proposed [FE1]", async (t) => {
  await using env = await openTwo("block-organisation");
  assertEquals((await post(env, `/software/${env.tpp.clientId}/block`, "security")).status, 200);
  await proposed(env, "/organisations/BANKA/block");
  await using all = await openTwo();
  const id = crypto.randomUUID();
  await steps(t, {
    software: [`/software/${all.tpp.clientId}/block`, "security"],
    tokens: [`/software/${all.tpp.clientId}/revoke-tokens`, "security"],
    erasure: [`/cases/${id}/erasure`, "security"],
  } as Record<string, [string, TestOperator]>, async ([path, as]) => {
    await proposed(all, path, as);
  });
  const restored = await all.asOperator(
    "/operations/order-holds/BANKA/release",
    { method: "POST", body: REASON },
    "operator",
  );
  assertEquals([restored.status, (await restored.json()).Data.State], [202, "proposed"]);
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
  const before = await env.snapshot();
  assertEquals((await post(env, "/organisations/BANKA/block", "security", "short")).status, 400);
  assertEquals(await env.snapshot(), before);
  const id = await proposed(env, "/organisations/NOBODY/block");
  const { status, body } = await post(env, `/proposals/${id}/approve`, "maria");
  assertEquals([status, body.Data.State, typeof body.Data.Fault], [200, "failed", "string"]);
});

Deno.test("an approved change whose process ended is approved again, and is made once [FE3]", async () => {
  await using env = await openTwo();
  const id = await proposed(env, "/organisations/BANKA/block");
  const { commit } = env.store;
  let commits = 0;
  env.store.commit = (staged) =>
    ++commits > 1 ? Promise.reject(new Error("the process ended")) : commit(staged);
  const cut = await env.asOperator(`/operations/proposals/${id}/approve`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ Data: { Reason: AGREED } }),
  }, "maria");
  await cut.body?.cancel();
  env.store.commit = commit;
  assertEquals([cut.status >= 500, (await listed(env))[0]?.State, await blocks(env)], [true, "approved", []]);
  assertEquals((await post(env, `/proposals/${id}/approve`, "maria")).body.Data.State, "done");
  assertEquals((await blocks(env)).length, 1);
});

Deno.test("the second operator sees the whole change, and its history has the digest of the body [FE5]", async () => {
  await using env = await openTwo();
  const Data = { Reason: REASON, StatusReason: 'No money "was" \u202emoved.', MayBeAtBank: true };
  const path = `/operations/payment-orders/${crypto.randomUUID()}/close`;
  const body = JSON.stringify({ Data });
  const headers = { "content-type": "application/json" };
  const sent = await env.asOperator(path, { method: "POST", headers, body }, "operator");
  const id = (await sent.json()).Data.ProposalId;
  const [shown] = await listed(env);
  assertEquals([shown?.Path, JSON.parse(shown?.Body)], [path, { Data }]);
  const [entry] = await historyOf(env.store, `proposal ${id}`);
  assertEquals(entry?.reason, `body SHA-256 ${await sha256(shown?.Body)}, ${path}: ${REASON}`);
  const browser = new ConsoleBrowser((request) => env.platform.operations.fetch(request));
  await browser.signIn("maria");
  const { html } = await browser.get("/console/proposals");
  const text = html.replaceAll("&quot;", '"').replaceAll("&#39;", "'");
  assert(text.includes(shown?.Body.replace("\u202e", "\\u{202e}")), text);
  let printed = "";
  await ops(["proposals"], {
    env: { OPS_TOKEN: OPERATOR_TOKENS.maria },
    readText: () => Promise.reject(new Error("no file")),
    fetch: ((url: string, init) => env.platform.operations.fetch(new Request(url, init))) as typeof fetch,
    print: (line) => void (printed += line),
    now: env.now,
  });
  assert(printed.includes(`Body: ${shown?.Body.replace("\u202e", "?")}`), printed);
});

Deno.test("open proposals are bounded for each operator and in all, and ended ones do not count [FE6]", async () => {
  await using env = await openTwo();
  const propose = (as: TestOperator) => post(env, `/software/${env.tpp.clientId}/block`, as);
  const first = await proposed(env, "/organisations/BANKA/block");
  const statuses = (await Promise.all(Array.from({ length: 4 }, () => propose("security"))))
    .map(({ status }) => status);
  for (let count = 0; count < 20; count++) statuses.push((await propose("security")).status);
  assertEquals(statuses.filter((status) => status === 202).length, 19);
  assertEquals((await propose("security")).body.error, "conflict");
  await post(env, `/proposals/${first}/withdraw`, "security");
  assertEquals((await propose("security")).status, 202);
  assertEquals((await propose("security")).status, 409);
  assertEquals((await propose("maria")).status, 202, "the others have their own");
  for (let count = 0; count < 19; count++) assertEquals((await propose("maria")).status, 202);
  const close = `/operations/payment-orders/${crypto.randomUUID()}/close`;
  const body = JSON.stringify({ Data: { Reason: REASON, StatusReason: "No money was moved." } });
  const headers = { "content-type": "application/json" };
  const closes: number[] = [];
  for (let count = 0; count < 11; count++) {
    const answer = await env.asOperator(close, { method: "POST", headers, body }, "operator");
    await answer.body?.cancel();
    closes.push(answer.status);
  }
  assertEquals(closes, [...Array(10).fill(202), 409]);
  env.now += 24 * HOUR;
  assertEquals((await propose("security")).status, 202, "expired ones do not count");
});

Deno.test("ended proposals neither stop a new one nor hide it [FE6]", async () => {
  await using env = await openTwo();
  const id = await proposed(env, "/organisations/BANKA/block");
  await post(env, `/proposals/${id}/withdraw`, "security");
  const ended = await env.store.get<object>(["proposal", id]);
  for (let count = 0; count < 600; count += 100) {
    const writes = Array.from({ length: 100 }, () => {
      const other = `00000000-${crypto.randomUUID().slice(9)}`;
      return { kind: "set" as const, key: ["proposal", other], value: { ...ended?.value, id: other } };
    });
    await env.store.commit({ checks: [], writes });
  }
  env.now += 1;
  const open = await proposed(env, "/organisations/BANKA/block", "maria");
  const [newest, ...others] = await listed(env);
  assertEquals([newest?.ProposalId, others.length >= 499], [open, true]);
});

Deno.test("the console proposes, and another operator approves there [FE1, OP15]", async () => {
  await using env = await openTwo();
  const browserOf = async (as: TestOperator): Promise<ConsoleBrowser> => {
    const browser = new ConsoleBrowser((request) => env.platform.operations.fetch(request));
    await browser.signIn(as);
    return browser;
  };
  const [one, other] = [await browserOf("security"), await browserOf("maria")];
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
