/**
 * The fingerprint of a body: SHA-256 of its RFC 8785 form, so white space and member order do not matter (Decision
 * C4).
 */
import canonicalize from "canonicalize";
import { sha256 } from "../../../base/kernel/identifiers.ts";

export async function fingerprint(value: unknown): Promise<string> {
  return await sha256(canonicalize(value) ?? "");
}
