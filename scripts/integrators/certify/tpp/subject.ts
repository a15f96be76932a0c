/** The TPP under test, driven through one payment: what the certifier's customer does, and what the TPP says at the end. */
import { type CustomerPlan, goThroughAuthorization } from "../../../../src/sandbox/customer/customer.ts";

/** The outcome that the TPP states for the payment. `none`: it stated none. */
export type Said = "paid" | "rejected" | "failed" | "unknown" | "pending" | "none";

/** One payment to be made. */
export interface Errand {
  readonly bank: string;
  /** The customer's decision at the bank; default: approves. `fail`: the bank's result is unusable. */
  readonly customer?: "approve" | "refuse" | "fail";
  /** How long the customer waits before following the link, milliseconds. */
  readonly waits?: number;
  /** The addresses at which the customer's browser arrives, from the one to which the platform sent it. */
  readonly arrives?: (back: URL) => readonly URL[];
}

/** The end of an errand. */
export interface Ended {
  readonly said: Said;
  /** The link to which the TPP sent its customer, if it did. */
  readonly link: URL | undefined;
  /** It sent its customer to the platform again, where the customer did not go on. */
  readonly beginsAgain?: boolean;
  /** The TPP's own words about the end, for the report. */
  readonly words: string;
}

/** A TPP that can be asked to make a payment. */
export interface Subject {
  pay(errand: Errand): Promise<Ended>;
}

const PLANS: Readonly<Record<"approve" | "refuse" | "fail", Partial<CustomerPlan>>> = {
  approve: {},
  refuse: { rejectAt: "login" },
  fail: { fault: "expired_return" },
};

/** Lets the customer follow the TPP's link; returns where the customer's browser arrives at the TPP. */
export async function customerOf(
  { customer = "approve", waits = 0, arrives = (back) => [back] }: Errand,
  link: URL,
): Promise<readonly URL[]> {
  await new Promise((resolve) => setTimeout(resolve, waits));
  return arrives(await goThroughAuthorization({ startUrl: link.href, ...PLANS[customer] }, () => {}));
}

/** Returns whether a text is a link to the platform's authorization endpoint. */
export function isLink(text: string, authUrl: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.origin === new URL(authUrl).origin &&
    url.pathname.endsWith("/authorization.oauth2");
}
