/** The rejections of a TPP's link. */
import { ApiError, type ApiErrorParts } from "../../../base/kernel/api_error.ts";
import type { BankCode } from "../../../base/kernel/identifiers.ts";
import { LINK_FAULTS } from "../../guards/http/link_faults.ts";
import type { PushedRequest } from "../oauth/pushed_request.ts";

/** Returns the rejection of a link without a usable parameter. */
export function incompleteLink({ clientId }: { readonly clientId: string | undefined }): ApiError {
  const fault = clientId === undefined ? LINK_FAULTS.client_id_missing : LINK_FAULTS.request_uri_malformed;
  return new ApiError("authorization.invalid_request", { fault });
}

/**
 * Returns the rejection of a link whose request cannot start a session. One of another bank does not exist here
 * (Decision A3).
 *
 * @param tpp the link to the TPP on the page
 */
export function unusableRequest(
  request: PushedRequest | undefined,
  link: { readonly bank: BankCode; readonly clientId: string },
  tpp: Pick<ApiErrorParts, "tpp">,
): ApiError {
  return new ApiError("authorization.request_uri_unusable", { fault: faultOf(request, link), ...tpp });
}

function faultOf(
  request: PushedRequest | undefined,
  link: { readonly bank: BankCode; readonly clientId: string },
): typeof LINK_FAULTS[keyof typeof LINK_FAULTS] {
  if (request === undefined || request.bank !== link.bank) return LINK_FAULTS.request_uri_unknown;
  if (request.clientId !== link.clientId) return LINK_FAULTS.client_id_differs;
  return request.completed ? LINK_FAULTS.request_uri_complete : LINK_FAULTS.request_uri_unknown;
}
