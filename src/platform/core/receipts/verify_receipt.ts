/** Verifies a text that is handed over as a receipt (contract RCP3, RCP4). */
import type { KeyRing } from "../../../base/jose/key_ring.ts";
import { inPart } from "../../../base/jose/compact_jws.ts";
import { verifyJwt } from "../../../base/jose/verify_jwt.ts";
import { failed, mismatch, ok, type Result } from "../../../base/kernel/result.ts";
import type { Reader } from "../../../base/store/store.ts";
import type { ReceiptFault } from "../../../pages/receipt_page.tsx";
import { MAX_RECEIPT_CHARACTERS, readReceipt, type Receipt, RECEIPT_TYP } from "./receipt.ts";
import { findReceiptKey } from "./receipt_keys.ts";

export interface VerifyReceiptDeps {
  readonly keys: Pick<KeyRing, "publicJwks">;
  readonly authUrl: string;
}

/**
 * Verifies the text. White space in it is ignored, because a copied text may have line breaks. The result says only
 * what the text itself says: nothing is looked up but the key.
 */
export async function verifyReceipt(
  { keys, authUrl }: VerifyReceiptDeps,
  from: Reader,
  pasted: string,
): Promise<Result<Receipt, ReceiptFault>> {
  const verified = await verifyJwt(pasted.replaceAll(/\s/g, ""), {
    maxCharacters: MAX_RECEIPT_CHARACTERS,
    typ: [RECEIPT_TYP],
    async findKey({ header }) {
      const key = await findReceiptKey(keys, from, header["kid"]);
      return key === undefined ? inPart("key", mismatch("kid", "of a key of this platform")) : ok({ key });
    },
    claims(claims) {
      const receipt = readReceipt(claims);
      return receipt === undefined ? mismatch("claims", "those of a receipt") : ok(receipt);
    },
    times: "unchecked", // it proves what was true at `iat`, for ever
  });
  if (verified.ok) {
    const { claims } = verified.value;
    return claims.iss === authUrl ? ok(claims) : failed("not_ours");
  }
  const { part } = verified.fault;
  return failed(part === "key" ? "not_ours" : part === "signature" ? "altered" : "not_receipt");
}
