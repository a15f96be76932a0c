/** Middleware: the FAPI headers of a resource request must be well formed or absent (Decision C10). */
import { createMiddleware } from "hono/factory";
import { acceptsJson } from "../../../base/http/accepted_types.ts";
import { isHttpDate } from "../../../base/kernel/http_date.ts";
import { ApiError, type Fault } from "../../../base/kernel/api_error.ts";
import { rejectMalformedInteractionId } from "../../../base/http/interaction_id.ts";

const IPV4 = /^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/; // RFC 3986 §3.2.2
const IPV6_CHARACTERS = /^[0-9A-Fa-f:.]{2,45}$/;

const HTTP_DATE =
  "must be an HTTP date with its weekday, such as Sun, 06 Nov 1994 08:49:37 GMT (RFC 9110 §5.6.7).";

const RULES = [
  { path: "x-fapi-auth-date", isGood: isHttpDate, must: HTTP_DATE },
  { path: "x-fapi-customer-ip-address", isGood: isIpAddress, must: "must be an IP address." },
] as const;

/**
 * Reports all malformed headers at once. `x-fapi-financial-id` is accepted and ignored.
 *
 * @throws {ApiError} `request.header_invalid`
 */
export const fapiHeaders = createMiddleware(async function fapiHeaders(c, next) {
  rejectMalformedInteractionId(c.req.header("x-fapi-interaction-id"));
  const faults = RULES.flatMap(({ path, isGood, must }): Fault[] => {
    const value = c.req.header(path);
    if (value === undefined || isGood(value)) return [];
    return [{ code: "Header.Invalid", path, message: `${path} ${must}` }];
  });
  if (faults.length > 0) throw new ApiError("request.header_invalid", { faults });
  if (!acceptsJson(c.req.header("accept"))) throw new ApiError("request.not_acceptable");
  await next();
});

function isIpAddress(value: string): boolean {
  return IPV4.test(value) || (IPV6_CHARACTERS.test(value) && URL.canParse(`http://[${value}]/`));
}
