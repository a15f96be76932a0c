/**
 * The organisation of a participant who is signed in, and what belongs to it. Endpoints for participants can answer
 * only with what an organisation has recognised as its own (contract OWN1).
 */
import type { BankCode, ClientId } from "../../../base/kernel/identifiers.ts";

/** Marks what an {@link Organisation} has recognised. The mark exists in the type alone; a set remembers the objects. */
declare const OWNED: unique symbol;
export type Owned<T extends object = object> = T & { readonly [OWNED]: true };

/** A registered client of an organisation. */
export interface OwnClient {
  readonly clientId: ClientId;
  readonly orgId: string;
  /** The bank, if it is one. */
  readonly bank?: BankCode | undefined;
}

/** Whose a thing is: of the client that has made it, and of the bank that it is at. */
export interface Belonging {
  readonly clientId?: string | undefined;
  readonly bank?: string | undefined;
}

export interface Organisation {
  readonly id: string;
  readonly clients: readonly OwnClient[];
  /** Whether one of the organisation's clients has made the thing, or it is at its bank. */
  owns(of: Belonging): boolean;
  /** Returns the thing if the organisation owns it; otherwise undefined. */
  recognise<T extends object>(thing: T, of: Belonging): Owned<T> | undefined;
  /** Whether {@link Organisation.recognise} has returned the thing. */
  has(thing: object): boolean;
}

export function openOrganisation(id: string, listed: readonly OwnClient[]): Organisation {
  const clients = listed.filter(({ orgId }) => orgId === id);
  const clientIds = new Set<string>(clients.map(({ clientId }) => clientId));
  const banks = new Set<string>(clients.flatMap(({ bank }) => bank ?? []));
  const recognised = new WeakSet<object>();
  const owns = ({ clientId = "", bank = "" }: Belonging): boolean =>
    clientIds.has(clientId) || banks.has(bank);
  return {
    id,
    clients,
    owns,
    recognise<T extends object>(thing: T, of: Belonging): Owned<T> | undefined {
      if (!owns(of)) return undefined;
      recognised.add(thing);
      return thing as Owned<T>;
    },
    has: (thing) => recognised.has(thing),
  };
}
