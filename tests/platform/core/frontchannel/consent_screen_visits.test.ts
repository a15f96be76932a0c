import { assertEquals } from "@std/assert";
import { toBank } from "testing/authorization_flow.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { assertBrowserHeaders, assertCodeAnswer, assertPage, PAGE } from "testing/front_channel.ts";
import { openEnvironment } from "testing/environment.ts";
import { goodReturn } from "support/at_bank.ts";
import { openCountedStore } from "support/counted_store.ts";
import { deliver, waitingPath } from "support/delivered_result.ts";
import { steps, stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { post, toScreen } from "./forgeries.ts";
import { unchanged } from "testing/store_contents.ts";

test("authorization.consent.oauth2 knows only flows of this bank that wait for a decision [AZ13] [A3] [FAPI-G17]", async ({ env, t }) => {
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
    await assertPage(await unchanged(env, () => browser.open(url)), status, page);
    const act = (): Promise<Response> => post(browser, url, { csrf: [csrf], decision: "accept" });
    await assertPage(await unchanged(env, act), status, page);
  });
  await t.step("a flow that is still at the bank", async () => {
    const { browser, handover } = atBank;
    const url = path("BANKA", handover.correlation_id);
    await assertPage(await unchanged(env, () => browser.open(url)), 400, "link_unusable");
  });
  await t.step("the flow itself", async () => {
    await assertCodeAnswer(await post(flow.browser, screen, { csrf: [csrf], decision: "accept" }));
  });
});

test("authorization.consent.oauth2 takes GET and form POST alone, bounded [FAPI-G9] [FAPI-G10] [FAPI-G11] [AZ-N12]", async ({ env, t }) => {
  const { flow, screen, csrf } = await toScreen(env);
  await stepsOf(t, ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"], (method) => method, async (method) => {
    const answer = await unchanged(env, () => flow.browser.open(screen, { method }));
    assertEquals([answer.status, answer.headers.get("allow")], [405, "GET, POST"]);
    assertBrowserHeaders(answer);
    await answer.body?.cancel();
  });
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
    await assertPage(await unchanged(env, act), status, page);
  });
  await t.step("the query is no form", async () => {
    const act = (): Promise<Response> =>
      flow.browser.open(`${screen}&${form}`, { method: "POST", headers: { "content-type": urlencoded } });
    await assertPage(await unchanged(env, act), 400, "other_browser");
  });
  await t.step("a form with a charset", async () => {
    const headers = { "content-type": "Application/X-WWW-Form-Urlencoded; charset=UTF-8" };
    await assertCodeAnswer(await flow.browser.open(screen, { method: "POST", headers, body: form }));
  });
});

Deno.test("each visit of a session reads what its step needs in two round trips", async () => {
  const store = await openCountedStore();
  await using env = await openEnvironment({ store, resultsOnBackChannel: true });
  const readsOf = async (act: () => Promise<Response>): Promise<number> => {
    const { result, cost } = await store.costOf(act);
    await result.body?.cancel();
    return cost.reads;
  };
  const { flow, screen, csrf } = await toScreen(env); // keys are remembered from here on
  const waiting = await toBank(env, { body: IMPLICIT });
  const wait = (): Promise<Response> => waiting.browser.open(waitingPath(waiting));
  const [screenReads, waitReads] = [await readsOf(() => flow.browser.open(screen)), await readsOf(wait)];
  await deliver(env, waiting);
  const path = await goodReturn(env, waiting);
  const costs = {
    screen: screenReads,
    decision: await readsOf(() => post(flow.browser, screen, { csrf: [csrf], decision: "refuse" })),
    wait: waitReads,
    "return after a delivery": await readsOf(() => waiting.browser.open(path)),
  };
  assertEquals(costs, { screen: 2, decision: 2, wait: 2, "return after a delivery": 2 });
});
