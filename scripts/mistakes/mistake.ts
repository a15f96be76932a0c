/** A mistake that a developer makes, and what its answer must name. */
import type { Workbench } from "./workbench.ts";

export interface Mistake {
  /** What the developer did. */
  readonly name: string;
  /** The faulty part, as the answer must name it. */
  readonly part: string;
  /** The expected value, as the answer must name it. */
  readonly expected: string | ((bench: Workbench) => string | Promise<string>);
  /** Makes the mistake. Everything else about the request is right. */
  readonly make: (bench: Workbench) => Promise<Response>;
}

/** A check that belongs to one area, such as client assertions. */
export interface Area {
  readonly name: string;
  readonly role: "TPP" | "bank";
  readonly mistakes: readonly Mistake[];
}

/** A mistake whose answer did not name the part or the expected value. */
export interface Miss {
  readonly area: string;
  readonly mistake: string;
  readonly wanted: readonly string[];
  /** What the answer said. */
  readonly said: string;
}
