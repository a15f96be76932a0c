import { assertEquals } from "@std/assert";
import { comeBack, goodReturn } from "support/at_bank.ts";
import { type Consent, rejectionOf } from "testing/answers.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import {
  call,
  clientToken,
  consentBody,
  DEBTOR_ACCOUNT,
  good,
  push,
  type SentConsent,
} from "testing/flows.ts";
import { type AtBank, authorize, Browser, openHandover, toBank } from "testing/authorization_flow.ts";
import {
  assertCodeAnswer,
  assertErrorAnswer,
  assertPage,
  codesIssued,
  consentStatus,
  nextUrlOf,
  reportAccounts,
} from "testing/front_channel.ts";
import { type Environment, START } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { post, type Screen, toScreen } from "./deciding_customer.ts";

test("A consent's deadline passes while the customer is at the bank: access_denied, Rejected at the deadline [CT12] [CT1] [STA-01]", async ({ env, t }) => {
  await t.step("implicit", async () => {
    const flow = await toBank(env, { body: untilIn(env, 300, { DebtorAccount: DEBTOR_ACCOUNT }) });
    const deadline = env.now + 300_000;
    env.now = deadline;
    await assertErrorAnswer(await comeBack(env, flow), "access_denied");
    await assertRejectedAt(env, flow, deadline);
    await assertLinkIsOver(env, flow);
  });
  await t.step("explicit", async () => {
    const flow = await toBank(env, { body: untilIn(env, 300) });
    await reportAccounts(env, flow);
    env.now += 300_000;
    await assertErrorAnswer(await comeBack(env, flow), "access_denied");
  });
  await t.step("a millisecond before it, all is well", async () => {
    const flow = await toBank(env, { body: untilIn(env, 300, { DebtorAccount: DEBTOR_ACCOUNT }) });
    env.now += 299_999;
    await assertCodeAnswer(await comeBack(env, flow));
  });
  assertEquals(await codesIssued(env), 1);
});

test("A consent's deadline passes while the customer decides: access_denied, whatever is posted or opened [CT12] [CT1] [B5]", async ({ env, t }) => {
  const acts: Record<string, (flow: AtBank, open: Screen) => Promise<Response>> = {
    "accept": (flow, open) => post(flow, open, "accept"),
    "refuse": (flow, open) => post(flow, open, "refuse"),
    "the screen opened again": (flow, open) => flow.browser.open(open.screen),
  };
  await steps(t, acts, async (act) => {
    const flow = await toBank(env, { body: untilIn(env, 300) });
    const open = await toScreen(env, flow);
    const deadline = env.now + 300_000;
    env.now = deadline;
    await assertErrorAnswer(await act(flow, open), "access_denied");
    await assertRejectedAt(env, flow, deadline);
    await assertPage(await flow.browser.open(open.screen), 400, "finished");
    await assertLinkIsOver(env, flow);
  });
  assertEquals(await codesIssued(env), 0);
});

test("A consent that another flow decided meanwhile: its screen leads back with invalid_request [CT16] [AZ-N18]", async ({ env }) => {
  const flow = await toBank(env);
  const open = await toScreen(env, flow);
  const form = { code_challenge: "E".repeat(42) + "A" };
  const { request_uri } = await good(push(env, flow.consentId, { form }), 201);
  const browser = new Browser(env);
  const second = await toBankAgain(env, flow, browser, request_uri);
  await assertErrorAnswer(await comeBack(env, second, { status_code: "failure" }), "access_denied");
  await assertErrorAnswer(await flow.browser.open(open.screen), "invalid_request");
});

test("A consent is authorised within 24 h of its creation [CT1] [CT12]", async ({ env }) => {
  const { consentId } = await toBank(env, { body: IMPLICIT });
  env.now = START + 86_399_000;
  const again = await clientToken(env, env.tpp);
  const form = { code_challenge: "F".repeat(42) + "A" };
  const { request_uri } = await good(push(env, consentId, { form }), 201);
  const browser = new Browser(env);
  const flow = await toBankAgain(env, { consentId, bound: again, bank: env.bankA }, browser, request_uri);
  env.now = START + 86_400_000;
  await assertErrorAnswer(await authorize(new Browser(env), env.tpp, request_uri), "invalid_request");
  await assertErrorAnswer(await comeBack(env, flow), "access_denied");
  await assertRejectedAt(env, flow, START + 86_400_000);
});

test("An authorised consent is Rejected 3600 s later, and no flow can bring it back [CT15] [CT16]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  await assertCodeAnswer(await comeBack(env, flow));
  env.now = START + 3_600_000;
  const bound = await clientToken(env, env.tpp);
  await assertRejectedAt(env, { ...flow, bound }, START + 3_600_000);
  const form = { code_challenge: "G".repeat(42) + "A" };
  const answer = await push(env, flow.consentId, { form });
  assertEquals([answer.status, (await rejectionOf(answer)).error], [400, "invalid_request"]);
});

test("A deadline that passes during the bank's return rejects wholly or not at all [CT12]", async ({ env, t }) => {
  const seen = new Set<string>();
  for (let early = 119; early >= 0; early -= 3) {
    await t.step(`${early} looks at the clock before it`, async () => {
      const flow = await toBank(env, { body: untilIn(env, 300, { DebtorAccount: DEBTOR_ACCOUNT }) });
      const path = await goodReturn(env, flow);
      letEveryLookTakeAMillisecond(env, env.now + 300_000 - early);
      const answer = await flow.browser.open(path);
      stopTheClock(env);
      const accepted = /[?&]code=/.test(answer.headers.get("location") ?? "");
      if (accepted) await assertCodeAnswer(answer);
      else await assertErrorAnswer(answer, "access_denied");
      const status = await consentStatus(env, flow);
      assertEquals(status, accepted ? "Authorized" : "Rejected");
      seen.add(status);
    });
  }
  assertEquals(seen.size, 2); // the deadline did fall into the request
});

function letEveryLookTakeAMillisecond(env: Environment, from: number): void {
  let now = from;
  Object.defineProperty(env, "now", { configurable: true, get: () => now++ });
}

function stopTheClock(env: Environment): void {
  Object.defineProperty(env, "now", { enumerable: true, writable: true, value: env.now });
}

async function assertRejectedAt(
  env: Environment,
  { consentId, bound }: Pick<AtBank, "consentId" | "bound">,
  deadline: number,
): Promise<void> {
  const path = `/BANKA/domestic-payment-consents/v1/${consentId}`;
  const { Data } = await good<Consent>(call(env, env.tpp, bound, path), 200);
  assertEquals([Data.Status, Date.parse(Data.StatusUpdateDateTime)], ["Rejected", deadline]);
}

async function assertLinkIsOver(env: Environment, flow: AtBank): Promise<void> {
  const page = await assertPage(
    await authorize(flow.browser, env.tpp, flow.requestUri),
    400,
    "link_unusable",
  );
  assertEquals(nextUrlOf(page), "https://www.example.com/"); // the TPP that the link names, never with an answer
}

async function toBankAgain(
  env: Environment,
  consent: Pick<AtBank, "consentId" | "bound" | "bank">,
  browser: Browser,
  requestUri: string,
): Promise<AtBank> {
  const { claims } = await openHandover(consent.bank, await authorize(browser, env.tpp, requestUri));
  return { ...consent, browser, requestUri, handover: claims };
}

/** A consent that must be authorised within so many seconds. */
function untilIn(
  env: Environment,
  seconds: number,
  initiation: Readonly<Record<string, unknown>> = {},
): SentConsent {
  const CompletionDateTime = new Date(env.now + seconds * 1000).toISOString();
  return consentBody({
    initiation,
    data: { Authorisation: { AuthorisationType: "Any", CompletionDateTime } },
  });
}

test("A session lives 900 s from its first page: the bank's return [AZ11] [BR9] [BR-N11] [LT8] [G1]", async ({ env }) => {
  const inTime = await toBank(env, { body: IMPLICIT });
  const late = await toBank(env, { body: IMPLICIT });
  env.now = START + 899_999;
  await assertCodeAnswer(await comeBack(env, inTime));
  env.now = START + 900_000;
  await assertErrorAnswer(await comeBack(env, late), "session_expired");
  assertEquals(await consentStatus(env, late), "AwaitingAuthorisation");
});

test("A session lives 900 s from its first page: the customer's decision [AZ11] [AZ13] [LT8] [G1]", async ({ env }) => {
  const inTime = await toBank(env);
  const late = await toBank(env);
  const [first, second] = [await toScreen(env, inTime), await toScreen(env, late)];
  env.now = START + 899_999;
  await assertCodeAnswer(await post(inTime, first, "accept"));
  env.now = START + 900_000;
  await assertErrorAnswer(await post(late, second, "accept"), "session_expired");
  assertEquals([await codesIssued(env), await consentStatus(env, late)], [1, "AwaitingAuthorisation"]);
});

test("A flow that began within the 599 s of its request_uri ends well after them [AZ-N3] [LT7]", async ({ env, t }) => {
  for (const body of [IMPLICIT, consentBody()]) {
    await t.step(body === IMPLICIT ? "by the bank's return" : "by the customer's decision", async () => {
      const begun = env.now;
      const opened = await toBank(env, { body });
      env.now = begun + 598_000;
      const departure = await authorize(opened.browser, env.tpp, opened.requestUri);
      assertEquals(departure.status, 303);
      env.now = begun + 899_000;
      if (body === IMPLICIT) return void await assertCodeAnswer(await comeBack(env, opened));
      await assertCodeAnswer(await post(opened, await toScreen(env, opened), "accept"));
    });
  }
});
