/** Explains to whoever has a TPP's link why it cannot be used. The explanation depends on the link alone (Decision G8). */
import { ApiError } from "../../base/kernel/api_error.ts";
import type { BankCode } from "../../base/kernel/identifiers.ts";
import { type Mismatch, mismatch } from "../../base/kernel/result.ts";
import type { PushedRequest } from "../oauth/pushed_request.ts";
import { REQUEST_URI_PREFIX, REQUEST_URI_SECONDS } from "../profile.ts";

const CLIENT = "the client_id that pushed the request";

/** Returns the rejection of a link without a usable parameter. */
export function incompleteLink(
  { clientId, requestUri }: {
    readonly clientId: string | undefined;
    readonly requestUri: string | undefined;
  },
): ApiError {
  if (clientId === undefined) {
    return new ApiError("authorization.invalid_request", mismatch("client_id", CLIENT));
  }
  const expected = `'${REQUEST_URI_PREFIX}' and a reference, as the answer of PAR has it`;
  return new ApiError("authorization.invalid_request", mismatch("request_uri", expected, requestUri));
}

/** Explains why a request cannot start a session. One of another bank does not exist here (Decision A3). */
export function unusableRequest(
  request: PushedRequest | undefined,
  link: { readonly bank: BankCode; readonly clientId: string },
): Mismatch {
  const isHere = request !== undefined && request.bank === link.bank;
  if (isHere && request.clientId !== link.clientId) return mismatch("client_id", CLIENT, link.clientId).fault;
  return {
    at: "request_uri",
    expected: `one that PAR of this bank returned within ${REQUEST_URI_SECONDS} s`,
    received: isHere && request.completed
      ? "one whose authorization is complete"
      : "an unknown or expired one",
  };
}
