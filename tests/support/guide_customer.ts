/** The customer of the guides: redirected by the TPP, authenticated by the bank, deciding on the platform's screen. */
import * as jose from "jose";
import { type Browser, openBrowser } from "../../src/sandbox/customer/browser.ts";
import type { Party } from "./guide_party.ts";

/** A browser that has been sent to the bank. */
export interface Departure {
  readonly browser: Browser;
  /** The URL of the customer's redirect to the bank. */
  readonly oAuthUrl: string;
}

/** The TPP's secrets for a customer, and the customer's redirect to the bank. */
export const customerLeaves = {
  /** Shell variables for the pushed request. */
  async secrets(tpp: Party): Promise<Record<"STATE" | "VERIFIER" | "CHALLENGE" | "JKT", string>> {
    const VERIFIER = jose.base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(VERIFIER));
    return {
      STATE: crypto.randomUUID(),
      VERIFIER,
      CHALLENGE: jose.base64url.encode(new Uint8Array(hash)),
      JKT: await jose.calculateJwkThumbprint(tpp.dpop.jwk),
    };
  },
  /** Opens the TPP's link. @throws {Error} unless it leads to the bank */
  async by(link: string): Promise<Departure> {
    const browser = openBrowser();
    const { location, page } = await browser.visit(new URL(link));
    const oAuthUrl = location?.searchParams.get("oAuthUrl") ?? null;
    if (oAuthUrl === null) throw new Error(`the link leads to ${location}: ${page}`);
    return { browser, oAuthUrl };
  },
} as const;
