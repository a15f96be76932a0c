/** Whether a change has two people: one who proposes it, and another one who approves it (contract FE8). */

/** Who proposes or approves. */
export interface Decider {
  /** As histories name the person. */
  readonly name: string;
  /** Who the person is at the OpenID provider, if that is known. */
  readonly person?: string | undefined;
}

/**
 * Returns why the second one may not approve, or undefined for two people. A token whose list does not say who its
 * person is at the provider may be of the same person as any account there.
 */
export function notTwoPeople(proposer: Decider, approver: Decider): string | undefined {
  const [one, other] = [proposer.person, approver.person];
  if (proposer.name === approver.name || (one !== undefined && one === other)) {
    return "You have proposed it yourself: another person must approve it.";
  }
  if ((one === undefined) === (other === undefined)) return undefined;
  return "One of you has a token and one is known to the OpenID provider, so you may be one person: " +
    "give the token a person in its list.";
}
