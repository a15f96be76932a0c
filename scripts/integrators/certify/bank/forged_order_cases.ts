/** Orders that are not the platform's, not for this bank or expired are rejected, and use no single-use value up. */
import type { JsonObject } from "../../../../src/base/jose/compact_jws.ts";
import { failed, type Outcome, passed } from "../case.ts";
import type { BankBench, BankCase } from "./bench.ts";
import {
  altered,
  handoverClaims,
  renewed,
  signed,
  signedByEncryptionKey,
  signedByPublicKey,
  signedByStranger,
  times,
  unsigned,
} from "./forge.ts";
import { claimsOf, debit, isOnce, payThrough, statusOf } from "./orders.ts";

/** Makes a wrong order of good claims. */
type ForgeOrder = (bench: BankBench, claims: JsonObject) => Promise<string>;

export const FORGED_ORDER_CASES: readonly BankCase[] = [
  rejecting(
    "BANK-O10",
    "An order without a signature (alg none) is rejected",
    "PO3; RFC 8725 §3.2",
    (bench, claims) => Promise.resolve(unsigned(bench, claims)),
  ),
  rejecting(
    "BANK-O11",
    "An order that was changed after it was signed is rejected",
    "PO3; RFC 8725 §3.3",
    (bench, claims) => altered(bench, claims, { Data: cheaper(claims) }),
  ),
  rejecting(
    "BANK-O12",
    "An order signed by a key that it brings itself is rejected",
    "PO3; RFC 8725 §3.8",
    (_bench, claims) => signedByStranger(claims),
  ),
  rejecting(
    "BANK-O13",
    "An order signed by a key that the platform publishes for encryption is rejected",
    "PO3; RFC 8725 §3.5",
    signedByEncryptionKey,
  ),
  rejecting(
    "BANK-O14",
    "Algorithm confusion: an order with HS256 and the platform's public key is rejected",
    "PO3; RFC 8725 §2.1",
    signedByPublicKey,
  ),
  rejecting(
    "BANK-O15",
    "An order for another bank is rejected",
    "PO3; Decision A3",
    (bench, claims) => signed(bench, { ...claims, aud: `NOT${bench.bank.code}` }),
  ),
  rejecting(
    "BANK-O16",
    "An order of another issuer is rejected",
    "PO3; RFC 8725 §3.8",
    (bench, claims) => signed(bench, { ...claims, iss: "https://platform.example" }),
  ),
  rejecting("BANK-O17", "An expired order is rejected", "PO3", (bench, claims) => {
    const { iat, exp } = times(-600);
    return signed(bench, { ...claims, iat, exp });
  }),
  rejecting("BANK-O18", "A handover JWT is rejected as an order", "PO3; RFC 8725 §3.12", (bench, claims) => {
    const { ConsentId } = Object(claims["Data"]);
    return signed(bench, handoverClaims(bench, String(ConsentId)));
  }),
];

/** Sends the wrong order first, then the platform's own, which must still be executed. */
function rejecting(id: string, title: string, requirement: string, forge: ForgeOrder): BankCase {
  return { id, title, requirement, run: (bench) => tryForgery(bench, forge) };
}

async function tryForgery(bench: BankBench, forge: ForgeOrder): Promise<Outcome> {
  let forged = 0;
  let genuine = "";
  const paid = await payThrough(bench, async (push) => {
    const { nbf: _nbf, ...claims } = renewed(claimsOf(push));
    forged = (await push.deliver(await forge(bench, claims))).status;
    const answer = await push.deliver(push.jws);
    genuine = statusOf(answer);
    return answer;
  });
  const seen = `answered ${forged}, the true order ${genuine}; ${debit(paid)}`;
  const isRejected = forged >= 400 && forged <= 499;
  return isRejected && genuine === "AcceptedSettlementInProcess" && isOnce(paid)
    ? passed(seen)
    : failed(seen);
}

/** The order's data with another amount. */
function cheaper(claims: JsonObject): unknown {
  const data = structuredClone(Object(claims["Data"]));
  data.Initiation.InstructedAmount.Amount = "0.01";
  return data;
}
