import { assertEquals, assertStringIncludes } from "@std/assert";
import { anotherFlow, comeBack, deciding, goodReturn } from "support/at_bank.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { Browser, toBank } from "testing/authorization_flow.ts";
import {
  assertCodeAnswer,
  assertErrorAnswer,
  assertNothingChanges,
  assertPage,
  codesIssued,
  nextUrlOf,
} from "testing/front_channel.ts";
import { postRegistration, renewedStatement } from "testing/registration.ts";
import { openEnvironment } from "testing/environment.ts";
import { late, SESSION_MS, statusOf } from "./late.ts";

/** Where the TPP's software statement says that its own page is. */
const CLIENT_URI = "https://www.example.com/";

Deno.test("A late return while the consent screen is open leads back to the TPP as well [G1]", async () => {
  await using env = await openEnvironment();
  const { flow } = await deciding(env);
  env.now += SESSION_MS;
  await assertErrorAnswer(await comeBack(env, flow), "session_expired");
  assertEquals(await statusOf(env, flow), "AwaitingAuthorisation");
});

Deno.test("A late second return without a usable exp leads back to the TPP like any other [G1]", async () => {
  for (const exp of [undefined, "soon", 1e305, -1e305, null]) {
    await using env = await openEnvironment();
    const { flow } = await deciding(env);
    env.now += SESSION_MS;
    const answer = await flow.browser.open(await goodReturn(env, flow, { exp }));
    await assertErrorAnswer(answer, "session_expired");
    assertEquals(await statusOf(env, flow), "AwaitingAuthorisation");
  }
});

Deno.test("A JWT that expired on its way counts for nothing, and its customer is back at the TPP; the session goes on [G1] [B4]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  const stale = await goodReturn(env, flow, { status_code: "failure" });
  env.now += 331_000;
  const answer = await assertNothingChanges(env, () => flow.browser.open(stale));
  await assertErrorAnswer(answer, "server_error");
  await assertCodeAnswer(await comeBack(env, flow));
  const tooLate = await late(env, { body: IMPLICIT }, 0);
  const unused = await goodReturn(env, tooLate, { status_code: "failure" });
  env.now += SESSION_MS;
  const end = await assertNothingChanges(env, () => tooLate.browser.open(unused));
  await assertErrorAnswer(end, "session_expired");
});

Deno.test("A late return in a browser that cannot be proven is a page with a link to the TPP, never a redirect, in every language [G1]", async () => {
  await using env = await openEnvironment();
  const flow = await late(env, { body: IMPLICIT });
  const path = await goodReturn(env, flow);
  const outsider = new Browser(env);
  const page = await assertPage(
    await assertNothingChanges(env, () => outsider.open(path)),
    400,
    "other_browser",
  );
  assertEquals(nextUrlOf(page), CLIENT_URI);
  const arabic = /<a href="([^"]*)" lang="ar"/.exec(page)?.[1]?.replaceAll("&amp;", "&") ?? "";
  assertStringIncludes(arabic, "/problem?page=other_browser");
  assertEquals(arabic.includes("oAuthUrl"), false, "what led here is on the page");
  assertEquals(nextUrlOf(await (await outsider.open(arabic)).text()), CLIENT_URI);
  for (const tpp of ["https://evil.example/", "SC-unknown", env.bankB.clientId]) {
    const html =
      await (await outsider.open(`${arabic}&tpp=${encodeURIComponent(tpp)}`.replace(/tpp=SC[^&]*&/, "")))
        .text();
    assertEquals(html.includes("evil"), false, tpp);
  }
});

Deno.test("A forged return cannot end a session: a page with a link to the TPP, and nothing changes [B4] [BR14] [G1]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  for (const forged of ["/BANKA/authorization.sca.oauth2?oAuthUrl=x", "/BANKA/authorization.sca.oauth2"]) {
    const page = await assertPage(
      await assertNothingChanges(env, () => flow.browser.open(forged)),
      400,
      "not_authentic",
    );
    assertEquals(nextUrlOf(page), CLIENT_URI);
    const atOtherBank = await flow.browser.open(forged.replace("BANKA", "BANKB"));
    assertEquals(nextUrlOf(await assertPage(atOtherBank, 400, "not_authentic")), null);
  }
  await assertCodeAnswer(await comeBack(env, flow));
});

Deno.test("A redirect_uri that the TPP has not registered any more gets no late customer [G1] [A6]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env, { body: IMPLICIT });
  env.now += 1000;
  const redirect_uris = ["https://shop.example/new"];
  const statement = await renewedStatement(env, env.tpp, { redirect_uris });
  const renewed = await postRegistration(env, env.tpp, { statement, claims: { redirect_uris } });
  assertEquals(renewed.status, 201);
  env.now += SESSION_MS;
  const path = await goodReturn(env, flow);
  const page = await assertPage(
    await assertNothingChanges(env, () => flow.browser.open(path)),
    400,
    "finished",
  );
  assertEquals(nextUrlOf(page), CLIENT_URI);
});

Deno.test("A late customer cannot undo a later session: the TPP's newer request has decided the consent [G1] [CT16]", async () => {
  await using env = await openEnvironment();
  const flow = await late(env, { body: IMPLICIT });
  const again = await anotherFlow(env, flow);
  await assertCodeAnswer(await comeBack(env, again));
  await assertErrorAnswer(await comeBack(env, flow, { status_code: "failure" }), "invalid_request");
  assertEquals([await statusOf(env, flow), await codesIssued(env)], ["Authorized", 1]);
});
