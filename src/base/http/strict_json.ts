/** Parses request bytes strictly as JSON. Does not check the content of the value. */
import { ApiError } from "../kernel/api_error.ts";
import { strictJson, utf8Text } from "../kernel/strict_json.ts";

const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Parses one JSON value from UTF-8 without a byte order mark, by the rules of `strictJson`.
 *
 * @throws {ApiError} `resource.invalid_format`. The message never quotes the input.
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  const text = utf8Text(bytes);
  if (text === undefined) throw rejected("is not UTF-8");
  if (text.startsWith(BYTE_ORDER_MARK)) throw rejected("begins with a byte order mark"); // RFC 8259 §8.1
  const parsed = strictJson(text);
  if (!parsed.ok) throw rejected(parsed.fault);
  return parsed.value;
}

function rejected(why: string): ApiError {
  return new ApiError("resource.invalid_format", {
    detail: why,
    faults: [{ code: "Resource.InvalidFormat", message: `The body ${why}.` }],
  });
}
