/**
 * The keys of receipts. A receipt is verified for as long as anyone keeps it, so each key that signs one is stored
 * before its first receipt is answered. Only keys that were this platform's own are found here: the documents of
 * other parties' keys are stored too, but no `kid` leads to them.
 */
import { z } from "zod";
import { importRsaPublicKey, readRsaPublicJwk } from "../../../base/jose/rsa_key.ts";
import type { JsonObject } from "../../../base/jose/compact_jws.ts";
import type { KeyRing } from "../../../base/jose/key_ring.ts";
import type { OwnKey } from "../../../base/jose/own_key.ts";
import { strictJson } from "../../../base/kernel/json.ts";
import { defineRecord, text } from "../../../base/store/record.ts";
import type { Reader } from "../../../base/store/store.ts";
import { transact, type TransactDeps } from "../../../base/store/transaction.ts";
import { documentAt, ownSignerOf, stageDocument } from "../../evidence/evidence_store.ts";
import { receiptKeyKey } from "../../config/store_keys.ts";

export const receiptKeyRecord = defineRecord<{ readonly document: string }>({
  name: "receipt_key",
  keyParts: ["kid"],
  what: "Which `evidence_document` is the platform's key that has signed receipts.",
  schema: z.looseObject({ document: text }),
  version: 1,
  lifetime: "Kept.",
  personalData: "none",
  retention: "register",
  restore: "kept",
});

/** Returns the key to sign a receipt with. It is stored. */
export type ReceiptSigner = () => Promise<OwnKey>;

export function openReceiptSigner(deps: TransactDeps & { readonly keys: KeyRing }): ReceiptSigner {
  const stored = new Set<string>(); // bounded by the keys that this process has had
  return async () => {
    const { kid, key, document } = ownSignerOf(deps.keys);
    if (!stored.has(kid)) {
      await transact(deps, { what: "receipt key" }, (tx) => {
        stageDocument(tx, document);
        receiptKeyRecord.set(tx, receiptKeyKey(kid), { document: document.sha256 });
        return Promise.resolve();
      });
      stored.add(kid);
    }
    return { kid, key };
  };
}

/** A certificate's thumbprint. Other text is no name of a key, and is not looked up. */
const KID = /^[A-Za-z0-9_-]{1,128}$/;

/** Returns the platform's signing key of this name, published or stored, or undefined if there is none. */
export async function findReceiptKey(
  keys: Pick<KeyRing, "publicJwks">,
  from: Reader,
  kid: unknown,
): Promise<CryptoKey | undefined> {
  if (typeof kid !== "string" || !KID.test(kid)) return undefined;
  const published = keys.publicJwks.keys.find((jwk) => jwk["kid"] === kid && jwk["use"] === "sig");
  const jwk = readRsaPublicJwk(published ?? await storedKey(from, kid));
  return jwk.ok ? await importRsaPublicKey(jwk.value, "verify") : undefined;
}

async function storedKey(from: Reader, kid: string): Promise<JsonObject | undefined> {
  const stored = await receiptKeyRecord.get(from, receiptKeyKey(kid));
  const document = stored === null ? null : await documentAt(from, stored.value.document);
  if (document === null) return undefined;
  const parsed = strictJson(document);
  return parsed.ok ? parsed.value as JsonObject : undefined;
}
