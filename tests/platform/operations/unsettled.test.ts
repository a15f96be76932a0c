/** Payments that are not final for long: they are found, counted and listed, and their bank is asked. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Alarms } from "testing/operation_answers.ts";
import { bodyOf, present } from "testing/answers.ts";
import { openConsole } from "testing/console_browser.ts";
import type { Environment } from "testing/environment.ts";
import { historyOf } from "testing/histories.ts";
import { good } from "testing/flows.ts";
import { changeAs, OPERATIONS_URL, OPERATOR_TOKENS } from "testing/operators.ts";
import { platformKeySet } from "testing/platform_keys.ts";
import { type BookEnvironment, openBookEnvironment } from "support/bank_books.ts";
import { paid, report, statusOf } from "support/orders.ts";
import { copyOf, restore } from "support/restored_store.ts";
import { anotherProcess } from "support/processes.ts";

interface Listed {
  readonly Data: {
    readonly Bank: readonly { readonly BankId: string; readonly Payment: readonly Shown[] }[];
  };
}
interface Shown {
  readonly DomesticPaymentId: string;
  readonly Status: string;
}

const HOUR = 3_600_000;

async function open(): Promise<BookEnvironment> {
  return await openBookEnvironment({ environment: { PLATFORM_UNSETTLED_HOURS: "2" } });
}

/** The unsettled payments of bank A by id, and the only bank that has some. */
async function listed(env: Environment): Promise<readonly string[]> {
  const answer = await env.asOperator("/operations/unsettled-payments", {}, "viewer");
  const { Data: { Bank: [bank, ...others] } } = await good<Listed>(answer, 200);
  assertEquals([bank?.BankId ?? "BANKA", others], ["BANKA", []]);
  return (bank?.Payment ?? []).map(({ DomesticPaymentId }) => DomesticPaymentId);
}

async function looked(env: Environment, milliseconds: number): Promise<void> {
  env.now += milliseconds;
  await env.platform.workOnce();
}

async function made(env: Environment): Promise<string> {
  env.now += 1000;
  return (await paid(env)).DomesticPaymentId;
}

Deno.test("a payment that is not final after the configured time is listed and alarms until it is [OP34, OP31]", async () => {
  await using env = await open();
  const [settled, open_, late] = [await made(env), await made(env), await made(env)];
  await good(report(env, settled, "AcceptedSettlementCompleted"), 200);
  await looked(env, 2 * HOUR - 60_000);
  assertEquals(await listed(env), []);
  await looked(env, 120_000);
  assertEquals(await listed(env), [open_, late]);
  const alarms = async (): Promise<readonly string[]> => {
    const { Data } = await good<Alarms>(env.asOperator("/operations/alarms", {}, "viewer"), 200);
    return Data.Alarm.filter(({ Name }) => Name === "PaymentsUnsettled").map(({ Of, Value }) =>
      `${Of} ${Value}`
    );
  };
  assertEquals(await alarms(), ["BANKA 2"]);
  const other = await anotherProcess(env);
  await other.workOnce();
  assertEquals(await listed(env), [open_, late], "another process finds them no second time");
  await other.stop();
  await good(report(env, open_, "Rejected"), 200);
  assertEquals(await listed(env), [late], "at once");
  await good(report(env, late, "AcceptedSettlementCompleted"), 200);
  await looked(env, 60_000);
  assertEquals([await listed(env), await alarms()], [[], []]);
  assertEquals(await env.store.list({ prefix: ["unsettled"], limit: 9 }), []);
});

async function closeOrder(env: Environment, id: string): Promise<void> {
  const Data = { Reason: "The bank's desk does not find it.", StatusReason: "Not at the bank." };
  await good(changeAs(env, `/payment-orders/${id}/close`, Data), 200);
}

Deno.test("a payment that the bank takes while the search forgets it stays unsettled [OP34, OP10]", async () => {
  await using env = await open();
  const { answer } = env;
  env.answer = () => new Response(null, { status: 400 });
  const id = await made(env);
  env.answer = answer;
  await looked(env, 2 * HOUR);
  assertEquals(await listed(env), [id]);
  await closeOrder(env, id);
  const { commit } = env.store;
  env.store.commit = async (staged) => {
    if (staged.writes.some(({ kind, key: [name] }) => kind === "delete" && name === "unsettled")) {
      env.store.commit = commit;
      await good(report(env, id, "AcceptedSettlementInProcess"), 200);
    }
    return await commit(staged);
  };
  await looked(env, 60_000);
  assertEquals(await listed(env), [id]);
});

Deno.test("a payment that the bank takes after its order was closed is unsettled again, whenever it was closed [OP34, OP10]", async () => {
  await using env = await open();
  const { answer } = env;
  env.answer = () => new Response(null, { status: 400 });
  const [early, found] = [await made(env), await made(env)];
  env.answer = answer;
  const close = (id: string): Promise<void> => closeOrder(env, id);
  await close(early);
  await looked(env, 2 * HOUR);
  assertEquals(await listed(env), [found]);
  await close(found);
  await looked(env, 60_000);
  assertEquals(await listed(env), []);
  for (const id of [early, found]) await good(report(env, id, "AcceptedSettlementInProcess"), 200);
  assertEquals(await listed(env), [early, found]);
  for (const id of [early, found]) await good(report(env, id, "AcceptedSettlementCompleted"), 200);
  await looked(env, 60_000);
  assertEquals([await listed(env), await env.store.list({ prefix: ["unsettled"], limit: 9 })], [[], []]);
});

Deno.test("a payment that a statement recovers behind the place of the search is unsettled too [OP34, EN16]", async () => {
  await using env = await open();
  const kept = await made(env);
  const copy = await copyOf(env);
  env.now -= 1005; // the clock of another process
  const lost = await made(env);
  await restore(env, copy);
  await looked(env, 2 * HOUR + 60_000);
  assertEquals(await listed(env), [kept]);
  await env.operate("/operations/order-holds/BANKA/reconcile", "");
  assertEquals([await statusOf(env, lost), await listed(env)], ["AcceptedSettlementInProcess", [lost, kept]]);
});

Deno.test("an inquiry brings what the bank says of the unsettled payments, and of no other [OP35]", async () => {
  await using env = await open();
  env.books.pageSize = 1;
  const ids = [await made(env), await made(env), await made(env)];
  await looked(env, 2 * HOUR);
  const young = await made(env);
  const [completed = "", same = "", unknown = ""] = ids;
  for (const id of [completed, young]) {
    present(env.books.orders.get(id)).status = "AcceptedSettlementCompleted";
  }
  env.books.orders.delete(unknown);
  const [status, { Data }] = await env.operate("/operations/banks/BANKA/inquire", "");
  assertEquals([status, Data as object], [
    200,
    { Asked: 3, Updated: 1, Unchanged: 1, NotMentioned: 1, Disagreement: [] },
  ]);
  const statuses = await Promise.all([...ids, young].map((id) => statusOf(env, id)));
  const open_ = "AcceptedSettlementInProcess";
  assertEquals(statuses, ["AcceptedSettlementCompleted", open_, open_, open_]);
  assertEquals(await listed(env), [same, unknown]);
  const entry = (await historyOf(env.store, completed)).at(-1);
  assertEquals([entry?.event, entry?.actor, entry?.reason], [
    "payment.AcceptedSettlementCompleted",
    "bank BANKA",
    "stated by the bank when it was asked",
  ]);
  const asked = (await historyOf(env.store, "bank BANKA")).at(-1);
  assertEquals([asked?.event, asked?.actor, asked?.reason], [
    "bank.inquired",
    "operator maria",
    "1 updated, 1 unchanged, 0 disagree, 1 not mentioned",
  ]);
});

Deno.test("an inquiry knows an order by the key that signed it, also when the key is not published any more [OP35, G9]", async () => {
  await using env = await open();
  const id = await made(env);
  await looked(env, 2 * HOUR);
  present(env.books.orders.get(id)).status = "AcceptedSettlementCompleted";
  const config = { ...env.config, keys: await platformKeySet(10, 11) };
  const later = await anotherProcess(Object.assign({}, env, { config }));
  const headers = { authorization: `Bearer ${OPERATOR_TOKENS.maria}` };
  const url = `${OPERATIONS_URL}/operations/banks/BANKA/inquire`;
  const answer = await later.operations.fetch(new Request(url, { method: "POST", headers }));
  const { Data } = await bodyOf<{ readonly Data: object }>(answer);
  assertEquals(Data, { Asked: 1, Updated: 1, Unchanged: 0, NotMentioned: 0, Disagreement: [] });
  await later.stop();
});

Deno.test("an inquiry that fails at a later page says who made it and what it has changed [OP35, OP8]", async () => {
  await using env = await open();
  env.books.pageSize = 1;
  const ids = [await made(env), await made(env)];
  await looked(env, 2 * HOUR);
  for (const id of ids) present(env.books.orders.get(id)).status = "AcceptedSettlementCompleted";
  const { answer } = env;
  let pages = 0;
  env.answer = (push) => pages++ === 0 ? answer(push) : new Response(null, { status: 500 });
  assertEquals((await env.operate("/operations/banks/BANKA/inquire", ""))[0], 409);
  assertEquals((await listed(env)).length, 1);
  const asked = (await historyOf(env.store, "bank BANKA")).at(-1);
  assertEquals([asked?.event, asked?.actor, asked?.reason], [
    "bank.inquired",
    "operator maria",
    "1 updated, 0 unchanged, 0 disagree, 1 not mentioned",
  ]);
});

Deno.test("a statement of another bank's key, and a bank that answers no inquiry, change nothing [OP35]", async () => {
  await using env = await open();
  const id = await made(env);
  await looked(env, 2 * HOUR);
  present(env.books.orders.get(id)).status = "AcceptedSettlementCompleted";
  const inquire = async (): Promise<number> => (await env.operate("/operations/banks/BANKA/inquire", ""))[0];
  const { books } = env;
  const answer = env.answer;
  env.answer = async () =>
    new Response(await books.statement({ Since: "2040-01-01T00:00:00Z" }, {}, env.bankB));
  assertEquals(await inquire(), 409);
  env.answer = () => new Response(null, { status: 400 });
  assertEquals(await inquire(), 409);
  env.answer = answer;
  env.books.tamper = (claims) => ({ ...claims, iat: claims.iat - 3600 });
  assertEquals(await inquire(), 409, "a statement from before the inquiry");
  assertEquals([await statusOf(env, id), await listed(env)], ["AcceptedSettlementInProcess", [id]]);
  const [unknown] = await env.operate("/operations/banks/BANKX/inquire", "");
  const [nothing, { Data }] = await env.operate("/operations/banks/BANKB/inquire", "");
  assertEquals([unknown, nothing, Data as object], [404, 200, {
    Asked: 0,
    Updated: 0,
    Unchanged: 0,
    NotMentioned: 0,
    Disagreement: [],
  }]);
  const forbidden = await env.asOperator("/operations/banks/BANKA/inquire", { method: "POST" }, "viewer");
  assertEquals(forbidden.status, 403);
  await bodyOf(forbidden);
});

Deno.test("the console lists unsettled payments by bank, and asks the bank [OP34, OP35]", async () => {
  await using env = await open();
  const id = await made(env);
  await looked(env, 2 * HOUR);
  const browser = await openConsole(env, "operator");
  const page = await browser.get("/console/unsettled");
  assert(page.html.includes(id) && page.html.includes("/console/banks/BANKA/inquire"), page.html);
  assert((await browser.get("/console")).html.includes('href="/console/unsettled"'));
  present(env.books.orders.get(id)).status = "AcceptedSettlementCompleted";
  await browser.submit("/console/banks/BANKA/inquire");
  const after = await browser.get("/console/unsettled");
  assert(after.html.includes("Every older payment is final"), after.html);
});

Deno.test("the page of unsettled payments shows the oldest of each bank, and how many there are [OP33, OP34]", async () => {
  await using env = await open();
  const id = await made(env);
  await looked(env, 2 * HOUR);
  const stored = present(await env.store.get<object>(["payment", id])).value;
  const [found] = await env.store.list<object>({ prefix: ["unsettled", "BANKA"], limit: 1 });
  const { value, key: [, , place = ""] } = present(found);
  const ids = Array.from({ length: 999 }, () => crypto.randomUUID());
  for (let from = 0; from < ids.length; from += 100) {
    const writes = ids.slice(from, from + 100).flatMap((paymentId) => [
      { kind: "set", key: ["payment", paymentId], value: { ...stored, id: paymentId } } as const,
      {
        kind: "set",
        key: ["unsettled", "BANKA", place.replace(id, paymentId)],
        value: { ...value, paymentId },
      } as const,
    ]);
    await env.store.commit({ checks: [], writes });
  }
  assertEquals((await listed(env)).length, 1000);
  const browser = await openConsole(env, "viewer");
  const { html } = await browser.get("/console/unsettled");
  assert(html.length <= 300_000 / 12, `${html.length} bytes, of one bank of twelve`);
  assertStringIncludes(html, "The first 20 of 1000 are shown.");
});
