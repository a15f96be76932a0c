/** A place where the platform or the directory accepts a JWT, for tests that present altered ones there. */
import type { JsonObject } from "testing/jwts.ts";
import type { TestKey } from "testing/keys.ts";
import type { Participant } from "testing/participants.ts";
import type { ExpectedFault } from "testing/resource_answers.ts";

/**
 * The kinds of JWT that callers send, of the seven that exist (contract J26). JWTs from the platform to a bank are
 * never sent back.
 */
export type PlacedKind = "assertion" | "proof" | "registration" | "statement" | "return" | "signature";

/** The parts of a valid JWS before a test changes them. */
export interface JwsParts {
  readonly key: TestKey;
  readonly header: JsonObject;
  /** Claims, or the exact text if the payload is sent separately. */
  readonly payload: JsonObject | string;
}

/** One place. */
export interface JwtPlace {
  readonly name: string;
  readonly kind: PlacedKind;
  /** How the token is sent; a header cannot carry every character. */
  readonly carrier: "form" | "header" | "body" | "inside";
  /** The owner of a valid token; for a statement, its subject. */
  readonly who: Participant;
  /** The access token that a proof is for, at a resource. */
  readonly token?: string;
  /** The parts of a valid token, new each time. */
  parts(): Promise<JwsParts>;
  /** Sends the text. */
  present(token: string): Promise<Response>;
  /** Asserts that this is exactly the place's rejection; `fault` applies to payload signatures. */
  rejects(response: Response, fault: ExpectedFault): Promise<void>;
  /** Asserts that this is the response to a valid request; each place returns it at least once. */
  takes(response: Response): Promise<void>;
}
