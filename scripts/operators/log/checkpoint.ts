/** Checkpoints of the evidence log, as a witness reads them (`docs/contract/evidence.md`). No code of the platform's. */
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from "jose";
import { z } from "zod";
import { asHash, type Hash } from "../../../src/base/merkle/tree.ts";

const checkpointSchema = z.strictObject({
  iss: z.string(),
  cell: z.string(),
  iat: z.int(),
  size: z.int().nonnegative(),
  root: z.string(),
  restored: z.strictObject({ epoch: z.string(), at: z.int(), copy_taken_at: z.int(), size: z.int() })
    .optional(),
});

/** The claims of a checkpoint. Times are Unix seconds. */
export type Checkpoint = Omit<z.infer<typeof checkpointSchema>, "root"> & { readonly root: Hash };

/**
 * Verifies a checkpoint's signature and reads its claims.
 *
 * @param keys the platform's published keys
 * @throws {Error} in one sentence
 */
export async function openCheckpoint(jwt: string, keys: JSONWebKeySet): Promise<Checkpoint> {
  const verified = await compactVerify(jwt, createLocalJWKSet(keys), { algorithms: ["PS256"] })
    .catch((error: Error) => {
      throw new Error(`the checkpoint's signature does not verify: ${error.message}`);
    });
  if (verified.protectedHeader.typ !== "evidence-log-checkpoint+jwt") throw new Error("it is no checkpoint");
  const checkpoint = readCheckpoint(JSON.parse(new TextDecoder().decode(verified.payload)));
  if (checkpoint === undefined) throw new Error("the checkpoint has not its claims");
  return checkpoint;
}

/** Reads the claims of a checkpoint whose signature the caller verifies. Undefined if they are not of one. */
export function readCheckpoint(claims: unknown): Checkpoint | undefined {
  const parsed = checkpointSchema.safeParse(claims);
  const root = parsed.success ? asHash(parsed.data.root) : undefined;
  return parsed.success && root !== undefined ? { ...parsed.data, root } : undefined;
}
