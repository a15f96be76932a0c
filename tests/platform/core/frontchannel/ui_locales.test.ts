/** `ui_locales` of the pushed request (OpenID Connect Core 1.0 §3.1.2.1): carried to the bank and to the consent screen. */
import { assertEquals } from "@std/assert";
import type { ServerMetadata } from "testing/answers.ts";
import { sealedReturn, signedReturn } from "testing/bank_return.ts";
import { good } from "testing/flows.ts";
import { type AtBank, Browser, returnPath, toBank } from "testing/authorization_flow.ts";
import { reportAccounts } from "testing/front_channel.ts";
import { adminCall } from "testing/participants.ts";
import { link } from "./rejected_links.ts";
import { AUTH_URL, type Environment } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";

/** The languages of the consent screen and of its form's target, for a browser that prefers Spanish. */
async function screenLanguages(
  env: Environment,
  flow: AtBank,
  chosen = "",
): Promise<readonly (string | undefined)[]> {
  await reportAccounts(env, flow);
  const back = await flow.browser.open(await sealedReturn(env, "BANKA", await signedReturn(env, flow)));
  const screen = `${back.headers.get("location")}${chosen}`;
  const html = await (await flow.browser.open(screen, { headers: { "accept-language": "es" } })).text();
  return [/<html lang="([a-z]+)"/.exec(html)?.[1], /action="[^"]*lang=([a-z]+)"/.exec(html)?.[1]];
}

test("ui_locales reaches the bank in the handover JWT, as the TPP sent it [HO9]", async ({ env }) => {
  const { handover } = await toBank(env, { form: { ui_locales: "de-CH fr-CA en" } });
  assertEquals(handover.ui_locales, "de-CH fr-CA en");
});

test("ui_locales is the consent screen's language, before Accept-Language", async ({ env }) => {
  const flow = await toBank(env, { form: { ui_locales: "de-CH fr-CA en" } });
  assertEquals(await screenLanguages(env, flow), ["fr", "fr"]);
});

test("ui_locales is the language of an error page for the customer's own browser, and not for another one", async ({ env }) => {
  const first = await toBank(env, { form: { ui_locales: "fr" } });
  const returned = await returnPath(env, first.bank, first.handover);
  const languageAt = async (browser: Browser): Promise<string | undefined> => {
    const answer = await browser.open(returned, { headers: { "accept-language": "es" } });
    return /<html lang="([a-z]+)"/.exec(await answer.text())?.[1];
  };
  assertEquals(await languageAt(new Browser(env)), "es");
  await adminCall(env, "PUT", `/participants/${env.tpp.orgId}/software/status`, {
    status: "Inactive",
    reason: "a test",
  });
  env.now += 301_000;
  const { browser } = first;
  const page = await browser.open(link(env, first.requestUri), { headers: { "accept-language": "es" } });
  assertEquals([page.status, (await page.text()).includes('<html lang="fr"')], [400, true]);
});

test("a language that the customer chooses on the page wins over ui_locales", async ({ env }) => {
  const flow = await toBank(env, { form: { ui_locales: "fr" } });
  assertEquals(await screenLanguages(env, flow, "&lang=ar"), ["ar", "ar"]);
});

test("ui_locales of languages that the platform does not have leaves the choice to Accept-Language", async ({ env }) => {
  assertEquals(await screenLanguages(env, await toBank(env, { form: { ui_locales: "de ja" } })), [
    "es",
    "es",
  ]);
  assertEquals(await screenLanguages(env, await toBank(env)), ["es", "es"]);
});

test("PAR ignores what is wrong with ui_locales, and carries a bounded part of it", async ({ env, t }) => {
  const cases: readonly (readonly [string, string, string | undefined])[] = [
    ["empty", "", undefined],
    ["blank", "   ", undefined],
    ["not a language tag", "<script>", undefined],
    ["a tag among others", '"><b> fr_FR ar en', "ar en"],
    ["control characters", "\u0000 fr\n\tes", undefined],
    ["a tag longer than tags are", `${"a".repeat(40)} fr`, "fr"],
    ["a hundred tags", "es ".repeat(100), Array(8).fill("es").join(" ")],
    ["a long text", `fr ${"x".repeat(20_000)}`, "fr"],
  ];
  await stepsOf(t, cases, ([name]) => name, async ([, sent, carried]) => {
    const { handover } = await toBank(env, { form: { ui_locales: sent } });
    assertEquals(handover.ui_locales, carried);
  });
});

test("metadata names the languages of the platform's pages [MD3]", async ({ env }) => {
  const url = `${AUTH_URL}/.well-known/oauth-authorization-server/BANKA`;
  const { ui_locales_supported } = await good<ServerMetadata>(env.browser(new Request(url)), 200);
  assertEquals(ui_locales_supported, ["en", "es", "fr", "ar"]);
});
