import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { good, push } from "testing/flows.ts";
import {
  authorise,
  authorize,
  Browser,
  codeOf,
  openHandover,
  redeem,
  returnPath,
  toBank,
} from "testing/authorization_flow.ts";
import { assertCodeAnswer, assertErrorAnswer, assertPage, consentStatus } from "testing/front_channel.ts";
import { pushed } from "./pushed_link.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { unchanged } from "testing/store_contents.ts";
import { test } from "support/environment_test.ts";

test("GET authorization.oauth2: user rejects at the bank: 303 with access_denied, state and iss [AZ-N13] [AZ7] [AZ9] [B5]", async ({ env }) => {
  const flow = await toBank(env);
  const path = await returnPath(env, env.bankA, flow.handover, { claims: { status_code: "failure" } });
  await assertErrorAnswer(await flow.browser.open(path), "access_denied");
  assertEquals(await consentStatus(env, flow), "Rejected");
});

test("GET authorization.oauth2 takes its URLs from configuration, whatever Host says [A6] [MD-N4]", async ({ env }) => {
  const query = new URLSearchParams({ client_id: env.tpp.clientId, request_uri: await pushed(env) });
  const departure = await env.browser(
    new Request(`https://evil.example/BANKA/authorization.oauth2?${query}`, {
      headers: { host: "evil.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "http" },
    }),
  );
  const { claims } = await openHandover(env.bankA, departure);
  assertEquals([departure.status, claims.iss], [303, "https://auth.platform.example"]);
  assertMatch(departure.headers.getSetCookie()[0] ?? "", /; Secure/);
});

test("GET authorization.oauth2 asks for no client certificate and ignores certificate headers [A7]", async ({ env }) => {
  const headers = {
    "client-cert": ":AAAA:",
    "x-proxy-secret": "wrong",
    "x-forwarded-client-cert": "Hash=0",
    authorization: "DPoP nothing",
  };
  const query = new URLSearchParams({ client_id: env.tpp.clientId, request_uri: await pushed(env) });
  const browser = new Browser(env);
  const departure = await browser.open(`/BANKA/authorization.oauth2?${query}`, { headers });
  const { claims } = await openHandover(env.bankA, departure);
  await assertCodeAnswer(await browser.open(await returnPath(env, env.bankA, claims), { headers }));
});

test("GET authorization.oauth2 issues the code at the end: redeemable 59 s after, not 60 s after [AZ15] [AZ9]", async ({ env }) => {
  for (const [seconds, status] of [[59, 200], [60, 400]] as const) {
    const flow = await toBank(env, { body: IMPLICIT });
    env.now += 300_000; // at the bank
    const code = codeOf(await authorise(env, flow));
    env.now += seconds * 1000;
    assertEquals((await redeem(env, { consentId: flow.consentId, code })).status, status);
  }
});

test("GET authorization.oauth2 twice for one consent by two pushed requests: the first to end wins, the other ends in invalid_request [AZ-N18] [CT2] [CT16]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const second = await good(
    push(env, flow.consentId, { form: { code_challenge: "B".repeat(42) + "A" } }),
    201,
  );
  const browser = new Browser(env);
  const { claims } = await openHandover(env.bankA, await authorize(browser, env.tpp, second.request_uri));
  assertNotEquals(claims.correlation_id, flow.handover.correlation_id);
  await assertCodeAnswer(await browser.open(await returnPath(env, env.bankA, claims)));
  const late = await flow.browser.open(await returnPath(env, env.bankA, flow.handover));
  await assertErrorAnswer(late, "invalid_request");
  assertEquals(await consentStatus(env, flow), "Authorized");
  // The first link is over as well: its flow has had its answer.
  const again = authorize(flow.browser, env.tpp, flow.requestUri);
  await assertPage(await unchanged(env, () => again), 400, "link_unusable");
});
