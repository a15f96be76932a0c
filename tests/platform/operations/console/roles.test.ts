/** Which roles open which page of the console, and that forms need the token of their session. */
import { assertEquals } from "@std/assert";
import { OPERATION_ROLES, ROLES } from "../../../../src/platform/guards/security/operator_roles.ts";
import { ConsoleBrowser } from "testing/console_browser.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";

const ROWS = Object.entries(OPERATION_ROLES).filter(([name]) => name.includes(" /console"));
const OUT = "POST /console/sign-out";

function browserOf(env: Environment): ConsoleBrowser {
  return new ConsoleBrowser((request) => env.platform.operations.fetch(request));
}

/** A path that names no record. */
function pathOf(name: string): string {
  return (name.split(" ")[1] ?? "").replaceAll(/\{\w+\}/g, crypto.randomUUID());
}

Deno.test("each page of the console admits the declared roles and no others [OP2, OP15]", async (t) => {
  await using env = await openEnvironment();
  const browsers = await Promise.all(ROLES.map(async (role) => {
    const browser = browserOf(env);
    await browser.signIn(role);
    return [role, browser] as const;
  }));
  const opened = await browsers[0]?.[1].get("/console");
  assertEquals(opened?.status, 200);
  await stepsOf(t, ROWS.filter(([name]) => name !== OUT), ([name]) => name, async ([name, roles]) => {
    const path = pathOf(name);
    const anonymous = await browserOf(env).get(path);
    assertEquals([anonymous.status, anonymous.headers.get("location")?.split("?")[0]], [
      303,
      "/console/sign-in",
    ]);
    for (const [role, browser] of browsers) {
      const isGet = name.startsWith("GET");
      const page = isGet ? await browser.get(path) : await browser.post(path, {});
      if (isGet) assertEquals(page.status === 403, !roles.includes(role), `${role}: ${page.status}`);
      else assertEquals(page.status, 403, `${role}: without the token of the session`);
    }
  });
  const mounted = env.platform.endpoints.operations
    .filter(({ path, checks }) => path.startsWith("/console") && checks.length > 0);
  assertEquals(mounted.length, ROWS.length, "a role of no page");
});

Deno.test("a form without the token of its session changes nothing [OP14]", async (t) => {
  await using env = await openEnvironment();
  const [browser, other] = [browserOf(env), browserOf(env)];
  await browser.signIn("maria");
  await other.signIn("maria");
  const form_token = /name="form_token" value="([^"]+)"/.exec((await other.get("/console")).html)?.[1] ?? "";
  const before = await env.snapshot();
  const changes = ROWS.filter(([name]) => name.startsWith("POST"));
  await stepsOf(t, changes, ([name]) => name, async ([name]) => {
    for (const sent of [{}, { form_token }, { form_token: "" }]) {
      assertEquals((await browser.post(pathOf(name), sent)).status, 403);
    }
  });
  assertEquals((await browser.get("/console")).status, 200, "still signed in");
  assertEquals(await env.snapshot(), before);
});
