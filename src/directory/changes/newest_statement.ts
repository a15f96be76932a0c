/**
 * The newest statement of a participant, for relying parties. Statements are not stored. Each request signs it again,
 * with the `iat` and the details of its last issue.
 */
import type { Directory } from "./directory.ts";
import { isTrusted, type Participant } from "../participants/participant.ts";
import { signStatement } from "../statements/software_statement.ts";

/** Returns the statement, or undefined if the participant is not Active or has none yet. */
export type NewestStatements = (participant: Participant) => Promise<string | undefined>;

interface Signed {
  readonly version: number;
  readonly kid: string;
  readonly text: Promise<string>;
}

/** Caches one signature per participant, so that most reads need no signing. */
export function openNewestStatements(
  { statementKeys, terms }: Pick<Directory, "statementKeys" | "terms">,
): NewestStatements {
  const signed = new Map<string, Signed>();
  return async (participant) => {
    if (!isTrusted(participant) || participant.software.statementIat === 0) return undefined;
    const { orgId, historyLength: version } = participant;
    const { signer } = statementKeys;
    const { kid } = signer;
    let newest = signed.get(orgId);
    if (newest?.version !== version || newest.kid !== kid) {
      newest = { version, kid, text: signStatement(signer, terms, participant) };
      newest.text.catch(() => signed.delete(orgId));
      signed.set(orgId, newest);
    }
    return await newest.text;
  };
}
