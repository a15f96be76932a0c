/**
 * Visits of customers that the platform redirected to a bank, in memory. A visit is found only with the secret in the
 * browser's cookie. It expires after 15 minutes and is kept a day longer, so that its late customer is led back
 * (Decision G1).
 */
import { FLOW_SECONDS } from "../../client/party/profile.ts";
import type { BankClock } from "./bank_profile.ts";
import type { Customer } from "./customers.ts";
import type { FaultName } from "./faults.ts";
import type { Handover } from "../../client/bank/open_handover.ts";
import type { BankConsent } from "../../client/bank/back_channel.ts";

/** How long an expired visit is kept: as long as the platform leads a late customer back to the TPP. */
export const LATE_CUSTOMER_SECONDS = 86_400;

/** The customer's current step. */
export type ScaStep =
  | { readonly at: "login" }
  | { readonly at: "code"; readonly customer: Customer }
  | { readonly at: "consent"; readonly customer: Customer }
  | { readonly at: "returned"; readonly url: Promise<string> };

/** The error of the last entry. The page chooses the words. */
export interface EntryComplaint {
  readonly says: "wrong_credentials" | "wrong_code" | "no_account";
  /** Absent if the number of tries is not limited. */
  readonly triesLeft?: number;
  /** The user name that was entered, so that the customer need not type it again. */
  readonly username?: string;
}

/** One visit. */
export interface ScaSession {
  /** 256 random bits, in the cookie only. */
  readonly secret: string;
  /** Identifies the visit in URLs. Not a secret; one browser can have several visits. */
  readonly flow: string;
  /** 256 random bits in the address of the app's pages, once the customer goes on there. */
  readonly app?: string;
  /** In a hidden field of every form. */
  readonly csrf: string;
  readonly bankCode: string;
  readonly expiresAtMs: number;
  readonly customerIp: string;
  readonly handover: Handover;
  readonly consent: BankConsent;
  readonly step: ScaStep;
  /** Wrong entries at this step. */
  readonly failures: number;
  /** The mistake that the bank makes with this customer's return, as a form has asked. */
  readonly fault?: FaultName;
  /** Shown on the page of this step. */
  readonly complaint: EntryComplaint | undefined;
}

/** Names the step, and after a wrong entry the try, in the step's form. */
export function tryOf({ step, failures }: Pick<ScaSession, "step" | "failures">): string {
  return failures === 0 ? step.at : `${step.at}-${failures}`;
}

/** Where the browser goes next. */
export type VisitOutcome =
  | { readonly go: "page"; readonly session: ScaSession }
  | { readonly go: "platform"; readonly url: string };

/** The fields from which a visit is created. */
export type NewSession = Pick<ScaSession, "bankCode" | "customerIp" | "handover" | "consent">;

/** The visits of all banks. */
export interface Sessions {
  readonly open: (visit: NewSession) => ScaSession;
  /** The visit, if cookie, bank and flow match. It may have expired. */
  readonly find: (secret: string | undefined, bankCode: string, flow: string) => ScaSession | undefined;
  /** The visit that goes on in the app of this address. */
  readonly findInApp: (bankCode: string, app: string) => ScaSession | undefined;
  /** The newest visit for a consent from which the customer has not returned. */
  readonly findOpen: (bankCode: string, consentId: string) => ScaSession | undefined;
  /** Replaces the stored visit. */
  readonly save: (session: ScaSession) => void;
  /** The entries that are processed now, by the secret of their visit. */
  readonly underWay: Map<string, Promise<VisitOutcome>>;
}

/** Starts empty and drops expired visits when new ones are added. */
export function createSessions(clock: BankClock): Sessions {
  const sessions = new Map<string, ScaSession>();
  return {
    open(visit): ScaSession {
      const now = clock();
      for (const [secret, { expiresAtMs }] of sessions) {
        if (expiresAtMs + LATE_CUSTOMER_SECONDS * 1000 <= now) sessions.delete(secret);
      }
      const session: ScaSession = {
        ...visit,
        secret: randomText(32),
        flow: randomText(12),
        csrf: randomText(32),
        expiresAtMs: now + FLOW_SECONDS * 1000,
        step: { at: "login" },
        failures: 0,
        complaint: undefined,
      };
      sessions.set(session.secret, session);
      return session;
    },
    find(secret, bankCode, flow): ScaSession | undefined {
      const session = secret === undefined ? undefined : sessions.get(secret);
      return session?.bankCode === bankCode && session.flow === flow ? session : undefined;
    },
    findInApp: (bankCode, app) =>
      [...sessions.values()].find((session) => session.bankCode === bankCode && session.app === app),
    findOpen: (bankCode, consentId) =>
      [...sessions.values()].findLast((session) =>
        session.bankCode === bankCode && session.handover.consentId === consentId &&
        session.step.at !== "returned"
      ),
    save: (session) => void sessions.set(session.secret, session),
    underWay: new Map(),
  };
}

export function randomText(byteCount: number): string {
  return crypto.getRandomValues(new Uint8Array(byteCount)).toBase64({
    alphabet: "base64url",
    omitPadding: true,
  });
}
