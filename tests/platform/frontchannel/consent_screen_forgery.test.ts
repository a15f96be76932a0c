import { assertEquals, assertNotEquals } from "@std/assert";
import { sealedReturn, signedReturn } from "testing/bank_return.ts";
import { type AtBank, Browser, toBank } from "testing/authorization_flow.ts";
import {
  assertBrowserHeaders,
  assertCodeAnswer,
  assertErrorAnswer,
  assertNothingChanges,
  assertPage,
  consentStatus,
  PAGE,
  readForm,
  reportAccounts,
  SECRET,
} from "testing/front_channel.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";

Deno.test("POST authorization.consent.oauth2 needs the anti-forgery token of this browser and this flow [AZ13]", async (t) => {
  await using env = await openEnvironment();
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
    for (const decision of ["accept", "refuse"]) {
      await t.step(`${name}, ${decision}`, async () => {
        const act = (): Promise<Response> => post(own.flow.browser, own.screen, { csrf, decision });
        await assertPage(await assertNothingChanges(env, act), 400, "other_browser");
      });
    }
  }
  await t.step("of another flow in the same browser", async () => {
    const browser = own.flow.browser;
    for (const [name, value] of elsewhere.flow.browser.cookies) browser.cookies.set(name, value);
    const both = readForm(await (await browser.open(elsewhere.screen)).text()).csrf;
    assertEquals(both, elsewhere.csrf);
    const act = (): Promise<Response> => post(browser, own.screen, { csrf: [both], decision: "accept" });
    await assertPage(await assertNothingChanges(env, act), 400, "other_browser");
  });
  await t.step("twice", async () => {
    const act = (): Promise<Response> =>
      post(own.flow.browser, own.screen, { csrf: [own.csrf, own.csrf], decision: "accept" });
    await assertPage(await assertNothingChanges(env, act), 400, "link_unusable");
  });
  await t.step("the right one is enough", async () => {
    await assertCodeAnswer(
      await post(own.flow.browser, own.screen, { csrf: [own.csrf], decision: "accept" }),
    );
    assertEquals(await consentStatus(env, elsewhere.flow), "AwaitingAuthorisation");
  });
});

Deno.test("authorization.consent.oauth2 in another browser is a page, whatever is known of the flow [AZ11] [AZ13]", async (t) => {
  await using env = await openEnvironment();
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
      await assertNothingChanges(env, () => outsider.open(screen, { headers })),
      400,
      "other_browser",
    );
    const body = new URLSearchParams({ csrf, decision: "accept", account: "0" });
    const act = (): Promise<Response> => outsider.open(screen, { method: "POST", headers, body });
    await assertPage(await assertNothingChanges(env, act), 400, "other_browser");
  });
  await t.step("the customer's own browser still decides", async () => {
    await assertErrorAnswer(
      await post(flow.browser, screen, { csrf: [csrf], decision: "refuse" }),
      "access_denied",
    );
  });
});

Deno.test("The anti-forgery token is another one for every flow and cannot be told from the cookie [AZ13]", async () => {
  await using env = await openEnvironment();
  const [first, second] = [await toScreen(env), await toScreen(env)];
  assertNotEquals(first.csrf, second.csrf);
  const stored = JSON.stringify(await env.snapshot());
  for (const { csrf } of [first, second]) assertEquals(stored.includes(csrf), false);
});

Deno.test("authorization.consent.oauth2 knows only flows of this bank that wait for a decision [AZ13] [A3] [FAPI-G17]", async (t) => {
  await using env = await openEnvironment();
  const { flow, screen, csrf } = await toScreen(env);
  const atBank = await toBank(env);
  const path = (bank: string, id: string): string => `/${bank}/authorization.consent.oauth2?flow=${id}`;
  const id = flow.handover.correlation_id;
  const outsiders: Record<string, readonly [string, number, keyof typeof PAGE]> = {
    "no flow": ["/BANKA/authorization.consent.oauth2", 400, "link_unusable"],
    "an empty flow": [path("BANKA", ""), 400, "link_unusable"],
    "an unknown flow": [path("BANKA", crypto.randomUUID()), 400, "link_unusable"],
    "no UUID": [path("BANKA", "../interaction"), 400, "link_unusable"],
    "3,000 characters": [path("BANKA", "x".repeat(3000)), 400, "link_unusable"],
    "another bank's path": [path("BANKB", id), 400, "link_unusable"],
    "an unknown bank": [path("BANKC", id), 404, "not_found"],
    "a malformed bank": [path("B%2FA", id), 404, "not_found"],
    "upper case": [path("BANKA", id.toUpperCase()), 400, "link_unusable"],
    "flow twice": [`${path("BANKA", id)}&flow=${id}`, 400, "link_unusable"],
  };
  await steps(t, outsiders, async ([url, status, page]) => {
    const { browser } = flow;
    await assertPage(await assertNothingChanges(env, () => browser.open(url)), status, page);
    const act = (): Promise<Response> => post(browser, url, { csrf: [csrf], decision: "accept" });
    await assertPage(await assertNothingChanges(env, act), status, page);
  });
  await t.step("a flow that is still at the bank", async () => {
    const { browser, handover } = atBank;
    const url = path("BANKA", handover.correlation_id);
    await assertPage(await assertNothingChanges(env, () => browser.open(url)), 400, "link_unusable");
  });
  await t.step("the flow itself", async () => {
    await assertCodeAnswer(await post(flow.browser, screen, { csrf: [csrf], decision: "accept" }));
  });
});

Deno.test("authorization.consent.oauth2 takes GET and form POST alone, bounded [FAPI-G9] [FAPI-G10] [FAPI-G11] [AZ-N12]", async (t) => {
  await using env = await openEnvironment();
  const { flow, screen, csrf } = await toScreen(env);
  for (const method of ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"]) {
    await t.step(method, async () => {
      const answer = await assertNothingChanges(env, () => flow.browser.open(screen, { method }));
      assertEquals([answer.status, answer.headers.get("allow")], [405, "GET, POST"]);
      assertBrowserHeaders(answer);
      await answer.body?.cancel();
    });
  }
  const form = new URLSearchParams({ csrf, decision: "accept", account: "0" }).toString();
  const urlencoded = "application/x-www-form-urlencoded";
  const multipart = new FormData();
  for (const [name, value] of new URLSearchParams(form)) multipart.set(name, value);
  const bodies: Record<string, readonly [RequestInit, number, keyof typeof PAGE]> = {
    "JSON": [
      { body: JSON.stringify({ csrf, decision: "accept" }), headers: { "content-type": "application/json" } },
      400,
      "link_unusable",
    ],
    "text/plain": [{ body: form, headers: { "content-type": "text/plain" } }, 400, "link_unusable"],
    "multipart": [{ body: multipart }, 400, "link_unusable"],
    "another charset": [
      { body: form, headers: { "content-type": `${urlencoded}; charset=utf-16` } },
      400,
      "link_unusable",
    ],
    "no body": [{ headers: { "content-type": urlencoded } }, 400, "other_browser"],
    "more than 64 KiB": [
      { body: `${form}&x=${"x".repeat(65_536)}`, headers: { "content-type": urlencoded } },
      413,
      "too_large",
    ],
    "no UTF-8": [
      { body: new Uint8Array([0x63, 0x3d, 0xff]), headers: { "content-type": urlencoded } },
      400,
      "link_unusable",
    ],
  };
  await steps(t, bodies, async ([init, status, page]) => {
    const act = (): Promise<Response> => flow.browser.open(screen, { method: "POST", ...init });
    await assertPage(await assertNothingChanges(env, act), status, page);
  });
  await t.step("the query is no form", async () => {
    const act = (): Promise<Response> =>
      flow.browser.open(`${screen}&${form}`, { method: "POST", headers: { "content-type": urlencoded } });
    await assertPage(await assertNothingChanges(env, act), 400, "other_browser");
  });
  await t.step("a form with a charset", async () => {
    const headers = { "content-type": "Application/X-WWW-Form-Urlencoded; charset=UTF-8" };
    await assertCodeAnswer(await flow.browser.open(screen, { method: "POST", headers, body: form }));
  });
});

interface Deciding {
  readonly flow: AtBank;
  readonly screen: string;
  readonly csrf: string;
}

async function toScreen(env: Environment): Promise<Deciding> {
  const flow = await toBank(env);
  await reportAccounts(env, flow);
  const path = await sealedReturn(env, "BANKA", await signedReturn(env, flow));
  const screen = (await flow.browser.open(path)).headers.get("location") ?? "";
  return { flow, screen, csrf: readForm(await (await flow.browser.open(screen)).text()).csrf };
}

function post(
  browser: Browser,
  screen: string,
  { csrf, decision }: { readonly csrf: readonly string[]; readonly decision: string },
): Promise<Response> {
  const body = new URLSearchParams({ decision, account: "0" });
  for (const token of csrf) body.append("csrf", token);
  return browser.open(screen, { method: "POST", body });
}
