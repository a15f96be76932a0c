/** The tasks of an operator, each with at most so many clicks from the dashboard, in a real browser. */
import { assert, assertEquals } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { isChromiumThere } from "testing/chromium.ts";
import { down, later, openPushEnvironment, paid, type PushEnvironment } from "support/orders.ts";
import { assertOnDesk, openDesk, openSite, type Site } from "./console_site.ts";
import { signIn } from "./console_visit.ts";

const REASON = "The bank's desk has asked for it, ticket 4711.";

/** A visit of the console whose clicks are counted. A key that sends a form is a click. */
class Clicks {
  #clicks = 0;

  constructor(readonly page: Page, readonly site: Site) {}

  /** Begins a task at the dashboard, or at another page. */
  async begin(path = "/console"): Promise<void> {
    this.#clicks = 0;
    await this.page.goto(`${this.site.origin}${path}`);
  }

  async click(target: Locator): Promise<void> {
    this.#clicks++;
    await target.click();
  }

  async send(field: string): Promise<void> {
    this.#clicks++;
    await this.page.locator(field).press("Enter");
  }

  /** Asserts that the task is done at this address, which may have `*` for parts of a path. */
  async end(most: number, address: string): Promise<void> {
    await this.page.waitForURL(`${this.site.origin}${address}`);
    assert(this.#clicks <= most, `${this.#clicks} clicks, at most ${most}`);
  }

  row(text: string): Locator {
    return this.page.locator("tr", { hasText: text });
  }

  link(name: string): Locator {
    return this.page.getByRole("link", { name, exact: true });
  }
}

/** Blocks a TPP, and announces an outage. */
async function changes(visit: Clicks, env: PushEnvironment): Promise<void> {
  const { page } = visit;
  await visit.begin();
  await visit.click(visit.link("Participants"));
  await visit.click(visit.row("Other Shop Ltd").getByRole("link", { name: "Block organisation" }));
  await page.locator("#reason").fill(REASON);
  await visit.click(page.locator("button.accept"));
  await visit.end(3, "/console/participants?done=action.blockOrganisation");

  await visit.begin();
  await visit.click(visit.link("Banks"));
  await visit.click(visit.row("BANKA").getByRole("link", { name: "Announce an outage" }));
  const minute = (at: number): string => new Date(at).toISOString().slice(0, 16);
  const fields = {
    from: minute(env.now + 3_600_000),
    until: minute(env.now + 7_200_000),
    text: "Maintenance.",
    reason: REASON,
  };
  for (const [id, value] of Object.entries(fields)) await page.locator(`#${id}`).fill(value);
  await visit.click(page.locator("button.accept"));
  await visit.end(3, "/console/banks?done=action.outage");
}

/** Reads a bank's success rate of today, why its orders fail, and what a colleague did today. */
async function readings(visit: Clicks): Promise<void> {
  const { page } = visit;
  await visit.begin();
  await visit.click(visit.row("BANKA").locator('[data-label="Payments today"] a'));
  await visit.end(1, "/console/reports?kind=banks&id=BANKA");
  const today = visit.row("15 January 2040");
  assertEquals(await today.locator('[data-label="Requests that succeeded"]').textContent(), "100%");

  await visit.begin();
  await visit.click(visit.row("BANKA").locator('[data-label="Orders waiting"] a').first());
  await visit.end(2, "/console/orders?state=waiting&bank=BANKA");
  assert((await page.locator("tbody").textContent())?.includes("Answered with an error status 503"));

  await visit.begin();
  await visit.click(visit.row("operator maria").locator('[data-label="Entries"] a'));
  await visit.end(2, "/console/audit?operator=operator+maria&from=2040-01-15&until=2040-01-15");
  assert((await page.locator("tbody").textContent())?.includes(REASON));
}

/** Finds a payment by its end-to-end id, and opens the evidence of a step of its case. */
async function findings(visit: Clicks, id: string): Promise<void> {
  const { page } = visit;
  await visit.begin();
  assertEquals(await page.locator("input:visible").count(), 0, "a refresh would empty a field");
  await visit.click(page.locator("main a", { hasText: "Find a case" }));
  await page.locator("#q").fill("FRESCO.21302.GFX.20");
  await visit.send("#q");
  await visit.end(2, "/console/search?q=FRESCO.21302.GFX.20");
  await page.locator(`a[href="/console/cases/${id}"]`).first().waitFor();

  await visit.begin(`/console/cases/${id}`);
  await visit.click(page.locator('a[href*="/evidence/"]').first());
  await visit.end(2, `/console/cases/${id}/evidence/*/*`);
  const shown = (await page.locator("pre").allTextContents()).join();
  assert(shown.includes("InstructedAmount"), shown);
}

/** Selects orders that were given up: the page that asks for the reason and the one with the outcomes. */
async function bulk(site: Site, id: string): Promise<void> {
  const page = await openDesk(site); // axe is a script
  await signIn(page, site.origin);
  await page.goto(`${site.origin}/console/orders?state=dead`);
  await page.locator(`[name="order-${id}"]`).check();
  await page.getByRole("button", { name: "Close the selected orders" }).click();
  await page.getByRole("heading", { name: "Close the selected orders" }).waitFor();
  await assertOnDesk(page, "selected orders");
  await page.locator("#statusReason").fill("The bank did not take it.");
  await page.locator("#mayBeAtBank").check();
  await page.locator("#reason").fill(REASON);
  await page.locator("button.accept").click();
  await page.getByRole("heading", { name: "What became of the orders" }).waitFor();
  assertEquals(await page.locator("tbody .state").allTextContents(), ["Done"]);
  await assertOnDesk(page, "outcomes");
}

Deno.test({
  name: "an operator's tasks take few clicks, also without scripts [OP15, OP22, OP29, OP32]",
  ignore: !isChromiumThere(),
  async fn() {
    await using env = await openPushEnvironment(down);
    const { DomesticPaymentId: id } = await paid(env);
    await env.platform.workOnce();
    await env.platform.growLog();
    await env.platform.writeFigures();
    await using site = await openSite((request) => env.platform.operations.fetch(request));
    const visit = new Clicks(await openDesk(site, "en", false), site);
    await signIn(visit.page, site.origin);
    await changes(visit, env);
    await readings(visit);
    await findings(visit, id);
    for (let hour = 0; hour < 12; hour++) await later(env, 3_600_000);
    await bulk(site, id);
  },
  sanitizeOps: false, // the browser's pipes and timers end after the test that closed it
  sanitizeResources: false,
});
