/** Whether what a shot led to is as it must be: no failure, the right form of a refusal, nothing changed by it, nothing forged taken. */
import type { Impact } from "./targets.ts";
import type { Answer, Specimen, Surface } from "./parts.ts";
import { answerFault, errorFault } from "./shapes.ts";
import { pathnameOf, type Shot } from "./sample_request.ts";

/** The sentence of what is wrong, or undefined. */
export function verdict(
  specimen: Specimen,
  shot: Shot,
  { answer, failures, written }: Impact,
): string | undefined {
  if (answer === undefined) return `the app threw: ${failures.join(" ")}`;
  const { status } = answer;
  const unavailable = status === 503 && specimen.mayBeUnavailable?.(shot) === true;
  if (status >= 500 && !unavailable) return `answered with ${status}: ${failures.join(" ")}`;
  if (failures.length > 0) return `logged a failure: ${failures.join(" ")}`;
  return status >= 400
    ? refusalFault(specimen, shot, answer, written)
    : acceptanceFault(specimen, shot, answer, written);
}

function refusalFault(
  specimen: Specimen,
  shot: Shot,
  answer: Answer,
  written: readonly string[],
): string | undefined {
  const changed = written.filter((room) => specimen.mayWrite?.includes(room) !== true);
  if (changed.length > 0) return `refused with ${answer.status}, and yet wrote ${changed.join(", ")}`;
  const wrong = errorFault(surfacesOf(specimen, shot), answer, shot);
  return wrong === undefined ? undefined : `refused with ${answer.status} in the wrong form: ${wrong}`;
}

/** A request that was moved may have come to another endpoint of its host. */
function surfacesOf(specimen: Specimen, shot: Shot): readonly Surface[] {
  if (shot.path === specimen.shot.path && shot.method === specimen.shot.method) return [specimen.surface];
  if (shot.host === "directory") return ["directory"];
  return shot.host === "api" ? ["oauth", "resource"] : ["oauth", "page"];
}

function acceptanceFault(
  { shot: good, parts }: Specimen,
  shot: Shot,
  answer: Answer,
  written: readonly string[],
): string | undefined {
  const reads = shot.method === "GET" || shot.method === "HEAD";
  if (reads && shot.host !== "browser" && written.length > 0) {
    return `wrote ${written.join(", ")} at a ${shot.method}`;
  }
  const wrong = answerFault(answer, shot);
  if (wrong !== undefined) return wrong;
  const elsewhere = shot.host !== "api" &&
    (pathnameOf(shot) !== pathnameOf(good) || shot.method !== good.method);
  if (elsewhere) return undefined; // a page that anybody may read
  return parts.map((part) => part.fault(shot, answer)).find((fault) => fault !== undefined);
}
