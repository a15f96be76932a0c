/** Verifies the proof that retention has deleted a case (`docs/contract/evidence.md`, EV13). No I/O. */
import { appliedSchema, type Deletion, deletionSchema, deletionStatementSchema } from "./bundle_schema.ts";
import { base64url, bytesOf, digestOf, jsonIn } from "./signatures.ts";
import {
  type Findings,
  openPlatformJws,
  verifyCheckpoint,
  verifyEntry,
  verifySigned,
} from "./verify_parts.ts";

/** Whether a JSON value claims to be such a proof. */
export function isDeletion(value: unknown): boolean {
  return typeof value === "object" && value !== null &&
    Reflect.get(value, "format") === "evidence-deletion-1";
}

/** Yields what does not hold. @param value its text is canonical */
export async function* verifyDeletion(value: unknown, findings: Findings): AsyncGenerator<string> {
  const parsed = deletionSchema.safeParse(value);
  if (!parsed.success) return yield "the proof of deletion has not its form";
  const bundle = parsed.data;
  const { statement, ...signed } = value as Deletion;
  const typ = "evidence-deletion+jwt";
  const claims = deletionStatementSchema.safeParse(
    yield* openPlatformJws("statement", statement, typ, bundle, findings),
  );
  if (!claims.success) return yield "the statement has not its claims";
  findings.deletion = { statement: claims.data, bundle };
  yield* verifySigned(signed, claims.data, findings);
  yield* verifyCheckpoint(bundle, findings);
  const { entry } = bundle;
  const { subject, event } = entry.record;
  const isOfDeletion = subject === "retention audit" && event === "retention.applied";
  if (!isOfDeletion) yield "the entry is not one of a deletion";
  yield* verifyEntry(entry, findings.checkpoint);
  const [item] = entry.record.items ?? [];
  const bytes = item?.kind === "retention" ? bytesOf(entry.bodies[0]?.bytes ?? "") : undefined;
  const applied = appliedSchema.safeParse(bytes === undefined ? undefined : jsonIn(bytes));
  if (!applied.success || !applied.data.cases.includes(base64url(digestOf(claims.data.case)))) {
    return yield `the entry does not name the case ${claims.data.case} as deleted`;
  }
  if (applied.data.class !== "audit") return yield "the entry is of an erasure, and not of a deletion";
  findings.deletion = { statement: claims.data, bundle, applied: applied.data };
}
