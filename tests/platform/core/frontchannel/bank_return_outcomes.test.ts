import { assertEquals } from "@std/assert";
import { IMPLICIT } from "testing/bank_return.ts";
import { consentBody } from "testing/flows.ts";
import { authorize, toBank } from "testing/authorization_flow.ts";
import {
  assertCodeAnswer,
  assertErrorAnswer,
  assertPage,
  codesIssued,
  consentStatus,
  reportAccounts,
  tppAnswer,
} from "testing/front_channel.ts";
import { AUTH_URL, openEnvironment } from "testing/environment.ts";
import { steps, stepsOf } from "support/steps.ts";
import { comeBack } from "./come_back.ts";

Deno.test("GET authorization.sca.oauth2 takes exactly success and 200 for success [BR11] [B3] [CT5] [BR16]", async (t) => {
  await using env = await openEnvironment();
  await stepsOf(t, ["success", "200"], (status_code) => status_code, async (status_code) => {
    const flow = await toBank(env, { body: IMPLICIT });
    await assertCodeAnswer(await comeBack(env, flow, { status_code }));
    assertEquals(await consentStatus(env, flow), "Authorized");
  });
});

Deno.test("GET authorization.sca.oauth2 redirects with server_error for an unknown status_code, and rejects the consent [BR-N13] [BR11] [B3] [AUT-11]", async (t) => {
  await using env = await openEnvironment();
  const codes = [
    "SUCCESS ",
    "Success",
    " success",
    "true",
    "201",
    "INSUFFICIENT_FUNDS",
    "insufficient_funds ",
    "0",
    200,
    true,
    null,
    ["success"],
    "",
    undefined,
  ];
  await stepsOf(t, codes, (status_code) => JSON.stringify(status_code) ?? "missing", async (status_code) => {
    const flow = await toBank(env, { body: IMPLICIT });
    await assertErrorAnswer(await comeBack(env, flow, { status_code }), "server_error");
    assertEquals(await consentStatus(env, flow), "Rejected");
  });
  assertEquals(await codesIssued(env), 0);
});

Deno.test("GET authorization.sca.oauth2 redirects a failure with access_denied, state and iss, and rejects the consent [BR-N14] [B4] [B5] [CT8] [CT11] [CT9] [AUT-11]", async (t) => {
  await using env = await openEnvironment();
  const flows = {
    "implicit": { body: IMPLICIT },
    "explicit, nothing reported": { body: consentBody() },
    "bank's own screen": { bank: env.bankB },
  };
  await steps(t, flows, async (options) => {
    const flow = await toBank(env, options);
    const answer = await comeBack(env, flow, { status_code: "failure", status: "refused", sub: undefined });
    await assertErrorAnswer(answer, "access_denied", flow.bank.orgId);
    assertEquals(await consentStatus(env, flow), "Rejected");
    await assertPage(
      await authorize(flow.browser, env.tpp, flow.requestUri, flow.bank.orgId),
      400,
      "link_unusable",
    );
  });
  await t.step("explicit, accounts reported", async () => {
    const flow = await toBank(env);
    await reportAccounts(env, flow);
    await assertErrorAnswer(await comeBack(env, flow, { status_code: "failure" }), "access_denied");
    assertEquals(await consentStatus(env, flow), "Rejected");
  });
  assertEquals(await codesIssued(env), 0);
});

Deno.test("GET authorization.sca.oauth2 redirects too little money with access_denied and says so, and rejects the consent [G7] [B5]", async (t) => {
  await using env = await openEnvironment();
  const flows = {
    "implicit": { body: IMPLICIT },
    "explicit, nothing reported": { body: consentBody() },
    "bank's own screen": { bank: env.bankB },
  };
  await steps(t, flows, async (options) => {
    const flow = await toBank(env, options);
    const answer = await comeBack(env, flow, {
      status_code: "insufficient_funds",
      status: "<b>the customer's own words</b>",
    });
    assertEquals((await tppAnswer(answer)).parameters, {
      error: "access_denied",
      error_description: "The bank reported insufficient funds.",
      state: "af0ifjsldkj",
      iss: `${AUTH_URL}/${flow.bank.orgId}`,
    });
    assertEquals(await consentStatus(env, flow), "Rejected");
  });
  await t.step("accounts reported: no consent screen is shown any more", async () => {
    const flow = await toBank(env);
    await reportAccounts(env, flow);
    const answer = await comeBack(env, flow, { status_code: "insufficient_funds" });
    assertEquals((await tppAnswer(answer)).parameters["error"], "access_denied");
    assertEquals(await consentStatus(env, flow), "Rejected");
  });
  assertEquals(await codesIssued(env), 0);
});
