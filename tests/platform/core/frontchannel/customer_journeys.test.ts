/**
 * Customers reload, go back, open a second tab, click twice, take their time, change the browser, leave the page open.
 * In every case the TPP receives exactly one outcome, and it is the consent's. A customer's path through the pages, and
 * every result that the TPP receives.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { IMPLICIT, sealedReturn, signedReturn } from "testing/bank_return.ts";
import { type AtBank, authorize, Browser, openHandover, toBank } from "testing/authorization_flow.ts";
import {
  assertPage,
  codesIssued,
  consentStatus,
  nextUrlOf,
  type PAGE,
  readForm,
  reportAccounts,
} from "testing/front_channel.ts";
import { stepsOf } from "support/steps.ts";
import { clientToken, good, push } from "testing/flows.ts";
import { type Environment, openEnvironment, SHOP_REDIRECTS } from "testing/environment.ts";

type Form = ReturnType<typeof readForm>;

/** One customer, and every result that the TPP receives. */
class Journey implements AsyncDisposable {
  /** Every TPP address that a browser was redirected to or offered. */
  readonly learnt = new Set<string>();
  constructor(readonly env: Environment, public flow: AtBank, readonly pushedAt: number) {}

  get link(): string {
    const query = { client_id: this.env.tpp.clientId, request_uri: this.flow.requestUri };
    return `/BANKA/authorization.oauth2?${new URLSearchParams(query)}`;
  }

  /** Opens a page in the customer's browser. */
  async open(url: string, init: RequestInit = {}): Promise<Response> {
    return this.#noted(await this.flow.browser.open(url, init));
  }

  /** Opens a page that must be an error page; returns its HTML. */
  async page(url: string, status: number, page: keyof typeof PAGE): Promise<string> {
    return await assertPage(await this.open(url), status, page);
  }

  decide({ action, csrf }: Form, decision: string): Promise<Response> {
    return this.open(action, { method: "POST", body: new URLSearchParams({ csrf, decision, account: "0" }) });
  }

  /** Repeats the act three times. All responses but the last are lost, including their cookies. */
  async reload(act: () => Promise<unknown>): Promise<void> {
    for (let time = 0; time < 2; time++) {
      const before = new Set(this.learnt);
      const { cookies } = this.flow.browser;
      const kept = new Map(cookies);
      await act();
      cookies.clear();
      kept.forEach((secret, name) => cookies.set(name, secret));
      this.learnt.clear();
      before.forEach((address) => this.learnt.add(address));
    }
    await act();
  }

  /** The bank returns the customer; returns the address. */
  async bankReturn(claims: Readonly<Record<string, unknown>> = {}, flow = this.flow): Promise<string> {
    if (flow.handover.debtor_account_present === "false") {
      await reportAccounts(this.env, flow).catch(() => {}); // a flow that has ended accepts none
    }
    return await sealedReturn(this.env, "BANKA", await signedReturn(this.env, flow, { claims }));
  }

  /** Opens the consent screen; returns its address. */
  async arrive(back: string): Promise<string> {
    const answer = await this.open(back);
    const location = answer.headers.get("location") ?? "";
    assertMatch(location, /\/BANKA\/authorization\.consent\.oauth2\?flow=/);
    return location;
  }

  async secondTab(): Promise<AtBank> {
    const { claims } = await openHandover(this.env.bankA, await this.open(this.link));
    return { ...this.flow, handover: claims };
  }

  /** The TPP pushes the same consent again, and the customer opens the new link. */
  async askAgain(): Promise<void> {
    const form = { code_challenge: "K".repeat(42) + "A" };
    const { request_uri } = await good(push(this.env, this.flow.consentId, { form }), 201);
    this.flow = { ...this.flow, requestUri: request_uri };
    this.flow = await this.secondTab();
  }

  /** The status as the TPP reads it. */
  async status(): Promise<string> {
    const bound = await clientToken(this.env, this.env.tpp); // journeys outlast tokens
    return await consentStatus(this.env, { ...this.flow, bound });
  }

  /** Asserts exactly one address, which agrees with the consent's status. */
  async assertLearnt(outcome: string): Promise<void> {
    const [only = "", ...more] = this.learnt;
    assertEquals(more, []);
    const parameters = new URL(only).searchParams;
    assertEquals(parameters.get("error") ?? (parameters.has("code") ? "code" : "nothing"), outcome);
    const paid = outcome === "code";
    assertEquals(
      [await this.status(), await codesIssued(this.env)],
      paid ? ["Authorized", 1] : ["Rejected", 0],
    );
  }

  async #noted(answer: Response): Promise<Response> {
    const text = await answer.text();
    for (const address of [answer.headers.get("location"), nextUrlOf(text)]) {
      if (address?.startsWith(`${SHOP_REDIRECTS[0]}?`) === true) this.learnt.add(address);
    }
    return new Response(text === "" ? null : text, answer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.env[Symbol.asyncDispose]();
  }
}

/** A customer at the bank, who opened the link this long after the request was pushed. */
async function begin(
  { openedAfterMs = 0, ...options }: { body?: typeof IMPLICIT; openedAfterMs?: number } = {},
): Promise<Journey> {
  const env = await openEnvironment();
  const pushedAt = env.now;
  const flow = await toBank(env, options);
  if (openedAfterMs === 0) return new Journey(env, flow, pushedAt);
  env.now += openedAfterMs;
  const browser = new Browser(env);
  const { claims } = await openHandover(env.bankA, await authorize(browser, env.tpp, flow.requestUri));
  return new Journey(env, { ...flow, browser, handover: claims }, pushedAt);
}

const FLOW_MS = 900_000;
const MINUTE_MS = 60_000;

Deno.test("Reload on every page: one code, the consent Authorized [AZ10] [BR-N10] [CT7]", async () => {
  await using journey = await begin();
  await journey.reload(() => journey.open(journey.link));
  const back = await journey.bankReturn();
  const screen = await journey.arrive(back);
  await journey.reload(async () => assertEquals(await journey.arrive(back), screen));
  await journey.reload(() => journey.open(screen));
  const form = readForm(await (await journey.open(screen)).text());
  await journey.reload(() => journey.decide(form, "accept"));
  await journey.assertLearnt("code");
});

Deno.test("Reload of the bank's return of an implicit consent: it leads to the one code there is [BR-N10] [CT5] [G1]", async () => {
  await using journey = await begin({ body: IMPLICIT });
  const back = await journey.bankReturn();
  await journey.reload(() => journey.open(back));
  await journey.page(back, 400, "finished");
  await journey.assertLearnt("code");
});

Deno.test("Back from the consent screen to the bank, which returns the customer again: the decision is still to be taken [BR-N10] [CT9]", async () => {
  await using journey = await begin();
  const screen = await journey.arrive(await journey.bankReturn());
  for (const status_code of ["success", "failure"]) {
    assertEquals(await journey.arrive(await journey.bankReturn({ status_code })), screen);
  }
  assertEquals(await journey.status(), "AwaitingAuthorisation");
  await journey.decide(readForm(await (await journey.open(screen)).text()), "refuse");
  await journey.assertLearnt("access_denied");
});

Deno.test("Back after the decision, page by page to the TPP's link: nothing is decided again [CT7] [AZ-N6]", async () => {
  await using journey = await begin();
  const back = await journey.bankReturn();
  const screen = await journey.arrive(back);
  await journey.decide(readForm(await (await journey.open(screen)).text()), "accept");
  await journey.page(screen, 400, "finished");
  await journey.page(back, 400, "finished");
  await journey.page(journey.link, 400, "link_unusable");
  await journey.assertLearnt("code");
});

Deno.test("A second tab by the same link: the first to end counts, the other one is told what happened [AZ-N15]", async (t) => {
  await stepsOf(t, ["the first tab", "the second tab"], (first) => `${first} ends first`, async (first) => {
    await using journey = await begin();
    const tabs = [journey.flow, await journey.secondTab()];
    const [winner, loser] = first === "the first tab" ? tabs : tabs.toReversed();
    if (winner === undefined || loser === undefined) throw new Error("two tabs");
    const lost = await journey.bankReturn({}, loser);
    const lostScreen = await journey.arrive(await journey.bankReturn({}, loser));
    const screen = await journey.arrive(await journey.bankReturn({}, winner));
    const late = readForm(await (await journey.open(lostScreen)).text());
    await journey.decide(readForm(await (await journey.open(screen)).text()), "accept");
    const told = await assertPage(await journey.decide(late, "refuse"), 400, "accepted");
    assertMatch(told, /accepted before, for example in another tab or window/);
    assertEquals(nextUrlOf(told), "https://www.example.com/");
    await journey.page(lost, 400, "finished");
    await assertPage(await journey.decide(late, "accept"), 400, "finished");
    await journey.assertLearnt("code");
  });
});

Deno.test("The same consent screen in two tabs, accepted in one and rejected in the other: the first click counts, and the other tab says so [CT7] [CT9] [G1]", async (t) => {
  for (
    const [first, second, page, outcome] of [
      ["accept", "refuse", "accepted", "code"],
      ["refuse", "accept", "refused", "access_denied"],
    ] as const
  ) {
    await t.step(`${first}, then ${second}`, async () => {
      await using journey = await begin();
      const screen = await journey.arrive(await journey.bankReturn());
      const forms = [await journey.open(screen), await journey.open(screen)].map((answer) => answer.text());
      const [one, two] = (await Promise.all(forms)).map(readForm);
      if (one === undefined || two === undefined) throw new Error("two forms");
      await journey.decide(one, first ?? "");
      const told = await assertPage(await journey.decide(two, second ?? ""), 400, page);
      assertMatch(told, /What you chose here has changed nothing/);
      await journey.assertLearnt(outcome ?? "");
    });
  }
});

Deno.test("Double click on the decision, the answers in any order: one outcome [CT7] [CT9]", async (t) => {
  for (const [decision, outcome] of [["accept", "code"], ["refuse", "access_denied"]]) {
    await t.step(decision ?? "", async () => {
      await using journey = await begin();
      const screen = await journey.arrive(await journey.bankReturn());
      const form = readForm(await (await journey.open(screen)).text());
      await Promise.all([1, 2].map(() => journey.decide(form, decision ?? "")));
      await journey.assertLearnt(outcome ?? "");
    });
  }
});

Deno.test("A slow bank: back 20 minutes after the pushed request and within 15 of the first page, all is well [AZ-N3] [AZ11] [LT8]", async (t) => {
  for (const body of [IMPLICIT, undefined]) {
    await t.step(body === undefined ? "by the platform's screen" : "implicit", async () => {
      await using journey = await begin({ ...(body === undefined ? {} : { body }), openedAfterMs: 598_000 });
      journey.env.now = journey.pushedAt + 20 * MINUTE_MS;
      const back = await journey.bankReturn();
      if (body === undefined) {
        const screen = await journey.arrive(back);
        await journey.decide(readForm(await (await journey.open(screen)).text()), "accept");
      } else await journey.open(back);
      await journey.assertLearnt("code");
    });
  }
});

Deno.test("A bank that is too slow: 15 minutes after the first page its success sends the customer back to the TPP, which can ask again about the same consent [AZ11] [G1]", async () => {
  await using journey = await begin({ openedAfterMs: 598_000 });
  journey.env.now += FLOW_MS;
  await journey.open(await journey.bankReturn());
  assertEquals([errorOf(journey), await journey.status()], [EXPIRED, "AwaitingAuthorisation"]);
  journey.learnt.clear();
  await journey.askAgain();
  const screen = await journey.arrive(await journey.bankReturn());
  await journey.decide(readForm(await (await journey.open(screen)).text()), "accept");
  await journey.assertLearnt("code");
});

Deno.test("A return or a consent screen in another browser is rejected and explained; the customer's own goes on [BR-N11] [BR18] [AZ11]", async () => {
  await using journey = await begin();
  const back = await journey.bankReturn();
  const other = new Browser(journey.env);
  const explained = await assertPage(await other.open(back), 400, "other_browser");
  assertMatch(explained, /started in another browser or on another device/);
  assertMatch(explained, /Go back to the app, browser or device in which you started the payment/);
  const screen = await journey.arrive(back);
  const form = readForm(await (await journey.open(screen)).text());
  const body = new URLSearchParams({ csrf: form.csrf, decision: "refuse" });
  for (const answer of [await other.open(screen), await other.open(screen, { method: "POST", body })]) {
    await assertPage(answer, 400, "other_browser");
  }
  await journey.decide(form, "accept");
  await journey.assertLearnt("code");
});

Deno.test("The consent screen left open past its time: accepting leads back to the TPP, which can ask again [AZ11] [CT12] [G1]", async () => {
  await using journey = await begin();
  const screen = await journey.arrive(await journey.bankReturn());
  const form = readForm(await (await journey.open(screen)).text());
  journey.env.now += FLOW_MS;
  await journey.decide(form, "accept");
  assertEquals([errorOf(journey), await codesIssued(journey.env)], [EXPIRED, 0]);
  assertEquals(await journey.status(), "AwaitingAuthorisation");
  await journey.page(screen, 400, "finished");
  journey.learnt.clear();
  await journey.askAgain(); // the TPP may ask once more; otherwise the consent ends as Rejected
  journey.env.now += 86_400_000;
  await journey.page(screen, 400, "link_unusable"); // the session is no longer stored
  assertEquals([journey.learnt.size, await codesIssued(journey.env)], [0, 0]);
  assertEquals(await journey.status(), "Rejected");
});

const EXPIRED = "access_denied: The authorization session expired.";

/** The one error that the TPP has learnt. */
function errorOf({ learnt }: Journey): string {
  const [only = "", ...more] = learnt;
  assertEquals(more, []);
  const parameters = new URL(only).searchParams;
  return `${parameters.get("error")}: ${parameters.get("error_description")}`;
}
