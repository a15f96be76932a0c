/** The public page of the banks' service levels: what it shows, what it hides, and that its cost is bounded. */
import { assert, assertEquals } from "@std/assert";
import { bodyOf, firstOf, type ServiceLevels } from "testing/answers.ts";
import { AUTH_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { accepts, openPushEnvironment, paid } from "support/orders.ts";

async function open(env: Environment, path: string, headers: HeadersInit = {}): Promise<Response> {
  return await env.browser(new Request(`${AUTH_URL}${path}`, { headers }));
}

async function levels(env: Environment, query = ""): Promise<ServiceLevels> {
  const answer = await open(env, `/service-levels.json${query}`);
  assertEquals(answer.status, 200);
  return await bodyOf<ServiceLevels>(answer);
}

/** A bank that takes no order, so that none is tried again. */
const refuses = (): Response => new Response("no", { status: 422 });

/** Bank A after this many rounds of payments that it answers so. */
async function measured(
  rounds = 1,
  answers = [accepts, refuses],
): Promise<Awaited<ReturnType<typeof openPushEnvironment>>> {
  const env = await openPushEnvironment(accepts);
  for (const answer of Array.from({ length: rounds }, () => answers).flat()) {
    env.answer = answer;
    await paid(env);
  }
  for (let minute = 0; minute < 4; minute++) {
    env.now += 60_000;
    await env.platform.watchBanks();
  }
  await env.platform.writeFigures();
  return env;
}

Deno.test("everyone reads availability and answers of each bank, and no volume [REP5]", async () => {
  await using env = await measured(10);
  const all = await levels(env);
  assertEquals([all.from, all.until, all.banks.length], ["2039-12-17", "2040-01-15", 2]);
  const { response_median, response_percentile_95, ...a } = firstOf(all.banks);
  assertEquals(a, { bank: "BANKA", name: "Bank A plc", availability: 1, answer_rate: 0.5 });
  assertEquals([typeof response_median, typeof response_percentile_95], ["number", "number"]);
  assertEquals(all.banks[1], { bank: "BANKB", name: "Bank B plc", availability: 1 });
  const { banks: [one] } = await levels(env, "?bank=BANKA");
  assertEquals(one?.days?.map(({ date, answer_rate }) => [date, answer_rate]), [["2040-01-15", 0.5]]);
  const page = await (await open(env, "/service-levels?bank=BANKA&lang=en")).text();
  assert(page.includes("Bank A plc") && page.includes("50%") && page.includes("<svg"));
});

Deno.test("order figures of fewer than 20 orders are not public, and a rate has three digits [REP5]", async (t) => {
  await t.step("18 orders", async () => {
    await using env = await measured(9);
    const { days, ...total } = firstOf((await levels(env, "?bank=BANKA")).banks);
    assertEquals(total, { bank: "BANKA", name: "Bank A plc", availability: 1 });
    assertEquals(days, [{ date: "2040-01-15", availability: 1 }]);
  });
  await t.step("14 of 21", async () => {
    await using env = await measured(7, [accepts, accepts, refuses]);
    const { days: [day] = [], answer_rate } = firstOf((await levels(env, "?bank=BANKA")).banks);
    assertEquals([answer_rate, day?.answer_rate, typeof day?.response_median], [0.666, 0.666, "number"]);
  });
});

Deno.test("the page is in the reader's language and names every bank [REP5]", async () => {
  await using env = await measured();
  for (const [language, title] of [["fr", "Service levels"], ["ar", "Service levels"]] as const) {
    const answer = await open(env, "/service-levels", { "accept-language": language });
    const page = await answer.text();
    assertEquals([answer.headers.get("content-language") ?? language, page.includes(title)], [
      language,
      false,
    ]);
    assert(page.includes(`lang="${language}"`) && page.includes("Bank A plc") && page.includes("Bank B plc"));
    assertEquals(answer.headers.get("vary")?.toLowerCase().includes("accept-language"), true);
  }
});

Deno.test("an unknown bank does not exist [REP5]", async () => {
  await using env = await openEnvironment();
  for (const path of ["/service-levels.json?bank=BANKX", "/service-levels?bank=%3Ci%3E"]) {
    const answer = await open(env, path);
    assertEquals(answer.status, 404);
    await answer.body?.cancel();
  }
});

Deno.test("a process reads the store for it at most once a minute, and caches keep it as long [REP5]", async () => {
  await using env = await measured();
  const first = await open(env, "/service-levels.json");
  assertEquals(first.headers.get("cache-control"), "public, max-age=300");
  await first.body?.cancel();
  await (await open(env, "/service-levels")).body?.cancel(); // it reads the states, at most once a second
  let reads = 0;
  const { list } = env.store;
  env.store.list = (listing) => (reads++, list(listing));
  for (const path of ["/service-levels.json", "/service-levels", "/service-levels?bank=BANKB"]) {
    await (await open(env, path)).body?.cancel();
  }
  assertEquals(reads, 0);
  const etag = first.headers.get("etag") ?? "";
  const again = await open(env, "/service-levels.json", { "if-none-match": etag });
  assertEquals([again.status, await again.text()], [304, ""]);
  env.now += 60_000;
  await Promise.all(["", "?bank=BANKA"].map((query) => levels(env, query)));
  const once = reads;
  assert(once > 0 && once < 40, `${once}`);
  env.now += 60_000;
  await levels(env);
  assert(reads - once <= 5, "days that have ended are not read again");
  env.store.list = list;
});
