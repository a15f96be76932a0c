import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Statement } from "testing/answers.ts";
import { good, push } from "testing/flows.ts";
import { authorize, Browser, codeOf, returnPath, toBank } from "testing/authorization_flow.ts";
import { assertErrorAnswer, consentStatus } from "testing/front_channel.ts";
import { adminCall, register } from "testing/participants.ts";
import { type Environment, openEnvironment, SHOP_REDIRECTS, START } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { assertRejected, link, pushed } from "./rejected_links.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { unchanged } from "testing/store_contents.ts";

test("GET authorization.oauth2 looks again at what held at PAR: the client's standing [AZ4] [AZ-N17]", async ({ env }) => {
  const { requestUri } = await pushed(env);
  await setStatus(env, env.tpp.orgId, "software", "Inactive");
  env.now += 301_000; // key sets are kept 300 s
  await assertRejected(env, link(env, requestUri), 400, "shop_inactive");
});

test("GET authorization.oauth2 looks again at what held at PAR: the redirect_uri [AZ4]", async ({ env }) => {
  const { requestUri } = await pushed(env, { redirect_uri: SHOP_REDIRECTS[1] });
  env.now += 1000;
  const renewed = await good<Statement>(
    adminCall(env, "POST", `/participants/${env.tpp.orgId}/statement`, {}),
    200,
  );
  const fewer = {
    ...env.tpp,
    statement: renewed.software_statement,
    redirectUris: SHOP_REDIRECTS.slice(0, 1),
  };
  assertEquals((await register(env, fewer)).status, 201);
  await assertRejected(env, link(env, requestUri), 400, "link_unusable");
});

Deno.test("GET authorization.oauth2 sends the customer back with temporarily_unavailable where the bank cannot be sealed to [AZ9] [B5]", async (t) => {
  await t.step("a suspended bank", async () => {
    await using env = await openEnvironment();
    const { requestUri } = await pushed(env);
    await setStatus(env, "BANKA", "organisation", "Suspended");
    env.now += 301_000;
    const answer = await unchanged(env, () => authorize(new Browser(env), env.tpp, requestUri));
    assertEquals(answer.headers.getSetCookie(), []);
    const words = "The bank is not active: the directory has suspended it.";
    await assertErrorAnswer(answer, "temporarily_unavailable", "BANKA", words);
  });
  await t.step("a bank whose keys the directory has not given for 900 s [A9]", async () => {
    await using env = await openEnvironment();
    const first = await pushed(env);
    await authorize(new Browser(env), env.tpp, first.requestUri); // the platform has the bank's keys now
    env.network = (request) =>
      request.url.includes("/participants/BANKA/")
        ? Promise.reject(new TypeError("connection refused"))
        : env.directory.fetch(request);
    env.now = START + 900_000;
    const second = await pushed(env);
    assertEquals((await authorize(new Browser(env), env.tpp, second.requestUri)).status, 303);
    env.now = START + 900_001;
    await assertErrorAnswer(
      await authorize(new Browser(env), env.tpp, second.requestUri),
      "temporarily_unavailable",
    );
  });
});

test("GET authorization.oauth2 shows a page with Retry-After while the TPP's registration cannot be read [AZ9] [A9]", async ({ env }) => {
  env.now += 590_000;
  env.network = () => Promise.reject(new TypeError("connection refused"));
  const { requestUri } = await pushed(env); // on the last good copies
  env.now += 500_000;
  const answer = await assertRejected(env, link(env, requestUri), 503, "unavailable");
  assertEquals(answer.headers.get("retry-after"), "10");
});

test("GET authorization.oauth2 for a consent that does not await authorisation redirects with invalid_request [AZ4] [AZ-N18] [CT16]", async ({ env, t }) => {
  const decided = { Authorized: "success", Rejected: "failure" };
  await steps(t, decided, async (status_code, status) => {
    const flow = await toBank(env, { body: IMPLICIT });
    const challenge = { code_challenge: status_code.padEnd(43, "A") };
    const { request_uri } = await good(push(env, flow.consentId, { form: challenge }), 201);
    const path = await returnPath(env, env.bankA, flow.handover, { claims: { status_code } });
    assertEquals((await flow.browser.open(path)).status, 303);
    assertEquals(await consentStatus(env, flow), status);
    const answer = await unchanged(env, () => authorize(new Browser(env), env.tpp, request_uri));
    await assertErrorAnswer(answer, "invalid_request");
  });
});

test("GET authorization.oauth2 logs neither request_uri nor oAuthUrl [FAPI-G21] [BR16]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const path = await returnPath(env, env.bankA, flow.handover);
  const code = codeOf(await flow.browser.open(path));
  await flow.browser.open(path);
  await authorize(flow.browser, env.tpp, flow.requestUri);
  const log = env.logged.join("\n");
  assertStringIncludes(log, "/BANKA/authorization.sca.oauth2");
  const sealed = new URL(path, "https://x").searchParams.get("oAuthUrl") ?? "";
  const reference = flow.requestUri.split(":").at(-1) ?? "";
  for (const secret of [sealed, sealed.slice(-40), reference, code, ...flow.browser.cookies.values()]) {
    assertEquals(log.includes(secret), false);
  }
});

async function setStatus(
  env: Environment,
  orgId: string,
  of: "organisation" | "software",
  status: string,
): Promise<void> {
  const path = `/participants/${orgId}/${of === "software" ? "software/status" : "status"}`;
  await good(adminCall(env, "PUT", path, { status, reason: "under review" }), 200);
}
