/** Several orders that were given up are changed at once in the console: confirmed once, each as if alone. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type ConsoleBrowser, formTokenIn, openConsole, type Page } from "testing/console_browser.ts";
import {
  accepts,
  history,
  later,
  openPushEnvironment,
  outboxKeys,
  paid,
  payment,
  type PushEnvironment,
} from "support/orders.ts";

const LIST = "/console/orders?state=dead";
const REASON = "The bank's desk confirms that it has none of them.";
const CLOSE = {
  action: "close",
  reason: REASON,
  statusReason: "The bank did not take it.",
  mayBeAtBank: "true",
};

/** Orders that were given up. */
async function givenUp(env: PushEnvironment, number: number): Promise<readonly string[]> {
  const ids: string[] = [];
  while (ids.length < number) ids.push((await paid(env)).DomesticPaymentId);
  for (let hour = 0; hour < 12; hour++) await later(env, 3_600_000);
  return ids;
}

/** Sends a form of the list of orders that were given up. */
async function send(browser: ConsoleBrowser, fields: Readonly<Record<string, string>>): Promise<Page> {
  const { html } = await browser.get(LIST);
  return await browser.post("/console/orders/selected", { form_token: formTokenIn(html), ...fields });
}

/** A bank that does not take orders. */
function openDown(settings = {}): Promise<PushEnvironment> {
  return openPushEnvironment(() => new Response(null, { status: 503 }), settings);
}

const chosen = (ids: readonly string[]): Record<string, string> =>
  Object.fromEntries(ids.map((id) => [`order-${id}`, "true"]));

Deno.test("selected orders are confirmed on one page and closed for one reason, and the others stay [OP15, OP9, OP32]", async () => {
  await using env = await openDown();
  const ids = await givenUp(env, 3);
  const [first = "", second = "", third = ""] = ids;
  const browser = await openConsole(env, "operator");
  const list = (await browser.get(LIST)).html;
  assert(ids.every((id) => list.includes(`name="order-${id}"`)), list);
  const confirm = await send(browser, { action: "close", ...chosen([first, second]) });
  assertEquals(confirm.status, 200);
  assert(confirm.html.includes(first) && confirm.html.includes(second) && !confirm.html.includes(third));
  assert(confirm.html.includes("These orders: 2."), "it changed nothing yet");
  assertEquals((await payment(env, first)).Status, "Pending");
  const done = await send(browser, { ...CLOSE, ...chosen([first, second]), confirmed: "true" });
  assertEquals(done.html.match(/>Done</g)?.length, 2, done.html);
  assertEquals([(await payment(env, first)).Status, (await payment(env, third)).Status], [
    "Rejected",
    "Pending",
  ]);
  assertEquals((await history(env, second)).at(-1), "payment.Rejected by operator operator");
  const again = await send(browser, { ...CLOSE, ...chosen([first]), confirmed: "true" });
  assertEquals(again.status, 400);
  assert(again.html.includes("None was changed"), "no selected order is given up any more");
});

Deno.test("every order of the page is tried again, and one that fails stops no other [OP15, OP9, OP32]", async () => {
  await using env = await openDown();
  const [first = "", ...others] = await givenUp(env, 3);
  const browser = await openConsole(env, "operator");
  const fields = { action: "close", all: "true", confirmed: "true", reason: REASON, statusReason: "None." };
  const refused = await send(browser, fields);
  assertEquals(refused.html.match(/Ask the bank/g)?.length, 3, "each outcome says why");
  const redriven = await send(browser, { action: "redrive", all: "true", confirmed: "true" });
  assertEquals(redriven.html.match(/>Done</g)?.length, 3, redriven.html);
  env.answer = accepts;
  await later(env, 1000);
  assertEquals((await outboxKeys(env)).length, 0);
  for (const id of [first, ...others]) {
    assertEquals((await payment(env, id)).Status, "AcceptedSettlementInProcess");
  }
});

Deno.test("a change that needs two operators is proposed for each order, and only operators select [OP2, FE1, OP32]", async () => {
  await using env = await openDown({ environment: { PLATFORM_FOUR_EYES: "close-order" } });
  const ids = await givenUp(env, 2);
  const browser = await openConsole(env, "operator");
  const proposed = await send(browser, { ...CLOSE, ...chosen(ids), confirmed: "true" });
  assertEquals(proposed.html.match(/Proposed: a second operator decides/g)?.length, 2, proposed.html);
  assertEquals((await payment(env, ids[0] ?? "")).Status, "Pending");
  const support = await openConsole(env, "support");
  assert(!(await support.get(LIST)).html.includes('name="order-'));
  assertEquals((await send(support, { ...CLOSE, ...chosen(ids) })).status, 403);
});

Deno.test("a confirmation that is sent after the end of its session is shown again, and changes nothing [OP14, OP32]", async () => {
  await using env = await openDown();
  const ids = await givenUp(env, 1);
  const browser = await openConsole(env, "operator");
  const opened = await send(browser, { action: "close", ...chosen(ids) });
  const fields = { ...CLOSE, ...chosen(ids), confirmed: "true", form_token: formTokenIn(opened.html) };
  await browser.signIn("operator");
  browser.isFromPage = true;
  const late = await browser.post("/console/orders/selected", fields);
  assertEquals([late.status, (await payment(env, ids[0] ?? "")).Status], [403, "Pending"]);
  assertStringIncludes(late.html, "You have signed in since this form was opened.");
  assertStringIncludes(late.html, CLOSE.statusReason);
  const sent = await browser.post("/console/orders/selected", {
    ...fields,
    form_token: formTokenIn(late.html),
  });
  assertEquals([sent.status, (await payment(env, ids[0] ?? "")).Status], [200, "Rejected"]);
});

Deno.test("an order that another operator has closed meanwhile has its outcome too [OP32]", async () => {
  await using env = await openDown();
  const ids = await givenUp(env, 2);
  const [first = "", second = ""] = ids;
  const browser = await openConsole(env, "operator");
  await send(browser, { ...CLOSE, ...chosen([first]), confirmed: "true" });
  const done = await send(browser, { ...CLOSE, ...chosen(ids), confirmed: "true" });
  assertEquals(done.html.match(/>Done</g)?.length, 1, done.html);
  assertEquals(done.html.match(/>Not changed</g)?.length, 1, "and says so");
  assert(done.html.includes(first) && done.html.includes(second));
});
