/** Tokens that steps share, so that a flow does not sign and verify for one more each time. */
import { type BoundToken, clientToken, type FlowEnvironment } from "./flows.ts";
import type { Participant } from "./participants.ts";

/** A token for steps that are not about tokens: the one of an earlier step while it is less than a minute old. */
export function sharedToken(env: FlowEnvironment, client: Participant, bank = "BANKA"): Promise<BoundToken> {
  const ofEnvironment = sharedTokens.get(env) ?? new Map<string, SharedToken>();
  sharedTokens.set(env, ofEnvironment);
  const name = `${client.clientId} ${bank}`;
  const known = ofEnvironment.get(name);
  if (known !== undefined && Math.abs(env.now - known.issuedAt) < SHARED_MS) return known.token;
  const token = clientToken(env, client, bank);
  ofEnvironment.set(name, { token, issuedAt: env.now });
  token.catch(() => ofEnvironment.delete(name));
  return token;
}

/** After its tokens are gone: with a restored store, or a deleted registration. */
export function forgetSharedTokens(env: FlowEnvironment): void {
  sharedTokens.delete(env);
}

interface SharedToken {
  readonly token: Promise<BoundToken>;
  /** Unix time in milliseconds. */
  readonly issuedAt: number;
}

const SHARED_MS = 60_000;
const sharedTokens = new WeakMap<FlowEnvironment, Map<string, SharedToken>>();
