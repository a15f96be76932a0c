/**
 * What can be wrong with a TPP's link. The page for the customer tells it to the TPP's developer. The texts are fixed, so
 * that a page shows nothing of the link, and they depend on the link alone (Decision G8).
 */
import type { ApiError } from "../../../base/kernel/api_error.ts";
import type { Mismatch } from "../../../base/kernel/result.ts";
import { REQUEST_URI_PREFIX, REQUEST_URI_SECONDS } from "../../../base/profile.ts";

const PUSHED = `one that PAR of this bank returned within ${REQUEST_URI_SECONDS} s`;

export const LINK_FAULTS = {
  client_id_missing: { at: "client_id", expected: "the client_id that pushed the request" },
  client_id_twice: { at: "client_id", expected: "sent once" },
  client_id_differs: {
    at: "client_id",
    expected: "the client_id that pushed the request",
    received: "another one",
  },
  client_not_usable: { at: "the client", expected: "active, with this redirect_uri" },
  request_uri_malformed: {
    at: "request_uri",
    expected: `'${REQUEST_URI_PREFIX}' and a reference, as the answer of PAR has it`,
  },
  request_uri_twice: { at: "request_uri", expected: "sent once" },
  request_uri_unknown: { at: "request_uri", expected: PUSHED, received: "an unknown or expired one" },
  request_uri_complete: {
    at: "request_uri",
    expected: PUSHED,
    received: "one whose authorization is complete",
  },
} as const satisfies Readonly<Record<string, Mismatch>>;

export type LinkFault = keyof typeof LINK_FAULTS;

/** Returns the fault with this name, if it is one. */
export function linkFaultNamed(name: string | undefined): LinkFault | undefined {
  return name !== undefined && Object.hasOwn(LINK_FAULTS, name) ? name as LinkFault : undefined;
}

/** Returns the name of the fault of a rejected link. */
export function linkFaultOf(rejection: ApiError | undefined): LinkFault | undefined {
  const found = Object.entries(LINK_FAULTS).find(([, fault]) => fault === rejection?.parts.fault);
  return linkFaultNamed(found?.[0]);
}
