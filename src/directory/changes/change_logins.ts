/** Issues and revokes logins of a participant's people (Decision E7). */
import { ApiError } from "../../base/kernel/api_error.ts";
import { type Change, changeParticipant, type Target } from "./change_participant.ts";
import type { Directory } from "./directory.ts";
import { isInForce, type Login, MAX_ENDED_LOGINS, MAX_LOGINS, newLogin } from "../participants/login.ts";
import type { Participant } from "../participants/participant.ts";
import { conflict } from "../participants/rejections.ts";

/** A new login with its token. */
export interface IssuedLogin {
  readonly login: Login;
  /** Shown once: the directory keeps its hash alone. */
  readonly token: string;
}

/**
 * Issues a login.
 *
 * @throws {ApiError} `directory.not_found`, `directory.conflict` for a name that has a login in force, a withdrawn
 * organisation, or too many logins
 */
export function issueLogin(directory: Directory, target: Target, name: string): Promise<IssuedLogin> {
  return changeParticipant(directory, target, async (participant, now): Promise<Change<IssuedLogin>> => {
    if (participant.status === "Withdrawn") throw conflict("The organisation is Withdrawn.");
    const inForce = (participant.logins ?? []).filter((one) => isInForce(one, now));
    if (inForce.some((one) => one.name === name)) {
      throw conflict("The name has a login; revoke that one first.");
    }
    if (inForce.length >= MAX_LOGINS) throw conflict(`A participant may have ${MAX_LOGINS} logins.`);
    const issued = await newLogin(target.orgId, name, now);
    const { id } = issued.login;
    return {
      participant: withLogins(participant, [issued.login, ...participant.logins ?? []], now),
      notes: [{ what: "login.issued", details: { id, name } }],
      answer: issued,
    };
  });
}

/**
 * Revokes a login. Revoking it again has no effect.
 *
 * @throws {ApiError} `directory.not_found` for an unknown participant or login
 */
export function revokeLogin(
  directory: Directory,
  target: Target,
  { id, reason }: { readonly id: string; readonly reason: string },
): Promise<Login> {
  return changeParticipant(directory, target, (participant, now): Promise<Change<Login>> => {
    const logins = participant.logins ?? [];
    const login = logins.find((one) => one.id === id);
    if (login === undefined) throw new ApiError("directory.not_found", "no such login");
    if (login.revokedAt !== undefined) return Promise.resolve({ participant, notes: [], answer: login });
    const revoked = { ...login, revokedAt: now };
    return Promise.resolve({
      participant: withLogins(participant, logins.map((one) => one.id === id ? revoked : one), now),
      notes: [{ what: "login.revoked", reason, details: { id, name: login.name } }],
      answer: revoked,
    });
  });
}

/** The newest ended logins stay in the list. */
function withLogins(participant: Participant, logins: readonly Login[], now: number): Participant {
  const ended = logins.filter((one) => !isInForce(one, now)).slice(MAX_ENDED_LOGINS);
  return { ...participant, logins: logins.filter((one) => !ended.includes(one)) };
}
