/** A bank or a TPP that becomes inactive while its customer is on the way: no code, the TPP gets the matching error. */
import { assertEquals, assertMatch } from "@std/assert";
import { waitingPath } from "support/delivered_result.ts";
import { setOrganisation, setSoftware } from "support/directory_network.ts";
import { good } from "testing/flows.ts";
import { type AtBank, Browser, decide, putAccounts, returnPath, toBank } from "testing/authorization_flow.ts";
import { assertErrorAnswer, assertPage } from "testing/front_channel.ts";
import { BOUND_MS } from "support/standing.ts";
import { test } from "support/environment_test.ts";
import { AUTH_URL, type Environment } from "testing/environment.ts";
import { unchanged } from "testing/store_contents.ts";

interface Fall {
  readonly party: "bankA" | "tpp";
  readonly status: "Suspended" | "Withdrawn";
  readonly error: "temporarily_unavailable" | "access_denied";
  readonly words: string;
}

const FALLS: readonly Fall[] = [
  {
    party: "bankA",
    status: "Suspended",
    error: "temporarily_unavailable",
    words: "The bank is not active: the directory has suspended it.",
  },
  {
    party: "bankA",
    status: "Withdrawn",
    error: "access_denied",
    words: "The bank is not active: the directory has withdrawn it.",
  },
  {
    party: "tpp",
    status: "Suspended",
    error: "temporarily_unavailable",
    words: "The TPP is not active: the directory has suspended it.",
  },
  {
    party: "tpp",
    status: "Withdrawn",
    error: "access_denied",
    words: "The TPP is not active: the directory has withdrawn it.",
  },
];

async function fall(env: Environment, { party, status }: Fall): Promise<void> {
  await setOrganisation(env, env[party], status);
  env.now += BOUND_MS;
}

/** A customer who has signed in at the bank, with accounts reported. */
async function signedIn(env: Environment): Promise<AtBank & { path: string }> {
  const flow = await toBank(env);
  await good(putAccounts(env, env.bankA, flow.consentId), 200);
  return { ...flow, path: await returnPath(env, env.bankA, flow.handover) };
}

for (const downfall of FALLS) {
  const who = downfall.party === "tpp" ? "TPP" : "bank";
  test(`the return of the bank leads to no code if the ${who} is ${downfall.status} meanwhile [G5]`, async ({ env, t }) => {
    const { browser, path } = await signedIn(env);
    await fall(env, downfall);
    await t.step("the TPP gets the error, and the consent is as it was", async () => {
      const answer = await unchanged(env, () => browser.open(path));
      await assertErrorAnswer(answer, downfall.error, "BANKA", downfall.words);
    });
    await t.step("another browser with the same link gets a page and learns nothing", async () => {
      const answer = await unchanged(env, () => new Browser(env).open(path));
      await assertPage(answer, 400, downfall.party === "tpp" ? "other_browser" : "not_authentic");
    });
  });

  test(`the consent screen leads to no code if the ${who} is ${downfall.status} meanwhile [G5]`, async ({ env, t }) => {
    const { browser, path } = await signedIn(env);
    const waiting = await toBank(env);
    const screen = (await browser.open(path)).headers.get("location") ?? "";
    const html = await (await browser.open(screen)).text();
    await fall(env, downfall);
    await t.step("opened again, it leads to the TPP", async () => {
      const answer = await unchanged(env, () => browser.open(screen));
      await assertErrorAnswer(answer, downfall.error, "BANKA", downfall.words);
    });
    await t.step("the page that waits for the bank leads to the TPP", async () => {
      const answer = await unchanged(env, () => waiting.browser.open(waitingPath(waiting)));
      await assertErrorAnswer(answer, downfall.error, "BANKA", downfall.words);
    });
    const csrf = /name="csrf"[^>]*value="([^"]*)"/.exec(html)?.[1] ?? "";
    const post = (decision: string): Promise<Response> =>
      browser.open(screen, { method: "POST", body: new URLSearchParams({ csrf, decision, account: "0" }) });
    await t.step("accepted all the same, it leads to the TPP and decides nothing", async () => {
      const answer = await unchanged(env, () => post("accept"));
      await assertErrorAnswer(answer, downfall.error, "BANKA", downfall.words);
    });
    await t.step("a rejection is still the customer's to give", async () => {
      await assertErrorAnswer(await post("refuse"), "access_denied");
    });
  });
}

test("a suspended bank that is Active again may still take its customer back [G5]", async ({ env }) => {
  const { browser, path } = await signedIn(env);
  await setOrganisation(env, env.bankA, "Suspended");
  env.now += BOUND_MS;
  assertMatch((await browser.open(path)).headers.get("location") ?? "", /error=temporarily_unavailable/);
  await setOrganisation(env, env.bankA, "Active");
  await setSoftware(env, env.bankA, "Active");
  env.now += BOUND_MS;
  const screen = (await browser.open(path)).headers.get("location") ?? "";
  assertMatch((await decide(browser, screen, "accept")).headers.get("location") ?? "", /[?&]code=/);
});

test("an error page that anybody can open links to an active TPP alone [G5]", async ({ env }) => {
  const request = crypto.randomUUID();
  const url = `${AUTH_URL}/problem?page=other_browser&request=${request}&tpp=${env.tpp.clientId}`;
  const linked = async (): Promise<boolean> =>
    (await (await env.browser(new Request(url))).text()).includes('href="https://www.example.com/"');
  assertEquals(await linked(), true);
  await setOrganisation(env, env.tpp, "Withdrawn");
  env.now += BOUND_MS;
  assertEquals(await linked(), false);
});
