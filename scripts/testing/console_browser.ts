/** A browser of an operator, as far as tests of the console's pages need one: cookies, forms and redirects. */
import { Cookies } from "./cookies.ts";
import { OPERATIONS_URL, OPERATOR_TOKENS, type TestOperator } from "./operators.ts";

/** The response of a page, with its text. */
export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
}

type Send = (request: Request) => Promise<Response>;

export class ConsoleBrowser {
  readonly cookies = new Cookies();
  /** Every `Set-Cookie` that was received. */
  readonly set: string[] = [];
  /** Whether a page of the console sends the requests, as browsers say. */
  isFromPage = false;

  constructor(readonly send: Send) {}

  async get(path: string): Promise<Page> {
    return await this.#request(path, {});
  }

  /** Sends a form. */
  async post(path: string, fields: Readonly<Record<string, string>>): Promise<Page> {
    return await this.#request(path, { method: "POST", body: new URLSearchParams(fields) });
  }

  /** Opens the page, fills its form and sends it with the token of the form. */
  async submit(path: string, fields: Readonly<Record<string, string>> = {}): Promise<Page> {
    const { html } = await this.get(path);
    const form_token = formTokenIn(html);
    return await this.post(path.split("?")[0] ?? path, { form_token, ...fields });
  }

  async signIn(as: TestOperator, next = "/console"): Promise<Page> {
    const path = `/console/sign-in?${new URLSearchParams({ next })}`;
    return await this.submit(path, { token: OPERATOR_TOKENS[as], next });
  }

  async #request(path: string, init: RequestInit): Promise<Page> {
    const headers = new Headers({ accept: "text/html" });
    if (this.isFromPage) headers.set("sec-fetch-site", "same-origin");
    if (this.cookies.size > 0) headers.set("cookie", this.cookies.header());
    const url = path.startsWith("/") ? `${OPERATIONS_URL}${path}` : path;
    const answer = await this.send(new Request(url, { ...init, headers }));
    this.set.push(...answer.headers.getSetCookie());
    this.cookies.keep(answer.headers);
    return { status: answer.status, headers: answer.headers, html: await answer.text() };
  }
}

/** What has the operators' console, such as an environment. */
interface Host {
  readonly platform: { readonly operations: { fetch(request: Request): Promise<Response> } };
}

/** Opens the operators' console without a session. */
export function consoleOf(env: Host): ConsoleBrowser {
  return new ConsoleBrowser((request) => env.platform.operations.fetch(request));
}

/** Opens the operators' console, signed in as an operator. */
export async function openConsole(env: Host, as: TestOperator = "maria"): Promise<ConsoleBrowser> {
  const browser = consoleOf(env);
  await browser.signIn(as);
  return browser;
}

/** Returns the token of the last form of a page: forms of the page follow the sign-out. */
export function formTokenIn(html: string): string {
  const tokens = [...html.matchAll(/name="form_token" value="([^"]+)"/g)];
  const token = tokens.at(-1)?.[1];
  if (token === undefined) throw new Error("the page has no form");
  return token;
}
