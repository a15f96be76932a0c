/** An incident: a bank stops taking orders. Prometheus alerts, and an operator handles it in the console with Chromium. */
import { assert, assertEquals } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { bodyOf, present, type ServerMetadata, type ServiceLevels } from "testing/answers.ts";
import { AUTH_URL } from "testing/environment.ts";
import { call, clientToken, consentBody } from "testing/flows.ts";
import { OPERATOR_TOKENS } from "testing/operators.ts";
import { isChromiumThere, openChromium } from "testing/chromium.ts";
import {
  accepts,
  down,
  later,
  openPushEnvironment,
  orderIdOf,
  outboxKeys,
  paid,
  type PushEnvironment,
  statusOf,
} from "support/orders.ts";
import { hasPrometheus, type Prometheus, startPrometheus } from "support/prometheus.ts";
import { signIn } from "./console_visit.ts";

const REASONS = {
  hold: "The bank answers every order with 503, ticket 4711.",
  outage: "The bank's desk confirms a failure of its database.",
  cancel: "The bank's desk reports that it works again.",
  release: "The bank works again, ticket 4711 is closed.",
} as const;
const TEXT = "The bank repairs its payment system.";
/** Payments during the incident: the breaker opens after five failures. */
const PAYMENTS = 5;

interface Scene extends AsyncDisposable {
  readonly env: PushEnvironment;
  readonly prometheus: Prometheus;
  readonly page: Page;
  readonly origin: string;
}

/** A platform whose operations host is served to Prometheus and to Chromium. */
async function openScene(): Promise<Scene> {
  const env = await openPushEnvironment(accepts);
  const listen = { port: 0, hostname: "127.0.0.1", onListen: () => {} };
  const server = Deno.serve(listen, (request) => env.platform.operations.fetch(request));
  const address = `127.0.0.1:${server.addr.port}`;
  const [prometheus, browser] = await Promise.all([
    startPrometheus(address, OPERATOR_TOKENS.viewer),
    openChromium(),
  ]);
  const page = await browser.newPage({ locale: "en" });
  page.setDefaultTimeout(10_000);
  return {
    env,
    prometheus,
    page,
    origin: `http://${address}`,
    async [Symbol.asyncDispose](): Promise<void> {
      await browser.close();
      await prometheus[Symbol.asyncDispose]();
      await server.shutdown();
      await env[Symbol.asyncDispose]();
    },
  };
}

/**
 * A later pass of the background work. All passes together take less than the five minutes after which the breaker
 * would forget the failures without an answer of the bank.
 */
async function aPass(env: PushEnvironment): Promise<void> {
  await later(env, 40_000);
  await env.platform.workOnce();
}

/** Customers pay, and the bank does not take the orders. @returns the ids of the payments */
async function paidInVain(env: PushEnvironment): Promise<readonly string[]> {
  env.answer = down;
  const ids: string[] = [];
  while (ids.length < PAYMENTS) {
    const { DomesticPaymentId, Status } = await paid(env);
    assertEquals(Status, "Pending");
    ids.push(DomesticPaymentId);
  }
  await aPass(env);
  return ids;
}

/** The row of a table of the console about this subject. */
function rowOf(page: Page, subject: string): Locator {
  return page.locator("tr", { hasText: subject });
}

/** The words of the dashboard about the bank: state, orders waiting, orders given up. */
async function onDashboard({ page, origin }: Scene, bank: string): Promise<readonly string[]> {
  await page.goto(`${origin}/console`);
  return (await bankRow(page, bank).locator("td").allTextContents()).slice(0, 3);
}

/** The row of a bank among the banks, not among the alarms. */
function bankRow(page: Page, bank: string): Locator {
  return page.locator("tr", { has: page.locator("th", { hasText: bank }) });
}

/** Follows a link of the banks page and sends its form. @returns what the console says about it */
async function act(
  { page, origin }: Scene,
  { row, link, fields }: {
    readonly row: string;
    readonly link: string;
    readonly fields: Readonly<Record<string, string>>;
  },
): Promise<string | null> {
  await page.goto(`${origin}/console/banks`);
  await rowOf(page, row).getByRole("link", { name: link, exact: true }).click();
  for (const [id, value] of Object.entries(fields)) await page.locator(`#${id}`).fill(value);
  await page.locator("button.accept").click();
  await page.waitForURL("**/console/banks?done=*");
  return await page.locator('[role="status"]').textContent();
}

/** How the platform answers a TPP that starts a payment at the bank now. */
async function newConsent({ env }: Scene): Promise<readonly [status: number, text: string]> {
  const bound = await clientToken(env, env.tpp);
  const body = JSON.stringify(consentBody());
  const answer = await call(env, env.tpp, bound, "/BANKA/domestic-payment-consents/v1", { body });
  return [answer.status, await answer.text()];
}

async function plannedOutages({ env }: Scene): Promise<readonly string[]> {
  const url = `${AUTH_URL}/.well-known/oauth-authorization-server/BANKA`;
  const { planned_outages = [] } = await bodyOf<ServerMetadata>(env.browser(new Request(url)));
  return planned_outages.map(({ text }) => text);
}

async function holds(scene: Scene): Promise<void> {
  const { env, page, origin } = scene;
  const fields = { reason: REASONS.hold };
  assertEquals(
    await act(scene, { row: "BANKA", link: "Hold orders", fields }),
    "The orders of the bank are held.",
  );
  const pushed = env.pushes.length;
  await aPass(env);
  assertEquals(env.pushes.length, pushed, "a held bank gets no order");
  await page.reload();
  const state = await rowOf(page, "BANKA").locator(".state").allTextContents();
  assert(state.includes("Orders held"), state.join());
  await page.goto(`${origin}/console/orders?state=held`);
  const attempts = await page.getByText("Last attempt: Answered with an error").count();
  assertEquals(attempts, PAYMENTS, "each held order shows how the bank failed");
}

async function announces(scene: Scene): Promise<void> {
  const { env } = scene;
  const minute = (at: number): string => new Date(at).toISOString().slice(0, 16);
  const fields = {
    from: minute(env.now),
    until: minute(env.now + 3_600_000),
    text: TEXT,
    reason: REASONS.outage,
  };
  const done = await act(scene, { row: "BANKA", link: "Announce an outage", fields });
  assertEquals(done, "The outage is announced.");
  const [status, text] = await newConsent(scene);
  assertEquals([status, text.includes(TEXT)], [503, true]);
  assertEquals(await plannedOutages(scene), [TEXT]);
}

async function releases(scene: Scene, ids: readonly string[]): Promise<void> {
  const { env } = scene;
  env.answer = accepts;
  env.pushes.length = 0;
  const cancel = { row: TEXT, link: "Cancel", fields: { reason: REASONS.cancel } };
  assertEquals(await act(scene, cancel), "The outage is cancelled.");
  const release = { row: "BANKA", link: "Release orders", fields: { reason: REASONS.release } };
  await aPass(env);
  assertEquals(env.pushes.length, 0, "the bank is held until the release");
  assertEquals(await act(scene, release), "The orders of the bank are released.");
  for (let passes = 0; passes < 3 && (await outboxKeys(env)).length > 0; passes++) await aPass(env);
  assertEquals(env.pushes.map(orderIdOf).toSorted(), ids.toSorted(), "each order reaches the bank once");
  for (const id of ids) assertEquals(await statusOf(env, id), "AcceptedSettlementInProcess");
  assertEquals([await plannedOutages(scene), (await newConsent(scene))[0]], [[], 201]);
}

/** The rows of "Who did what" about the bank: operator, event and reason. */
async function audit({ page, origin }: Scene): Promise<readonly (readonly string[])[]> {
  await page.goto(`${origin}/console/audit`);
  await page.locator("#subject").fill("bank BANKA");
  await page.locator("#subject").press("Enter");
  await page.waitForURL("**/console/audit?*");
  const rows = await page.locator("tbody tr").all();
  return await Promise.all(rows.map(async (row) => {
    const [by = "", event = "", , reason = ""] = await row.locator("td").allTextContents();
    return [by, event.replace(/.*(?=bank\.)/, ""), reason];
  }));
}

Deno.test({
  name:
    "a bank stops taking orders: an alert fires, the operator holds it, announces an outage and releases the orders in the console [O2, OP6, OP7, OP8, OP15, REP2, REP5]",
  ignore: !isChromiumThere() || !hasPrometheus(),
  async fn(t) {
    await using scene = await openScene();
    const { env, prometheus, page, origin } = scene;
    assertEquals(await statusOf(env, (await paid(env)).DomesticPaymentId), "AcceptedSettlementInProcess");
    const ids = await paidInVain(env);
    await t.step("alerts fire", async () => {
      for (const name of ["BreakerOpen", "OrdersDelayed"]) {
        assertEquals((await prometheus.firing(name, 20)).labels["bank"], "BANKA");
      }
    });
    await t.step("the dashboard shows the cause", async () => {
      await signIn(page, origin);
      assertEquals(await onDashboard(scene, "BANKA"), ["Does not take orders", String(PAYMENTS), "0"]);
    });
    await t.step("two clicks show why, before any order is given up", async () => {
      await bankRow(page, "BANKA").getByRole("link", { name: String(PAYMENTS), exact: true }).click();
      await page.waitForURL("**/console/orders?state=waiting&bank=BANKA");
      const rows = page.locator("tbody tr");
      assertEquals(await rows.count(), PAYMENTS);
      const [first = ""] = await rows.allTextContents();
      assert(first.includes("status 503") && first.includes("failed") && first.includes("Next push"), first);
      await rows.first().getByRole("link", { name: /^[0-9a-f-]{36}$/ }).click();
      await page.waitForURL("**/console/cases/*");
      const head = await page.locator(".case-head").textContent();
      assert(head?.includes("status 503") && head.includes("Bank A plc"), head ?? "");
    });
    await t.step("the operator holds the bank", () => holds(scene));
    await t.step("held orders that are forgotten raise an alert", async () => {
      await later(env, 4 * 3_600_000);
      await aPass(env);
      assertEquals((await prometheus.firing("OrdersHeld", 20)).labels["bank"], "BANKA");
    });
    await t.step("the operator announces an outage", () => announces(scene));
    await t.step("the bank returns, and the operator releases its orders", () => releases(scene, ids));
    await t.step("the alerts and the dashboard are calm", async () => {
      assertEquals(await onDashboard(scene, "BANKA"), ["Works", "0", "0"]);
      for (const name of ["BreakerOpen", "OrdersDelayed", "OrdersHeld"]) await prometheus.ended(name, 20);
    });
    await t.step("the report shows it", async () => {
      await env.platform.writeFigures();
      await page.goto(`${origin}/console/reports?id=BANKA`);
      const row = rowOf(page, "15 January 2040");
      const cellOf = (name: string): Promise<string | null> =>
        row.locator(`td[data-label="${name}"]`).textContent();
      const [availability, answered] = [await cellOf("Available") ?? "", await cellOf("Orders answered")];
      assertEquals(await cellOf("At a later push"), String(PAYMENTS));
      assert(parseFloat(availability) < 100, availability);
      assertEquals(answered, "100%", "each order was answered in the end");
      assertEquals(await cellOf("Payments"), String(PAYMENTS + 1));
      const plot = page.locator(".plot", { hasText: "not available" });
      assertEquals(await plot.locator("rect.value").count(), 1);
      const levels = await env.browser(new Request(`${AUTH_URL}/service-levels.json?bank=BANKA`));
      const { banks: [bank] } = await bodyOf<ServiceLevels>(levels);
      assert(present(bank?.days?.[0]?.availability) < 1, "TPPs see it too");
    });
    await t.step("the history names the operator", async () => {
      assertEquals(await audit(scene), [
        ["operator maria", "bank.held", REASONS.hold],
        ["operator maria", "bank.outage_planned", REASONS.outage],
        ["operator maria", "bank.outage_cancelled", REASONS.cancel],
        ["operator maria", "bank.released", REASONS.release],
      ]);
    });
  },
  sanitizeOps: false, // the browser's pipes and timers end after the test that closed it
  sanitizeResources: false,
});
