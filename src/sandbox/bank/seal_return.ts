/** The sealed result of a customer's visit, its ids, and the faults with which a sandbox bank spoils its result. */
import type { Bank as Party } from "../../client/bank/bank.ts";
import type { Handover } from "../../client/bank/open_handover.ts";
import { resultClaims, type ScaResult, sealedResult } from "../../client/bank/seal_result.ts";
import { HANDOVER_SECONDS } from "../../client/party/profile.ts";
import type { MetFault } from "./faults.ts";

/** Returns the sealed result. */
export async function sealReturn(
  { party, returnIds }: { readonly party: Party; readonly returnIds: ReturnIds },
  handover: Handover,
  result: ScaResult,
  fault?: MetFault,
): Promise<string> {
  const rejected: Partial<ScaResult> = fault?.name === "refuse_customer"
    ? { statusCode: "failure", status: "rejected", reasonCode: fault.reasonCode }
    : {};
  const claims = resultClaims(party, handover, { ...result, ...rejected });
  const late = fault?.name === "expired_return" ? HANDOVER_SECONDS * 2 : 0;
  const iat = claims.iat - late;
  return await sealedResult(party, {
    ...claims,
    iat,
    nbf: iat,
    exp: iat + HANDOVER_SECONDS,
    ...(fault?.name === "wrong_digest" ? { transaction_digest: "A".repeat(43) } : {}),
    jti: fault?.name === "replayed_return" ? returnIds.last() : returnIds.fresh(),
    bank_id: fault?.name === "wrong_bank_id" ? `NOT${party.code}` : party.code,
  });
}

/** Creates the ids of a bank's result JWTs, and repeats the last one for the replay fault. */
export interface ReturnIds {
  readonly fresh: () => string;
  /** The last id created, or a new one if there is none. */
  readonly last: () => string;
}

export function createReturnIds(): ReturnIds {
  let last: string | undefined;
  const fresh = (): string => last = crypto.randomUUID();
  return { fresh, last: () => last ?? fresh() };
}
