/** A customer who takes too long at the bank, from the shop's first page to its last one [G1]. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { bodyOf, type SandboxTime } from "testing/answers.ts";
import { openBrowser, type Visit } from "../../src/sandbox/customer/browser.ts";
import { fillForm, findForms } from "../../src/sandbox/customer/forms.ts";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";
import { words } from "../../src/sandbox/shop/phrase.ts";

Deno.test("a late customer is back in the shop, which says in the customer's language that the time ran out [G1]", async () => {
  await using sandbox = await openPooledSandbox();
  const { endpoints } = sandbox;
  const armed = await fetch(`${endpoints.banks_url}/BANKA/faults`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ fault: "late_customer" }),
  });
  assertEquals(armed.status, 201);
  await armed.body?.cancel();
  const order = await buy(endpoints.shop_url);
  assertEquals([order.status, order.url.origin], [200, endpoints.shop_url]);
  assert(order.url.pathname.startsWith("/orders/"), order.url.pathname);
  assertStringIncludes(order.page, '<html lang="es"');
  assertStringIncludes(order.page, words("es", "outcome.denied_late.text"));
  const clock = await bodyOf<SandboxTime>(fetch(`${endpoints.directory_url}/sandbox/clock`));
  assertEquals(Math.round(clock.ahead_seconds), 900);
});

/** Orders in Spanish, signs in at the bank, and goes wherever the answers lead. */
async function buy(shopUrl: string): Promise<Visit> {
  const browser = openBrowser();
  const follow = async (visit: Visit): Promise<Visit> =>
    visit.location === undefined ? visit : await follow(await browser.visit(visit.location));
  const fill = async (
    visit: Visit,
    choices: Readonly<Record<string, string>>,
    value: string,
  ): Promise<Visit> => {
    const form = findForms(visit.page).find(({ id }) => ["login", "otp"].includes(id));
    if (form === undefined) throw new Error(`${visit.url} has no form to go on with`);
    const body = fillForm(form, choices, { name: "decision", value });
    return await follow(await browser.submit(new URL(form.action, visit.url), body, visit.url));
  };
  const goods = await follow(await browser.visit(new URL(`${shopUrl}/?lang=es`)));
  const csrf = /name="csrf" value="([^"]+)"/.exec(goods.page)?.[1] ?? "";
  const order = new URLSearchParams({ item: "lunch", bank: "BANKA", account: "", csrf });
  const login = await follow(await browser.submit(new URL("/checkout", shopUrl), order, goods.url));
  const code = await fill(login, { username: "alice", password: "sandbox" }, "continue");
  return await fill(code, { code: "123456" }, "confirm");
}
