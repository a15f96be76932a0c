/** A receiver's answer to an event that it cannot use (RFC 8935 §2.3). */
import { z } from "@hono/zod-openapi";
import { strictJson } from "../../base/kernel/json.ts";

/** The codes of RFC 8935 §2.4 are short words. */
const ERROR_CODE = /^[a-z_]{1,40}$/;

export const pushErrorSchema = z.looseObject({
  err: z.string().openapi({ pattern: ERROR_CODE.source, description: "A code of RFC 8935 §2.4." }),
  description: z.string().optional(),
}).openapi("EventPushError");

/** The part of an answer that is read, whatever else it has. */
const withCode = z.object({ err: pushErrorSchema.shape.err });

/** Returns the code of an answer. */
export function decodePushError(text: string | undefined): string | undefined {
  const parsed = text === undefined ? undefined : strictJson(text);
  const decoded = parsed?.ok === true ? withCode.safeParse(parsed.value) : undefined;
  return decoded?.success === true ? knownCode(decoded.data.err) : undefined;
}

/** Another text of the TPP than a code is neither stored nor logged. */
export function knownCode(err: string): string {
  return ERROR_CODE.test(err) ? err : "other";
}
