/** The faults that the decoder of consent requests finds, as plain data to compare. */
import { decodeConsentRequest } from "../../../src/platform/consents/consent_schema.ts";
import { edited } from "../http/edited.ts";
import { faultsOf } from "../http/rejections.ts";
import { CONTEXT, FULL } from "testing/bodies.ts";

/** The faults of a full consent request with one place changed; none if it is accepted. */
export function faultsWith(path: string, value: unknown): string[] {
  return faultsIn(edited(FULL, path, value));
}

/** The faults of a consent request; none if it is accepted. */
export function faultsIn(body: unknown): string[] {
  try {
    decodeConsentRequest(body, CONTEXT);
    return [];
  } catch {
    return faultsOf(() => decodeConsentRequest(body, CONTEXT));
  }
}
