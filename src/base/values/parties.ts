/** The parties of an authorization, as the customer sees them. */

/** The TPP that asks, as the directory vouches for it, and the bank. */
export interface Parties {
  readonly tpp: {
    readonly legalName: string;
    readonly clientId: string;
    /** In the register of companies. Unknown for clients that registered before it was stored. */
    readonly registrationNumber?: string;
    /** Its own web page. */
    readonly clientUri?: string;
    readonly role: string;
    /** Milliseconds. */
    readonly registeredSince: number;
  };
  readonly bank: { readonly code: string; readonly name: string };
}
