/** Describes errors of this folder and of oauth4webapi in one sentence, using only the server's own words. */
import * as oauth from "oauth4webapi";
import { ApiErrorResponse } from "../party/api_error.ts";

/** The error in one sentence. */
export function describeFailure(error: unknown): string {
  if (error instanceof ApiErrorResponse) return `The platform answered ${error.message}`;
  if (error instanceof oauth.ResponseBodyError) {
    return `The platform answered ${error.status}: ${error.error} ${error.error_description ?? ""}`.trimEnd();
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    return `The platform answered ${error.status} with an authentication challenge`;
  }
  if (error instanceof oauth.AuthorizationResponseError) {
    return `The customer came back with ${error.error} ${error.error_description ?? ""}`.trimEnd();
  }
  if (error instanceof Error && error.name === "TimeoutError") return "The platform did not answer in time";
  if (error instanceof oauth.OperationProcessingError && error.cause instanceof Response) {
    const { status } = error.cause;
    const what = status === 503
      ? "this bank or the platform cannot be used now; try again later"
      : "unexpectedly";
    return `The platform answered ${status}: ${what}`;
  }
  return error instanceof Error ? error.message : "Unknown failure";
}
