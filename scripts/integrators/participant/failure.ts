/** The one error that a person who runs `deno task participant` is meant to read. */

/** The command did not do what it was asked. `message` is one sentence that says why. */
export class ParticipantFailure extends Error {
  override readonly name = "ParticipantFailure";
}
