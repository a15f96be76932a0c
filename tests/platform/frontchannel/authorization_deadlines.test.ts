import { assertEquals } from "@std/assert";
import { IMPLICIT, sealedReturn, signedReturn } from "../../../scripts/testing/bank_return.ts";
import {
  type AtBank,
  authorize,
  Browser,
  call,
  clientToken,
  consentBody,
  DEBTOR_ACCOUNT,
  good,
  type Json,
  openHandover,
  push,
  toBank,
} from "../../../scripts/testing/flows.ts";
import {
  assertCodeAnswer,
  assertErrorAnswer,
  assertPage,
  codesIssued,
  consentStatus,
  readForm,
  reportAccounts,
  wayOnOf,
} from "../../../scripts/testing/front_channel.ts";
import { openWorld, START, type World } from "../../../scripts/testing/environment.ts";

Deno.test("A session lives 900 s from its first page: the bank's return [AZ11] [BR9] [BR-N11] [B] [G1]", async () => {
  await using world = await openWorld();
  const inTime = await toBank(world, { body: IMPLICIT });
  const late = await toBank(world, { body: IMPLICIT });
  world.now = START + 899_999;
  await assertCodeAnswer(await comeBack(world, inTime));
  world.now = START + 900_000;
  await assertErrorAnswer(await comeBack(world, late), "session_expired");
  assertEquals(await consentStatus(world, late), "AwaitingAuthorisation");
});

Deno.test("A session lives 900 s from its first page: the customer's decision [AZ11] [AZ13] [B] [G1]", async () => {
  await using world = await openWorld();
  const inTime = await toBank(world);
  const late = await toBank(world);
  const [first, second] = [await toScreen(world, inTime), await toScreen(world, late)];
  world.now = START + 899_999;
  await assertCodeAnswer(await post(inTime, first, "accept"));
  world.now = START + 900_000;
  await assertErrorAnswer(await post(late, second, "accept"), "session_expired");
  assertEquals([await codesIssued(world), await consentStatus(world, late)], [1, "AwaitingAuthorisation"]);
});

Deno.test("A flow that began within the 599 s of its request_uri ends well after them [AZ-N3] [X9]", async (t) => {
  await using world = await openWorld();
  for (const body of [IMPLICIT, consentBody()]) {
    await t.step(body === IMPLICIT ? "by the bank's return" : "by the customer's decision", async () => {
      const begun = world.now;
      const opened = await toBank(world, { body });
      world.now = begun + 598_000;
      const departure = await authorize(opened.browser, world.tpp, opened.requestUri);
      assertEquals(departure.status, 303);
      world.now = begun + 899_000;
      if (body === IMPLICIT) return void await assertCodeAnswer(await comeBack(world, opened));
      await assertCodeAnswer(await post(opened, await toScreen(world, opened), "accept"));
    });
  }
});

Deno.test("A consent's deadline passes while the customer is at the bank: access_denied, Rejected at the deadline [C12] [C1] [STA-01]", async (t) => {
  await using world = await openWorld();
  await t.step("implicit", async () => {
    const flow = await toBank(world, { body: untilIn(world, 300, { DebtorAccount: DEBTOR_ACCOUNT }) });
    const deadline = world.now + 300_000;
    world.now = deadline;
    await assertErrorAnswer(await comeBack(world, flow), "access_denied");
    await assertRejectedAt(world, flow, deadline);
    await assertLinkIsOver(world, flow);
  });
  await t.step("explicit", async () => {
    const flow = await toBank(world, { body: untilIn(world, 300) });
    await reportAccounts(world, flow);
    world.now += 300_000;
    await assertErrorAnswer(await comeBack(world, flow), "access_denied");
  });
  await t.step("a millisecond before it, all is well", async () => {
    const flow = await toBank(world, { body: untilIn(world, 300, { DebtorAccount: DEBTOR_ACCOUNT }) });
    world.now += 299_999;
    await assertCodeAnswer(await comeBack(world, flow));
  });
  assertEquals(await codesIssued(world), 1);
});

Deno.test("A consent's deadline passes while the customer decides: access_denied, whatever is posted or opened [C12] [C1] [B5]", async (t) => {
  await using world = await openWorld();
  const acts: Record<string, (flow: AtBank, open: Screen) => Promise<Response>> = {
    "accept": (flow, open) => post(flow, open, "accept"),
    "refuse": (flow, open) => post(flow, open, "refuse"),
    "the screen opened again": (flow, open) => flow.browser.open(open.screen),
  };
  for (const [name, act] of Object.entries(acts)) {
    await t.step(name, async () => {
      const flow = await toBank(world, { body: untilIn(world, 300) });
      const open = await toScreen(world, flow);
      const deadline = world.now + 300_000;
      world.now = deadline;
      await assertErrorAnswer(await act(flow, open), "access_denied");
      await assertRejectedAt(world, flow, deadline);
      await assertPage(await flow.browser.open(open.screen), 400, "finished");
      await assertLinkIsOver(world, flow);
    });
  }
  assertEquals(await codesIssued(world), 0);
});

Deno.test("A consent that another flow decided meanwhile: its screen leads back with invalid_request [C16] [AZ-N18]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world);
  const open = await toScreen(world, flow);
  const form = { code_challenge: "E".repeat(42) + "A" };
  const { request_uri } = await good(push(world, flow.consentId, { form }), 201);
  const browser = new Browser(world);
  const second = await toBankAgain(world, flow, browser, request_uri);
  await assertErrorAnswer(await comeBack(world, second, { status_code: "failure" }), "access_denied");
  await assertErrorAnswer(await flow.browser.open(open.screen), "invalid_request");
});

Deno.test("A consent is authorised within 24 h of its creation [C1] [C12]", async () => {
  await using world = await openWorld();
  const { consentId } = await toBank(world, { body: IMPLICIT });
  world.now = START + 86_399_000;
  const again = await clientToken(world, world.tpp);
  const form = { code_challenge: "F".repeat(42) + "A" };
  const { request_uri } = await good(push(world, consentId, { form }), 201);
  const browser = new Browser(world);
  const flow = await toBankAgain(world, { consentId, bound: again, bank: world.bankA }, browser, request_uri);
  world.now = START + 86_400_000;
  await assertErrorAnswer(await authorize(new Browser(world), world.tpp, request_uri), "invalid_request");
  await assertErrorAnswer(await comeBack(world, flow), "access_denied");
  await assertRejectedAt(world, flow, START + 86_400_000);
});

Deno.test("An authorised consent is Rejected 3600 s later, and no flow can bring it back [C15] [C16]", async () => {
  await using world = await openWorld();
  const flow = await toBank(world, { body: IMPLICIT });
  await assertCodeAnswer(await comeBack(world, flow));
  world.now = START + 3_600_000;
  const bound = await clientToken(world, world.tpp);
  await assertRejectedAt(world, { ...flow, bound }, START + 3_600_000);
  const form = { code_challenge: "G".repeat(42) + "A" };
  const answer = await push(world, flow.consentId, { form });
  assertEquals([answer.status, (await answer.json()).error], [400, "invalid_request"]);
});

Deno.test("A deadline that passes during the bank's return rejects wholly or not at all [C12]", async (t) => {
  await using world = await openWorld();
  const seen = new Set<string>();
  for (let early = 29; early >= 0; early--) {
    await t.step(`${early} looks at the clock before it`, async () => {
      const flow = await toBank(world, { body: untilIn(world, 300, { DebtorAccount: DEBTOR_ACCOUNT }) });
      const path = await goodReturn(world, flow);
      letEveryLookTakeAMillisecond(world, world.now + 300_000 - early);
      const answer = await flow.browser.open(path);
      stopTheClock(world);
      const accepted = answer.headers.get("location")?.includes("code=") === true;
      if (accepted) await assertCodeAnswer(answer);
      else await assertErrorAnswer(answer, "access_denied");
      const status = await consentStatus(world, flow);
      assertEquals(status, accepted ? "Authorized" : "Rejected");
      seen.add(status);
    });
  }
  assertEquals(seen.size, 2); // the deadline did fall into the request
});

interface Screen {
  readonly screen: string;
  readonly csrf: string;
}

function letEveryLookTakeAMillisecond(world: World, from: number): void {
  let now = from;
  Object.defineProperty(world, "now", { configurable: true, get: () => now++ });
}

function stopTheClock(world: World): void {
  Object.defineProperty(world, "now", { enumerable: true, writable: true, value: world.now });
}

async function assertRejectedAt(
  world: World,
  { consentId, bound }: Pick<AtBank, "consentId" | "bound">,
  deadline: number,
): Promise<void> {
  const path = `/BANKA/domestic-payment-consents/v1/${consentId}`;
  const { Data } = await good(call(world, world.tpp, bound, path), 200);
  assertEquals([Data.Status, Date.parse(Data.StatusUpdateDateTime)], ["Rejected", deadline]);
}

async function assertLinkIsOver(world: World, flow: AtBank): Promise<void> {
  const page = await assertPage(
    await authorize(flow.browser, world.tpp, flow.requestUri),
    400,
    "link_unusable",
  );
  assertEquals(wayOnOf(page), "https://www.example.com/"); // the TPP that the link names, never with an answer
}

async function toBankAgain(
  world: World,
  consent: Pick<AtBank, "consentId" | "bound" | "bank">,
  browser: Browser,
  requestUri: string,
): Promise<AtBank> {
  const { claims } = await openHandover(consent.bank, await authorize(browser, world.tpp, requestUri));
  return { ...consent, browser, requestUri, handover: claims };
}

/** A consent that must be authorised within so many seconds. */
function untilIn(
  world: World,
  seconds: number,
  initiation: Readonly<Record<string, unknown>> = {},
): Json {
  const CompletionDateTime = new Date(world.now + seconds * 1000).toISOString();
  return consentBody({
    initiation,
    data: { Authorisation: { AuthorisationType: "Any", CompletionDateTime } },
  });
}

async function goodReturn(world: World, flow: AtBank, claims: Json = {}): Promise<string> {
  return await sealedReturn(world, flow.bank.orgId, await signedReturn(world, flow, { claims }));
}

async function comeBack(world: World, flow: AtBank, claims: Json = {}): Promise<Response> {
  return await flow.browser.open(await goodReturn(world, flow, claims));
}

async function toScreen(world: World, flow: AtBank): Promise<Screen> {
  await reportAccounts(world, flow);
  const screen = (await comeBack(world, flow)).headers.get("location") ?? "";
  return { screen, csrf: readForm(await (await flow.browser.open(screen)).text()).csrf };
}

function post(flow: AtBank, { screen, csrf }: Screen, decision: string): Promise<Response> {
  const body = new URLSearchParams({ csrf, decision, account: "0" });
  return flow.browser.open(screen, { method: "POST", body });
}
