/** The console's pages and forms do as the operations API does. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { bodyOf } from "testing/answers.ts";
import type { Controls } from "testing/operation_answers.ts";
import { historyOf } from "testing/histories.ts";
import { openConsole } from "testing/console_browser.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { copyOf, restore } from "support/restored_store.ts";
import { history, later, openPushEnvironment, paid, payment } from "support/orders.ts";

const REASON = "Fraud is suspected, <b>case</b> & 'more' of the \"desk\".";
const ESCAPED = "Fraud is suspected, &lt;b&gt;case&lt;/b&gt; &amp; &#39;more&#39; of the &quot;desk&quot;.";

async function controls(env: Environment): Promise<Controls["Data"]> {
  return (await bodyOf<Controls>(env.asOperator("/operations/controls"))).Data;
}

Deno.test("a bank is held and released in the console, in the operator's name [OP15, OP8]", async () => {
  await using env = await openEnvironment();
  const browser = await openConsole(env, "operator");
  const held = await browser.submit("/console/banks/BANKA/hold", { reason: REASON });
  assertEquals([held.status, held.headers.get("location")], [303, "/console/banks?done=action.hold"]);
  const page = await browser.get("/console/banks?done=action.hold");
  assert(page.html.includes('role="status"') && page.html.includes("/console/banks/BANKA/release"));
  assert(page.html.includes("/console/banks/BANKB/hold"), "every bank is listed");
  assert((await browser.get("/console")).html.includes("Orders held"));
  const [entry] = await historyOf(env.store, "bank BANKA");
  assertEquals([entry?.event, entry?.actor, entry?.reason], ["bank.held", "operator operator", REASON]);
  const again = await browser.submit("/console/banks/BANKA/hold", { reason: REASON });
  assertEquals(again.status, 409);
  assert(again.html.includes("The bank is held already.") && again.html.includes(ESCAPED));
  assertEquals((await browser.submit("/console/banks/BANKA/release", { reason: REASON })).status, 303);
  assertEquals((await controls(env))["BankHold"], []);
});

Deno.test("an outage is announced and cancelled in the console [OP15, OP7]", async () => {
  await using env = await openEnvironment();
  const browser = await openConsole(env, "operator");
  const fields = {
    from: "2040-01-16T01:00",
    until: "2040-01-16T03:30",
    text: "Maintenance.",
    reason: REASON,
  };
  const early = await browser.submit("/console/banks/BANKA/outages", {
    ...fields,
    until: "2040-01-15T01:00",
  });
  assertEquals(early.status, 400);
  assert(early.html.includes('value="2040-01-16T01:00"') && early.html.includes('value="Maintenance."'));
  const unread = await browser.submit("/console/banks/BANKA/outages", { ...fields, from: "tomorrow" });
  assertEquals(unread.status, 400);
  assertEquals((await browser.submit("/console/banks/BANKA/outages", fields)).status, 303);
  const [outage] = (await controls(env))["PlannedOutage"] ?? [];
  assertEquals([outage?.["FromDateTime"], outage?.["UntilDateTime"]], [
    "2040-01-16T01:00:00+00:00",
    "2040-01-16T03:30:00+00:00",
  ]);
  const cancel = `/console/banks/BANKA/outages/${outage?.["OutageId"]}/cancel`;
  assert((await browser.get("/console/banks")).html.includes(`href="${cancel}"`));
  assertEquals((await browser.submit(cancel, { reason: REASON })).status, 303);
  assertEquals((await controls(env))["PlannedOutage"], []);
});

Deno.test("participants are found, blocked and unblocked in the console [OP15, OP4, OP5]", async () => {
  await using env = await openEnvironment();
  const browser = await openConsole(env, "security");
  const all = (await browser.get("/console/participants")).html;
  for (const name of ["Example Shop Ltd", "Other Shop Ltd", "Bank A plc", "Bank B plc"]) {
    assert(all.includes(name));
  }
  const one = (await browser.get("/console/participants?search=eXample")).html;
  assert(one.includes("Example Shop Ltd") && !one.includes("Bank A plc"));
  assert(one.includes("Active in the directory"));
  const none = (await browser.get(`/console/participants?search=${encodeURIComponent("<i>")}`)).html;
  assert(none.includes('value="&lt;i&gt;"') && !none.includes("<table"));
  const { clientId, orgId } = env.tpp;
  for (const path of [`/console/software/${clientId}/block`, `/console/organisations/${orgId}/block`]) {
    assertStringIncludes((await browser.get(path)).html, "<bdi>Example Shop Ltd");
  }
  const page = (await browser.get(`/console/participants/${clientId}`)).html;
  for (const path of [`/console/reports?kind=tpps&amp;id=${clientId}`, `subject=software+${clientId}`]) {
    assertStringIncludes(page, path);
  }
  assertEquals((await browser.submit(`/console/software/${clientId}/block`, { reason: REASON })).status, 303);
  assertEquals(
    (await browser.submit(`/console/organisations/${orgId}/block`, { reason: REASON })).status,
    303,
  );
  const blocked = (await browser.get("/console/participants?search=example")).html;
  assert(blocked.includes("Organisation blocked here") && blocked.includes("Software blocked here"));
  const own = (await browser.get(`/console/participants/${clientId}`)).html;
  const told = [...own.matchAll(/<div class="notice">(.*?)<\/div>/gs)].map(([, text = ""]) => text);
  assertEquals(told.length, 2, "who blocked the organisation and the software, when and why");
  for (const one of told) {
    for (const shown of ["operator security", `<time datetime="20`, "Fraud is suspected, &lt;b&gt;case"]) {
      assertStringIncludes(one, shown);
    }
  }
  assertEquals((await controls(env))["Block"]?.length, 2);
  assertEquals(
    (await browser.submit(`/console/software/${clientId}/unblock`, { reason: REASON })).status,
    303,
  );
  assertEquals(
    (await browser.submit(`/console/organisations/${orgId}/unblock`, { reason: REASON })).status,
    303,
  );
  assertEquals((await controls(env))["Block"], []);
  assertEquals(
    (await browser.submit(`/console/software/${clientId}/revoke-tokens`, { reason: REASON })).status,
    303,
  );
  assertEquals((await controls(env))["TokenRevocation"]?.length, 1);
  const actors = (await historyOf(env.store, `software ${clientId}`)).map(({ event, actor }) =>
    `${event} ${actor}`
  );
  assertEquals(actors, [
    "participant.blocked operator security",
    "participant.unblocked operator security",
    "participant.tokens_revoked operator security",
  ]);
});

Deno.test("an order that was given up is tried again and closed in the console [OP15, OP9]", async () => {
  await using env = await openPushEnvironment(() => new Response(null, { status: 503 }));
  const { DomesticPaymentId: id } = await paid(env);
  for (let hour = 0; hour < 12; hour++) await later(env, 3_600_000);
  const browser = await openConsole(env, "operator");
  const listed = (await browser.get("/console/orders?state=dead")).html;
  assert(
    listed.includes(`/console/payment-orders/${id}/close`) && listed.includes("The bank may have taken"),
  );
  const close = { reason: REASON, statusReason: "The bank did not take it." };
  const unasked = await browser.submit(`/console/payment-orders/${id}/close`, close);
  assertEquals(unasked.status, 409);
  assert(unasked.html.includes("Ask the bank"));
  const short = await browser.submit(`/console/payment-orders/${id}/close`, { ...close, reason: "short" });
  assertEquals(short.status, 400);
  const field = /<textarea[^>]*id="reason"[^>]*>/.exec(short.html)?.[0] ?? "";
  assert(field.includes('aria-invalid="true"') && field.includes("reason-fault"), field);
  assert(
    /id="reason-fault"[^>]*>[^<]*“Reason”/.test(short.html),
    "the fault is beside the field, with its label",
  );
  assert(!short.html.includes("Data.Reason"), "and not with the name that the API has for it");
  assert(!/id="statusReason"[^>]*aria-invalid/.test(short.html), "the other field is not marked");
  assertEquals((await browser.submit(`/console/payment-orders/${id}/redrive`)).status, 303);
  assert(!(await browser.get("/console/orders?state=dead")).html.includes(id), "it waits again");
  for (let hour = 0; hour < 12; hour++) await later(env, 3_600_000);
  await browser.signIn("operator"); // the session has ended meanwhile
  const closed = await browser.submit(`/console/payment-orders/${id}/close`, {
    ...close,
    mayBeAtBank: "true",
  });
  assertEquals([closed.status, closed.headers.get("location")], [303, "/console/orders?done=action.close"]);
  const { Status, StatusReason } = await payment(env, id);
  assertEquals([Status, StatusReason], ["Rejected", "The bank did not take it."]);
  assertEquals((await history(env, id)).at(-1), "payment.Rejected by operator operator");
});

Deno.test("a bank's failing orders are two clicks away while they are tried, and say why [OP15, OP22]", async () => {
  await using env = await openPushEnvironment(() => new Response(null, { status: 503 }));
  const { DomesticPaymentId: id } = await paid(env);
  await env.platform.workOnce();
  const browser = await openConsole(env, "support");
  const { html: dashboard } = await browser.get("/console");
  const path = "/console/orders?state=waiting&amp;bank=BANKA";
  assert(dashboard.includes("Pushes fail") && dashboard.includes(`href="${path}"`));
  const { html: orders } = await browser.get(path.replace("&amp;", "&"));
  for (
    const shown of [
      "Answered with an error",
      "status 503",
      "<bdi>Bank A plc</bdi>",
      "1 failed",
      "Next push",
      "Example Shop Ltd",
      `/console/cases/${id}`,
    ]
  ) {
    assert(orders.includes(shown), shown);
  }
});

Deno.test("after a restore the console shows each held bank, and what to do", async () => {
  await using env = await openEnvironment();
  const { html: before } = await (await openConsole(env, "viewer")).get("/console/banks");
  assert(!before.includes("after a restore"));
  await restore(env, await copyOf(env));
  const browser = await openConsole(env, "viewer");
  const { html } = await browser.get("/console/banks");
  assertEquals(html.match(/Orders held after a restore/g)?.length, 2);
  assert(html.includes("deno task reconcile"));
  assert((await browser.get("/console")).html.includes("Orders held after a restore"));
});

Deno.test("pages offer only the changes that the operator may make, in the language that was chosen", async () => {
  await using env = await openEnvironment();
  const browser = await openConsole(env, "viewer");
  assert(!/\/console\/banks\/BANKA/.test((await browser.get("/console/banks")).html));
  assert(!/\/console\/(software|organisations)\//.test((await browser.get("/console/participants")).html));
  assert((await browser.get("/console/orders?lang=ar")).html.includes('<html lang="ar" dir="rtl">'));
  assert((await browser.get("/console/banks")).html.includes('<html lang="ar" dir="rtl">'));
});
