/** Evidence as tests read it, whose data keys exist. */
import type { EvidenceBody } from "../../src/platform/evidence/evidence.ts";

/** Returns the body, or undefined if it was deleted. @throws {Error} if its data key is lost */
export function readableBody(body: EvidenceBody | "lost" | null | undefined): EvidenceBody | undefined {
  if (body === "lost") throw new Error("the data key of the evidence is lost");
  return body ?? undefined;
}
