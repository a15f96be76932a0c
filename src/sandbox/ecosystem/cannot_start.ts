/** The one error that a person who starts the sandbox is meant to read. */

/** The sandbox cannot start. `message` is one sentence that says why and what to do; nothing was harmed. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}
