/** Checkpoints: the platform's signed statements of the log's size and root (contract EV4). */
import type { JsonObject } from "../../../base/jose/compact_jws.ts";
import { type OwnKey, signClaims } from "../../../base/jose/own_key.ts";
import { unixSeconds } from "../../../base/kernel/clock.ts";
import { type Hash, hashText } from "../../../base/merkle/tree.ts";
import type { LogEpoch } from "./log_records.ts";

/** `typ` of a checkpoint, so that no other JWT of the platform passes for one. */
export const CHECKPOINT_TYP = "evidence-log-checkpoint+jwt";

/** Which log it is. */
export interface LogOrigin {
  /** The platform's authorization URL. */
  readonly issuer: string;
  /** The cell that the log belongs to. Each cell has a log of its own. */
  readonly cell: string;
}

export interface LogState {
  readonly size: number;
  readonly root: Hash;
  /** Milliseconds. */
  readonly at: number;
  readonly epoch?: LogEpoch;
}

/** Signs a checkpoint. */
export function signCheckpoint(
  { issuer, cell }: LogOrigin,
  state: LogState,
  signer: OwnKey,
): Promise<string> {
  const { size, root, at, epoch } = state;
  const claims: JsonObject = {
    iss: issuer,
    cell,
    iat: unixSeconds(at),
    size,
    root: hashText(root),
    ...(epoch === undefined ? {} : { restored: representEpoch(epoch) }),
  };
  return signClaims(claims, signer, CHECKPOINT_TYP);
}

function representEpoch({ id, startedAt, copyTakenAt, size }: LogEpoch): JsonObject {
  return { epoch: id, at: unixSeconds(startedAt), copy_taken_at: unixSeconds(copyTakenAt), size };
}
