/**
 * How tests of the browser front channel check responses: error pages, redirects to the TPP, and stored data. All
 * expected values are written out here, not imported from the platform.
 */
import { assert, assertArrayIncludes, assertEquals, assertMatch } from "@std/assert";
import type { Consent } from "./answers.ts";
import { type BoundToken, call, type CallOptions, good } from "./flows.ts";
import { type AtBank, putAccounts } from "./authorization_flow.ts";
import type { Participant } from "./participants.ts";
import { AUTH_URL, type Environment } from "./environment.ts";

/** The headings of the error pages. */
export const PAGE = {
  link_unusable: "This link cannot be used",
  shop_inactive: "This shop or app may not ask for payments now",
  finished: "This payment request has ended",
  accepted: "This payment was already accepted",
  refused: "This payment was already refused",
  other_browser: "Please continue in the browser you started in",
  not_authentic: "The answer from your bank could not be confirmed",
  not_found: "There is nothing at this address",
  wrong_method: "This address cannot be used like this",
  unavailable: "Something is not working on our side",
  too_large: "Too much was sent at once",
} as const;

/** Headers of every response of the browser host, including errors (contract AZ12). */
export const BROWSER_HEADERS = {
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "content-security-policy":
    "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "strict-transport-security": "max-age=63072000; includeSubDomains; preload",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

/** Asserts the headers above, that there are no CORS headers, and that the request can be found in the log. */
export function assertBrowserHeaders(
  response: Response,
  expected: Readonly<Record<string, string>> = BROWSER_HEADERS,
): void {
  for (const [name, value] of Object.entries(expected)) assertEquals(response.headers.get(name), value, name);
  const cors = [...response.headers.keys()].filter((name) => name.startsWith("access-control-"));
  assertEquals(cors, []);
  assertMatch(response.headers.get("x-fapi-interaction-id") ?? "", UUID);
}

/** A UUID in lower case. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** 256 bits in base64url. */
export const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** Asserts an error page of the platform; returns its HTML. */
export async function assertPage(
  response: Response,
  status: number,
  page: keyof typeof PAGE,
): Promise<string> {
  const html = await response.text();
  assertEquals([response.status, headingOf(html)], [status, PAGE[page]]);
  assertEquals(response.headers.get("content-type"), "text/html; charset=utf-8");
  assertEquals(response.headers.get("location"), null);
  assertBrowserHeaders(response);
  return html;
}

/** The words of the page's heading. */
export function headingOf(html: string): string {
  return (/<h1[^>]*>(.*?)<\/h1>/.exec(html)?.[1] ?? "").replaceAll(/<[^>]*>/g, "");
}

/** The target of the page's button, or null if there is none. */
export function nextUrlOf(html: string): string | null {
  return /<a class="button" href="([^"]*)"/.exec(html)?.[1]?.replaceAll("&amp;", "&") ?? null;
}

/** The target and parameters of a redirect to the TPP, in order. */
export interface TppAnswer {
  /** The location without the parameters that the platform added. */
  readonly to: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Asserts a 303 without a body to the TPP's redirect URI; returns the added parameters. */
export async function tppAnswer(
  response: Response,
  redirectUri = "https://shop.example/callback",
): Promise<TppAnswer> {
  assertEquals([response.status, await response.text()], [303, ""]);
  const location = response.headers.get("location") ?? "";
  assert(location.startsWith(redirectUri), location);
  assertEquals(new URL(location).hash, "");
  const separator = redirectUri.includes("?") ? "&" : "?";
  assertEquals(location.at(redirectUri.length), separator, location);
  const parameters = new URLSearchParams(location.slice(redirectUri.length + 1));
  assertEquals(new Set(parameters.keys()).size, parameters.size, "a parameter twice");
  assertBrowserHeaders(response);
  return { to: location.slice(0, redirectUri.length), parameters: Object.fromEntries(parameters) };
}

const ERROR = {
  access_denied: ["access_denied", "The customer or the bank rejected the consent."],
  session_expired: ["access_denied", "The authorization session expired."],
  server_error: ["server_error", "The bank's answer could not be used."],
  invalid_request: ["invalid_request", "The consent does not await authorisation any more."],
  opened_too_often: ["invalid_request", "The request_uri was opened too often. Push a new request."],
  temporarily_unavailable: ["temporarily_unavailable", "The bank cannot be reached at the moment."],
} as const;

/** The codes that the redirect of each error may have (contract RSN4). */
const REASONS: Readonly<Record<keyof typeof ERROR, readonly string[]>> = {
  access_denied: ["CUST", "MS03", "DS24", "BANK_WITHDRAWN", "TPP_WITHDRAWN"],
  session_expired: ["SESSION_EXPIRED"],
  server_error: ["BANK_RESULT_UNUSABLE"],
  invalid_request: ["CONSENT_DECIDED"],
  opened_too_often: ["LINK_OPENED_TOO_OFTEN"],
  temporarily_unavailable: ["BANK_UNAVAILABLE", "PLATFORM_UNAVAILABLE", "BANK_NOT_ACTIVE", "TPP_NOT_ACTIVE"],
};

/** Asserts an error redirect with exactly `error`, `error_description`, `reason_code`, `state` and `iss` (Decision B5). */
export async function assertErrorAnswer(
  response: Response,
  answer: keyof typeof ERROR,
  bank = "BANKA",
  description: string = ERROR[answer][1],
): Promise<void> {
  const { reason_code = "none", ...rest } = (await tppAnswer(response)).parameters;
  assertArrayIncludes(REASONS[answer], [reason_code]);
  assertEquals(rest, {
    error: ERROR[answer][0],
    error_description: description,
    state: "af0ifjsldkj",
    iss: `${AUTH_URL}/${bank}`,
  });
}

/** Asserts a success redirect with exactly `code`, `state` and `iss`; returns the code. */
export async function assertCodeAnswer(response: Response, bank = "BANKA"): Promise<string> {
  const { parameters } = await tppAnswer(response);
  const { code = "", ...rest } = parameters;
  assertMatch(code, SECRET);
  assertEquals(rest, { state: "af0ifjsldkj", iss: `${AUTH_URL}/${bank}` });
  return code;
}

/** The consent's status as its TPP reads it. */
export async function consentStatus(
  env: Environment,
  flow: { readonly consentId: string; readonly bank: Participant; readonly bound: BoundToken },
): Promise<string> {
  const path = `/${flow.bank.orgId}/domestic-payment-consents/v1/${flow.consentId}`;
  return (await good<Consent>(call(env, env.tpp, flow.bound, path), 200)).Data.Status;
}

/** Number of authorization codes ever issued. */
export async function codesIssued(env: Environment): Promise<number> {
  return (await env.snapshot()).filter(({ key }) => key[0] === "authorization_code").length;
}

/** Two accounts that can pay and one that cannot, for the platform's screen. */
export const ACCOUNTS = [
  {
    SchemeName: "UK.OBIE.IBAN",
    Identification: "GB33BUKB20201555555555",
    Balance: "1000.00",
    Currency: "EUR",
  },
  { SchemeName: "UK.OBIE.IBAN", Identification: "GB29NWBK60161331926819", Balance: "10.00", Currency: "EUR" },
  {
    SchemeName: "UK.OBIE.IBAN",
    Identification: "DE89370400440532013000",
    Balance: "5000.00",
    Currency: "EUR",
  },
] as const;

/** The bank's PUT of accounts; asserts success. */
export async function reportAccounts(
  env: Environment,
  flow: AtBank,
  accounts: readonly object[] = ACCOUNTS,
  options: CallOptions & { data?: Readonly<Record<string, unknown>> } = {},
): Promise<void> {
  await good(putAccounts(env, flow.bank, flow.consentId, accounts, options), 200);
}

/** The hidden fields, the choices and the target of the platform's consent form. */
export function readForm(html: string): { csrf: string; action: string; accounts: string[] } {
  const form = /<form id="consent" method="post" action="([^"]*)">(.*?)<\/form>/s.exec(html);
  const [, action = "", inner = ""] = form ?? [];
  const inputs = [...inner.matchAll(/<input ([^>]*?)\/?>/g)].map(([, attributes = ""]) => attributes);
  const csrf = inputs.find((attributes) => attributes.includes('name="csrf"')) ?? "";
  const accounts = inputs.filter((attributes) => attributes.includes('name="account"'));
  return {
    csrf: attributeValue(csrf),
    action: action.replaceAll("&amp;", "&"),
    accounts: accounts.filter((attributes) => !attributes.includes("disabled")).map(attributeValue),
  };
}

function attributeValue(attributes: string): string {
  return /value="([^"]*)"/.exec(attributes)?.[1] ?? "";
}
