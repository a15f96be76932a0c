/** A customer's path through the pages, and every result that the TPP receives. */
import { assertEquals, assertMatch } from "@std/assert";
import { type IMPLICIT, sealedReturn, signedReturn } from "testing/bank_return.ts";
import { clientToken, good, push } from "testing/flows.ts";
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
import { type Environment, openEnvironment, SHOP_REDIRECTS } from "testing/environment.ts";

type Form = ReturnType<typeof readForm>;

/** One customer, and every result that the TPP receives. */
export class Journey implements AsyncDisposable {
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
export async function begin(
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
