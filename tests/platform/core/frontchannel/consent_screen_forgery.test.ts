import { assertEquals, assertNotEquals } from "@std/assert";
import { Browser } from "testing/authorization_flow.ts";
import {
  assertCodeAnswer,
  assertErrorAnswer,
  assertPage,
  consentStatus,
  readForm,
  SECRET,
} from "testing/front_channel.ts";
import { steps, stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { post, toScreen } from "./forgeries.ts";
import { unchanged } from "testing/store_contents.ts";

test("POST authorization.consent.oauth2 needs the anti-forgery token of this browser and this flow [AZ13]", async ({ env, t }) => {
  const own = await toScreen(env);
  const elsewhere = await toScreen(env);
  const secret = [...own.flow.browser.cookies.values()][0] ?? "";
  assertEquals([SECRET.test(own.csrf), own.csrf === secret], [true, false]);
  const tokens: Record<string, string[]> = {
    "missing": [],
    "empty": [""],
    "wrong": ["A".repeat(43)],
    "a character less": [own.csrf.slice(1)],
    "of another flow and browser": [elsewhere.csrf],
    "the cookie's own value": [secret],
    "the correlation id": [own.flow.handover.correlation_id],
  };
  for (const [name, csrf] of Object.entries(tokens)) {
    await stepsOf(t, ["accept", "refuse"], (decision) => `${name}, ${decision}`, async (decision) => {
      const act = (): Promise<Response> => post(own.flow.browser, own.screen, { csrf, decision });
      await assertPage(await unchanged(env, act), 400, "other_browser");
    });
  }
  await t.step("of another flow in the same browser", async () => {
    const browser = own.flow.browser;
    for (const [name, value] of elsewhere.flow.browser.cookies) browser.cookies.set(name, value);
    const both = readForm(await (await browser.open(elsewhere.screen)).text()).csrf;
    assertEquals(both, elsewhere.csrf);
    const act = (): Promise<Response> => post(browser, own.screen, { csrf: [both], decision: "accept" });
    await assertPage(await unchanged(env, act), 400, "other_browser");
  });
  await t.step("twice", async () => {
    const act = (): Promise<Response> =>
      post(own.flow.browser, own.screen, { csrf: [own.csrf, own.csrf], decision: "accept" });
    await assertPage(await unchanged(env, act), 400, "link_unusable");
  });
  await t.step("the right one is enough", async () => {
    await assertCodeAnswer(
      await post(own.flow.browser, own.screen, { csrf: [own.csrf], decision: "accept" }),
    );
    assertEquals(await consentStatus(env, elsewhere.flow), "AwaitingAuthorisation");
  });
});

test("authorization.consent.oauth2 in another browser is a page, whatever is known of the flow [AZ11] [AZ13]", async ({ env, t }) => {
  const { flow, screen, csrf } = await toScreen(env);
  const name = `__Host-sca-${flow.handover.correlation_id}`;
  const cookies = {
    "no cookie": "",
    "a guessed cookie": `${name}=${"A".repeat(43)}`,
    "the secret under another name": `__Host-sca=${flow.browser.cookies.get(name)}`,
  };
  await steps(t, cookies, async (cookie) => {
    const outsider = new Browser(env);
    const headers = { cookie };
    await assertPage(
      await unchanged(env, () => outsider.open(screen, { headers })),
      400,
      "other_browser",
    );
    const body = new URLSearchParams({ csrf, decision: "accept", account: "0" });
    const act = (): Promise<Response> => outsider.open(screen, { method: "POST", headers, body });
    await assertPage(await unchanged(env, act), 400, "other_browser");
  });
  await t.step("the customer's own browser still decides", async () => {
    await assertErrorAnswer(
      await post(flow.browser, screen, { csrf: [csrf], decision: "refuse" }),
      "access_denied",
    );
  });
});

test("The anti-forgery token is another one for every flow and cannot be told from the cookie [AZ13]", async ({ env }) => {
  const [first, second] = [await toScreen(env), await toScreen(env)];
  assertNotEquals(first.csrf, second.csrf);
  const stored = JSON.stringify(await env.snapshot());
  for (const { csrf } of [first, second]) assertEquals(stored.includes(csrf), false);
});
