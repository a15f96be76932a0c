/**
 * Checks the effects of an attempt: no server error, a correct rejection, no state change by it, and no forgery
 * accepted.
 */
import type { Impact } from "./targets.ts";
import type { Answer, Sample, Surface } from "./parts.ts";
import { answerFault, errorFault } from "./shapes.ts";
import { type Attempt, pathnameOf } from "./sample_request.ts";

/** Describes the fault, or undefined. */
export function verdict(
  sample: Sample,
  attempt: Attempt,
  { answer, failures, written }: Impact,
): string | undefined {
  if (answer === undefined) return `the app threw: ${failures.join(" ")}`;
  const { status } = answer;
  const unavailable = status === 503 && sample.mayBeUnavailable?.(attempt) === true;
  if (status >= 500 && !unavailable) return `answered with ${status}: ${failures.join(" ")}`;
  if (failures.length > 0) return `logged a failure: ${failures.join(" ")}`;
  return status >= 400
    ? rejectionFault(sample, attempt, answer, written)
    : acceptanceFault(sample, attempt, answer, written);
}

function rejectionFault(
  sample: Sample,
  attempt: Attempt,
  answer: Answer,
  written: readonly string[],
): string | undefined {
  const changed = written.filter((kind) => sample.mayWrite?.includes(kind) !== true);
  if (changed.length > 0) return `rejected with ${answer.status}, and yet wrote ${changed.join(", ")}`;
  const wrong = errorFault(surfacesOf(sample, attempt), answer, attempt);
  return wrong === undefined ? undefined : `rejected with ${answer.status} in the wrong form: ${wrong}`;
}

/** A request with another path may have reached another endpoint of its host. */
function surfacesOf(sample: Sample, attempt: Attempt): readonly Surface[] {
  if (attempt.path === sample.attempt.path && attempt.method === sample.attempt.method) {
    return [sample.surface];
  }
  if (attempt.host === "directory") return ["directory"];
  return attempt.host === "api" ? ["oauth", "resource"] : ["oauth", "page"];
}

function acceptanceFault(
  { attempt: good, parts }: Sample,
  attempt: Attempt,
  answer: Answer,
  written: readonly string[],
): string | undefined {
  const reads = attempt.method === "GET" || attempt.method === "HEAD";
  if (reads && attempt.host !== "browser" && written.length > 0) {
    return `wrote ${written.join(", ")} at a ${attempt.method}`;
  }
  const wrong = answerFault(answer, attempt);
  if (wrong !== undefined) return wrong;
  const elsewhere = attempt.host !== "api" &&
    (pathnameOf(attempt) !== pathnameOf(good) || attempt.method !== good.method);
  if (elsewhere) return undefined; // a public page
  return parts.map((part) => part.fault(attempt, answer)).find((fault) => fault !== undefined);
}
