/** Error pages of the browser host in the reader's language, and the responses that programs receive instead. */
import { assertEquals } from "@std/assert";
import { rejectionOf } from "testing/answers.ts";
import { assertBrowserHeaders, assertPage } from "testing/front_channel.ts";
import { openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { HTML, open } from "./open_page.ts";

Deno.test("An unknown path of the browser host is a page for who reads pages, JSON for who does not [FAPI-G16]", async (t) => {
  await using env = await openEnvironment();
  const paths = [
    "/nowhere",
    "/BANKA",
    "/BANKA/nothing",
    "/docs/nothing",
    "/problem/finished",
    "/v1x",
    "/a//b",
  ];
  const readers: Record<string, [accept: string | undefined, isPage: boolean]> = {
    "a browser": [HTML, true],
    "HTML alone": ["text/html", true],
    "in capitals": ["Text/HTML; charset=utf-8", true],
    "HTML rather than JSON": ["application/json;q=0.8, text/html", true],
    "JSON rather than HTML": ["application/json, text/html;q=0.9", false],
    "HTML rejected": ["text/html;q=0, */*", false],
    "anything, as programs say": ["*/*", false],
    "nothing said": [undefined, false],
    "a picture": ["image/svg+xml,image/*;q=0.8", false],
    "no quality": ["text/html;q=x", false],
  };
  await steps(t, readers, async ([accept, isPage]) => {
    for (const path of paths) {
      const answer = await open(env, path, accept === undefined ? {} : { headers: { accept } });
      if (isPage) await assertPage(answer, 404, "not_found");
      else await assertLostProgram(answer, 404, "not_found");
    }
  });
});

Deno.test("On paths of the API an unknown resource is a JSON answer, whatever the caller accepts [MD-N3] [FAPI-G16]", async () => {
  await using env = await openEnvironment();
  const paths = [
    "/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server/NOBANK",
    "/jwks/x",
    "/health/x",
    "/health",
    "/openapi.json/x",
    "/assets/x.css",
    "/operations/payment-orders/dead",
    "/register/v1",
    "/BANKA/token.oauth2/v1",
    "/BANKA/par.oauth2/v2",
    "/BANKA/domestic-payments/v1/4711",
  ];
  for (const path of paths) {
    await assertLostProgram(await open(env, path, { headers: { accept: HTML } }), 404, "not_found");
  }
});

Deno.test("A method that is not allowed is a page or JSON in the same way, with Allow [AZ-N12]", async (t) => {
  await using env = await openEnvironment();
  const person = { accept: HTML };
  for (const path of ["/docs", "/docs/errors", "/BANKA/authorization.oauth2", "/problem"]) {
    const allowed = path.startsWith("/BANKA") ? "GET" : "GET, HEAD"; // contract MD13
    await t.step(path, async () => {
      const page = await open(env, path, { method: "POST", headers: person });
      assertEquals(page.headers.get("allow"), allowed);
      await assertPage(page, 405, "wrong_method");
      const json = await open(env, path, { method: "PUT" });
      assertEquals(json.headers.get("allow"), allowed);
      await assertLostProgram(json, 405, "invalid_request");
    });
  }
  for (
    const path of ["/jwks", "/health/ready", "/openapi.json", "/.well-known/oauth-authorization-server/BANKA"]
  ) {
    await t.step(path, async () => {
      const json = await open(env, path, { method: "POST", headers: person });
      await assertLostProgram(json, 405, "invalid_request");
    });
  }
  await t.step("the consent screen takes two", async () => {
    const page = await open(env, "/BANKA/authorization.consent.oauth2", {
      method: "DELETE",
      headers: person,
    });
    assertEquals(page.headers.get("allow"), "GET, POST");
    await assertPage(page, 405, "wrong_method");
  });
});

async function assertLostProgram(answer: Response, status: number, error: string): Promise<void> {
  const body = await rejectionOf(answer);
  assertEquals([answer.status, answer.headers.get("content-type")], [status, "application/json"]);
  assertEquals([Object.keys(body), body.error], [["error", "error_description"], error]);
  assertBrowserHeaders(answer);
}
