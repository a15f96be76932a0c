/**
 * Visits of customers sent by the platform, in memory: found only with the secret in the browser's cookie, and
 * dead after 15 minutes. Holds what was decided so far; decides nothing.
 */
import { FLOW_SECONDS } from "../../client/profile.ts";
import type { BankClock } from "./bank_profile.ts";
import type { Customer } from "./customers.ts";
import type { Handover } from "./open_handover.ts";
import type { BankConsent } from "./platform_client.ts";

/** Where the customer stands. */
export type ScaStep =
  | { readonly at: "login" }
  | { readonly at: "code"; readonly customer: Customer }
  | { readonly at: "consent"; readonly customer: Customer }
  | { readonly at: "returned"; readonly url: Promise<string> };

/** What was wrong with the last entry; the words are the page's. */
export interface EntryComplaint {
  readonly says: "wrong_credentials" | "wrong_code" | "no_account";
  /** Absent where the customer may try as often as he likes. */
  readonly triesLeft?: number;
  /** What was entered as the user name, so that it need not be typed again. */
  readonly username?: string;
}

/** One visit. */
export interface ScaSession {
  /** 256 random bits, in the cookie only. */
  readonly secret: string;
  /** Names the visit in URLs; no secret, so that one browser can have several visits. */
  readonly flow: string;
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
  /** Shown on the page of this step. */
  readonly complaint: EntryComplaint | undefined;
}

/** What a new visit starts from. */
export type NewSession = Pick<ScaSession, "bankCode" | "customerIp" | "handover" | "consent">;

/** The visits of all banks. */
export interface Sessions {
  readonly open: (visit: NewSession) => ScaSession;
  /** The visit, where cookie, bank and flow agree and it has not expired. */
  readonly find: (secret: string | undefined, bankCode: string, flow: string) => ScaSession | undefined;
  /** Replaces the visit by a later state of it. */
  readonly save: (session: ScaSession) => void;
}

/** No visits yet. Expired ones are dropped as new ones come. */
export function createSessions(clock: BankClock): Sessions {
  const sessions = new Map<string, ScaSession>();
  return {
    open(visit): ScaSession {
      const now = clock();
      for (const [secret, { expiresAtMs }] of sessions) if (expiresAtMs <= now) sessions.delete(secret);
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
      if (session === undefined || session.expiresAtMs <= clock()) return undefined;
      return session.bankCode === bankCode && session.flow === flow ? session : undefined;
    },
    save: (session) => void sessions.set(session.secret, session),
  };
}

function randomText(byteCount: number): string {
  return crypto.getRandomValues(new Uint8Array(byteCount)).toBase64({
    alphabet: "base64url",
    omitPadding: true,
  });
}
