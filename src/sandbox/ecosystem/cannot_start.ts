/** The error that is shown to the person who starts the sandbox. */

/** The sandbox cannot start. `message` is one sentence with the reason and the remedy. No data was changed. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}
