/** Answers the programs with changes which of them is made, and notes which were asked for. */

/** What the changed programs of one process share. */
export interface MutationSwitch {
  /** The number of the change that is made; 0 for none. */
  chosen: number;
  /** The changes whose place the process reached since this was set. */
  reached: Set<number> | undefined;
}

/** The switch of this process. */
export const state: MutationSwitch = { chosen: 0, reached: undefined };

export default function isChosen(number: number): boolean {
  state.reached?.add(number);
  return number === state.chosen;
}
