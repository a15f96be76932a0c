/** Every way in which a handover JWT can be wrong. The bank rejects it with a page and opens no visit. */
import type { JsonObject } from "../../../../src/base/jose/compact_jws.ts";
import { openFlow, type PaymentFlow } from "../../../../src/client/tpp/payment_journey.ts";
import { failed, type Outcome, passed } from "../case.ts";
import type { BankBench, BankCase } from "./bench.ts";
import {
  altered,
  type Changes,
  handoverClaims,
  sealed,
  signed,
  signedByEncryptionKey,
  signedByPublicKey,
  signedByStranger,
  times,
  unsigned,
} from "./forge.ts";
import { makeConsent } from "./journey.ts";

/** A handover JWT, forged for a consent. */
type Forge = (bench: BankBench, consentId: string) => Promise<string>;

export const HANDOVER_CASES: readonly BankCase[] = [
  {
    id: "BANK-H01",
    title: "A good handover JWT opens a visit (control: the others differ from it in one thing)",
    requirement: "HO1 to HO9",
    run: async (bench) => {
      const { consentId } = await makeConsent(bench);
      const { status } = await openAt(
        bench,
        await sealed(bench, await signed(bench, handoverClaims(bench, consentId))),
      );
      if (status >= 400) return failed(`answered ${status}`);
      const location = await bench.hook.decide(consentId, "refuse");
      return location === undefined
        ? failed("no visit is open")
        : passed(`answered ${status}, and a visit is open`);
    },
  },
  rejecting("BANK-H02", "An expired handover JWT is rejected", "HO4, LT5", withClaims(() => times(-600))),
  rejecting(
    "BANK-H03",
    "A handover JWT that is not yet valid is rejected",
    "HO4",
    withClaims(() => times(600)),
  ),
  rejecting(
    "BANK-H06",
    "A handover JWT for another bank is rejected",
    "HO3",
    (bench, consentId) => forged(bench, consentId, { aud: `NOT${bench.bank.code}` }),
  ),
  rejecting(
    "BANK-H07",
    "A handover JWT whose aud is a list is rejected",
    "HO3; RFC 8725 §3.9",
    (bench, consentId) => forged(bench, consentId, { aud: [bench.bank.code, "BANKX"] }),
  ),
  rejecting(
    "BANK-H08",
    "A handover JWT of another issuer is rejected",
    "HO2",
    withClaims(() => ({ iss: "https://platform.example" })),
  ),
  rejecting(
    "BANK-H09",
    "A handover JWT that was changed after it was signed is rejected",
    "HO1; RFC 8725 §3.3",
    wrapping((bench, claims) =>
      altered(bench, claims, { act: { sub: "Another Company", registration_no: "SC-0" } })
    ),
  ),
  rejecting(
    "BANK-H10",
    "A handover JWT without a signature (alg none) is rejected",
    "HO1; RFC 8725 §3.2",
    wrapping((bench, claims) => Promise.resolve(unsigned(bench, claims))),
  ),
  rejecting(
    "BANK-H11",
    "Encrypted claims without a signature around them are rejected",
    "Decision A10",
    wrapping((_bench, claims) => Promise.resolve(JSON.stringify(claims))),
  ),
  rejecting(
    "BANK-H12",
    "A handover JWT that is signed only is rejected",
    "Decision A10",
    (bench, consentId) => signed(bench, handoverClaims(bench, consentId)),
  ),
  rejecting(
    "BANK-H13",
    "A handover JWT signed by a key that it brings itself is rejected",
    "HO1; RFC 8725 §3.8",
    wrapping((_bench, claims) => signedByStranger(claims)),
  ),
  rejecting(
    "BANK-H14",
    "A handover JWT signed by a key that the platform publishes for encryption is rejected",
    "HO1; RFC 8725 §3.5",
    wrapping(signedByEncryptionKey),
  ),
  rejecting(
    "BANK-H15",
    "Algorithm confusion: HS256 with the platform's public key as secret is rejected",
    "HO1; RFC 8725 §2.1",
    wrapping(signedByPublicKey),
  ),
  rejecting(
    "BANK-H16",
    "A handover JWT by the platform's key with RS256 is rejected",
    "HO1; RFC 8725 §3.1",
    wrapping((bench, claims) => signed(bench, claims, { alg: "RS256" })),
  ),
  rejecting(
    "BANK-H17",
    "A handover JWT that is encrypted with RSA-OAEP (SHA-1) is rejected",
    "Decision A10; RFC 8725 §3.1",
    async (bench, consentId) =>
      await sealed(bench, await signed(bench, handoverClaims(bench, consentId)), "RSA-OAEP"),
  ),
  rejecting(
    "BANK-H18",
    "A handover JWT that lives longer than 300 seconds is rejected",
    "LT5",
    withClaims(() => ({ exp: times().exp + 3600 })),
  ),
  rejecting(
    "BANK-H19",
    "A handover JWT without exp is rejected",
    "HO4",
    withClaims(() => ({ exp: undefined })),
  ),
  rejecting(
    "BANK-H20",
    "A handover JWT without jti is rejected",
    "HO4",
    withClaims(() => ({ jti: undefined })),
  ),
  rejecting(
    "BANK-H21",
    "A JWT of the platform that is not a handover JWT is rejected",
    "HO6, HO8; RFC 8725 §3.12",
    withClaims(() => ({ ref_id: undefined, correlation_id: undefined, act: undefined })),
  ),
  rejecting(
    "BANK-H22",
    "A handover JWT of another type is rejected",
    "HO1; RFC 8725 §3.11",
    wrapping((bench, claims) => signed(bench, claims, { typ: "order-inquiry+jwt" })),
  ),
  {
    id: "BANK-H23",
    title: "No visit is opened for a consent of another bank",
    requirement: "BCH-02; Decision A3",
    run: async (bench) => {
      const { consentId } = await makeConsent(bench, {}, await flowAtOtherBank(bench));
      return await tryToken(bench, consentId, await forged(bench, consentId), false);
    },
  },
  {
    id: "BANK-H24",
    title: "No visit is opened if debtor_account_present contradicts the consent",
    requirement: "HO5",
    run: async (bench) => {
      const { consentId } = await makeConsent(bench);
      return await tryToken(
        bench,
        consentId,
        await forged(bench, consentId, { debtor_account_present: "true" }),
        false,
      );
    },
  },
];

/** How the bank answered a visit of its address. */
interface Answered {
  readonly status: number;
}

/** Opens the bank's address with `oAuthUrl`, as a browser without cookies does. */
export async function openAt({ bank }: BankBench, oAuthUrl: string): Promise<Answered> {
  const url = new URL(bank.redirectUri);
  url.searchParams.set("oAuthUrl", oAuthUrl);
  const response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(15_000) });
  await response.body?.cancel();
  return { status: response.status };
}

function rejecting(id: string, title: string, requirement: string, forge: Forge): BankCase {
  return {
    id,
    title,
    requirement,
    run: async (bench) => {
      const { consentId } = await makeConsent(bench);
      return await tryToken(bench, consentId, await forge(bench, consentId), true);
    },
  };
}

/** @param mustReject false if the JWT is the platform's, so that the bank may return the customer with an error */
async function tryToken(
  bench: BankBench,
  consentId: string,
  oAuthUrl: string,
  mustReject: boolean,
): Promise<Outcome> {
  const { status } = await openAt(bench, oAuthUrl);
  const opened = await bench.hook.decide(consentId, "refuse");
  if (opened !== undefined) return failed(`answered ${status}, and opened a visit`);
  if (mustReject && (status < 400 || status > 499)) {
    return failed(`answered ${status} in place of a page with status 400; no visit is open`);
  }
  return passed(`answered ${status}, and opened no visit`);
}

/** The TPP at a bank of the sandbox that is not under test. */
async function flowAtOtherBank({ bank, platform }: BankBench): Promise<PaymentFlow> {
  return await openFlow(platform.tpp, bank.code === "BANKA" ? "BANKB" : "BANKA");
}

/** @param changes made for each use: times are of that moment */
function withClaims(changes: () => Changes): Forge {
  return (bench, consentId) => forged(bench, consentId, changes());
}

async function forged(bench: BankBench, consentId: string, changes: Changes = {}): Promise<string> {
  return await sealed(bench, await signed(bench, handoverClaims(bench, consentId, changes)));
}

/** Good claims, made a JWT in a wrong way, and encrypted to the bank. */
function wrapping(make: (bench: BankBench, claims: JsonObject) => Promise<string>): Forge {
  return async (bench, consentId) => await sealed(bench, await make(bench, handoverClaims(bench, consentId)));
}
