/** RFC 8785, base64url and SHA-256, for a verifier that shares no code with the platform. */
import { createHash } from "node:crypto";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type Members = Readonly<Record<string, unknown>>;

/** Returns the value as an object. Everything that is no object has no members. */
export function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Members : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the RFC 8785 form. Throws if the value has none: a lone surrogate, a number that is not finite. */
export function canonicalForm(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalForm).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = value as Members;
    let text = "";
    for (const name of Object.keys(members).sort()) { // by UTF-16 code units
      if (members[name] === undefined) continue;
      text += `${text === "" ? "" : ","}${canonicalForm(name)}:${canonicalForm(members[name])}`;
    }
    return `{${text}}`;
  }
  if (typeof value === "string" && !value.isWellFormed()) throw new Error("a lone surrogate");
  if (typeof value === "number" && !Number.isFinite(value)) throw new Error("a number that is not finite");
  return JSON.stringify(value);
}

/** Whether two JSON values are the same. Absent equals absent. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) return one === other;
  return canonicalForm(one) === canonicalForm(other);
}

export function toBase64Url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Returns the bytes of base64url without padding, or undefined if the text is not exactly that. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
    return toBase64Url(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}

export function sha256(...parts: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
}

export function sha256Text(...parts: readonly (string | Uint8Array)[]): string {
  return toBase64Url(sha256(...parts));
}

/** Returns the JSON value of UTF-8 text, or undefined. */
export function parsed(bytes: Uint8Array | undefined): unknown {
  try {
    return bytes && JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
