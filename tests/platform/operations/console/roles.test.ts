/** Which roles open which page of the console, and that forms need the token of their session. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { OPERATION_ROLES, ROLES } from "../../../../src/platform/guards/security/operator_roles.ts";
import { bodyOf } from "testing/answers.ts";
import { consoleOf, formTokenIn, type Page } from "testing/console_browser.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";

const ROWS = Object.entries(OPERATION_ROLES).filter(([name]) => name.includes(" /console"));
const OUT = "POST /console/sign-out";

/** A path that names no record. */
function pathOf(name: string): string {
  return (name.split(" ")[1] ?? "").replaceAll(/\{\w+\}/g, crypto.randomUUID());
}

Deno.test("each page of the console admits the declared roles and no others [OP2, OP15]", async (t) => {
  await using env = await openEnvironment();
  const browsers = await Promise.all(ROLES.map(async (role) => {
    const browser = consoleOf(env);
    await browser.signIn(role);
    return [role, browser] as const;
  }));
  const opened = await browsers[0]?.[1].get("/console");
  assertEquals(opened?.status, 200);
  await stepsOf(t, ROWS.filter(([name]) => name !== OUT), ([name]) => name, async ([name, roles]) => {
    const path = pathOf(name);
    const anonymous = await consoleOf(env).get(path);
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
  const [browser, other] = [consoleOf(env), consoleOf(env)];
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

const OUTAGES = "/console/banks/BANKA/outages";
const OUTAGE = {
  from: "2040-02-01T10:00",
  until: "2040-02-01T11:00",
  text: "Maintenance of the desk.",
  reason: "The bank's desk has announced it.",
};

async function outages(env: Environment): Promise<number> {
  const { Data } = await bodyOf<{ Data: { PlannedOutage: object[] } }>(
    env.asOperator("/operations/controls"),
  );
  return Data.PlannedOutage.length;
}

Deno.test("a form that is sent twice makes one change, and each sending has its answer [OP14]", async () => {
  await using env = await openEnvironment();
  const browser = consoleOf(env);
  await browser.signIn("maria");
  const form_token = formTokenIn((await browser.get(OUTAGES)).html);
  const send = (text: string): Promise<Page> => browser.post(OUTAGES, { ...OUTAGE, form_token, text });
  const answers = await Promise.all([send(OUTAGE.text), send(OUTAGE.text)]);
  const again = await send(OUTAGE.text);
  for (const { status, headers } of [...answers, again]) {
    assertEquals([status, headers.get("location")], [303, "/console/banks?done=action.outage"]);
  }
  assertEquals(await outages(env), 1);
  assertEquals((await send("x")).status, 400);
  assertEquals((await send("Another text.")).status, 303, "another form");
  assertEquals(await outages(env), 2);
});

Deno.test("a form that a browser has kept makes its change again when that was undone [OP14]", async () => {
  await using env = await openEnvironment();
  const browser = consoleOf(env);
  await browser.signIn("maria");
  const page = "/console/banks/BANKA/hold";
  const form_token = formTokenIn((await browser.get(page)).html);
  const hold = (): Promise<Page> => browser.post(page, { form_token, reason: OUTAGE.reason });
  const held = async (): Promise<number> =>
    (await bodyOf<{ Data: { BankHold: object[] } }>(env.asOperator("/operations/controls"))).Data.BankHold
      .length;
  assertEquals([(await hold()).status, await held()], [303, 1]);
  env.now += 10_000;
  assertEquals((await hold()).status, 409, "it is held already");
  await browser.submit("/console/banks/BANKA/release", { reason: OUTAGE.reason });
  assertEquals([(await hold()).status, await held()], [303, 1]);
});

Deno.test("a form that is sent after the end of its session keeps what was typed, and changes nothing [OP14]", async () => {
  await using env = await openEnvironment();
  const browser = consoleOf(env);
  await browser.signIn("maria");
  const form_token = formTokenIn((await browser.get(OUTAGES)).html);
  browser.cookies.delete("console-session");
  const foreign = await browser.post(OUTAGES, { ...OUTAGE, form_token });
  assertEquals([foreign.status, foreign.headers.get("location")?.split("?")[0]], [303, "/console/sign-in"]);
  browser.isFromPage = true;
  const late = await browser.post(OUTAGES, { ...OUTAGE, form_token });
  assertEquals(late.status, 403);
  for (const typed of Object.values(OUTAGE)) assertStringIncludes(late.html, typed.replace("'", "&#39;"));
  await browser.signIn("maria");
  const shown = await browser.post(OUTAGES, { ...OUTAGE, form_token });
  assertEquals([shown.status, await outages(env)], [403, 0]);
  assertStringIncludes(shown.html, "You have signed in since this form was opened.");
  assertStringIncludes(shown.html, OUTAGE.text);
  const sent = await browser.post(OUTAGES, { ...OUTAGE, form_token: formTokenIn(shown.html) });
  assertEquals([sent.status, await outages(env)], [303, 1]);
});
