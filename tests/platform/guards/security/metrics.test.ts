/** `GET /operations/metrics`: what the platform counts, for operators only, without anything that a caller sent. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { clientToken, createConsent } from "testing/flows.ts";
import { later, paid, type PushEnvironment } from "support/orders.ts";
import { testWith } from "support/environment_test.ts";
import { openOperated, operate } from "../../core/payments/operated.ts";
import { AUTH_URL, BASE_URL } from "testing/environment.ts";

const test = testWith(() => openOperated());

async function scrape(env: PushEnvironment): Promise<string> {
  const answer = await operate(env, "/operations/metrics");
  assertEquals([answer.status, answer.headers.get("content-type")], [
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
  return await answer.text();
}

/** The value of a series. */
function seriesValue(text: string, series: string): number | undefined {
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

test("requests are counted by declared path, bank and client, and rejections by reason [O2]", async ({ env }) => {
  await createConsent(env, await clientToken(env, env.tpp));
  await env.api(new Request(`${BASE_URL}/BANKA/nothing`), env.tpp);
  await env.browser(new Request(`${AUTH_URL}/UNKNOWN/authorize?request_uri=urn:x&client_id=y`));
  const text = await scrape(env);
  const made = [...text.matchAll(/^platform_requests_total\{route="([^"]+)"/gm)].map(([, route]) =>
    route ?? ""
  );
  assert(made.includes("/{bank}/token.oauth2/v1"), made.join());
  assert(made.every((route) => route === "none" || /^\/[a-z0-9.{}/_-]*$/i.test(route)), made.join());
  assertStringIncludes(text, 'platform_bank_requests_total{bank="BANKA",status="2xx"}');
  assertStringIncludes(text, `platform_client_requests_total{client="${env.tpp.clientId}",status="2xx"}`);
  assert(!text.includes("UNKNOWN"), "an unknown bank must not become a label");
  assert((seriesValue(text, 'platform_rejections_total{reason="request.not_found"}') ?? 0) > 0);
});

test("orders are counted by bank and state, with the age of the oldest [O2]", async ({ env }) => {
  const oldest = 'platform_order_oldest_age_seconds{bank="BANKA"}';
  await paid(env);
  await env.platform.workOnce();
  assertEquals(seriesValue(await scrape(env), oldest), 0);
  await later(env, 60_000);
  await env.platform.workOnce();
  const text = await scrape(env);
  assertEquals(seriesValue(text, 'platform_orders{bank="BANKA",state="waiting"}'), 1);
  assertEquals(seriesValue(text, oldest), 60);
  assert((seriesValue(text, 'platform_order_pushes_total{bank="BANKA",result="unreachable"}') ?? 0) > 0);
});

test("without PostgreSQL and a signer, no metric says that a standby is missing or the signer fails [O2]", async ({ env }) => {
  const text = await scrape(env);
  const absent = ["platform_store_standby", "platform_signer_working"];
  assertEquals(absent.map((series) => seriesValue(text, series)), [undefined, undefined]);
  assertEquals(seriesValue(text, "platform_store_working"), 1);
});

test("the metrics need an operator's token, and are not on the participants' hosts [OP1]", async ({ env }) => {
  assertEquals((await operate(env, "/operations/metrics", {})).status, 401);
  const participants = await env.api(new Request(`${BASE_URL}/operations/metrics`));
  assertEquals(participants.status, 404);
});
