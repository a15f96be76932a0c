/**
 * The newest statement of a participant, for relying parties. Statements are not stored. Each request signs it again,
 * with the `iat` and the details of its issue, which only a new issue changes.
 */
import type { Directory } from "./directory.ts";
import { isTrusted, type Participant } from "./participant.ts";
import { signStatement } from "./software_statement.ts";

/** Gives the statement; undefined while the participant is not Active. */
export type NewestStatements = (participant: Participant) => Promise<string | undefined>;

interface Signed {
  readonly version: number;
  readonly kid: string;
  readonly text: Promise<string>;
}

/** Opens the source. It keeps one signature a participant, so that reading costs none. */
export function openNewestStatements(
  { statementKeys, terms }: Pick<Directory, "statementKeys" | "terms">,
): NewestStatements {
  const signed = new Map<string, Signed>();
  return async (participant) => {
    if (!isTrusted(participant)) return undefined;
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
