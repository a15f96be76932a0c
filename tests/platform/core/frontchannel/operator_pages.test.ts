/** The operator on customers' pages: name, logo, support contact and time zone, from configuration. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { sealedReturn, signedReturn } from "testing/bank_return.ts";
import { toBank } from "testing/authorization_flow.ts";
import { assertPage, reportAccounts } from "testing/front_channel.ts";
import { AUTH_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { test } from "support/environment_test.ts";

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><script>alert(1)</script></svg>`;
const OPERATOR = {
  PLATFORM_OPERATOR_NAME: "Andes <Pay> & Co",
  PLATFORM_OPERATOR_LOGO: `data:image/svg+xml;base64,${btoa(SVG)}`,
  PLATFORM_OPERATOR_SUPPORT: "help@andes-pay.example",
  PLATFORM_OPERATOR_TIME_ZONE: "America/Bogota",
};

async function consentPage(env: Environment, query = ""): Promise<string> {
  const flow = await toBank(env);
  await reportAccounts(env, flow);
  const path = await sealedReturn(env, "BANKA", await signedReturn(env, flow));
  const screen = (await flow.browser.open(path)).headers.get("location") ?? "";
  return await (await flow.browser.open(`${screen}${query}`)).text();
}

Deno.test("consent and error pages show the operator's name, logo and support contact", async () => {
  await using env = await openEnvironment({ environment: OPERATOR });
  const lost = await env.browser(new Request(`${AUTH_URL}/BANKA/authorization.oauth2`));
  for (const html of [await consentPage(env), await assertPage(lost, 400, "link_unusable")]) {
    assertStringIncludes(html, "Andes &lt;Pay&gt; &amp; Co");
    assertStringIncludes(html, '<img class="logo" src="/assets/operator-logo" alt=""');
    assertStringIncludes(html, '<a href="mailto:help@andes-pay.example">help@andes-pay.example</a>');
    assertEquals(html.includes("Payment approval"), false);
  }
});

Deno.test("the logo comes from the browser host itself and runs nothing", async () => {
  await using env = await openEnvironment({ environment: OPERATOR });
  const answer = await env.browser(new Request(`${AUTH_URL}/assets/operator-logo`));
  assertEquals([answer.status, answer.headers.get("content-type")], [200, "image/svg+xml"]);
  assertEquals(await answer.text(), SVG);
  const headers = Object.fromEntries(answer.headers);
  assertStringIncludes(headers["content-security-policy"] ?? "", "default-src 'none'");
  assertEquals(headers["x-content-type-options"], "nosniff");
});

test("without an operator's logo there is nothing at its address, and pages name the product", async ({ env }) => {
  const answer = await env.browser(new Request(`${AUTH_URL}/assets/operator-logo`));
  assertEquals(answer.status, 404);
  await answer.body?.cancel();
  const html = await consentPage(env);
  assertStringIncludes(html, "Payment approval");
  assertEquals(html.includes("<img") || html.includes("Need help?"), false);
});

Deno.test("times are in the operator's zone, and the zone is named", async () => {
  await using env = await openEnvironment({ environment: OPERATOR });
  assertStringIncludes(await consentPage(env), "<bdi>07:15 Colombia Standard Time</bdi>"); // 12:00 UTC and 15 minutes
  assertStringIncludes(await consentPage(env, "&lang=fr"), "<bdi>07:15 heure normale de Colombie</bdi>");
});

test("without a zone times are in UTC, and say so", async ({ env }) => {
  assertStringIncludes(await consentPage(env), "<bdi>12:15 UTC</bdi>");
});
