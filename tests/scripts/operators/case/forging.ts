/** Forges bundles as the holder of the platform's key can: entries are changed, and signed anew in a log of its own. */
import "reflect-metadata";
import canonicalize from "canonicalize";
import { decodeJwt } from "jose";
import { type BundleEntry, bundleSchema } from "../../../../scripts/operators/case/bundle_schema.ts";
import { base64url, bytesOf, digestOf } from "../../../../scripts/operators/case/signatures.ts";
import { sha256 } from "../../../../src/base/kernel/identifiers.ts";
import { inclusionPath } from "../../../../src/base/merkle/proofs.ts";
import { hashText, leafHash, treeHead } from "../../../../src/base/merkle/tree.ts";
import { signJwt } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";

type Mutable<T> = { -readonly [K in keyof T]: Mutable<T[K]> };
export type Forged = Mutable<ReturnType<typeof bundleSchema.parse>>;
export type Entry = Forged["entries"][number];

/** Any 16 bytes. */
export const SALT = "A".repeat(22);

/** The platform changes entries, and signs them anew with its own key, in a log of its own. */
export async function forge(
  text: string,
  change: (bundle: Forged) => void | Promise<void>,
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const bundle = bundleSchema.parse(JSON.parse(text)) as Forged;
  await change(bundle);
  for (const { record, bodies } of bundle.entries) {
    for (const [at, item] of (record.items ?? []).entries()) {
      const body = bodies[at];
      if (!body) continue;
      const [salt, bytes] = [bytesOf(body.salt ?? ""), bytesOf(body.bytes)];
      item.sha256 = base64url(digestOf(salt ?? "", digestOf(bytes ?? ""), digestOf(body.signature ?? "")));
    }
  }
  const newest = new Map<string, string>();
  for (const { record } of bundle.entries) {
    const previous = newest.get(record.subject);
    if (previous === undefined) delete record.previous;
    else record.previous = previous;
    newest.set(record.subject, hashText(leafHash(new TextEncoder().encode(canonicalize(record) ?? ""))));
  }
  const leaves = bundle.entries.map(({ record }) =>
    leafHash(new TextEncoder().encode(canonicalize(record) ?? ""))
  );
  for (const [index, entry] of bundle.entries.entries()) {
    entry.index = index;
    entry.proof = inclusionPath(index, leaves.length)
      .map(({ start, end }) => hashText(treeHead(leaves.slice(start, end))));
  }
  const by = { key: await testKey(12), kid: bundle.keys[0]?.kid ?? "" };
  const { statement, checkpoint, ...rest } = bundle;
  const head = { ...decodeJwt(checkpoint), size: leaves.length, root: hashText(treeHead(leaves)) };
  const signed = { ...rest, checkpoint: await signJwt(by, head, { typ: "evidence-log-checkpoint+jwt" }) };
  const claims = {
    ...decodeJwt(statement),
    ...more,
    bundle_sha256: await sha256(canonicalize(signed) ?? ""),
  };
  return `${
    canonicalize({ ...signed, statement: await signJwt(by, claims, { typ: "evidence-bundle+jwt" }) })
  }\n`;
}

export function find(
  bundle: Forged,
  kind: string,
): { entry: Entry; item: NonNullable<Entry["record"]["items"]>[number]; at: number } {
  for (const entry of bundle.entries) {
    const at = (entry.record.items ?? []).findIndex((item) => item.kind === kind);
    const item = entry.record.items?.[at];
    if (item !== undefined) return { entry, item, at };
  }
  throw new Error(`no ${kind}`);
}

export function put({ entry, at }: ReturnType<typeof find>, body: BundleEntry["bodies"][number]): void {
  entry.bodies[at] = body as Entry["bodies"][number];
}

/** Returns what a piece of evidence says. */
export function decodeContent({ entry, at }: ReturnType<typeof find>): Record<string, unknown> {
  const bytes = bytesOf(entry.bodies[at]?.bytes ?? "") ?? new Uint8Array();
  return JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
}

/** The platform writes another content of a piece that nobody else signs. */
export function withContent(found: ReturnType<typeof find>, content: unknown): void {
  put(found, { bytes: base64url(new TextEncoder().encode(canonicalize(content))), salt: SALT });
}
