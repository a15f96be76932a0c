/**
 * What a developer's requests have made at one bank: tokens, consent, authorization, payment, and the last attempt of
 * each operation. In memory, for each browser session.
 */
import type { AccessToken, PendingAuthorization } from "../../client/tpp/authorization.ts";
import type { LoggedExchange } from "../../client/tpp/message_log.ts";
import type { PaymentRequest } from "../../client/tpp/payment_request.ts";
import type { Trace } from "./trace.ts";

/** The editable parts of a request, as its form has them. */
export interface Fields {
  /** JSON, or a form with one `name=value` a line. */
  readonly body: string;
  /** The resource in the path. */
  readonly id: string;
  /** One `name=value` a line. */
  readonly query: string;
  /** `x-idempotency-key`. */
  readonly key: string;
  readonly token: TokenKind;
}

/** By the grant that it comes from. */
export type TokenKind = "client_credentials" | "authorization_code";

/** A request that was sent, or could not be. */
export interface Attempt {
  readonly fields: Fields;
  /** Masked. */
  readonly exchange?: LoggedExchange | undefined;
  /** Why nothing was sent, or why the answer must not be trusted. */
  readonly fault?: string | undefined;
  readonly traces: readonly Trace[];
  readonly interactionId?: string | undefined;
}

/** The state at one bank. */
export interface Walk {
  readonly tokens: Map<TokenKind, AccessToken>;
  readonly attempts: Map<string, Attempt>;
  consent?: { readonly id: string; readonly request: PaymentRequest };
  pending?: PendingAuthorization;
  /** The parameters of the customer's return, after their check. */
  returned?: URLSearchParams;
  paymentId?: string;
}

/** A walk and whose it is. */
export interface OwnedWalk {
  readonly session: string;
  /** The name of the TPP. */
  readonly signer: string;
  readonly bank: string;
  readonly walk: Walk;
}

/** The walks of all sessions. */
export interface Walks {
  of(session: string, signer: string, bank: string): Walk;
  /** Of this session, that waits for this `state`. */
  awaiting(session: string | undefined, state: string): OwnedWalk | undefined;
}

/** The one unused longest is deleted first. */
const MAX_WALKS = 50;

export function openWalks(): Walks {
  const walks = new Map<string, OwnedWalk>();
  return {
    of(session, signer, bank) {
      const name = `${session} ${signer} ${bank}`;
      const walk = { tokens: new Map(), attempts: new Map() };
      const entry = walks.get(name) ?? { session, signer, bank, walk };
      walks.delete(name);
      walks.set(name, entry);
      const [oldest] = walks.keys();
      if (walks.size > MAX_WALKS && oldest !== undefined) walks.delete(oldest);
      return entry.walk;
    },
    awaiting: (session, state) =>
      walks.values().find((one) => one.session === session && one.walk.pending?.state === state),
  };
}
