/**
 * The real platform with the sandbox's real banks in process: pushes, pulls, reports and customers' visits are requests
 * between them. The test controls time and the banks' timers.
 */
import { exportPKCS8 } from "jose";
import { type Banks, composeBanks } from "../../src/sandbox/bank/bank_app.ts";
import type { BankProfile } from "../../src/sandbox/bank/bank_profile.ts";
import { ALICE, BankBrowser, BANKS_URL, CODE } from "./bank_browser.ts";
import { bodyOf, type Payment } from "testing/answers.ts";
import { type BoundToken, consentBody, dpopKey, good, pay, type SentConsent } from "testing/flows.ts";
import { type AtBank, codeOf, decide, redeem, toBank } from "testing/authorization_flow.ts";
import type { Participant } from "testing/participants.ts";
import { AUTH_URL, DIRECTORY_URL, type Environment, openEnvironment } from "testing/environment.ts";

/** A timer that runs only when the test lets it. */
export interface HeldTimer {
  readonly delayMs: number;
  readonly task: () => Promise<void>;
}

/** A running platform with its banks. */
export interface BanksEnvironment extends Environment {
  banks: Banks;
  /** The banks' pending timers: settlement steps, pauses, rounds of pulling. */
  readonly timers: HeldTimer[];
  /** Payment order ids in the order in which they were pushed. */
  readonly pushed: string[];
  /** Log events of the banks. */
  readonly bankEvents: { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }[];
  /** False: no push of the platform arrives. */
  pushesArrive: boolean;
  /** Requests of the banks to the platform. */
  readonly bankRequests: Request[];
  /** Answers a request of a bank in the platform's place; undefined leaves it to the platform. */
  inPlaceOfPlatform: (request: Request) => Response | undefined;
}

export interface BanksOptions {
  readonly banksUrl?: string;
  readonly bookPath?: (code: string) => string;
  readonly pullEveryMs?: number;
  /** False: the banks register without `payment_orders_uri`. */
  readonly push?: boolean;
  /** Environment variables of the platform. */
  readonly environment?: Readonly<Record<string, string>>;
}

export async function openBanksEnvironment(
  { push = true, environment = {}, ...options }: BanksOptions = {},
): Promise<BanksEnvironment> {
  const paymentOrdersUri = push
    ? { bankA: `${BANKS_URL}/BANKA/payment-orders`, bankB: `${BANKS_URL}/BANKB/payment-orders` }
    : {};
  const inner = await openEnvironment({ paymentOrdersUri, environment });
  const held: Omit<BanksEnvironment, keyof Environment | "banks"> = {
    timers: [],
    pushed: [],
    bankEvents: [],
    pushesArrive: true,
    bankRequests: [],
    inPlaceOfPlatform: () => undefined,
  };
  const env = Object.assign(inner, held);
  const full = Object.assign(env, { banks: await startBanks(env, options) });
  const directory = env.network;
  env.network = async (request) => {
    if (new URL(request.url).origin !== BANKS_URL) return await directory(request);
    if (!full.pushesArrive) throw new TypeError("connection refused");
    return await full.banks.fetch(request);
  };
  const dispose = inner[Symbol.asyncDispose].bind(inner);
  return Object.assign(full, {
    async [Symbol.asyncDispose](): Promise<void> {
      await full.platform.stop();
      full.banks.stop();
      await dispose();
    },
  });
}

/** Restarts the banks on the same ledgers. */
export async function startBanks(
  env: Omit<BanksEnvironment, "banks">,
  { banksUrl = BANKS_URL, bookPath, pullEveryMs }: BanksOptions,
): Promise<Banks> {
  return await composeBanks({
    ...(bookPath === undefined ? {} : { bookPath }),
    ...(pullEveryMs === undefined ? {} : { pullEveryMs }),
    banks: [await profileOf(env.bankA, "platform"), await profileOf(env.bankB, "bank")],
    banksUrl,
    baseUrl: env.config.baseUrl,
    authUrl: AUTH_URL,
    caPem: "",
    clock: () => env.now,
    letTimePass: (milliseconds) => Promise.resolve(void (env.now += milliseconds)),
    log: (event, fields = {}) => void env.bankEvents.push({ event, fields }),
    fetch: (url, init) => answerBank(env, new Request(url, init)),
    schedule: (task, delayMs) => {
      const timer = { task, delayMs };
      env.timers.push(timer);
      return () => {
        const at = env.timers.indexOf(timer);
        if (at >= 0) env.timers.splice(at, 1);
      };
    },
  });
}

/** Runs all timers that are pending now, but not those that they start. */
export async function runTimers(env: Pick<BanksEnvironment, "timers">): Promise<void> {
  await Promise.all(env.timers.splice(0).map(({ task }) => task()));
}

/** A customer who has just arrived at a bank. */
export interface Arrived extends AtBank {
  readonly body: SentConsent;
  /** The browser's window at the bank. */
  readonly visit: BankBrowser;
}

/** Steps 1 to 5, at a bank of the sandbox. */
export async function arrive(
  env: BanksEnvironment,
  { bank = env.bankA, body = consentBody() }: { bank?: Participant; body?: SentConsent } = {},
): Promise<Arrived> {
  const flow = await toBank(env, { bank, body });
  const visit = new BankBrowser(env.banks);
  await visit.open(`/${bank.orgId}/sca${new URL(flow.bankUrl).search}`);
  return { ...flow, body, visit };
}

/** The end of a customer's visit: at a bank's page, at a page of the platform, or at the TPP. */
export interface Visited extends Arrived {
  /** The last answer of the platform to the browser. */
  readonly returned: Response;
}

/** Alice accepts everything; returns where her browser ended. */
export async function visit(
  env: BanksEnvironment,
  options: Parameters<typeof arrive>[1] = {},
): Promise<Visited> {
  const arrived = await arrive(env, options);
  await agreeAtBank(arrived.visit);
  const returned = await arrived.browser.open(arrived.visit.shown.leftFor);
  const location = returned.headers.get("location") ?? "";
  const last = location.includes("/authorization.consent.oauth2")
    ? await decide(arrived.browser, location, "accept")
    : returned;
  return { ...arrived, returned: last };
}

async function agreeAtBank(browser: BankBrowser): Promise<void> {
  await browser.submit("login", ALICE);
  const { leftFor } = await browser.submit("otp", CODE);
  if (leftFor === "") await browser.submit("consent", { decision: "accept" });
}

/** Steps 1 to 7: a consent that Alice accepted at her bank. */
export async function agreed(
  env: BanksEnvironment,
  options: Parameters<typeof visit>[1] = {},
): Promise<Visited & { payment: BoundToken }> {
  const visited = await visit(env, options);
  const code = codeOf(visited.returned);
  const answer = await good(
    redeem(env, { consentId: visited.consentId, code }, { bank: visited.bank.orgId }),
    200,
  );
  return { ...visited, payment: { token: answer.access_token, key: await dpopKey() } };
}

/** Steps 1 to 8; returns the payment response. */
export async function paidAt(
  env: BanksEnvironment,
  options: Parameters<typeof visit>[1] = {},
): Promise<Payment["Data"]> {
  return (await good(pay(env, await agreed(env, options)), 201)).Data;
}

/** A consent over an amount. */
export function over(Amount: string, initiation: Record<string, unknown> = {}): SentConsent {
  return consentBody({ initiation: { InstructedAmount: { Amount, Currency: "EUR" }, ...initiation } });
}

interface Ledger {
  readonly Accounts: readonly { readonly Identification: string; readonly Balance: string }[];
  readonly Orders: readonly {
    readonly DomesticPaymentId: string;
    readonly ConsentId: string;
    readonly Status: string;
    readonly StatusReasonCode?: string;
    readonly StatusReason?: string;
  }[];
}

/** A bank's ledger from its public endpoint. */
export async function bookOf(
  env: Pick<BanksEnvironment, "banks">,
): Promise<{ readonly orders: Ledger["Orders"]; readonly balances: Readonly<Record<string, string>> }> {
  const response = await env.banks.fetch(new Request(`${BANKS_URL}/BANKA/ledger`));
  const { Accounts, Orders } = await bodyOf<Ledger>(response);
  const balances = Accounts.map((account) => [account.Identification, account.Balance]);
  return { orders: Orders, balances: Object.fromEntries(balances) };
}

/** Arms a fault of a bank; returns the raw response. */
export function arm(env: Pick<BanksEnvironment, "banks">, body: unknown, code = "BANKA"): Promise<Response> {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  return env.banks.fetch(new Request(`${BANKS_URL}/${code}/faults`, init));
}

async function answerBank(
  env: Environment & Pick<BanksEnvironment, "bankRequests" | "inPlaceOfPlatform">,
  request: Request,
): Promise<Response> {
  env.bankRequests.push(request.clone());
  const answer = env.inPlaceOfPlatform(request);
  if (answer !== undefined) return answer;
  if (request.url.startsWith(AUTH_URL)) return await env.browser(request);
  const code = new URL(request.url).pathname.split("/")[1];
  return await env.api(request, code === "BANKA" ? env.bankA : env.bankB);
}

async function profileOf(bank: Participant, consentScreen: "platform" | "bank"): Promise<BankProfile> {
  const { signing, transport, encryption = transport } = bank;
  return {
    code: bank.orgId,
    displayName: bank.name,
    consentScreen,
    hasApp: false,
    signatureProfile: consentScreen === "platform" ? "a" : "b",
    orgId: bank.orgId,
    clientId: bank.clientId,
    signing: { keyPem: await exportPKCS8(await signing.key.privateKey("sign")), kid: signing.kid },
    decryption: {
      keyPem: await exportPKCS8(await encryption.key.privateKey("decrypt")),
      kid: encryption.kid,
    },
    transport: { certPem: "", keyPem: "" },
    trustAnchor: new URL(DIRECTORY_URL).host,
  };
}
