/** Each reading of support and auditors in the console is in their own history. */
import { assert, assertEquals } from "@std/assert";
import { historyOf } from "testing/histories.ts";
import type { z } from "zod";
import type { historySchema } from "../../../../src/platform/operations/history_routes.ts";
import { rejectionOf } from "testing/answers.ts";
import { openConsole } from "testing/console_browser.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { authorised } from "testing/authorization_flow.ts";
import { call, clientToken, consentBody, createConsent, good, pay } from "testing/flows.ts";
import { changeAs } from "testing/operators.ts";

async function reads(env: Environment, operator: string): Promise<readonly unknown[]> {
  return (await historyOf(env.store, `operator ${operator}`)).map(({ event, reason }) =>
    `${event} ${reason}`
  );
}

Deno.test("support finds a case by the payment's id and reads its timeline in words [OP15, OP11]", async () => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  const { Data: { DomesticPaymentId: id } } = await good(pay(env, flow), 201);
  await env.platform.growLog();
  const browser = await openConsole(env, "support");
  const found = await browser.get(`/console/search?q=%20${id}`);
  assert(found.html.includes(`href="/console/cases/${id}"`) && found.html.includes("BANKA"));
  assert(found.html.includes("€165.88"), "what the payment is");
  const page = await browser.get(`/console/cases/${id}`);
  assertEquals(page.status, 200);
  for (const words of ["The customer authorised the consent", "The consent was used for its payment"]) {
    assert(page.html.includes(words), words);
  }
  assertEquals(await reads(env, "support"), [
    "operator.signed_in at the console",
    `operator.read /operations/search: consent ${flow.consentId}`,
    `operator.read /operations/cases/${flow.consentId}/summary`, // of the only case that was found
    `operator.read /operations/cases/${id}/summary`,
  ]);
  for (const shown of ["€165.88", "ACME Inc", "Bank A", "Example Shop Ltd", "The payment is in process"]) {
    assert(page.html.includes(shown), shown);
  }
  const french = await browser.get(`/console/cases/${id}?lang=fr`);
  assert(french.html.includes("Le client a autorisé le consentement"));
  const none = await browser.get("/console/search?q=%3Cb%3E&lang=en");
  assert(
    none.html.includes("No case and no request has this identifier.") &&
      none.html.includes('value="&lt;b&gt;"'),
  );
  const unknown = await browser.get(`/console/cases/${crypto.randomUUID()}`);
  assert(unknown.html.includes("No consent or payment has this id."));
});

Deno.test("each piece of evidence of a case is opened as text, and the bundle is downloaded [OP15, OP23]", async () => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  const { Data: { DomesticPaymentId: id } } = await good(pay(env, flow), 201);
  const browser = await openConsole(env, "support");
  const early = await browser.get(`/console/cases/${id}/bundle`);
  assertEquals([early.status, early.headers.get("retry-after")], [503, "2"], "the log has not grown");
  await env.platform.growLog();
  const { html } = await browser.get(`/console/cases/${id}`);
  const pieces = [...html.matchAll(/href="(\/console\/cases\/[^"]+\/evidence\/\d+\/\d+)"/g)].map(([, path]) =>
    path ?? ""
  );
  assert(pieces.length >= 5, `${pieces.length} pieces`);
  const shown = await Promise.all(pieces.map(async (path) => (await browser.get(path)).html));
  assert(shown.every((page) => page.includes("<pre")), "a piece without content");
  assert(
    shown[0]?.includes("InstructedAmount") && shown[0].includes("PS256"),
    "the TPP's request and its signature",
  );
  const none = await browser.get(`/console/cases/${id}/evidence/0/99`);
  assert(none.html.includes("The case has no such piece of evidence"));
  const bundle = await browser.get(`/console/cases/${id}/bundle`);
  assertEquals(bundle.headers.get("content-disposition"), `attachment; filename="case-${id}.json"`);
  assertEquals((JSON.parse(bundle.html) as { readonly format: string }).format, "evidence-bundle-1");
  assertEquals(
    (await reads(env, "support")).filter((one) => String(one).endsWith(`/cases/${id}`)).length,
    pieces.length + 3,
  );
});

Deno.test("support finds a rejected request by its number, and reads why [OP15, TRC7]", async () => {
  await using env = await openEnvironment();
  const interactionId = crypto.randomUUID();
  const rejected = await call(
    env,
    env.tpp,
    await clientToken(env, env.tpp),
    "/BANKA/domestic-payment-consents/v1",
    { headers: { "x-fapi-interaction-id": interactionId }, body: "{}", signature: null },
  );
  assert(rejected.status >= 400);
  await rejected.body?.cancel();
  await env.platform.writeTraces();
  const { html } = await (await openConsole(env, "support")).get(`/console/search?q=${interactionId}`);
  assert(html.includes("/{bank}/domestic-payment-consents/v1") && html.includes("Rejected because"));
});

Deno.test("each of a few cases with one reference is shown with what it is, and more of them as rows [OP11, TRC8]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const browser = await openConsole(env, "support");
  const search = async (): Promise<readonly [heads: number, amounts: readonly string[], links: number]> => {
    const { html } = await browser.get("/console/search?q=INVOICE-17");
    const amounts = [...html.matchAll(/€\d+\.\d\d/g)].map(String).toSorted();
    const links = new Set([...html.matchAll(/href="(\/console\/cases\/[0-9a-f-]+)"/g)].map(([, to]) => to));
    return [html.split("case-head").length - 1, amounts, links.size];
  };
  for (const Amount of ["1.10", "2.20", "3.30", "4.40", "5.50", "6.60"]) {
    env.now += 1000;
    const InstructedAmount = { Amount, Currency: "EUR" };
    await createConsent(
      env,
      bound,
      consentBody({ initiation: { EndToEndIdentification: "INVOICE-17", InstructedAmount } }),
    );
    if (Amount === "2.20") assertEquals(await search(), [2, ["€1.10", "€2.20"], 2]);
  }
  assertEquals(await search(), [5, ["€2.20", "€3.30", "€4.40", "€5.50", "€6.60"], 6]);
});

Deno.test("what a colleague did today is shown newest first, without readings and other people [OP15, OP25]", async () => {
  await using env = await openEnvironment();
  const operator = await openConsole(env, "operator");
  const reason = "The bank's desk has <i>asked</i> for it.";
  await operator.submit("/console/banks/BANKA/hold", { reason });
  env.now += 60_000;
  await operator.submit("/console/banks/BANKB/hold", { reason });
  const own = await operator.get(`/console/audit?${new URLSearchParams({ subject: "bank BANKA" })}`);
  assert(own.html.includes("An operator held the orders of the bank"));
  assert(own.html.includes("The bank&#39;s desk has &lt;i&gt;asked&lt;/i&gt; for it."));
  const colleague = await openConsole(env, "support");
  const { html } = await colleague.get("/console/audit?from=2040-01-15&until=2040-01-15&operator=operator");
  assert(
    html.indexOf("Bank B plc</bdi>") < html.indexOf("Bank A plc</bdi>") && html.includes("Bank B plc</bdi>"),
    "newest first",
  );
  assert(!html.includes("operator.read") && !html.includes("client.registered"));
  for (const query of ["operator=nobody", "from=2040-01-16", "until=2040-01-14"]) {
    const none = await colleague.get(`/console/audit?${query}`);
    assert(none.html.includes("No entry on this page matches.") && !none.html.includes("<table"), query);
  }
  const readings = await colleague.get("/console/audit?deed=read&operator=operator");
  assert(
    readings.html.includes("/operations/histories/bank%20BANKA") && !readings.html.includes("bank.held"),
  );
  assertEquals(
    (await reads(env, "support")).slice(1),
    Array(5).fill("operator.read /operations/audit/people"),
  );
  const bad = await env.asOperator("/operations/audit/people?from=today", {}, "support");
  assertEquals([bad.status, (await rejectionOf(bad)).error], [400, "invalid_request"]);
});

Deno.test("a page of what operators did ends after 50, and the next one goes on [OP25]", async () => {
  await using env = await openEnvironment();
  for (let time = 0; time < 60; time++) {
    env.now += 1000;
    const path = time % 2 === 0 ? "/banks/BANKA/hold" : "/banks/BANKA/release";
    await good(changeAs(env, path, { Reason: `The reason number ${time} of many.` }), 200);
  }
  const read = async (after: string): Promise<z.infer<typeof historySchema>["Data"]> =>
    (await good<z.infer<typeof historySchema>>(
      env.asOperator(`/operations/audit/people?${after}`, {}, "support"),
      200,
    )).Data;
  const first = await read("");
  const rest = await read(`after=${first.After}`);
  assertEquals([first.Entry.length, rest.Entry.length, rest.After], [50, 10, undefined]);
  const numbers = [...first.Entry, ...rest.Entry].map(({ Reason }) => Number(/\d+/.exec(Reason ?? "")?.[0]));
  assertEquals(numbers, Array.from({ length: 60 }, (_, place) => 59 - place));
});

Deno.test("operators read in a client's history that it has deleted its registration, and find it in no list [DC22]", async () => {
  await using env = await openEnvironment();
  const { clientId } = env.tpp;
  const bound = await clientToken(env, env.tpp);
  assertEquals(
    (await call(env, env.tpp, bound, `/register/v1/${clientId}`, { method: "DELETE" })).status,
    204,
  );
  const operator = await openConsole(env, "operator");
  const history = await operator.get(`/console/audit?subject=${clientId}`);
  assert(history.html.includes("The participant deleted its registration"));
  assert(!(await operator.get("/console/participants")).html.includes(clientId));
});
