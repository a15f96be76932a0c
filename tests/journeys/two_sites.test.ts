/**
 * Two sites, with the commands of docs/operations/two_sites.md: the platform moves to the copy by plan while customers pay,
 * the former site becomes the copy, and then the other site is lost with its last commits. The test prints what was lost
 * and for how long nobody could pay.
 */
import { waitUntil } from "testing/waiting.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type Books, openBooks } from "support/bank_books.ts";
import { openBankServer, readPayment, runTask } from "support/drill.ts";
import { ORDERS_URI } from "support/orders.ts";
import { openShop, paymentsByOrder, type Shop } from "support/paid_orders.ts";
import { test } from "support/postgres.ts";
import { until } from "support/raw_client.ts";
import {
  cutLink,
  lose,
  makeLong,
  openSites,
  paymentsAt,
  shOnPage,
  type Site,
  sqlOnPage,
  startServer,
  startSite,
  untilCopied,
  usedAt,
} from "support/sites.ts";
import { present } from "testing/answers.ts";
import type { FlowEnvironment } from "testing/flows.ts";
import { OPERATOR_TOKENS, operatorsFile } from "testing/operators.ts";
import { asTheProxy, openFixture, type Send, settle } from "testing/served_environment.ts";
import { forgetSharedTokens } from "testing/shared_token.ts";

/** On demand TWO_SITES_PAYMENTS=100: so many in each part, and the site is lost while its link is in use. */
const MEASURED = Deno.env.get("TWO_SITES_PAYMENTS");
const PAYMENTS = Number(MEASURED ?? 4);
const AT_ONCE = MEASURED === undefined ? 2 : 8;
const VARIABLES = {
  PLATFORM_RATE_LIMITS: "authorization=1000/1000,consents=1000/1000,payments=1000/1000,reads=1000/1000",
  PLATFORM_FOUR_EYES: "none",
  PLATFORM_OPS_TOKEN: OPERATOR_TOKENS.maria,
  ...(MEASURED === undefined ? { PLATFORM_LAME_DUCK_SECONDS: "0" } : {}),
};

test("two sites: a planned move loses nothing, and the loss of a site makes no payment twice [G9]", async () => {
  await using drill = await openDrill();
  const { one, two, shop, books, environment } = drill;
  await copyTo(two, one);
  await movePlanned(drill);
  await becomeCopy(one, two);

  const afterTheCopy = await payUntilLoss(drill);
  const lostAt = Date.now();
  await lose(two);
  shop.close();
  const acknowledged = shop.orders.flatMap(({ paymentId }) => paymentId ?? []);
  const copiedUntil = await takeOver(drill);
  const copied = await paymentsAt(one);
  const missing = acknowledged.filter((id) => !copied.has(id));
  if (MEASURED === undefined) assertEquals(missing.toSorted(), afterTheCopy.toSorted());
  const unmade = missing.filter((id) => !books.orders.has(id));
  await reconcile(one, [...books.orders.keys()].filter((id) => !copied.has(id)).length);
  forgetSharedTokens(environment);

  const later = openShop(environment, "LATER");
  await later.pay(await later.authorise());
  const [again = Infinity] = later.paidAt;
  const words = `${missing.length} of ${acknowledged.length} payments, ${unmade.length} of them at no bank`;
  say(`loss of a site: RPO ${seconds(lostAt - copiedUntil)}, ${words}; RTO ${seconds(again - lostAt)}`);
  await shop.lookAfterAll();
  const orders = [...shop.orders, ...later.orders];
  assertEquals([...shop.unexpected, ...later.unexpected], [], "after the loss");
  await until(() => orders.every(({ paymentId = "" }) => books.orders.has(paymentId)));
  const payments = paymentsByOrder(books);
  for (const { name, paymentId } of orders) {
    assertEquals(payments[name], [paymentId], `${name} has one payment`);
  }
  for (const id of unmade) assert(!books.orders.has(id), `${id} was never made`);
  for (const id of books.orders.keys()) {
    assertEquals((await readPayment(environment, id)).Data.DomesticPaymentId, id);
  }
});

interface Drill extends AsyncDisposable {
  readonly one: Site;
  readonly two: Site;
  readonly environment: FlowEnvironment;
  readonly shop: Shop;
  readonly books: Books;
  /** While it is true, the bank takes no orders. */
  bankIsAway: boolean;
  /** The site that the proxy sends requests to. */
  active: Site;
}

async function openDrill(): Promise<Drill> {
  await using parts = new AsyncDisposableStack();
  const fixture = parts.use(await openFixture("Sandbox"));
  await Deno.writeTextFile(`${fixture.folder}/operators.json`, await operatorsFile(), { mode: 0o600 });
  const bank = await openBankServer(fixture);
  parts.defer(() => bank.server.shutdown());
  const { one, two } = parts.use(await openSites(fixture, VARIABLES));
  await startSite(one);
  const state = { active: one, bankIsAway: false };
  const send: Send = (request, as) => asTheProxy(state.active.env["PORT"] ?? "")(request, as);
  const environment: FlowEnvironment = {
    get now(): number {
      return Date.now();
    },
    ...await settle(fixture, send, { paymentOrdersUri: ORDERS_URI }),
    api: send,
    browser: (request) => send(request),
  };
  const books = Object.assign(openBooks(environment), { pageSize: 20 }); // of at most 64 KiB
  bank.answer = (body) =>
    state.bankIsAway ? Promise.resolve(new Response(null, { status: 503 })) : books.answer(body);
  const running = parts.move();
  return Object.assign(state, {
    one,
    two,
    environment,
    books,
    shop: openShop(environment, "ORDER"),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  });
}

const sourceOf = ({ link }: Site): string => `host=127.0.0.1 port=${link.port} user=postgres`;

async function copyTo(two: Site, one: Site): Promise<void> {
  await sqlOnPage(one, "pg_create_physical_replication_slot('hub_site2')");
  await shOnPage(two, "pg_basebackup", { "host=db1.site1.example user=hub_standby": sourceOf(one) });
  await startServer(two);
  await untilCopied(one, two);
  await waitUntil("a copy that streams", async () => (await sqlOnPage(one, "replay_lag")).length === 1);
  if (MEASURED !== undefined) makeLong(one);
}

/** Customers pay during the move. A copy that lacks WAL does not become the primary. A customer who has authorised before it pays after it, with the same token. */
async function movePlanned(drill: Drill): Promise<void> {
  const { one, two, shop } = drill;
  const early = await shop.authorise();
  let wanted = Infinity;
  const paying = shop.payNew(() => shop.paidAt.length < wanted, AT_ONCE);
  await shop.untilPaid(PAYMENTS / 2);
  const { ended } = present(one.platform);
  const startedAt = Date.now();
  const end = await shOnPage(one, "pg_controldata");
  assertEquals(await ended, { code: 0, stderr: "" });
  await one.node?.stop();
  await assertRejects(() => shOnPage(two, "HAS_ALL", { "<location>": "FFFFFFFF/0" }));
  await shOnPage(two, "HAS_ALL", { "<location>": end.trim() });
  await startSite(two);
  drill.active = two;
  wanted = shop.paidAt.length + PAYMENTS / 2;
  await paying;
  await shop.pay(early);
  assertEquals(shop.unexpected, [], "the planned move");
  assertEquals(await paymentsAt(two), new Set(shop.orders.map(({ paymentId }) => paymentId)));
  const gaps = shop.paidAt.map((at, index) => at < startedAt ? 0 : at - (shop.paidAt[index - 1] ?? at));
  say(`planned move: RPO 0 of ${shop.orders.length} payments; RTO ${seconds(Math.max(...gaps))}`);
}

/** The former site becomes the copy. */
async function becomeCopy(one: Site, two: Site): Promise<void> {
  await sqlOnPage(two, "pg_create_physical_replication_slot('hub_site1')");
  await shOnPage(one, "standby.signal", { "host=db1.site2.example user=hub_standby": sourceOf(two) });
  await startServer(one);
  await sqlOnPage(one, "pg_drop_replication_slot");
  await untilCopied(two, one);
}

/**
 * Without a link: a payment whose consent the copy has, one without, and one whose order has not reached the bank.
 * Returns them. On demand: as many as customers make while the link is in use. Returns none.
 */
async function payUntilLoss(drill: Drill): Promise<readonly string[]> {
  const { one, two, shop, books } = drill;
  const before = shop.paidAt.length;
  if (MEASURED !== undefined) {
    const [passed, start] = [makeLong(two), await usedAt(two)];
    void shop.payNew(() => true, AT_ONCE);
    await shop.untilPaid(before + PAYMENTS);
    const { log, connections } = await usedAt(two);
    const each = (bytes: number): string => `${Math.round(bytes / 1000 / (shop.paidAt.length - before))} kB`;
    say(
      `a payment: ${each(log - start.log)} of WAL, ${
        each(passed())
      } to the other site; ${connections} connections`,
    );
    return [];
  }
  const consented = await shop.authorise();
  await untilCopied(two, one);
  cutLink(two);
  const unknown = await shop.authorise();
  for (const order of [consented, unknown]) await shop.pay(order);
  await until(() => [consented, unknown].every(({ paymentId = "" }) => books.orders.has(paymentId)));
  drill.bankIsAway = true;
  const unsent = await shop.authorise();
  await shop.pay(unsent);
  return [consented, unknown, unsent].map(({ paymentId = "" }) => paymentId);
}

/** Returns the time of the last commit that the copy has. */
async function takeOver(drill: Drill): Promise<number> {
  const { one } = drill;
  const [last] = await present(one.node).admin<{ at: string }[]>`
    select (extract(epoch from pg_last_xact_replay_timestamp()) * 1000)::text as at`;
  await shOnPage(one, "pg_last_xact_replay_timestamp");
  await startSite(one);
  const restored = present(one.platform).lines.find(({ event }) => event === "store.restored");
  assertEquals(restored?.["banksHeld"], 2, "a new epoch has begun");
  [drill.active, drill.bankIsAway] = [one, false];
  return Number(last?.at);
}

async function reconcile(site: Site, recovered: number): Promise<void> {
  const printed = await runTask(site, "reconcile", ["--bank", "BANKA"], 1);
  assertStringIncludes(printed, `BANKA: released; ${recovered} recovered`);
  await runTask(site, "reconcile", ["--bank", "BANKB", "--release", "Bank B pulls its orders itself."]);
}

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`\n${line}\n`));
}
