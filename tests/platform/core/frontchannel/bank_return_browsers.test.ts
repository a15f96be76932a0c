import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { goodReturn } from "support/at_bank.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import {
  type AtBank,
  authorize,
  Browser,
  codeOf,
  decide,
  openHandover,
  toBank,
} from "testing/authorization_flow.ts";
import {
  assertCodeAnswer,
  assertErrorAnswer,
  assertPage,
  codesIssued,
  consentStatus,
  nextUrlOf,
  reportAccounts,
} from "testing/front_channel.ts";
import { type Environment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";

test("GET authorization.sca.oauth2 in a browser that did not begin the flow shows a page and changes nothing [BR-N11] [BR9] [BR18] [B4] [AUT-11]", async ({ env, t }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const other = await toBank(env, { body: IMPLICIT });
  const path = await goodReturn(env, flow);
  const name = `__Host-sca-${flow.handover.correlation_id}`;
  const secret = flow.browser.cookies.get(name) ?? "";
  assertMatch(secret, /^[A-Za-z0-9_-]{43}$/);
  const otherSecret = [...other.browser.cookies.values()][0] ?? "";
  const cookies: Record<string, string | undefined> = {
    "no cookie at all [BR18]": undefined,
    "the cookie of another flow": `__Host-sca-${other.handover.correlation_id}=${otherSecret}`,
    "the secret of another flow under this flow's name": `${name}=${otherSecret}`,
    "the secret under another flow's name": `__Host-sca-${other.handover.correlation_id}=${secret}`,
    "without the __Host- prefix": `sca-${flow.handover.correlation_id}=${secret}`,
    "an empty secret": `${name}=`,
    "a character less": `${name}=${secret.slice(1)}`,
    "the hash that the store holds": `${name}=${await storedHash(env, flow)}`,
  };
  await steps(t, cookies, async (cookie) => {
    const outsider = new Browser(env);
    const headers = cookie === undefined ? {} : { cookie };
    const answer = await unchanged(env, () => outsider.open(path, { headers }));
    await assertPage(answer, 400, "other_browser");
  });
  await t.step("the browser that began it still succeeds with the same return", async () => {
    await assertCodeAnswer(await flow.browser.open(path));
  });
});

test("GET authorization.sca.oauth2: the same URL loaded again leads where it led, and one code is all there ever is [BR-N10] [G1]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const path = await goodReturn(env, flow);
  const cookies = new Map(flow.browser.cookies);
  const first = await flow.browser.open(path);
  codeOf(first);
  // A browser that dropped the first answer still has its cookie: for a minute it is sent where that one led.
  const reload = (): Promise<Response> => {
    cookies.forEach((secret, name) => flow.browser.cookies.set(name, secret));
    return unchanged(env, () => flow.browser.open(path));
  };
  for (let time = 0; time < 3; time++) {
    assertEquals((await reload()).headers.get("location"), first.headers.get("location"));
  }
  env.now += 60_000;
  await assertErrorAnswer(await reload(), "invalid_request");
  // Without it, a page with a link to the TPP's own page.
  for (const browser of [flow.browser, new Browser(env)]) {
    const page = await assertPage(await unchanged(env, () => browser.open(path)), 400, "finished");
    assertEquals(nextUrlOf(page), "https://www.example.com/");
    assertStringIncludes(page, "Back to <bdi>Example Shop Ltd</bdi>");
  }
  assertEquals(await codesIssued(env), 1);
});

test("GET authorization.sca.oauth2: a second return, good or bad, leads to the decision that the first one left open [BR-N10] [BR15] [G1]", async ({ env }) => {
  const flow = await toBank(env);
  await reportAccounts(env, flow);
  const screen = await flow.browser.open(await goodReturn(env, flow));
  assertEquals(screen.status, 303);
  const unusable = { exp: Math.floor(env.now / 1000) - 31 };
  for (const claims of [{}, { status_code: "failure" }, unusable]) {
    const path = await goodReturn(env, flow, claims);
    const answer = await unchanged(env, () => flow.browser.open(path));
    assertEquals([answer.status, answer.headers.get("location")], [303, screen.headers.get("location")]);
    await assertPage(await new Browser(env).open(path), 400, "other_browser");
  }
  await assertCodeAnswer(await decide(flow.browser, screen.headers.get("location") ?? "", "accept"));
});

test("GET authorization.sca.oauth2: of two visits by one link the first to return wins; the other gets a page, since the TPP has its answer [AZ-N15] [CT3] [G1]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const second = await openHandover(env.bankA, await authorize(flow.browser, env.tpp, flow.requestUri));
  const later = { ...flow, handover: second.claims };
  await assertCodeAnswer(await flow.browser.open(await goodReturn(env, later)));
  assertEquals(flow.browser.cookies.size, 1);
  for (const [status_code, page] of [["success", "accepted"], ["failure", "finished"]] as const) {
    const path = await goodReturn(env, flow, { status_code });
    const html = await assertPage(await unchanged(env, () => flow.browser.open(path)), 400, page);
    assertEquals(nextUrlOf(html), "https://www.example.com/");
    assertEquals(flow.browser.cookies.size, 0); // cleared by the first page: the second one is for a browser without
  }
  assertEquals([await codesIssued(env), await consentStatus(env, flow)], [1, "Authorized"]);
});

async function storedHash(env: Environment, flow: AtBank): Promise<string> {
  const entries = await env.snapshot();
  const found = entries.find(({ key }) =>
    key[0] === "authorization_session" && key[1] === flow.handover.correlation_id
  );
  return (found?.value as { bindingHash: string }).bindingHash;
}
