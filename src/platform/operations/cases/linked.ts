/** Whether a case proves dynamic linking: the bank has signed the digest of what the TPP requested (contract EV16). */
import { decodeObject, type JsonObject } from "../../../base/jose/compact_jws.ts";
import { strictJson } from "../../../base/kernel/json.ts";
import { transactionDigest } from "../../core/consents/transaction_digest.ts";
import { consentRequestSchema } from "../../core/consents/consent_schema.ts";
import type { CaseEntry } from "../../evidence/read_case.ts";

export type Linked = "proven" | "not claimed";

/** Reads the bank's result of the session that authorised the consent. What is deleted proves nothing. */
export function linkedIn(entries: readonly CaseEntry[]): Linked {
  const authorised = entries.findIndex(({ entry }) => entry.event === "consent.Authorized");
  const [request] = piecesOf(entries, "consent_request");
  if (authorised < 0 || request === undefined) return "not claimed";
  const [decision] = piecesOf(entries.slice(authorised, authorised + 1), "decision");
  const session = decision === undefined ? undefined : members(decision)["session"];
  const result = piecesOf(entries.slice(0, authorised + 1), "sca_result").map(claimsOf)
    .findLast((claims) => session === undefined || claims["correlation_id"] === session);
  const requested = consentRequestSchema.safeParse(members(request)); // changed evidence has no form
  const digest = requested.success ? transactionDigest(requested.data.Data.Initiation) : null;
  return result?.["transaction_digest"] === digest ? "proven" : "not claimed";
}

function piecesOf(entries: readonly CaseEntry[], kind: string): readonly string[] {
  return entries.flatMap(({ items }) =>
    items.flatMap(({ item, body }) =>
      item.kind !== kind || body === null || body === "lost" ? [] : new TextDecoder().decode(body.bytes)
    )
  );
}

function members(text: string): JsonObject {
  const parsed = strictJson(text);
  return parsed.ok ? Object(parsed.value) : {};
}

function claimsOf(jws: string): JsonObject {
  const claims = decodeObject("claims", jws.split(".")[1] ?? "");
  return claims.ok ? claims.value : {};
}
