/** Middleware: the FAPI headers of a resource request must be well formed or absent (Decision C10). */
import { createMiddleware } from "hono/factory";
import { ApiError, type Fault } from "../../../base/kernel/api_error.ts";
import { rejectMalformedInteractionId } from "../../../base/http/interaction_id.ts";

const IMF_DATE =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} (GMT|UTC)$/;
const IPV4 = /^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/; // RFC 3986 §3.2.2
const IPV6_CHARACTERS = /^[0-9A-Fa-f:.]{2,45}$/;

const RULES = [
  { path: "x-fapi-auth-date", isGood: isHttpDate, must: "must be an HTTP date (RFC 9110 §5.6.7)." },
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
  rejectUnacceptable(c.req.header("accept"));
  await next();
});

function isHttpDate(value: string): boolean {
  if (!IMF_DATE.test(value)) return false;
  const date = new Date(value.replace("UTC", "GMT"));
  return date.getUTCDate() === Number(value.slice(5, 7)); // 31 Feb would be parsed as a day in March
}

function isIpAddress(value: string): boolean {
  return IPV4.test(value) || (IPV6_CHARACTERS.test(value) && URL.canParse(`http://[${value}]/`));
}

function rejectUnacceptable(accept: string | undefined): void {
  if (accept === undefined) return;
  const types = accept.split(",").map((range) => range.split(";")[0]?.trim().toLowerCase());
  if (types.some((type) => type === "*/*" || type === "application/*" || type === "application/json")) return;
  throw new ApiError("request.not_acceptable");
}
