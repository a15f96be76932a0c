/** A minimal browser for the banks' pages: cookies by path, forms with their hidden fields, no scripts. */
import type { Banks } from "../../src/sandbox/bank/bank_app.ts";

/** Where the banks of a test environment are. */
export const BANKS_URL = "https://banks.example";

/** The page in the browser. */
export interface Shown {
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
  /** The address to which the bank redirected the browser; empty while it stays at the bank. */
  readonly leftFor: string;
}

/** One browser window with its own cookies. */
export class BankBrowser {
  private readonly cookies = new Map<string, { readonly path: string; readonly value: string }>();
  /** Path of the page shown. */
  path = "/";
  shown: Shown = { status: 0, html: "", headers: new Headers(), leftFor: "" };

  constructor(private readonly banks: Banks) {}

  /** Opens a page and follows redirects within the banks. */
  async open(path: string): Promise<Shown> {
    return await this.send(path, {});
  }

  /** Fills in the form on the page: all its fields, then these. */
  async submit(formId: string, fields: Readonly<Record<string, string>>): Promise<Shown> {
    const body = new URLSearchParams({ ...this.formFields(formId), ...fields });
    return await this.send(this.path, { method: "POST", body });
  }

  /** Fields that the form sends by itself: hidden ones and the checked radio. */
  formFields(formId: string): Readonly<Record<string, string>> {
    const form = new RegExp(`<form id="${formId}"[^>]*>(.*?)</form>`, "s").exec(this.shown.html)?.[1];
    if (form === undefined) throw new Error(`no form ${formId} in: ${this.shown.html}`);
    const inputs = form.match(/<input[^>]*>/g) ?? [];
    return Object.fromEntries(
      inputs.filter((tag) => /type="hidden"/.test(tag) || /\bchecked\b/.test(tag))
        .map((tag) => [/name="([^"]*)"/.exec(tag)?.[1] ?? "", /value="([^"]*)"/.exec(tag)?.[1] ?? ""]),
    );
  }

  /** Sends one request and follows redirects within the banks. */
  async send(path: string, init: RequestInit): Promise<Shown> {
    const request = new Request(`${BANKS_URL}${path}`, { ...init, redirect: "manual" });
    const cookie = this.cookieFor(new URL(request.url).pathname);
    if (cookie !== "") request.headers.set("cookie", cookie);
    const response = await this.banks.fetch(request, { remoteAddr: { hostname: "203.0.113.7" } });
    this.keepCookies(response);
    const location = response.headers.get("location");
    if (location?.startsWith("/")) return await this.open(location);
    this.path = path;
    const html = await response.text();
    this.shown = { status: response.status, html, headers: response.headers, leftFor: location ?? "" };
    return this.shown;
  }

  private cookieFor(pathname: string): string {
    return [...this.cookies].filter(([, { path }]) => pathname === path || pathname.startsWith(`${path}/`))
      .map(([, { value }]) => value).join("; ");
  }

  private keepCookies(response: Response): void {
    for (const line of response.headers.getSetCookie()) {
      const path = /Path=([^;]*)/i.exec(line)?.[1] ?? "/";
      const value = line.split(";")[0] ?? "";
      this.cookies.set(`${value.split("=")[0]} ${path}`, { path, value });
    }
  }
}

/** Alice's entries on the login page. */
export const ALICE = { username: "alice", password: "sandbox", decision: "continue" } as const;
/** Carol's: her accounts at a bank are one IBAN with two currencies. */
export const CAROL = { ...ALICE, username: "carol" } as const;
/** Every customer's entries on the code page. */
export const CODE = { code: "123456", decision: "confirm" } as const;
