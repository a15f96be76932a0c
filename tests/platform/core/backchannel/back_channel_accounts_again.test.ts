import { assertEquals } from "@std/assert";
import type { PayerAccounts } from "testing/answers.ts";
import { ACCOUNTS, consentPath, idleReport, putReport, reportFor } from "testing/back_channel.ts";
import { call, clientToken, consentBody, createConsent, good } from "testing/flows.ts";
import {
  type AtBank,
  authorise,
  decide,
  putAccounts,
  returnPath,
  toBank,
} from "testing/authorization_flow.ts";
import { bodyAt } from "../../../../src/platform/evidence/evidence_store.ts";
import { openGatedStore } from "support/gated_store.ts";
import { assertFaults } from "testing/resource_answers.ts";
import { type Environment, openEnvironment, START } from "testing/environment.ts";
import { debtorOf } from "./debtor.ts";

Deno.test("PUT back-channel-auth twice: the last report is what the customer chooses from [BCH-04]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  const [first, second] = ACCOUNTS;
  await good(putReport(env, flow, reportFor(flow, { DebtorAccount: [first] })), 200);
  await good(putReport(env, flow, reportFor(flow, { DebtorAccount: [second] })), 200);
  const screen = await flow.browser.open(await returnPath(env, env.bankA, flow.handover));
  const location = screen.headers.get("location") ?? "";
  const html = await (await flow.browser.open(location)).text();
  const words = html.replace(/<[^>]*>/g, "");
  assertEquals([words.includes("9268 19"), words.includes("5555 55")], [true, false], words);
  const redirect = await decide(flow.browser, location, "accept", "0");
  assertEquals((await debtorOf(env, flow, redirect)).Identification, second?.Identification);
});

Deno.test("PUT back-channel-auth while the customer decides changes nothing of the choice [C11]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  const [first, second] = ACCOUNTS;
  await good(putReport(env, flow, reportFor(flow, { DebtorAccount: [first, second] })), 200);
  const screen = await flow.browser.open(await returnPath(env, env.bankA, flow.handover));
  const other = reportFor(flow, { Sub: "customer-2", DebtorAccount: [second, first] });
  await (await putReport(env, flow, other)).body?.cancel();
  const redirect = await decide(flow.browser, screen.headers.get("location") ?? "", "accept", "0");
  assertEquals((await debtorOf(env, flow, redirect)).Identification, first?.Identification);
});

Deno.test("PUT back-channel-auth is rejected unless a customer is at the bank [BCH-04] [RP-N25] [C11]", async (t) => {
  const reject = async (env: Environment, flow: AtBank): Promise<void> => {
    const response = await idleReport(env, flow, reportFor(flow));
    await assertFaults(response, 400, [["Resource.InvalidConsentStatus", "Data.ConsentId"]]);
  };
  await t.step("the link has not been opened yet", async () => {
    await using env = await openEnvironment();
    const { ConsentId } = (await createConsent(env, await clientToken(env, env.tpp))).Data;
    const flow = await toBank(env);
    await reject(env, { ...flow, consentId: ConsentId });
  });
  await t.step("the flow is over after 900 s", async () => {
    await using env = await openEnvironment();
    const flow = await toBank(env);
    env.now = START + 899_999;
    await good(putReport(env, flow, reportFor(flow)), 200);
    env.now = START + 900_000;
    await reject(env, flow);
  });
  await t.step("Authorized", async () => {
    await using env = await openEnvironment();
    const flow = await toBank(env);
    assertEquals((await authorise(env, flow)).status, 303);
    await reject(env, flow);
  });
  await t.step("Consumed", async () => {
    await using env = await openEnvironment();
    const flow = await toBank(env);
    await debtorOf(env, flow, await authorise(env, flow));
    await reject(env, flow);
  });
  await t.step("Rejected by the bank", async () => {
    await using env = await openEnvironment();
    const flow = await toBank(env);
    await flow.browser.open(
      await returnPath(env, env.bankA, flow.handover, { claims: { status_code: "failure" } }),
    );
    await reject(env, flow);
  });
  await t.step("Rejected by its deadline, though the flow is open", async () => {
    await using env = await openEnvironment();
    const Authorisation = { AuthorisationType: "Any", CompletionDateTime: "2040-01-15T12:05:00+00:00" };
    const flow = await toBank(env, { body: consentBody({ data: { Authorisation } }) });
    env.now = START + 300_000;
    await reject(env, flow);
  });
});

Deno.test("PUT back-channel-auth: of parallel reports both are taken, one is the last [BCH-04]", async () => {
  const store = await openGatedStore();
  await using env = await openEnvironment({ store });
  const flow = await toBank(env);
  const bound = await clientToken(env, env.bankA);
  const lists = ACCOUNTS.map((account) => [account]);
  store.gather(2);
  const answers = await Promise.all(
    lists.map((DebtorAccount) =>
      call(env, env.bankA, bound, consentPath(flow.consentId), {
        method: "PUT",
        body: JSON.stringify(reportFor(flow, { DebtorAccount })),
      })
    ),
  );
  assertEquals(answers.map(({ status }) => status), [200, 200]);
  const redirect = await flow.browser.open(await returnPath(env, env.bankA, flow.handover));
  const chosen = await decide(flow.browser, redirect.headers.get("location") ?? "", "accept", "0");
  const { Identification } = await debtorOf(env, flow, chosen);
  assertEquals(ACCOUNTS.some((account) => account.Identification === Identification), true);
});

Deno.test("PUT back-channel-auth keeps the signed bytes and the signature as evidence [RP11] [C11]", async () => {
  await using env = await openEnvironment();
  const flow = await toBank(env);
  assertEquals((await putAccounts(env, env.bankA, flow.consentId)).status, 200);
  const evidence = await bodyAt(env.store, `${flow.consentId} payer accounts 1`);
  const body = JSON.parse(new TextDecoder().decode(evidence?.bytes)) as PayerAccounts;
  assertEquals([body.Data.ConsentId, evidence?.signature?.split(".").length], [flow.consentId, 3]);
});
