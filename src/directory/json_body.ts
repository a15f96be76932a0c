/** Reads request bodies of the directory: one bounded JSON value without ambiguities between parsers. */
import type { Context } from "hono";
import { readBytes } from "../base/http/body.ts";
import { ApiError } from "../base/kernel/api_error.ts";
import { strictJson } from "../base/kernel/strict_json.ts";
import { MAX_BODY_BYTES } from "../base/limits.ts";

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/**
 * The JSON value in the body.
 *
 * @throws {ApiError} wrong media type or coding, too large, not UTF-8, or not strict JSON
 */
export async function readJson(c: Context): Promise<unknown> {
  if (!JSON_TYPE.test(c.req.header("content-type")?.trim() ?? "")) {
    throw new ApiError("request.unsupported_media_type");
  }
  const coding = c.req.header("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (coding !== "identity") throw new ApiError("request.unsupported_content_encoding");
  const parsed = strictJson(decodeUtf8(await readBytes(c.req.raw, MAX_BODY_BYTES)));
  if (parsed.ok) return parsed.value;
  throw new ApiError("directory.invalid_request", { description: `body: ${parsed.why}` });
}

/** As `readJson`, but an absent body stands for `{}`. */
export async function readOptionalJson(c: Context): Promise<unknown> {
  const bodiless = c.req.raw.body === null || c.req.header("content-length") === "0";
  return bodiless ? {} : await readJson(c);
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ApiError("directory.invalid_request", { description: "body: is not UTF-8" });
  }
}
